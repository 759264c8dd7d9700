"""``--model dsb2-api``: what the server hears, what becomes of its answers, and of its faults."""

from __future__ import annotations

import io
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from _listener import blocks, file, listen, request, sent_files, tone
from _server import FakeServer, Request, Response, chat_reply, error, wait_until
from _shelf import Shelf

from dsb2_tasks.audio import read_failure
from dsb2_tasks.endpoint import EndpointError
from dsb2_tasks.models._args import ModelArgError, SettingError
from dsb2_tasks.models.api import APIModel

Load = Callable[..., APIModel]


def ask(lm: APIModel, *requests: Any) -> list[str]:
    return lm.generate_until(list(requests), disable_tqdm=True)


# ---------------------------------------------------------------------- what the server hears


def test_right_clips_in_right_answers_out_in_order(load: Load, shelf: Shelf) -> None:
    clips = [shelf.put(file(tone(200 + 40 * i, 0.5 + 0.1 * i))) for i in range(12)]
    requests = [request(f"Question {i}", clip) for i, clip in enumerate(clips)]

    def slow_at_first(came: Request) -> Response:
        wait = 0.3 if blocks(came)[-1]["text"] == "Question 0" else 0.01
        return chat_reply(listen(came).body["choices"][0]["message"]["content"], delay=wait)

    with FakeServer(slow_at_first) as server:
        answers = ask(load(server, concurrency=4), *requests)
    assert answers == [f"Question {i}; wav 16000 Hz x1 {0.5 + 0.1 * i:.2f} s at {200 + 40 * i}" for i in range(12)]
    assert 2 <= server.max_in_flight <= 4


@pytest.mark.parametrize("clips", ["several", "joined"])
@pytest.mark.parametrize("control", ["none", "silence", "noise"])
def test_controls_send_nothing_of_a_clip(load: Load, shelf: Shelf, control: str, clips: str) -> None:
    one, two = (shelf.put(file(tone(hertz, 1.5, 22_050), 22_050)) for hertz in (300, 900))
    with FakeServer(listen) as server:
        lm = load(server, audio=control, clips=clips)
        ask(lm, request("One?", one), request("Two?", one, two))
    assert lm.get_model_info()["dsb2_model"]["audio"] == control
    came = {blocks(sent)[-1]["text"]: sent_files(sent) for sent in server.requests}
    if control == "none":
        assert came == {"One?": [], "Two?": []}
        assert {str(sent.json["messages"][-1]["content"]) for sent in server.requests} == {"One?", "Two?"}
        return
    heard = {name: [soundfile.read(io.BytesIO(data)) for _, data in sent] for name, sent in came.items()}
    assert [len(samples) for samples, _ in heard["One?"]] == [24_000]
    assert [len(samples) for samples, _ in heard["Two?"]] == ([24_000, 24_000] if clips == "several" else [56_000])
    assert {rate for sent in heard.values() for _, rate in sent} == {16_000}
    samples = heard["One?"][0][0]
    level = np.sqrt(np.mean(np.square(samples)))
    assert level == 0 if control == "silence" else level == pytest.approx(0.1, rel=0.02)


def test_without_clips_no_file_is_read(load: Load, shelf: Shelf) -> None:
    with FakeServer(listen) as server:
        answers = ask(load(server, audio="none"), request("Q", shelf.put(b"broken")))
    assert (answers, shelf.read_rows) == (["Q"], [])


@pytest.mark.parametrize(
    ("form", "subtype", "rate", "options", "as_it_is"),
    [
        ("WAV", "PCM_16", 44_100, {}, True),
        ("WAV", "PCM_24", 8_000, {}, True),
        ("WAV", "FLOAT", 44_100, {}, False),
        ("WAV", "ULAW", 16_000, {}, False),
        ("MP3", None, 22_050, {}, True),
        ("FLAC", None, 22_050, {}, False),
        ("FLAC", None, 22_050, {"containers": "wav+flac"}, True),
        ("OGG", "VORBIS", 22_050, {"containers": "ogg"}, True),
        ("MP3", None, 22_050, {"containers": "wav"}, False),
        ("WAV", "PCM_16", 44_100, {"audio_format": "wav"}, False),
        ("WAV", "PCM_16", 44_100, {"max_audio_seconds": 0.5}, False),
        ("AIFF", "PCM_16", 22_050, {}, False),
    ],
)
def test_container(load: Load, shelf: Shelf, form: str, subtype: str, rate: int, options: dict[str, Any], as_it_is: bool) -> None:
    data = file(tone(440, 1.0, rate), rate, form, subtype)
    with FakeServer(listen) as server:
        lm = load(server, **options)
        [answer] = ask(lm, request("What?", shelf.put(data)))
    [(sent_form, sent)] = sent_files(server.requests[0])
    assert (sent == data) == as_it_is
    assert sent_form == (form.lower() if as_it_is else "wav")
    seconds = options.get("max_audio_seconds", 1.0)
    if not as_it_is:
        assert answer == f"What?; wav 16000 Hz x1 {seconds:.2f} s at 440"
    assert ("resampled" in lm.counts["audio_events"]) == (not as_it_is and rate != 16_000)


