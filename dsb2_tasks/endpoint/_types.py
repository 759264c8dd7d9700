"""What comes back from a server."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


class EndpointError(RuntimeError):
    """Every request would fail: wrong URL, key or model, or a server that is gone.  The message names the fix, never the key."""


@dataclass(frozen=True)
class Usage:
    """What requests took.

    Attributes:
        requests: Requests that were put to the server, each counted once however often it was sent.
        prompt_tokens: As the server counts them; audio included where it says so.  0 where it does not say.
        completion_tokens: The same of the answers.
        retries: How often a request was sent again.
        seconds: Time with the server, summed over requests (those in flight together count each); waits are not in it.
    """

    requests: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    retries: int = 0
    seconds: float = 0.0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.requests + other.requests,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.retries + other.retries,
            self.seconds + other.seconds,
        )

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(-other.requests, -other.prompt_tokens, -other.completion_tokens, -other.retries, -other.seconds)


@dataclass(frozen=True)
class Reply:
    """An answer.

    Attributes:
        text: Text of the first choice, or the transcript; empty if the server sent none.
        finish_reason: As the server states it: ``stop``, ``length``, ``content_filter`` ...; None for transcripts.
        usage: What this request took.
    """

    text: str
    finish_reason: str | None
    usage: Usage


@dataclass(frozen=True)
class Failed:
    """One request that has no answer; others may.

    Attributes:
        reason: One line.
        kind: ``refused`` (the server will not have this request), ``gave_up`` (every retry failed) or ``malformed`` (what came
            back, every time, is no reply).
    """

    reason: str
    kind: Literal["refused", "gave_up", "malformed"]
