"""The client: sends requests, waits and tries again where that may help, and tells what will never work from what might."""

from __future__ import annotations

import asyncio
import json
import logging
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Generator, Iterable, Mapping
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from dsb2_tasks.endpoint._address import Address, hide, read_key
from dsb2_tasks.endpoint._bucket import Bucket
from dsb2_tasks.endpoint._flight import in_flight
from dsb2_tasks.endpoint._read import NoReply, read_chat, read_code, read_reason, read_retry_after, read_transcript
from dsb2_tasks.endpoint._types import EndpointError, Failed, Reply, Usage

if TYPE_CHECKING:
    import aiohttp

log = logging.getLogger(__name__)

_AGAIN = {408, 409, 429}
#: First wait before a retry, doubled each time, and the longest; a server's Retry-After may ask for more.
_FIRST_WAIT, _LONGEST_WAIT, _LONGEST_RETRY_AFTER = 0.5, 30.0, 120.0
#: So many requests in a row that came to nothing, at least, mean that the server is gone.
_GONE = 5
#: So many refusals before the first reply are worth a warning.
_REFUSALS = 20
_BODY_BYTES = 16 << 20

#: Number of the request and what became of it.  Closing it ends what is still in flight.
Replies = Generator[tuple[int, Reply | Failed], None, None]


@dataclass(frozen=True)
class _Trouble:
    """Why one sending of a request failed, where another may not.

    Attributes:
        reason: One line.
        kind: What it is called if no retry helps.
        wait: Seconds that the server asks to wait; None if it says nothing.
        everyone: Whether all other requests should wait as well.
    """

    reason: str
    kind: Literal["gave_up", "malformed"] = "gave_up"
    wait: float | None = None
    everyone: bool = False


