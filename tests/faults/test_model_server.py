"""The server behind the model dies, never answers, or talks nonsense now and then: whole runs, and the ones that go on."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

import pytest
from _fault_runs import Place, evaluate, saying
from _server import FakeServer, Request, Response, chat_reply

from dsb2_tasks.audio import read_failure
from dsb2_tasks.endpoint import EndpointError
from dsb2_tasks.models.api import APIModel

TOTAL = 12


def answer(came: Request) -> Response:
    """An answer that follows from the question."""
    return chat_reply(saying(hashlib.sha256(came.body).hexdigest()))


class Moody:
    """A server's script that can be changed while it runs."""

    def __init__(self) -> None:
        self.script: Callable[[Request], Response] = answer

    def __call__(self, came: Request) -> Response:
        return self.script(came)


@pytest.fixture
def moody() -> Moody:
    return Moody()


@pytest.fixture
def server(moody: Moody) -> Any:
    with FakeServer(moody) as server:
        yield server


def run(server: FakeServer, place: Place, **arguments: Any) -> dict[str, Any]:
    """A run; what the results file says of the model."""
    settings = {"concurrency": 1, "retries": 0, "timeout": 20, "key_env": None, **arguments}
    evaluate(place, APIModel(base_url=server.url, model="served", responses=str(place.responses), **settings))
    return place.results()["config"]["dsb2_model"]


@pytest.fixture
def undisturbed(server: FakeServer, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """A run of the same server that nothing befell."""
    place = Place(tmp_path_factory.mktemp("undisturbed"))
    assert run(server, place)["answers"] == TOTAL
    server.requests.clear()
    return place


@pytest.mark.parametrize("how", ["breaks off", "says nothing", "talks nonsense"])
def test_a_server_that_is_gone_in_the_middle(
    how: str, moody: Moody, server: FakeServer, undisturbed: Place, place: Place
) -> None:
    fault, timeout, reason = {
        "breaks off": (Response(drop=True), 20.0, "the connection broke"),
        "says nothing": (chat_reply("late", delay=3.0), 0.2, "no answer within 0.2 s"),
        "talks nonsense": (Response(200, b"<html>down for maintenance</html>"), 20.0, "no JSON"),
    }[how]
    moody.script = lambda came: answer(came) if len(server.requests) <= 4 else fault
    with pytest.raises(EndpointError) as told:
        run(server, place, timeout=timeout)
    said = str(told.value)
    assert said.startswith(f"{server.url}: the last 5 requests all failed") and reason in said and "run again" in said
    assert said.endswith("The answers so far are stored and will not be asked for again")
    kept = place.stored()
    assert len(kept) == 4 and kept.items() <= undisturbed.stored().items() and not list(place.out.rglob("*.json*"))
    assert len(server.requests) == 9, "no more is asked of a server that is gone"

    moody.script = answer
    server.requests.clear()
    run(server, place)
    assert len(server.requests) == TOTAL - len(kept)
    assert place.stored() == undisturbed.stored()
    assert place.results() == undisturbed.results() and place.samples() == undisturbed.samples()


def test_nonsense_now_and_then_is_no_answer(moody: Moody, server: FakeServer, undisturbed: Place, place: Place) -> None:
    wrong: list[bytes] = []

    def script(came: Request) -> Response:
        if not wrong and len(server.requests) == 7:
            wrong.append(came.body)
        return Response(200, b'{"choices": [{"messa') if came.body in wrong else answer(came)

    moody.script = script
    info = run(server, place, retries=1)
    assert info["failures"] == {"model_error": 1} and info["answers"] == TOTAL - 1 == len(place.stored())
    assert len(server.requests) == TOTAL + 1
    told, right = (at.results()["results"] for at in (place, undisturbed))
    rates = {task: told[task]["audio_error_rate,none"] for task in told}
    (hit,) = [task for task, rate in rates.items() if rate]
    assert rates[hit] == 0.25 and all(told[task] == right[task] for task in told if task != hit)
    (sample,) = [sample for sample in place.samples()[hit] if read_failure(sample["resps"][0][0])]
    assert sample["wer"] is None, "left out, not counted as wrong"

    moody.script = answer
    server.requests.clear()
    assert run(server, place)["failures"] == {}
    assert [came.body for came in server.requests] == wrong, "the one that was not answered is asked again, alone"
    assert place.results() == undisturbed.results() and place.samples() == undisturbed.samples()