@pytest.mark.parametrize("header", ["cut", "streamed"])
def test_a_wav_whose_header_is_wrong_about_its_length_is_made_anew(load: Load, shelf: Shelf, header: str) -> None:
    data = file(tone(440, 2.0))
    data = data[: 44 + 32_000] if header == "cut" else data[:4] + b"\xff" * 4 + data[8:40] + b"\xff" * 4 + data[44:]
    with FakeServer(listen) as server:
        [answer] = ask(load(server), request("What?", shelf.put(data)))
    [(_, sent)] = sent_files(server.requests[0])
    assert len(sent) == int.from_bytes(sent[4:8], "little") + 8
    assert answer == f"What?; wav 16000 Hz x1 {1 if header == 'cut' else 2:.2f} s at 440"


def test_sampling_rate_of_what_is_made(load: Load, shelf: Shelf) -> None:
    with FakeServer(listen) as server:
        assert ask(
            load(server, sampling_rate=24_000, audio_format="wav"), request("?", shelf.put(file(tone(5000, 1, 48_000), 48_000)))
        ) == ["?; wav 24000 Hz x1 1.00 s at 5000"]


def test_several_clips_in_order_before_the_text(load: Load, shelf: Shelf) -> None:
    clips = [shelf.put(file(tone(hertz, 0.5))) for hertz in (700, 300, 500)]
    with FakeServer(listen) as server:
        [answer] = ask(load(server), request("Which is highest?", *clips))
        ask(load(server, audio_position="after"), request("Which is highest?", *clips))
    assert [part.split()[-1] for part in answer.split("; ")[1:]] == ["700", "300", "500"]
    kinds = [[block["type"] for block in blocks(came)] for came in server.requests]
    assert kinds == [["input_audio"] * 3 + ["text"], ["text"] + ["input_audio"] * 3]


def test_clips_joined_for_servers_that_take_one(load: Load, shelf: Shelf) -> None:
    first, second = tone(700, 0.5, 8_000), tone(300, 1.0)
    clips = [shelf.put(file(first, 8_000)), shelf.put(file(np.stack([second, second], axis=1)))]
    with FakeServer(listen) as server:
        lm = load(server, clips="joined", concurrency=1)
        answers = ask(lm, request("Same?", *clips), request("One?", clips[1]))
    [(form, data)] = sent_files(server.requests[0])
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32")
    assert (form, rate, samples.shape) == ("wav", 16_000, (2 * 16_000,))
    parts = {"first": samples[:8_000], "gap": samples[8_000:16_000], "second": samples[16_000:]}
    assert not parts["gap"].any()
    for name, hertz in [("first", 700), ("second", 300)]:
        spectrum = np.abs(np.fft.rfft(parts[name]))
        assert np.fft.rfftfreq(len(parts[name]), 1 / 16_000)[spectrum.argmax()] == hertz
    assert lm.counts["audio_events"] == {"joined": 1, "mixed_down": 1, "resampled": 1}
    assert sent_files(server.requests[1])[0][1] == shelf.files[1], "a single clip is sent as it is"
    assert answers[1] == "One?; wav 16000 Hz x2 1.00 s at 300"


def test_channels_are_kept_where_the_task_asks_about_space(load: Load, shelf: Shelf) -> None:
    stereo = file(np.stack([tone(440, 1), tone(440, 1, level=0.1)], axis=1), form="FLAC")
    with FakeServer(listen) as server:
        answers = ask(load(server), request("Where?", shelf.put(stereo, "keep")), request("What?", shelf.put(stereo)))
    assert answers == ["Where?; wav 16000 Hz x2 1.00 s at 440", "What?; wav 16000 Hz x1 1.00 s at 440"]


