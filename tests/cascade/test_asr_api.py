"""A recogniser behind a server."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from _server import FakeServer, Request, Response, error, wait_until
from cascade_helpers import noise, request

from dsb2_tasks.audio import read_failure
from dsb2_tasks.endpoint import EndpointError
from dsb2_tasks.models._args import ModelArgError
from dsb2_tasks.models._asr import load_recognizer
from dsb2_tasks.models.cascade import Cascade


def seconds_said(asked: Request) -> Response:
    """A transcript that says how long the clip is and which language was told."""
    samples, rate = soundfile.read(io.BytesIO(asked.form["file"][1]))
    told = asked.form["language"][1].decode() if "language" in asked.form else "no language"
    return Response(body={"text": f" {len(samples) / rate:.1f} seconds, {told} "})


@pytest.fixture
def cascade(tmp_path: Path) -> Callable[..., Cascade]:
    return lambda server, **arguments: Cascade(
        f"api:whisper-1@{server.url}", device="cpu", responses=str(tmp_path / "store"), **arguments
    )


def test_what_is_sent_and_what_comes_back(cascade: Callable, clip: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTHER_KEY", "s3cret-key")
    stereo = np.stack([noise(2), noise(2)], axis=1)
    requests = [request(clip(noise(1), language="de")), request(clip(stereo, rate=32_000))]
    with FakeServer(seconds_said) as server:
        lm = cascade(server, asr_key_env="OTHER_KEY")
        assert lm.generate_until(requests) == ["1.0 seconds, de", "1.0 seconds, no language"]
        told = {asked.form.get("language", (None, b"-"))[1]: asked for asked in server.requests}
        asked = told[b"de"]
        assert asked.path == "/v1/audio/transcriptions" and asked.headers["authorization"] == "Bearer s3cret-key"
        assert {name: value for name, (_, value) in asked.form.items() if name != "file"} == {
            **{"model": b"whisper-1", "response_format": b"json", "temperature": b"0", "language": b"de"}
        }
        samples, rate = soundfile.read(io.BytesIO(asked.form["file"][1]), dtype="float32")
        assert rate == 16_000 and samples.shape == (16_000,) and np.abs(samples - noise(1)).max() < 1e-4
        assert lm.get_model_info()["dsb2_model"]["asr"] == f"api:whisper-1@{server.url}"
        again = cascade(server)
        assert again.generate_until(requests)[0] == "1.0 seconds, de" and len(server.requests) == 2


def test_clips_are_sent_together(cascade: Callable, clip: Callable) -> None:
    requests = [request(clip(noise(0.2, seed))) for seed in range(6)]
    with FakeServer(lambda asked: Response(body={"text": "."}, delay=0.2)) as server:
        cascade(server).generate_until(requests)
        wait_until(lambda: server.max_in_flight == 6)


def test_a_clip_that_the_server_refuses_is_one_failure_and_asked_about_again(cascade: Callable, clip: Callable) -> None:
    def answer(asked: Request) -> Response:
        return error(400, "no such audio") if len(asked.form["file"][1]) > 50_000 else seconds_said(asked)

    requests = [request(clip(noise(1))), request(clip(noise(2)))]
    with FakeServer(answer) as server:
        answers = cascade(server).generate_until(requests)
        assert answers[0] == "1.0 seconds, no language"
        assert read_failure(answers[1]) == ("model_error", "recogniser: 400: no such audio")
        cascade(server).generate_until(requests)
        assert len(server.requests) == 3


def test_a_server_that_will_never_do_ends_the_run(cascade: Callable, clip: Callable) -> None:
    with FakeServer([error(401, "who are you")]) as server, pytest.raises(EndpointError, match="401: who are you"):
        cascade(server).generate_until([request(clip(noise(1)))])


def test_the_query_of_the_address_is_not_shown(tmp_path: Path) -> None:
    recognizer: Any = load_recognizer("api:m@http://localhost:1/v1?k=s3cret", cache=tmp_path)
    assert "s3cret" not in f"{recognizer.identity} {recognizer.name}" and "localhost:1/v1" in recognizer.name


def test_a_password_in_the_address_is_refused_as_lm_eval_would_write_it_down(tmp_path: Path) -> None:
    for address in ("http://me:s3cret@localhost:1/v1", "http://localhost:1/v1?key=s3cret"):
        with pytest.raises(ModelArgError, match="asr_key_env names") as caught:
            load_recognizer(f"api:m@{address}", cache=tmp_path)
        assert "s3cret" not in str(caught.value)


def test_an_address_that_is_none_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EndpointError, match="no address of a server"):
        load_recognizer("api:m@localhost", cache=tmp_path)
