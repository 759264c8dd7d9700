"""The client and everything a server may do to it."""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from _server import FakeServer, Request, Response, chat_reply, error, wait_until

from dsb2_tasks.endpoint import Endpoint, EndpointError, Failed, Reply, Usage

KEY = "sk-very-secret-0123456789"
OK = chat_reply("fine")


class Time:
    """A clock that sleeping moves on."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)


def make(url: str, **options: Any) -> tuple[Endpoint, Time]:
    clock = Time()
    return Endpoint(url, "some-model", clock=clock, sleep=clock.sleep, **options), clock


def bodies(n: int) -> list[dict[str, Any]]:
    return [{"messages": [{"role": "user", "content": f"question {i}"}]} for i in range(n)]


def asked(request: Request) -> int:
    return int(request.json["messages"][0]["content"].split()[1])


def test_replies_carry_their_number_text_and_usage() -> None:
    with FakeServer(lambda request: chat_reply(f"answer {asked(request)}", prompt=7, completion=3)) as server:
        endpoint, _ = make(server.url)
        replies = dict(endpoint.chat(bodies(20)))
    assert {i: reply.text for i, reply in replies.items()} == {i: f"answer {i}" for i in range(20)}
    assert replies[4].finish_reason == "stop"
    assert (replies[4].usage.prompt_tokens, replies[4].usage.completion_tokens, replies[4].usage.requests) == (7, 3, 1)
    assert (endpoint.usage.requests, endpoint.usage.prompt_tokens, endpoint.usage.completion_tokens) == (20, 140, 60)
    assert {request.path for request in server.requests} == {"/v1/chat/completions"}
    assert {request.json["model"] for request in server.requests} == {"some-model"}
    assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {KEY}"}


def test_never_more_in_flight_than_allowed_and_bodies_are_pulled_late() -> None:
    pulled: list[int] = []

    def lazily() -> Any:
        for i, body in enumerate(bodies(24)):
            pulled.append(i)
            yield body

    with FakeServer(lambda _: chat_reply("fine", delay=0.02)) as server:
        endpoint, _ = make(server.url, concurrency=3)
        for done, _reply in enumerate(endpoint.chat(lazily()), 1):
            assert len(pulled) <= done + 3
    assert server.max_in_flight == 3
    assert len(server.requests) == 24


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (error(408, "timeout"), "408"),
        (error(409, "conflict"), "409"),
        (error(429, "slow down"), "429"),
        (error(500, "oops"), "500"),
        (error(503, "loading"), "503"),
        (Response(502, "<html>bad gateway</html>"), "502"),
        (Response(drop=True), "connection broke"),
        (chat_reply("half of this", drop=True), "connection broke"),
        (Response(200, ""), "empty body"),
        (Response(200, '{"choices": ['), "no JSON"),
        (Response(200, {"error": {"code": 502, "message": "upstream"}}), "upstream"),
        (Response(200, {"choices": []}), "choices"),
        (Response(200, {"choices": [{"message": {"content": 5}}]}), "no text"),
        (Response(200, b"\xff\xfe\x00"), "no JSON"),
        (Response(200, "[" * 100_000), "no JSON"),
        (Response(200, b"no gzip", {"Content-Encoding": "gzip"}), "decode"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_passing_faults_are_tried_again(fault: Response, reason: str) -> None:
    with FakeServer([fault, fault, OK]) as server:
        endpoint, _ = make(server.url, retries=2)
        assert [reply.text for _, reply in endpoint.chat(bodies(1))] == ["fine"]
        assert endpoint.usage.retries == 2
    with FakeServer([fault]) as server:
        endpoint, _ = make(server.url, retries=2)
        [(_, failed)] = endpoint.chat(bodies(1))
    assert isinstance(failed, Failed)
    assert reason in failed.reason and "\n" not in failed.reason
    assert "sent 3 times" in failed.reason
    assert failed.kind == ("gave_up" if fault.status != 200 or fault.drop or fault.headers else "malformed")
    assert len(server.requests) == 3


def test_a_late_answer_is_asked_for_again() -> None:
    with FakeServer([chat_reply("late", delay=5.0), OK]) as server:
        endpoint = Endpoint(server.url, timeout=0.2)
        began = time.monotonic()
        assert [reply.text for _, reply in endpoint.chat(bodies(1))] == ["fine"]
        assert time.monotonic() - began < 3


def test_waits_grow_and_are_jittered() -> None:
    with FakeServer([error(500, "oops")]) as server:
        endpoint, clock = make(server.url, retries=8)
        list(endpoint.chat(bodies(1)))
    assert len(clock.slept) == 8
    for i, wait in enumerate(clock.slept):
        full = min(30.0, 0.5 * 2**i)
        assert full / 2 <= wait <= full
    assert len({round(wait / min(30.0, 0.5 * 2**i), 6) for i, wait in enumerate(clock.slept)}) > 1


@pytest.mark.parametrize(
    ("header", "least", "most"),
    [
        ("7", 7.0, 7.0),
        ("0.25", 0.25, 0.5),
        ("in 60 s", 30.0, 61.0),
        ("86400", 120.0, 120.0),
        ("-5", 0.0, 0.5),
        ("nan", 0.0, 0.5),
        ("tomorrow", 0.0, 0.5),
        ("Wed, 21 Oct 2015 07:28:00 GMT", 0.0, 0.5),
    ],
)
def test_retry_after(header: str, least: float, most: float) -> None:
    if header == "in 60 s":  # made when the test runs, which may be minutes after it was collected
        header = format_datetime(datetime.now(UTC) + timedelta(seconds=60), usegmt=True)
    with FakeServer([error(503, "busy", headers={"Retry-After": header}), OK]) as server:
        endpoint, clock = make(server.url)
        list(endpoint.chat(bodies(1)))
    assert least <= clock.slept[0] <= most


def test_a_429_holds_all_requests_back() -> None:
    times: list[float] = []

    def script(request: Request) -> Response:
        times.append(clock.now)
        return error(429, "slow down", headers={"Retry-After": "50"}) if len(times) == 1 else OK

    with FakeServer(script) as server:
        endpoint, clock = make(server.url, concurrency=1)
        list(endpoint.chat(bodies(1)))
        list(endpoint.chat(bodies(3)))
        assert min(times[1:]) >= times[0] + 50
        # One in flight meets the 429; the other, not sent yet, waits too although nobody told it.
        clock.slept.clear()
        endpoint._paused_until = clock.now + 20
        list(endpoint.chat(bodies(1)))
        assert 20 <= sum(clock.slept) <= 21


@pytest.mark.parametrize("status", [400, 413, 415, 422])
def test_a_refusal_is_of_that_request_only(status: int) -> None:
    with FakeServer(lambda request: error(status, "too long") if asked(request) == 1 else OK) as server:
        endpoint, clock = make(server.url)
        replies = dict(endpoint.chat(bodies(3)))
    assert replies[1] == Failed(f"{status}: too long", "refused")
    assert replies[0].text == replies[2].text == "fine"
    assert not clock.slept
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("response", "says"),
    [
        (error(401, "bad key"), "OPENAI_API_KEY was sent"),
        (error(403, "not yours"), "OPENAI_API_KEY was sent"),
        (error(404, "The model `some-model` does not exist"), "model='some-model'"),
        (error(405, "no"), "/v1"),
        (error(402, "pay"), "credit"),
        (error(429, "over quota", "insufficient_quota"), "credit"),
        (Response(307, "", {"Location": "http://elsewhere/v1"}), "another address"),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_no_request_can_pass_stops_the_run(response: Response, says: str) -> None:
    with FakeServer([response]) as server:
        endpoint, _ = make(server.url, concurrency=1)
        with pytest.raises(EndpointError, match=says) as caught:
            list(endpoint.chat(bodies(5)))
    assert len(server.requests) == 1
    assert KEY not in str(caught.value)


def test_a_403_after_an_answer_is_about_one_request() -> None:
    with FakeServer([OK, error(403, "flagged by the moderator"), OK]) as server:
        endpoint, _ = make(server.url, concurrency=1)
        replies = [reply for _, reply in endpoint.chat(bodies(3))]
    assert replies[1] == Failed("403: flagged by the moderator", "refused")


def test_a_missing_key_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with FakeServer([error(401, "who are you?")]) as server:
        with pytest.raises(EndpointError, match="OPENAI_API_KEY is not set"):
            list(make(server.url)[0].chat(bodies(1)))
        with pytest.raises(EndpointError, match="No key is named"):
            list(make(server.url, key_env=None)[0].chat(bodies(1)))
    assert all("authorization" not in request.headers for request in server.requests)


def test_nobody_there() -> None:
    with FakeServer([OK]) as server:
        url = server.url
    endpoint, clock = make(url)
    with pytest.raises(EndpointError, match="Is the server running, and base_url right"):
        list(endpoint.chat(bodies(3)))
    assert not clock.slept


def test_a_server_that_dies_ends_the_run_and_what_came_is_kept() -> None:
    with FakeServer([OK]) as server:
        endpoint, _ = make(server.url, concurrency=3, retries=2)
        flight = endpoint.chat(bodies(1000))
        kept = [next(flight)[1] for _ in range(10)]
        server.close()
        failed = []
        with pytest.raises(EndpointError, match=r"the last 5 requests all failed after 2 retries"):
            failed.extend(reply for _, reply in flight)
    assert all(reply.text == "fine" for reply in kept)
    # A reply or two may have been on their way already.
    assert [reply.kind for reply in failed if isinstance(reply, Failed)] == ["gave_up"] * 5
    assert len(failed) <= 8


def test_what_is_ready_is_yielded_before_the_run_stops() -> None:
    def script(request: Request) -> Response:
        return OK if asked(request) < 3 else error(401, "key withdrawn", delay=0.1)

    with FakeServer(script) as server:
        flight = make(server.url, concurrency=4)[0].chat(bodies(4))
        first = next(flight)
        time.sleep(0.4)  # by now the other two are there, and the 401 too
        with pytest.raises(EndpointError, match="key withdrawn"):
            seen = [first]
            for pair in flight:
                seen.append(pair)
    assert sorted(i for i, _ in seen) == [0, 1, 2]


def test_many_first_refusals_are_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    with FakeServer([error(400, "audio is not supported")]) as server, caplog.at_level(logging.WARNING):
        assert len(list(make(server.url)[0].chat(bodies(50)))) == 50
    # By identity: a test before this one may have had lm-eval set up logging, and then each record is caught twice.
    said = {id(record): record.getMessage() for record in caplog.records}
    assert list(said.values()) == [f"{server.url} refused the first 20 requests; the last: 400: audio is not supported"]


def test_requests_per_minute() -> None:
    times: list[float] = []

    def script(_: Request) -> Response:
        times.append(clock.now)
        return OK

    with FakeServer(script) as server:
        endpoint, clock = make(server.url, concurrency=1, requests_per_minute=30)
        list(endpoint.chat(bodies(6)))
    assert [round(at - times[0], 6) for at in times] == [0, 2, 4, 6, 8, 10]


def test_tokens_per_minute() -> None:
    with FakeServer([chat_reply("fine", prompt=900, completion=100)]) as server:
        endpoint, clock = make(server.url, concurrency=1, tokens_per_minute=6000)
        list(endpoint.chat(bodies(31)))
    # 30,000 tokens before the last request, at 6,000 a minute.
    assert 270 <= clock.now - 1000 <= 310


@pytest.mark.parametrize(
    "content",
    ["fine", [{"type": "text", "text": "fi"}, {"type": "text", "text": "ne"}], ["fi", "ne"]],
    ids=["text", "parts", "texts"],
)
def test_forms_of_content(content: Any) -> None:
    with FakeServer([chat_reply(content)]) as server:
        assert [reply.text for _, reply in make(server.url)[0].chat(bodies(1))] == ["fine"]


def test_no_content_is_an_empty_answer_and_a_refusal_in_its_own_field_is_one() -> None:
    spent = chat_reply(None, "length")
    refused = Response(body={"choices": [{"message": {"content": None, "refusal": "I will not."}, "finish_reason": "stop"}]})
    with FakeServer([spent, refused]) as server:
        replies = [reply for _, reply in make(server.url, concurrency=1)[0].chat(bodies(2))]
    assert [(reply.text, reply.finish_reason) for reply in replies] == [("", "length"), ("I will not.", "stop")]
    assert replies[1].usage.prompt_tokens == 0


@pytest.mark.parametrize("usage", [None, 5, {"prompt_tokens": "many"}, {"prompt_tokens": -3}, {"prompt_tokens": True}])
def test_strange_usage_counts_nothing(usage: Any) -> None:
    body = {**OK.body, "usage": usage}
    with FakeServer([Response(body=body)]) as server:
        [(_, reply)] = make(server.url)[0].chat(bodies(1))
    assert (reply.text, reply.usage.prompt_tokens) == ("fine", 0)


def test_a_body_without_end_is_not_read_to_it() -> None:
    with FakeServer([Response(body=b" " * (17 << 20)), OK]) as server:
        assert [reply.text for _, reply in make(server.url)[0].chat(bodies(1))] == ["fine"]


def test_transcripts() -> None:
    def script(request: Request) -> Response:
        name, data = request.form["file"]
        return Response(body={"text": f"{name} has {len(data)} bytes", "usage": {"input_tokens": 4, "output_tokens": 2}})

    items = [("a.wav", b"RIFF" + bytes(100), {"language": "en"}), ("b ü.mp3", bytes(7), {})]
    with FakeServer(script) as server:
        endpoint, _ = make(server.url, concurrency=1)
        replies = [reply for _, reply in endpoint.transcribe(items)]
    assert [reply.text for reply in replies] == ["a.wav has 104 bytes", "b ü.mp3 has 7 bytes"]
    assert replies[0].usage.completion_tokens == 2
    first = server.requests[0]
    assert first.path == "/v1/audio/transcriptions"
    assert {name: first.form[name][1] for name in ("model", "language", "response_format")} == {
        "model": b"some-model",
        "language": b"en",
        "response_format": b"json",
    }


def test_a_transcript_is_sent_whole_again() -> None:
    with FakeServer([error(500, "oops"), Response(body={"text": "hello"})]) as server:
        [(_, reply)] = make(server.url)[0].transcribe([("a.wav", b"abc", {})])
    assert reply.text == "hello"
    assert [request.form["file"][1] for request in server.requests] == [b"abc", b"abc"]


@pytest.mark.parametrize("stopping", [KeyboardInterrupt, RuntimeError])
def test_leaving_in_the_middle_is_prompt(stopping: type[BaseException]) -> None:
    with FakeServer(lambda request: OK if asked(request) == 0 else chat_reply("late", delay=30)) as server:
        endpoint = Endpoint(server.url, concurrency=4)
        began = time.monotonic()
        with pytest.raises(stopping):
            for _ in endpoint.chat(bodies(9)):
                raise stopping
        assert time.monotonic() - began < 3


def test_it_works_inside_an_event_loop() -> None:
    async def notebook(url: str) -> list[Any]:
        return list(Endpoint(url).chat(bodies(2)))

    with FakeServer([OK]) as server:
        assert [reply.text for _, reply in asyncio.run(notebook(server.url))] == ["fine", "fine"]


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("http://host:8000/v1", "http://host:8000/v1"),
        ("http://host:8000/v1/", "http://host:8000/v1"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/v1/audio/transcriptions/", "https://host/v1"),
        ("https://me:pass@host/v1?api-key=123#x", "https://host/v1"),
    ],
)
def test_shown_address(given: str, shown: str) -> None:
    assert Endpoint(given).url == shown
    assert repr(Endpoint(given, "m")) == f"Endpoint({shown!r}, model='m')"


@pytest.mark.parametrize("url", ["localhost:8000", "", "ftp://host/v1", "http://", "http://host:port", "me:pass@host"])
def test_no_address(url: str) -> None:
    with pytest.raises(EndpointError, match="is no address of a server") as caught:
        Endpoint(url)
    assert "pass" not in str(caught.value)


@pytest.mark.parametrize("options", [{"concurrency": 0}, {"timeout": 0}, {"retries": -1}, {"requests_per_minute": 0}])
def test_numbers_out_of_range(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))}="):
        Endpoint("http://host", **options)


def test_query_and_user_of_the_address_are_sent_but_not_shown(caplog: pytest.LogCaptureFixture) -> None:
    def script(request: Request) -> Response:
        return error(400, f"{request.path} {request.headers['authorization']}")

    with FakeServer(script) as server, caplog.at_level(logging.DEBUG):
        url = server.url.replace("http://", "http://me:pa%20ss@") + "?api-version=2024-1"
        [(_, failed)] = make(url)[0].chat(bodies(1))
    [request] = server.requests
    assert request.path == "/v1/chat/completions?api-version=2024-1"
    assert request.headers["authorization"].startswith("Basic ")
    assert "2024-1" not in failed.reason
    assert "pa ss" not in caplog.text
    assert "2024-1" not in caplog.text


def _everything(endpoint: Endpoint, outcome: object, caplog: pytest.LogCaptureFixture) -> str:
    return "\n".join([repr(endpoint), str(vars(endpoint)), repr(outcome), caplog.text])


@pytest.mark.parametrize("status", [200, 400, 401, 404, 429, 500])
def test_the_key_is_shown_nowhere_even_if_the_server_repeats_it(status: int, caplog: pytest.LogCaptureFixture) -> None:
    def script(request: Request) -> Response:
        return Response(status, {"error": f"you sent {request.headers['authorization']} and {request.headers['x-other']}"})

    with FakeServer(script) as server, caplog.at_level(logging.DEBUG):
        endpoint, _ = make(server.url, retries=1, headers={"X-Other": "another-secret"})
        try:
            outcome: object = list(endpoint.chat(bodies(1)))
        except EndpointError as caught:
            outcome = caught
            assert caught.__context__ is None
        seen = _everything(endpoint, outcome, caplog)
    assert KEY not in seen
    assert "another-secret" not in repr(outcome) + caplog.text
    assert "you sent Bearer *** and ***" in seen


def test_the_key_is_read_when_it_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer([OK]) as server:
        endpoint, _ = make(server.url, key_env="OTHER_KEY")
        list(endpoint.chat(bodies(1)))
        monkeypatch.setenv("OTHER_KEY", " new-key\n")
        list(endpoint.chat(bodies(1)))
    assert [request.headers.get("authorization") for request in server.requests] == [None, "Bearer new-key"]


def test_a_key_with_a_line_in_it_is_refused_without_being_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{KEY}\nX-Evil: 1")
    with FakeServer([OK]) as server, pytest.raises(EndpointError, match="OPENAI_API_KEY holds characters") as caught:
        list(make(server.url)[0].chat(bodies(1)))
    assert KEY not in str(caught.value)


def test_reasons_are_one_short_printable_line() -> None:
    with FakeServer([error(400, "a\nb\x1b[31m" + "x" * 10_000)]) as server:
        [(_, failed)] = make(server.url)[0].chat(bodies(1))
    assert failed.reason.startswith("400: a b?[31mxx")
    assert len(failed.reason) < 320
    assert failed.reason.isprintable()


def test_a_body_that_is_no_json_is_the_callers_fault() -> None:
    with FakeServer([OK]) as server, pytest.raises(ValueError, match="JSON"):
        list(make(server.url)[0].chat([{"temperature": float("nan")}]))
    assert server.requests == []


def test_lone_surrogates_travel() -> None:
    with FakeServer(lambda request: chat_reply(request.json["messages"][0]["content"])) as server:
        [(_, reply)] = make(server.url)[0].chat([{"messages": [{"role": "user", "content": "a\ud800b"}]}])
    assert reply.text == "a\ud800b"


def test_usage_adds_up() -> None:
    assert Usage(1, 2, 3, 4, 0.5) + Usage(10, 20, 30, 40, 0.25) == Usage(11, 22, 33, 44, 0.75)
    assert Usage(11, 22, 33, 44, 0.75) - Usage(10, 20, 30, 40, 0.25) == Usage(1, 2, 3, 4, 0.5)
    assert json.dumps(vars(Usage(1))) and Reply("a", None, Usage()).usage == Usage()


def test_ctrl_c_ends_a_waiting_program_at_once() -> None:
    program = """
import signal, sys
from dsb2_tasks.endpoint import Endpoint
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs, which tests may be, ignore it
for _ in Endpoint(sys.argv[1], concurrency=4).chat([{}] * 99):
    pass
"""
    with FakeServer(lambda _: chat_reply("late", delay=60)) as server:
        process = subprocess.Popen([sys.executable, "-c", program, server.url], stderr=subprocess.PIPE, text=True)
        wait_until(lambda: len(server.requests) == 4, 60)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        _, printed = process.communicate(timeout=30)
        assert time.monotonic() - began < 5
    assert printed.rstrip().endswith("KeyboardInterrupt")
    assert len(server.requests) == 4


def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with FakeServer([OK]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url.removesuffix("/v1"))
        assert [reply.text for _, reply in make("http://far.invalid/v1")[0].chat(bodies(1))] == ["fine"]
        assert proxy.requests[0].path == "http://far.invalid/v1/chat/completions"
        monkeypatch.setenv("no_proxy", "far.invalid")
        with pytest.raises(EndpointError, match="cannot connect"):
            list(make("http://far.invalid/v1")[0].chat(bodies(1)))