class Endpoint:
    """A server with OpenAI's API.

    Failed requests are sent again after growing, jittered waits: time-outs, dropped connections, 408, 409, 429, 5xx, empty and
    broken bodies.  ``Retry-After`` is followed up to two minutes, and a 429 holds all requests back.  What concerns one request
    ends as :class:`Failed`; what concerns all of them raises :class:`EndpointError`.

    The key is read from the environment when requests are made.  It is kept nowhere, and no message shows it.
    """

    def __init__(
        self,
        base_url: str,
        model: str | None = None,
        *,
        key_env: str | None = "OPENAI_API_KEY",
        concurrency: int = 8,
        timeout: float = 120.0,
        retries: int = 6,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        headers: Mapping[str, str] | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Contacts nobody yet.

        Args:
            base_url: For example ``http://localhost:8000/v1``; user and password in it are sent instead of a key.
            model: Name of the model on the server; None leaves it out, for servers that have one model.
            key_env: Environment variable that holds the key; none is sent if it is not set, or if this is None.
            concurrency: Most requests at a time.
            timeout: Seconds for one sending of a request, up to the end of the answer.
            retries: How often a request is sent again.
            requests_per_minute: Limit, kept evenly; retries count.
            tokens_per_minute: The same for tokens of prompt and answer.  What a request will take is not known before it is
                answered: the mean so far is assumed, and the difference settled afterwards.
            headers: Further headers, treated as secrets.
            sleep: Stands in for ``asyncio.sleep`` in tests.
            clock: Stands in for ``time.monotonic`` in tests.

        Raises:
            EndpointError: ``base_url`` is no URL.
            ValueError: A number is out of range.
        """
        numbers = {"concurrency": concurrency, "timeout": timeout, "retries": retries + 1}
        limits = {"requests_per_minute": requests_per_minute, "tokens_per_minute": tokens_per_minute}
        for name, number in {**numbers, **limits}.items():
            if number is not None and not number > 0:
                raise ValueError(f"{name}={number!r} is out of range")
        self._address = Address(base_url)
        self.model = model
        self.concurrency = concurrency
        self._key_env = key_env
        self._timeout = timeout
        self._retries = retries
        self._headers = dict(headers or {})
        self._sleep, self._clock = sleep, clock
        self._requests = Bucket(requests_per_minute, clock) if requests_per_minute else None
        self._tokens = Bucket(tokens_per_minute, clock) if tokens_per_minute else None
        self._paused_until = clock()
        self._answered = self._reached = False
        self._refused = 0
        self._mean_tokens = 0.0
        self._usage = Usage()

    def __repr__(self) -> str:
        return f"Endpoint({self.url!r}, model={self.model!r})"

    @property
    def url(self) -> str:
        """The base URL without user, password and query."""
        return str(self._address)

    @property
    def usage(self) -> Usage:
        """Totals of all requests so far that came to an end."""
        return self._usage

    def chat(self, bodies: Iterable[Mapping[str, Any]]) -> Replies:
        """Asks for chat completions.

        Args:
            bodies: JSON of ``/chat/completions``; ``model`` is filled in.  Pulled one by one when a request can be sent.

        Yields:
            Number of the body and its reply, as they come.

        Raises:
            EndpointError: No request can succeed, or the server is gone.
        """
        named = {} if self.model is None else {"model": self.model}
        # Made into bytes at once: it is sent again on a retry, and a body that is no JSON is the caller's fault.
        payloads = (json.dumps({**named, **body}, allow_nan=False).encode() for body in bodies)

        def send(session: aiohttp.ClientSession, payload: bytes) -> Any:
            headers = {"Content-Type": "application/json"}
            return session.post(self._address.route("/chat/completions"), data=payload, headers=headers, allow_redirects=False)

        return self._run(payloads, send, read_chat)

    def transcribe(self, items: Iterable[tuple[str, bytes, Mapping[str, Any]]]) -> Replies:
        """Asks for transcripts.

        Args:
            items: File name, file and further form fields (``language``, ``prompt`` ...) each, for ``/audio/transcriptions``;
                ``model`` is filled in.  Pulled one by one when a request can be sent.  ``response_format`` must be one of JSON.

        Yields:
            Number of the item and its reply, as they come.

        Raises:
            EndpointError: No request can succeed, or the server is gone.
        """
        named = {} if self.model is None else {"model": self.model}

        def send(session: aiohttp.ClientSession, item: tuple[str, bytes, Mapping[str, Any]]) -> Any:
            import aiohttp

            name, data, fields = item
            form = aiohttp.FormData(quote_fields=False)
            for field, value in {**named, "response_format": "json", **fields}.items():
                form.add_field(field, str(value))
            form.add_field("file", data, filename=name, content_type="application/octet-stream")
            return session.post(self._address.route("/audio/transcriptions"), data=form, allow_redirects=False)

        return self._run(items, send, read_transcript)

    # ------------------------------------------------------------------ many requests

    def _run(self, items: Iterable[Any], send: Callable[..., Any], read: Callable[[bytes], Reply]) -> Replies:
        failed = 0
        work = partial(self._ask, send=send, read=read)
        with closing(in_flight(items, self._session, work, self.concurrency)) as flight:
            for i, (outcome, usage) in flight:
                self._usage += usage
                yield i, outcome
                if isinstance(outcome, Reply) or outcome.kind == "refused":
                    failed = 0
                    continue
                failed += 1
                if failed >= max(_GONE, self.concurrency):
                    raise EndpointError(
                        f"{self.url}: the last {failed} requests all failed after {self._retries} retries each, the last with: "
                        f"{outcome.reason}. Look whether the server still runs, then run again"
                    )

    @asynccontextmanager
    async def _session(self) -> AsyncIterator[aiohttp.ClientSession]:
        import aiohttp

        key = read_key(self._key_env)
        signed = self._address.basic or (f"Bearer {key}" if key else None)
        async with aiohttp.ClientSession(
            # In place of trust_env, which would replace the key by an entry of ~/.netrc.
            proxy=self._address.proxy,
            headers={"User-Agent": "dsb2-tasks", **({"Authorization": signed} if signed else {}), **self._headers},
            timeout=aiohttp.ClientTimeout(total=self._timeout),
            connector=aiohttp.TCPConnector(limit=self.concurrency),
        ) as session:
            yield session

    # ------------------------------------------------------------------ one request

    async def _ask(
        self, session: aiohttp.ClientSession, item: Any, *, send: Callable[..., Any], read: Callable[[bytes], Reply]
    ) -> tuple[Reply | Failed, Usage]:
        seconds = 0.0
        for retries in range(self._retries + 1):
            expected = self._mean_tokens
            await self._turn(expected)
            began = self._clock()
            outcome = await self._once(send(session, item), read)
            seconds += self._clock() - began
            spent = outcome.usage if isinstance(outcome, Reply) else Usage()
            if self._tokens is not None:
                self._settle(spent.prompt_tokens + spent.completion_tokens, expected)
            if isinstance(outcome, _Trouble):
                log.debug("%s: %s (sending %d)", self.url, outcome.reason, retries + 1)
                if retries < self._retries:
                    await self._wait(outcome, retries)
                    continue
                outcome = Failed(f"{outcome.reason} (sent {retries + 1} times)", outcome.kind)
            usage = replace(spent, requests=1, retries=retries, seconds=seconds)
            return (replace(outcome, usage=usage) if isinstance(outcome, Reply) else outcome), usage
        raise AssertionError("the last sending returns")

    async def _turn(self, tokens: float) -> None:
        """Waits until the limits and the server let a request be sent."""
        delays = [self._requests.take(1) if self._requests else 0.0, self._tokens.take(tokens) if self._tokens else 0.0]
        if max(delays) > 0:
            await self._sleep(max(delays))
        while (left := self._paused_until - self._clock()) > 0:
            await self._sleep(left + random.uniform(0, min(left, 1.0)))  # not all at once

    def _settle(self, tokens: int, expected: float) -> None:
        """Books what a request took against what was assumed."""
        assert self._tokens is not None
        self._tokens.settle(tokens - expected)
        if tokens:
            self._mean_tokens += 0.1 * (tokens - self._mean_tokens) if self._mean_tokens else tokens

    async def _wait(self, trouble: _Trouble, retries: int) -> None:
        """Waits before the next sending."""
        wait = min(_LONGEST_WAIT, _FIRST_WAIT * 2**retries) * random.uniform(0.5, 1.0)
        if trouble.wait is not None:
            wait = max(wait, min(trouble.wait, _LONGEST_RETRY_AFTER))
        if trouble.everyone:
            self._paused_until = max(self._paused_until, self._clock() + wait)
        await self._sleep(wait)

    async def _once(self, request: Any, read: Callable[[bytes], Reply]) -> Reply | Failed | _Trouble:
        """Sends a request once."""
        import aiohttp

        unreachable = None
        try:
            async with request as response:
                status, headers = response.status, response.headers
                body = await _read_bounded(response)
        except TimeoutError:
            return _Trouble(f"no answer within {self._timeout:g} s")
        except aiohttp.ClientConnectorError as error:
            certificate = isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientConnectorSSLError))
            unreachable = f"cannot connect: {error.os_error if hasattr(error, 'os_error') else error}"
            fatal = certificate or not self._reached
        except (aiohttp.ClientError, OSError) as error:
            return _Trouble(self._hidden(f"the connection broke: {type(error).__name__}: {error}"))
        if unreachable is not None:
            # Raised outside of the handler: what aiohttp raises holds the request with its headers.
            if fatal:
                raise EndpointError(self._hidden(f"{self.url}: {unreachable}. Is the server running, and base_url right?"))
            return _Trouble(self._hidden(unreachable))
        self._reached = True
        if body is None:
            return _Trouble(f"a body of more than {_BODY_BYTES >> 20} MiB", "malformed")
        if status != 200:
            return self._read_status(status, headers, body)
        try:
            reply = read(body)
        except NoReply as error:
            return _Trouble(self._hidden(str(error)), "malformed")
        self._answered = True
        return reply

    def _read_status(self, status: int, headers: Mapping[str, str], body: bytes) -> Failed | _Trouble:
        """What a status other than 200 means."""
        reason = self._hidden(f"{status}: {read_reason(body)}")
        if status in _AGAIN or status >= 500:
            if read_code(body) == "insufficient_quota":  # a 429 that no waiting ends
                raise EndpointError(f"{self.url}: {reason}. The account has no credit left")
            wait = read_retry_after(headers.get("Retry-After"), time.time())
            return _Trouble(reason, wait=wait, everyone=status == 429)
        if status == 401 or (status == 403 and not self._answered):  # later a 403 is about one request, as of a moderator
            state = "was sent" if read_key(self._key_env) else "is not set" if self._key_env else "is named"
            name = f"The key in the environment variable {self._key_env}" if self._key_env else "No key"
            raise EndpointError(f"{self.url}: {reason}. {name} {state}; key_env names the variable that holds the server's key")
        if status == 402:
            raise EndpointError(f"{self.url}: {reason}. The account has no credit left")
        if status in (404, 405):
            raise EndpointError(
                f"{self.url}: {reason}. Either the server does not know model={self.model!r}, or base_url is not where its API "
                f"is (most end in /v1)"
            )
        if 300 <= status < 400:
            raise EndpointError(f"{self.url}: {status}: the server sends requests on to another address; give that as base_url")
        if not self._answered:
            self._refused += 1
            if self._refused == _REFUSALS:
                log.warning("%s refused the first %d requests; the last: %s", self.url, _REFUSALS, reason)
        return Failed(reason, "refused")

    def _hidden(self, text: str) -> str:
        key = read_key(self._key_env)
        return hide(" ".join(text.split()), [*([key] if key else []), *self._headers.values(), *self._address.secrets])


async def _read_bounded(response: aiohttp.ClientResponse) -> bytes | None:
    """The body; None if it is longer than any answer."""
    parts, size = [], 0
    async for part in response.content.iter_chunked(1 << 16):
        size += len(part)
        if size > _BODY_BYTES:
            return None
        parts.append(part)
    return b"".join(parts)
