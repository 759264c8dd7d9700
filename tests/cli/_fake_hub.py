"""A hub on this machine: as much of the API as downloading data sets needs, with faults on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class FakeHub:
    """Data sets as ``{"Org/Name": {file: bytes}}``.

    Attributes:
        url: For ``HF_ENDPOINT``.
        asked: Every request as ``"METHOD path"``.
        busy: Number of requests for files that are answered with "service unavailable" first.
    """

    def __init__(self, repos: dict[str, dict[str, bytes]]) -> None:
        self.repos, self.asked, self.busy = repos, [], 0
        hub = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_HEAD(self) -> None:
                self._answer()

            def do_GET(self) -> None:
                self._answer()

            def _answer(self) -> None:
                path = urlsplit(self.path).path
                hub.asked.append(f"{self.command} {path}")
                status, headers, body = hub.answer(path)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(body))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if self.command == "GET":
                    self.wfile.write(body)

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
        if api and parts[4:5] == ["tree"]:
            tree = [{"type": "file", "path": name, "size": len(data), "oid": _etag(data)} for name, data in files.items()]
            return 200, {"Content-Type": "application/json"}, json.dumps(tree).encode()
        if api:
            siblings = [{"rfilename": name, "size": len(data), "blobId": _etag(data)} for name, data in files.items()]
            info = {"id": repo, "sha": commit, "siblings": siblings, "private": False, "downloads": 0, "tags": [], "likes": 0}
            return 200, {"Content-Type": "application/json"}, json.dumps(info).encode()
        if self.busy > 0:
            self.busy -= 1
            return 503, {}, b""
        data = files["/".join(parts[5:])]
        return 200, {"ETag": f'"{_etag(data)}"', "X-Repo-Commit": commit, "Accept-Ranges": "none"}, data


def _etag(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()
