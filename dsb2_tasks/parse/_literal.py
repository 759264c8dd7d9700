"""Lists, tuples and mappings inside an answer: JSON, Python literals, bare ``(a, b, c)`` groups, in one tolerant reader.

The standard readers refuse what models write: single quotes, unquoted words, a missing closing bracket after the token
limit.  This one never fails, never recurses and reads every character once.
"""

from __future__ import annotations

import math
import re
from typing import Any

_PAIRS = {"(": ")", "[": "]", "{": "}"}
_OPENER = re.compile(r"[(\[{]")
_STRING = {q: re.compile(rf"{q}([^{q}\\]*+(?:\\.[^{q}\\]*+)*+){q}", re.DOTALL) for q in "\"'"}
_BARE = re.compile(r"\d{1,4}:\d\d(?::\d\d)?(?:\.\d+)?|[^,:;()\[\]{}\n]+")
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?", re.IGNORECASE)
_SEPARATOR = re.compile(r"[\s,;]+")
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_PLAIN = {"n": "\n", "t": "\t", "r": "\n", "b": " ", "f": " "}
_WORDS: dict[str, Any] = {"true": True, "false": False, "null": None, "none": None}
#: Brackets nested deeper are no list that anybody meant; what stands in them is read into the deepest one.
_DEPTH = 32


class Pairs(list[tuple[Any, Any]]):
    """The key-value pairs of a ``{…}`` group in order; a list, so that repeated keys are kept."""


def read_groups(text: str, limit: int | None = None) -> list[Any]:
    """Reads every bracketed group of the top level, left to right.

    Args:
        text: Cleaned answer.
        limit: How many groups are read at most.

    Returns:
        One value a group: lists (for ``[…]`` and ``(…)``) and :class:`Pairs` (for ``{…}``) of strings, finite floats,
        True, False, None and further groups. Text outside of brackets is left out; unclosed brackets end with the text.
    """
    groups: list[Any] = []
    at = 0
    while (limit is None or len(groups) < limit) and (opener := _OPENER.search(text, at)) is not None:
        group, at = _read(text, opener.start())
        groups.append(group)
    return groups


class _Frame:
    """A bracket that is still open."""

    def __init__(self, opener: str) -> None:
        self.items: list[Any] = Pairs() if opener == "{" else []
        self._key: Any = None
        self._has_key = False
        self._parts: list[Any] = []

    def add(self, part: Any) -> None:
        self._parts.append(part)

    def colon(self) -> None:
        if self._parts and not self._has_key:
            self._key, self._has_key, self._parts = _joined(self._parts), True, []

    def newline(self) -> None:
        if self._parts:
            self.end_item()

    def end_item(self) -> None:
        if self._parts or self._has_key:
            value = _joined(self._parts)
            if isinstance(self.items, Pairs):
                self.items.append((self._key, value) if self._has_key else (value, None))
            else:
                self.items.append([self._key, value] if self._has_key else value)
        self._parts, self._key, self._has_key = [], None, False


def _joined(parts: list[Any]) -> Any:
    if len(parts) == 1:
        return parts[0]
    groups = [part for part in parts if isinstance(part, list)]
    return groups or (" ".join(map(str, parts)) if parts else None)


def _read(text: str, at: int) -> tuple[Any, int]:
    """Reads the group that opens at ``at``; returns it and where it ends."""
    stack: list[_Frame] = []
    too_deep = 0
    end = len(text)
    while at < end:
        sign = text[at]
        if sign in _PAIRS:
            at += 1
            if len(stack) < _DEPTH:
                stack.append(_Frame(sign))
            else:
                too_deep += 1
        elif sign in ")]}":
            at += 1
            if too_deep:
                too_deep -= 1
            elif (group := _close(stack)) is not None:
                return group, at
        elif (separator := _SEPARATOR.match(text, at)) is not None:
            at = separator.end()
            if "," in separator[0] or ";" in separator[0]:
                stack[-1].end_item()
            elif "\n" in separator[0]:
                stack[-1].newline()
        elif sign == ":":
            at += 1
            stack[-1].colon()
        elif sign in _STRING and (string := _STRING[sign].match(text, at)) is not None:
            at = string.end()
            stack[-1].add(_ESCAPE.sub(_unescape, string[1]))
        else:
            bare = _BARE.match(text, at)
            assert bare is not None, "every other character is bare text"
            at = bare.end()
            if value := bare[0].strip().lstrip("\"'"):
                stack[-1].add(_value(value))
    while True:
        if (group := _close(stack)) is not None:
            return group, end


def _close(stack: list[_Frame]) -> Any:
    """Closes the innermost bracket; returns it if it was the outermost."""
    frame = stack.pop()
    frame.end_item()
    if not stack:
        return frame.items
    stack[-1].add(frame.items)
    return None


def _value(bare: str) -> Any:
    if len(bare) <= 40 and _NUMBER.fullmatch(bare):
        number = float(bare)
        return number if math.isfinite(number) else bare
    return _WORDS.get(bare.lower(), bare)


def _unescape(match: re.Match[str]) -> str:
    code = match[1]
    if len(code) == 5:
        return chr(int(code[1:], 16)).encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return _PLAIN.get(code, code)
