"""A hub on this machine: as much of the API as downloading data sets needs, with faults on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Fault:
    """What is answered in place of what is right.

    Attributes:
        status: HTTP status.
        headers: Over those of the right answer.
        body: Bytes; None for those of the right answer.
        cut: Break the connection after half of the body.
    """

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | None = b""
    cut: bool = False


def refusal(status: int, code: str, message: str = "") -> Fault:
    """A refusal with the reason in the headers, as the hub gives it."""
    return Fault(status, {"X-Error-Code": code, "X-Error-Message": message}, b"{}")


class FakeHub:
    """Data sets as ``{"Org/Name": {file: bytes}}``, each with one commit.

    Attributes:
        url: For ``HF_ENDPOINT``.
        asked: Every request as ``"METHOD path"``.
        fault: From such a request to what goes wrong with it, if anything; called from several threads.
    """

    def __init__(self, repos: dict[str, dict[str, bytes]]) -> None:
        self.repos, self.asked = repos, []
        self.fault: Callable[[str], Fault | None] = lambda _: None
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer()

            def do_GET(self) -> None:
                self._answer()

            def _answer(self) -> None:
                path = urlsplit(self.path).path
                asked = f"{self.command} {path}"
                hub.asked.append(asked)
                status, headers, body = hub.answer(path)
                fault = hub.fault(asked)
                if fault is not None:
                    status, headers = fault.status, {**headers, **fault.headers}
                    body = body if fault.body is None else fault.body
                self.send_response(status)
                for name, value in {"Content-Length": str(len(body)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body[: len(body) // 2] if fault is not None and fault.cut else body)
                self.close_connection = fault is not None and fault.cut

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def commit(self, repo: str) -> str:
        return hashlib.sha1(repo.encode()).hexdigest()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        parts = path.strip("/").split("/")
        api = parts[0] == "api"
        repo = "/".join(parts[2:4] if api else parts[1:3])
        if repo not in self.repos:
            return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "Repository not found"}, b"{}"
        files, commit = self.repos[repo], self.commit(repo)
        if not {*parts[5:6], commit} & {commit, "main"}:
            return 404, {"X-Error-Code": "RevisionNotFound", "X-Error-Message": "Invalid rev id"}, b"{}"
        if api and parts[4:5] == ["tree"]:
            tree = [{"type": "file", "path": name, "size": len(data), "oid": _etag(data)} for name, data in files.items()]
            return 200, {"Content-Type": "application/json"}, json.dumps(tree).encode()
        if api:
            siblings = [{"rfilename": name, "size": len(data), "blobId": _etag(data)} for name, data in files.items()]
            info = {"id": repo, "sha": commit, "siblings": siblings, "private": False, "downloads": 0, "tags": [], "likes": 0}
            return 200, {"Content-Type": "application/json"}, json.dumps(info).encode()
        data = files["/".join(parts[5:])]
        return 200, {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": commit, "Accept-Ranges": "none"}, data


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()
