"""Numbers that JSON cannot say, and the key by which two runs know the same document."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any


class JsonNumber(str):
    """An undefined or infinite value in a table of results: text for JSON and for people, a float for arithmetic.

    lm-eval writes a plain nan as the token ``NaN``, which is no JSON, and adds the values of tasks up in groups of its
    own, where plain text would end a run at its very end.  What is made of it by arithmetic is fit for JSON again.
    """

    value: float

    def __new__(cls, value: float) -> JsonNumber:
        """``N/A`` for nan, else ``inf`` or ``-inf``."""
        made = super().__new__(cls, "N/A" if math.isnan(value) else "inf" if value > 0 else "-inf")
        made.value = value
        return made

    def __getnewargs__(self) -> tuple[float]:  # type: ignore[override]  # copies and pickles are made from the number
        return (self.value,)

    def __float__(self) -> float:
        return self.value

    def __add__(self, other: Any) -> Any:  # type: ignore[override]  # numbers, not texts
        return as_json(self.value + other)

    def __mul__(self, other: Any) -> Any:  # type: ignore[override]
        return as_json(self.value * other)

    def __truediv__(self, other: Any) -> Any:
        return as_json(self.value / other)

    def __sub__(self, other: Any) -> Any:
        return as_json(self.value - other)

    def __rsub__(self, other: Any) -> Any:
        return as_json(other - self.value)

    def __pow__(self, other: Any) -> Any:
        return as_json(self.value**other)

    __radd__, __rmul__ = __add__, __mul__  # type: ignore[assignment]


def as_json(value: float) -> float | JsonNumber:
    """A value fit for a results file: the float itself where it is finite."""
    value = float(value)
    return value if math.isfinite(value) else JsonNumber(value)


#: What :func:`as_json` writes for what JSON cannot say.
NUMBERS = {"N/A": math.nan, "inf": math.inf, "-inf": -math.inf}


def as_number(value: Any) -> float:
    """The float that :func:`as_json` was given; nan for anything that is no number."""
    if isinstance(value, str):
        return NUMBERS.get(value, math.nan)
    try:
        return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else math.nan
    except OverflowError:  # an integer of hundreds of digits
        return math.nan


def read_json(text: str | bytes) -> Any:
    """Reads JSON in which no object has a key twice: everybody's reader keeps the last of them and says nothing.

    Raises:
        ValueError: It is no JSON, or has such a key.
        RecursionError: It is nested too deeply.
    """
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"key {twice!r:.80} stands twice in one object; leave one of them out")
    return found


def printable(text: object) -> str:
    """A name out of a file in one line, in which no character moves a cursor or turns the direction of what follows."""
    return "".join(sign if sign.isprintable() else ascii(sign)[1:-1] for sign in str(text))


def as_json_whole(value: Any) -> Any:
    """A copy of nested values that JSON can say, where lm-eval writes a plain nan."""
    if isinstance(value, Mapping):
        return {str(key): as_json_whole(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [as_json_whole(item) for item in value]
    return as_json(value) if isinstance(value, float) and not math.isfinite(value) else value


def finite(value: float) -> float | None:
    """The value where JSON can say it as a number, else None."""
    return value if math.isfinite(value) else None


def document_key(doc: Mapping[str, Any]) -> str:
    """What is asked and expected of a document, as 16 hex digits: equal in two runs over the same data.

    Revision, row number and columns that nobody reads do not enter, so that runs pair over a renamed column.
    """
    clips = [handle.get("sha256") for handle in doc.get("audio") or () if isinstance(handle, Mapping)]
    content = [doc.get("dsb2_prompt"), doc.get("dsb2_label"), clips]
    return hashlib.sha256(json.dumps(content, ensure_ascii=True, default=str).encode()).hexdigest()[:16]
