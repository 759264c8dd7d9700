"""A server on this machine that answers as it is told to: right, wrong, late, or not at all."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from email import message_from_bytes
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Request:
    """What a client sent; names of headers are lower-case."""

    path: str
    headers: dict[str, str]
    body: bytes

    @cached_property
    def json(self) -> Any:
        return json.loads(self.body)

    @cached_property
    def form(self) -> dict[str, tuple[str | None, bytes]]:
        """Parts of a multipart body by name: file name (None for a plain field) and content."""
        whole = message_from_bytes(b"Content-Type: " + self.headers["content-type"].encode() + b"\r\n\r\n" + self.body)
        parts = {}
        for part in whole.get_payload():
            raw = dict(part.raw_items())["Content-Disposition"]  # bytes beyond ASCII as lone surrogates
            named = dict(re.findall(r'(name|filename)="([^"]*)"', raw.encode("ascii", "surrogateescape").decode()))
            parts[named["name"]] = (named.get("filename"), part.get_payload(decode=True))
        return parts


@dataclass(frozen=True)
class Response:
    """What the server does.

    Attributes:
        status: HTTP status.
        body: Bytes, a text, or a value to be sent as JSON.
        headers: Further headers.
        delay: Seconds before anything is sent.
        drop: Break the connection after half of the body (before the status, if there is no body).
    """

    status: int = 200
    body: Any = ""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    drop: bool = False

    @property
    def data(self) -> bytes:
        if isinstance(self.body, bytes):
            return self.body
        return (self.body if isinstance(self.body, str) else json.dumps(self.body)).encode()


def chat_reply(text: Any, finish_reason: str = "stop", prompt: int = 100, completion: int = 10, **options: Any) -> Response:
    """A chat completion as OpenAI's servers give it; ``options`` are those of :class:`Response`."""
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": finish_reason}
    usage = {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}
    return Response(body={"object": "chat.completion", "model": "served", "choices": [choice], "usage": usage}, **options)


def error(status: int, message: str, code: str | None = None, **options: Any) -> Response:
    """An error as OpenAI's servers give it."""
    return Response(status, {"error": {"message": message, "type": "some_error", "code": code}}, **options)


class FakeServer:
    """``with FakeServer(script) as server:`` answers at ``server.url`` until the block ends.

    Attributes:
        requests: All that came, in order of arrival.
        max_in_flight: Most requests that were open at the same time.
    """

    def __init__(self, script: Sequence[Response] | Callable[[Request], Response]) -> None:
        """Takes what to do.

        Args:
            script: A function of the request, called from several threads, or responses in order of arrival, of which the last
                one is for all further requests.
        """
        self._script = script
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.max_in_flight = self._in_flight = 0
        self._closing = threading.Event()
        self._server = _Server(("127.0.0.1", 0), _handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> FakeServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Goes away as a killed server does: requests that still wait get no answer, kept connections break."""
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        for connection in self._server.connections:
            with suppress(OSError):  # the client may have closed it
                connection.shutdown(socket.SHUT_RDWR)

    def _respond(self, request: Request) -> Response:
        with self._lock:
            self.requests.append(request)
            n = len(self.requests)
            self._in_flight += 1
            self.max_in_flight = max(self.max_in_flight, self._in_flight)
        response = self._script(request) if callable(self._script) else self._script[min(n, len(self._script)) - 1]
        if response.delay and self._closing.wait(response.delay):
            return Response(drop=True)
        return response

    def _done(self) -> None:
        with self._lock:
            self._in_flight -= 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, *arguments: Any) -> None:
        self.connections: list[socket.socket] = []
        super().__init__(*arguments)

    def process_request(self, request: Any, client_address: Any) -> None:
        self.connections.append(request)
        super().process_request(request, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away is nothing to print."""


def _handler(server: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body in one packet: apart, they wait for each other 40 ms.
        wbufsize = -1

        def do_GET(self) -> None:
            length = int(self.headers.get("content-length", 0))
            headers = {name.lower(): value for name, value in self.headers.items()}
            try:
                response = server._respond(Request(self.path, headers, self.rfile.read(length)))
            finally:
                server._done()
            data = response.data
            if response.drop and not data:
                self.close_connection = True
                return
            self.send_response(response.status)
            for name, value in {"Content-Type": "application/json", **response.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data[: len(data) // 2] if response.drop else data)
            self.wfile.flush()
            self.close_connection = self.close_connection or response.drop

        do_POST = do_GET

        def log_message(self, *_: Any) -> None:
            """Quiet."""

    return Handler


def wait_until(happened: Callable[[], bool], seconds: float = 10.0) -> None:
    """Waits for something that another thread does."""
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.005)