def test_loud_floats_are_made_quieter_not_cut(load: Load, shelf: Shelf) -> None:
    loud = shelf.put(file(tone(440, 1.0, level=20_000), subtype="FLOAT"))
    with FakeServer(listen) as server:
        lm = load(server)
        ask(lm, request("What?", loud))
    samples, _ = soundfile.read(io.BytesIO(sent_files(server.requests[0])[0][1]))
    assert abs(samples - tone(440, 1.0, level=1.0)).max() < 1e-3
    assert lm.counts["audio_events"] == {"rescaled": 1}


@pytest.mark.parametrize(
    ("policy", "answer", "events", "windows"),
    [
        ("truncate", "What?; wav 16000 Hz x1 2.00 s at 440", {"truncated": 1}, 0),
        ("chunk", None, {"chunked": 1}, 1),
        ("error", None, {}, 0),
    ],
)
def test_long_audio(load: Load, shelf: Shelf, policy: str, answer: str | None, events: dict[str, int], windows: int) -> None:
    clip = {**shelf.put(file(tone(440, 5.0))), "task_kind": "transcript"}
    with FakeServer(listen) as server:
        lm = load(server, concurrency=1, long_audio=policy, max_audio_seconds=2)
        [text] = ask(lm, request("What?", clip))
    assert lm.counts["audio_events"] == events
    assert lm.counts["answers_from_windows"] == windows
    if answer:
        assert text == answer
    elif policy == "chunk":
        heard = [listen(came).body["choices"][0]["message"]["content"] for came in server.requests]
        assert text == " ".join(heard)
        assert len(heard) == 3
        assert sum(float(answer.split()[5]) for answer in heard) == pytest.approx(5.0, abs=0.02)
    else:
        failed = read_failure(text)
        assert failed is not None
        assert failed[0] == "audio_error"
        assert "5.0 s" in failed[1]
        assert server.requests == []


def test_times_in_windows_are_those_of_the_clip(load: Load, shelf: Shelf) -> None:
    clip = {**shelf.put(file(tone(440, 5.0))), "task_kind": "beats"}
    with FakeServer([chat_reply("[0.5]")]) as server:
        [text] = ask(load(server, long_audio="chunk", max_audio_seconds=2), request("When?", clip))
    beats = json.loads(text)
    assert len(beats) == len(server.requests) == 3
    assert beats[0] == 0.5
    assert 1.5 <= beats[1] <= 2.5 <= beats[2] - 0.5


def test_counts_of_a_second_evaluation_start_anew(load: Load) -> None:
    with FakeServer([chat_reply("fine", prompt=7)]) as server:
        lm = load(server)
        ask(lm, request("a"), request("b"))
        ask(lm, request("a"), request("c"))
        assert (lm.effort["requests"], lm.effort["prompt_tokens"]) == (1, 7)


def test_very_short_clips_are_padded(load: Load, shelf: Shelf) -> None:
    with FakeServer(listen) as server:
        lm = load(server)
        assert ask(lm, request("?", shelf.put(file(tone(440, 0.02)))))[0].startswith("?; wav 16000 Hz x1 0.10 s")
    assert lm.counts["audio_events"] == {"padded": 1}


def test_a_question_without_clips_is_plain_text(load: Load) -> None:
    with FakeServer(listen) as server:
        assert ask(load(server), request("How many seconds?")) == ["How many seconds?"]
    assert server.requests[0].json["messages"] == [{"role": "user", "content": "How many seconds?"}]


@pytest.mark.parametrize(
    "broken", [b"", b"no audio at all", file(tone(440, 1))[:30], file(tone(440, 2), form="FLAC")[:3000]], ids=range(4)
)
def test_an_unreadable_clip_fails_alone_and_unsent(load: Load, shelf: Shelf, broken: bytes) -> None:
    good, bad = shelf.put(file(tone(440, 1))), shelf.put(broken)
    with FakeServer(listen) as server:
        lm = load(server, containers="wav+flac")
        answers = ask(lm, request("a", bad), request("b", good), request("c", good, bad), request("d", bad))
    assert [read_failure(answer) and read_failure(answer)[0] for answer in answers] == [  # type: ignore[index]
        "audio_error",
        None,
        "audio_error",
        "audio_error",
    ]
    assert len(server.requests) == 1
    assert lm.counts["failures"] == {"audio_error": 3}


