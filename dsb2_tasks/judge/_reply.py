"""The last line of a judge's reply."""

from __future__ import annotations

import re
from typing import NamedTuple

from dsb2_tasks.judge._types import Verdict
from dsb2_tasks.parse import clean

#: Longer than any reply within the token cap.
MOST_REPLY = 64_000

_RESULT = re.compile(r"[*_`#>\s]*result[*_`\s]*[:：]\s*(.*)", re.IGNORECASE | re.DOTALL)
_MARKS = "*_`\"' "


class Result(NamedTuple):
    """What stands after ``Result:``, and what stands before that line."""

    value: str
    before: str


def too_odd(reply: str) -> Verdict | None:
    """The verdict on a reply that holds nothing to read, whatever the contract."""
    if not reply.strip():
        return Verdict("unusable", None, "the reply is empty")
    if len(reply) > MOST_REPLY:
        return Verdict("unusable", None, f"a reply of more than {MOST_REPLY} characters: {reply}")
    return None


def reply_lines(reply: str) -> list[str]:
    """The lines of a reply that are not blank, without thinking blocks."""
    return [line.strip() for line in clean(reply).split("\n") if line.strip()]


def result_of(reply: str, cut: bool) -> Result | Verdict:
    """What the last line states as ``Result: ...``.

    Args:
        reply: What the judge wrote.
        cut: Whether it was cut off; then its last line is none.

    Returns:
        The result; or an unusable verdict that says why there is none: the reply is empty or cut off, its last line states no
        result, or another line states a different one.
    """
    if (odd := too_odd(reply)) is not None:
        return odd
    if cut:
        return Verdict("unusable", None, f"the reply was cut off: {reply}")
    lines = reply_lines(reply)
    found = [_RESULT.fullmatch(line) for line in lines]
    if not lines or found[-1] is None:
        return Verdict("unusable", None, f"the last line is no result: {lines[-1] if lines else ''!r}")
    stated = [match[1].lstrip(_MARKS).rstrip(f"{_MARKS}.!") for match in found if match is not None]
    if len({value.casefold() for value in stated}) > 1:
        return Verdict("unusable", None, f"several results that differ: {', '.join(map(repr, stated))}")
    return Result(stated[-1], "\n".join(line for line, match in zip(lines, found, strict=True) if match is None))
