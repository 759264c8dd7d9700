"""Where requests go and how they are signed; what may be shown of it."""

from __future__ import annotations

import base64
import os
import urllib.request
from collections.abc import Iterable
from urllib.parse import SplitResult, unquote, urlsplit

from dsb2_tasks.endpoint._types import EndpointError

_PATHS = ("/chat/completions", "/audio/transcriptions")


class Address:
    """The base URL of a server."""

    def __init__(self, base_url: str) -> None:
        """Reads a URL such as ``http://localhost:8000/v1``; that of a whole route (``.../v1/chat/completions``) is understood.

        Raises:
            EndpointError: It is no http(s) URL.
        """
        try:
            parts = urlsplit(str(base_url).strip())
            valid = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            shown = str(base_url).rpartition("@")[2].partition("?")[0]
            raise EndpointError(f"base_url={shown!r} is no address of a server; give for example http://localhost:8000/v1")
        path = parts.path.rstrip("/")
        for route in _PATHS:
            path = path.removesuffix(route)
        self._parts = parts._replace(path=path, fragment="")

    def __str__(self) -> str:
        """Without user, password and query, any of which may be secret."""
        return _without_user(self._parts)._replace(query="").geturl()

    def route(self, path: str) -> str:
        """The URL of a route, without user and password."""
        return _without_user(self._parts)._replace(path=self._parts.path + path).geturl()

    @property
    def basic(self) -> str | None:
        """The Authorization header for the user and password that the URL names."""
        if self._parts.username is None:
            return None
        return "Basic " + base64.b64encode(":".join(self._user).encode()).decode()

    @property
    def secrets(self) -> list[str]:
        """Parts that must not be shown."""
        return [*self._user, self.basic or "", self._parts.query]

    @property
    def _user(self) -> tuple[str, str]:
        return unquote(self._parts.username or ""), unquote(self._parts.password or "")

    @property
    def proxy(self) -> str | None:
        """The proxy that the environment (``HTTPS_PROXY``, ``NO_PROXY`` ...) names for this host."""
        host = self._parts.netloc.rpartition("@")[2]
        return None if urllib.request.proxy_bypass(host) else urllib.request.getproxies().get(self._parts.scheme)


def _without_user(parts: SplitResult) -> SplitResult:
    return parts._replace(netloc=parts.netloc.rpartition("@")[2])


def read_key(key_env: str | None) -> str | None:
    """The key in an environment variable; None if it is not set, as servers on one's own machine need none.

    Raises:
        EndpointError: What is set is no key.
    """
    key = os.environ.get(key_env, "").strip() if key_env else ""
    if not (key.isascii() and key.isprintable()):
        raise EndpointError(f"the environment variable {key_env} holds characters that no key has; set it anew")
    return key or None


def hide(text: str, secrets: Iterable[str]) -> str:
    """The text without secrets: servers repeat in errors what they were sent."""
    for secret in secrets:
        if len(secret) >= 4:
            text = text.replace(secret, "***")
    return text