def test_only_unreadable_clips(load: Load, shelf: Shelf) -> None:
    with FakeServer(listen) as server:
        [answer] = ask(load(server), request("a", shelf.put(b"nothing")))
    assert read_failure(answer) is not None
    assert server.requests == []


def test_clips_are_read_when_theirs_is_sent(load: Load, shelf: Shelf) -> None:
    requests = [request(f"{i}", shelf.put(file(tone(200 + i, 0.2)))) for i in range(30)]
    most_ahead = 0

    def watch(came: Request) -> Response:
        nonlocal most_ahead
        most_ahead = max(most_ahead, len(set(shelf.read_rows)) - answered)
        return chat_reply("fine", delay=0.005)

    answered = 0
    with FakeServer(watch) as server:
        lm = load(server, concurrency=3)
        deliver = lm._deliver

        def counting(*arguments: Any) -> None:
            nonlocal answered
            answered += 1
            deliver(*arguments)

        lm._deliver = counting  # type: ignore[method-assign]
        ask(lm, *requests)
    assert len(server.requests) == 30
    assert most_ahead <= 3 + 4 + 2, "those in flight, those being decoded, and one or two at either end"


# ---------------------------------------------------------------------- how it is asked


def test_settings_as_the_api_names_them(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-abc")
    with FakeServer([chat_reply("fine")]) as server:
        lm = load(server, seed=7, max_tokens_key="max_completion_tokens", system_instruction="Be brief.", key_env="MY_KEY")
        ask(lm, request("Hello", until=["\n", "END"]))
        ask(load(server), request("Hello", do_sample=True, temperature=0.7, top_p=0.9, max_gen_toks=99))
        ask(load(server, max_new_tokens=5), request("Hello", do_sample=True, temperature=None))
    first, second, third = (came.json for came in server.requests)
    assert first == {
        "model": "served",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
        "max_completion_tokens": 12,
        "temperature": 0.0,
        "stop": ["\n", "END"],
        "seed": 7,
    }
    assert server.requests[0].headers["authorization"] == "Bearer sk-abc"
    assert second == {
        "model": "served",
        "messages": [{"role": "user", "content": "Hello"}],
        "max_tokens": 99,
        "temperature": 0.7,
        "top_p": 0.9,
    }
    assert (third["max_tokens"], third["temperature"]) == (5, 1.0)


@pytest.mark.parametrize("name", ["num_beams", "top_k", "repetition_penalty", "min_p"])
def test_settings_without_a_word_in_the_api_are_refused(load: Load, name: str) -> None:
    with FakeServer(listen) as server, pytest.raises(ValueError, match=f"{name}.*cannot be sent"):
        ask(load(server), request("Fine"), request("Hello", **{name: 1}))
    assert server.requests == []


def test_an_answer_that_is_begun_is_refused(load: Load) -> None:
    with FakeServer(listen) as server:
        lm = load(server)
        turns = [{"role": "user", "content": "Say it"}, {"role": "assistant", "content": "The"}]
        chat = lm.apply_chat_template(turns, add_generation_prompt=False)
        with pytest.raises(ValueError, match="cannot go on with an answer"):
            ask(lm, request(chat))


def test_chat_turns_and_clips_in_the_last_of_the_user(load: Load, shelf: Shelf) -> None:
    clip = shelf.put(file(tone(440, 0.5)))
    turns = [("system", "S"), ("user", "U1"), ("assistant", "A1"), ("user", "U2")]
    with FakeServer(listen) as server:
        lm = load(server)
        ask(lm, request(lm.apply_chat_template([{"role": role, "content": text} for role, text in turns]), clip))
    messages = server.requests[0].json["messages"]
    assert [(m["role"], m["content"]) for m in messages[:3]] == turns[:3]
    assert [block["type"] for block in messages[3]["content"]] == ["input_audio", "text"]


def test_stop_strings_beyond_the_four_that_can_be_sent_still_stop(load: Load) -> None:
    with FakeServer([chat_reply("one two six seven", "length")]) as server:
        lm = load(server)
        assert ask(lm, request("Count", until=["a", "b", "c", "d", " six"])) == ["one two"]
    assert server.requests[0].json["stop"] == ["a", "b", "c", "d"]
    assert lm.counts["answers_at_token_cap"] == 0


# ---------------------------------------------------------------------- what becomes of answers and faults


def test_finish_reasons(load: Load) -> None:
    replies = {
        "a": chat_reply("cut", "length"),
        "b": chat_reply("", "content_filter"),
        "c": chat_reply("whole"),
        "d": chat_reply(""),
    }
    with FakeServer(lambda came: replies[blocks(came)[0]["text"]]) as server:
        lm = load(server)
        answers = ask(lm, *(request(name) for name in replies))
    assert [answers[0], *answers[2:]] == ["cut", "whole", ""]
    assert read_failure(answers[1]) == ("model_error", "the server's content filter withheld the answer")
    assert lm.counts["answers_at_token_cap"] == 1
    assert lm.counts["failures"] == {"model_error": 1}


def test_a_refused_request_fails_alone_and_is_asked_again(load: Load, caplog: pytest.LogCaptureFixture) -> None:
    def script(came: Request) -> Response:
        return error(400, "too long") if blocks(came)[0]["text"] == "b" else chat_reply("fine")

    with FakeServer(script) as server:
        answers = ask(load(server), *map(request, "abc"))
        assert [answers[0], answers[2]] == ["fine", "fine"]
        assert read_failure(answers[1]) == ("model_error", "400: too long")
        before = len(server.requests)
        ask(load(server), *map(request, "abc"))
        assert len(server.requests) == before + 1
    assert "1 requests could not be put to the model" in caplog.text


def test_a_window_that_fails_fails_the_question_once(load: Load, shelf: Shelf) -> None:
    clip = shelf.put(file(tone(440, 5.0)))
    with FakeServer([error(400, "no"), chat_reply("fine")]) as server:
        lm = load(server, long_audio="chunk", max_audio_seconds=2, concurrency=1)
        answers = ask(lm, request("What?", clip), request("And?"))
    assert [read_failure(answers[0]), answers[1]] == [("model_error", "400: no"), "fine"]
    assert lm.effort["answers_asked"] == 2


def test_nothing_is_said_of_answers_where_there_are_none(load: Load) -> None:
    with FakeServer([error(401, "no such key")]) as server, pytest.raises(EndpointError, match="no such key") as told:
        ask(load(server, concurrency=1), request("1"))
    assert "stored" not in str(told.value)


def test_a_wrong_key_stops_the_run_and_keeps_what_was_answered(load: Load) -> None:
    script = [chat_reply("fine")] * 5 + [error(401, "key withdrawn")]
    with FakeServer(script) as server:
        with pytest.raises(EndpointError, match=r"key withdrawn.*answers so far are stored"):
            ask(load(server, concurrency=1), *(request(f"{i}") for i in range(9)))
        assert len(server.requests) == 6
        assert ask(load(server), request("4")) == ["fine"]
        assert len(server.requests) == 6


def test_faults_on_the_way_change_no_answer(load: Load, shelf: Shelf) -> None:
    """Every third request breaks, each in another way."""
    faults = [error(500, "oops"), Response(drop=True), Response(200, ""), error(429, "slow", headers={"Retry-After": "0"})]
    count = 0

    def script(came: Request) -> Response:
        nonlocal count
        count += 1
        return faults[count // 3 % len(faults)] if count % 3 == 0 else listen(came)

    requests = [request(f"Q{i}", shelf.put(file(tone(200 + 20 * i, 0.2)))) for i in range(16)]
    with FakeServer(script) as server:
        lm = load(server, retries=6, concurrency=8)
        assert ask(lm, *requests) == [f"Q{i}; wav 16000 Hz x1 0.20 s at {200 + 20 * i}" for i in range(16)]
    assert lm.counts["failures"] == {}
    assert lm.effort["retries"] >= 5


def test_stored_answers_hang_on_server_model_seed_and_preparation(load: Load, shelf: Shelf) -> None:
    clip = shelf.put(file(tone(440, 0.5)))
    with FakeServer(listen) as server, FakeServer(listen) as other:
        for _ in range(2):
            ask(load(server), request("Q", clip))
        assert len(server.requests) == 1
        different: list[dict[str, Any]] = [
            {"model": "other"},
            {"seed": 3},
            {"audio_format": "wav"},
            {"audio_position": "after"},
            {"audio": "none"},
            {"audio": "silence"},
            {"audio": "noise"},
            {"clips": "joined"},
            {"system_instruction": "S"},
            {"max_new_tokens": 3},
            {"sampling_rate": 8000},
        ]
        for n, options in enumerate(different, 2):
            ask(load(server, **options), request("Q", clip))
            assert len(server.requests) == n, options
        ask(load(other), request("Q", clip))
        assert len(other.requests) == 1
        ask(load(server, concurrency=2, timeout=5, retries=3), request("Q", clip))
        assert len(server.requests) == 1 + len(different), "how it is sent is not what is asked"


def test_cost_tokens_and_retries_in_the_results(load: Load) -> None:
    with FakeServer([error(500, "oops"), chat_reply("fine", prompt=1000, completion=50)]) as server:
        lm = load(server, retries=2, concurrency=1, prompt_price=2.5, completion_price=10)
        ask(lm, *map(request, "abcd"))
        info = lm.get_model_info()["dsb2_model"]
    assert info["server"] == server.url
    assert info["model"] == "served"
    took = info["time"]
    assert (took["requests"], took["prompt_tokens"], took["completion_tokens"], took["retries"]) == (4, 4000, 200, 1)
    assert took["cost"] == pytest.approx(4000 * 2.5e-6 + 200 * 10e-6)
    assert "cost" not in load(server).effort
    json.dumps(info)


def test_the_key_is_in_no_file_and_no_info(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("MY_KEY", "sk-very-secret")
    with FakeServer([chat_reply("fine")]) as server:
        lm = load(server, key_env="MY_KEY")
        ask(lm, request("Q"))
    assert server.requests[0].headers["authorization"] == "Bearer sk-very-secret"
    stored = [path.read_text() for path in tmp_path.rglob("*") if path.is_file()]
    assert stored
    assert "sk-very-secret" not in "".join(stored) + json.dumps(lm.get_model_info()) + str(vars(lm))


# ---------------------------------------------------------------------- arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"concurency": 8}, "did you mean 'concurrency'"),
        ({"model": None}, "model=... is missing"),
        ({"pretrained": "x"}, "mean the same"),
        ({"batch_size": 8}, "concurrency="),
        ({"base_url": "http://me:secret@host/v1"}, "names a user, password or key"),
        ({"base_url": "http://host/v1?api-key=secret"}, "names a user, password or key"),
        ({"base_url": "http://host/v1?sig=secret&v=2"}, "names a user, password or key"),
        ({"base_url": "http://host/v1?access_token=secret"}, "names a user, password or key"),
        ({"model": ""}, "model=''"),
        ({"max_audio_seconds": 0.01}, "at least 0.1 s"),
        ({"sampling_rate": 100}, "sampling_rate=100: .* outside 4000 to"),
        ({"long_audio": "chunk"}, "max_audio_seconds"),
        ({"long_audio": "chunks", "max_audio_seconds": 30}, "did you mean 'chunk'"),
        ({"containers": "wav+mp4"}, "containers='mp4'"),
        ({"audio_format": "mp3"}, "audio_format='mp3'"),
        ({"clips": "one"}, "clips='one'"),
        ({"audio_position": "middle"}, "audio_position"),
        ({"audio": "silent"}, "did you mean 'silence'"),
        ({"max_tokens_key": "max_new_tokens"}, "max_tokens_key"),
        ({"concurrency": 0}, "concurrency=0"),
        ({"requests_per_minute": "many"}, "requests_per_minute='many'"),
        ({"timeout": -1}, "timeout=-1"),
        ({"seed": 1.5}, "seed=1.5"),
        ({"prompt_price": -1}, "prompt_price=-1"),
        ({"resume": "yes"}, "resume='yes'"),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_arguments(load: Load, arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelArgError, match=message) as caught:
        load("http://host/v1", **arguments)
    assert "secret" not in str(caught.value)


def test_resume_false_stores_nothing_and_takes_no_folder(load: Load, tmp_path: Path) -> None:
    with FakeServer(listen) as server:
        lm = load(server, resume=False)
        ask(lm, request("Q"))
        ask(lm, request("Q"))
    assert len(server.requests) == 2
    assert list(tmp_path.rglob("*.jsonl")) == []
    with pytest.raises(ModelArgError, match="leave one out"):
        load("http://host/v1", resume=False, responses="x")


def test_a_chat_template_by_name_is_refused_and_the_servers_own_one_taken(load: Load) -> None:
    lm = load("http://host/v1")
    assert lm.chat_template(True) == lm.chat_template(False) == ""
    with pytest.raises(SettingError, match="--apply_chat_template chatml: dsb2-api uses the model's own"):
        lm.chat_template("chatml")


def test_texts_that_lm_eval_takes_for_numbers_are_texts(load: Load, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    with FakeServer(listen) as server:
        lm = APIModel.create_from_arg_string(f"base_url={server.url},model=5,system_instruction=007,responses=12", {})
        ask(lm, request("Q"))
    assert server.requests[0].json["model"] == "5"
    assert server.requests[0].json["messages"][0] == {"role": "system", "content": "7"}
    assert list(Path("12").rglob("*.jsonl"))


def test_a_version_in_the_address_is_no_secret(load: Load) -> None:
    assert load("http://host/v1?api-version=2026-01-01&monkey_business=1").identity["server"] == "http://host/v1"


def test_what_lm_eval_gives_every_model_is_taken(load: Load) -> None:
    given = {"base_url": "http://host/v1", "model": "m"}
    host = {"batch_size": "auto:4", "max_batch_size": None, "device": "cuda:0"}
    assert APIModel.create_from_arg_obj(given, host).identity["model"] == "m"
    assert APIModel.create_from_arg_string("base_url=http://host/v1,model=m", host).identity["server"] == "http://host/v1"


def test_several_processes_are_refused(load: Load, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(ModelArgError, match="raise concurrency="):
        load("http://host/v1")


# ---------------------------------------------------------------------- whole runs

TASKS = ",".join(
    f"dsb2_{name}"
    for name in ("superb_asr_librispeech", "speaker_verification_librispeech_clean", "spatial_audio", "superb_sf_audiosnips")
)


def _command(server: FakeServer, out: Path, *more: str) -> tuple[list[str], dict[str, str]]:
    model = f"base_url={server.url},model=served,concurrency=3,retries=1"
    command = [sys.executable, "-m", "lm_eval", "--tasks", TASKS, "--model", "dsb2-api", "--model_args", model, *more]
    command += ["--metadata", '{"data": "samples"}', "--log_samples", "--output_path", str(out)]
    return command, {**os.environ, "DSB2_CACHE": str(out / "cache"), "OPENAI_API_KEY": "sk-very-secret"}


def _samples(out: Path) -> dict[str, list[Any]]:
    files = {path.name.rsplit("_", 1)[0]: path for path in sorted(out.rglob("samples_*.jsonl"))}
    return {name: [json.loads(line) for line in path.read_text().splitlines()] for name, path in files.items()}


@pytest.mark.long  # in forked processes by default: tests/faults/test_model_server.py
def test_a_run_that_is_killed_and_resumed_asks_only_for_the_rest(tmp_path: Path) -> None:
    slow = True

    def script(came: Request) -> Response:
        return chat_reply(listen(came).body["choices"][0]["message"]["content"], delay=0.3 if slow else 0.0)

    with FakeServer(script) as server:
        command, environment = _command(server, tmp_path)
        process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(lambda: len(server.requests) > 6 or process.poll() is not None, 120)
        assert process.poll() is None, "the run was over before it could be killed"
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        time.sleep(0.5)
        killed_at = len(server.requests)
        slow = False
        done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stderr[-3000:]
        resumed = len(server.requests) - killed_at

    samples = _samples(tmp_path)
    total = sum(len(rows) for rows in samples.values())
    results = json.loads(next(tmp_path.rglob("results_*.json")).read_text())
    info = results["config"]["dsb2_model"]
    assert info["answers"] == total
    assert info["time"]["answers_asked"] == info["time"]["requests"] == resumed
    # Of the requests of the killed run at most those in flight are lost.
    assert total - killed_at <= resumed <= total - killed_at + 3
    assert resumed < total
    for rows in samples.values():
        for row in rows:
            answer, asked = row["resps"][0][0], row["arguments"]["gen_args_0"]
            assert answer.startswith(asked["arg_0"])
            assert len(re.findall(r"; (?:wav|mp3) \d+ Hz", answer)) == len(asked["arg_2"]["audio"])
    everything = "".join(path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())
    assert "sk-very-secret" not in everything + done.stdout + done.stderr
