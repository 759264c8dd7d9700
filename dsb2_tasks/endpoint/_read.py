"""Bodies of servers, which may be anything: read into replies, reasons and waits."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from dsb2_tasks.endpoint._types import Reply, Usage

#: Longest reason that is handed on.
_REASON = 300
#: More tokens than any model reads: a server that states more would hold up all further requests, where tokens are limited.
_MOST_TOKENS = 100_000_000


class NoReply(ValueError):
    """A body is not what was asked for."""


def read_chat(body: bytes) -> Reply:
    """The first choice of a ``/chat/completions`` body.

    Raises:
        NoReply: It has none.
    """
    value = _object(body)
    choices = value.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise NoReply(f"a body without choices[0].message: {read_reason(body)}")
    content = message.get("content")
    if content is None:
        content = message.get("refusal") or ""  # where models refuse in a field of its own, that is what they say
    if isinstance(content, list):
        content = "".join(_part(part) for part in content)
    if not isinstance(content, str):
        raise NoReply(f"content is no text: {read_reason(body)}")
    finish = choice.get("finish_reason")
    return Reply(content, finish if isinstance(finish, str) else None, _usage(value))


def read_transcript(body: bytes) -> Reply:
    """The text of an ``/audio/transcriptions`` body in JSON.

    Raises:
        NoReply: It has none.
    """
    value = _object(body)
    if not isinstance(value.get("text"), str):
        raise NoReply(f"a body without text: {read_reason(body)}")
    return Reply(value["text"], None, _usage(value))


def read_reason(body: bytes) -> str:
    """What the body of an error says, on one printable line; the forms of OpenAI, FastAPI and vLLM are known."""
    said: Any = _error(body)
    for name in ("message", "detail", "error"):
        if isinstance(said, dict) and name in said:
            said = said[name]
    text = said if isinstance(said, str) else json.dumps(said) if said else body[: 4 * _REASON].decode(errors="replace")
    text = " ".join(text.split())
    text = "".join(char if char.isprintable() else "?" for char in text)
    return text if len(text) <= _REASON else text[: _REASON - 3] + "..."


def read_code(body: bytes) -> str:
    """The ``code`` of an error body (``insufficient_quota`` ...); empty if it has none."""
    error = _error(body)
    code = error.get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else ""


def read_retry_after(value: str | None, now: float) -> float | None:
    """A ``Retry-After`` header in seconds from now (negative for a moment gone by); None if there is none that can be read.

    Args:
        value: Seconds or an HTTP date.
        now: Unix time.
    """
    if value is None:
        return None
    try:
        seconds = float(value)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(value).timestamp() - now
        except (ValueError, OverflowError):
            return None
    return seconds if math.isfinite(seconds) else None


def _object(body: bytes) -> dict[str, Any]:
    if not body.strip():
        raise NoReply("an empty body")
    value = _json(body)
    if not isinstance(value, dict):
        raise NoReply(f"a body that is no JSON object: {read_reason(body)}")
    return value


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return None


def _error(body: bytes) -> Any:
    value = _json(body)
    return value["error"] if isinstance(value, dict) and isinstance(value.get("error"), (dict, str)) else value


def _part(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) else part
    return text if isinstance(text, str) else ""


def _usage(value: Mapping[str, Any]) -> Usage:
    usage = value.get("usage")
    usage = usage if isinstance(usage, dict) else {}
    prompt = usage.get("prompt_tokens", usage.get("input_tokens"))
    completion = usage.get("completion_tokens", usage.get("output_tokens"))
    return Usage(prompt_tokens=_count(prompt), completion_tokens=_count(completion))


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 < value <= _MOST_TOKENS else 0
