"""Texts for people: numbers in few digits, and strangers' characters made visible."""

from __future__ import annotations

import math
import re

#: Characters of an answer or a prompt that are shown; the rest is counted.
SHOWN_CHARACTERS = 2000

#: Control characters (line feed and tab aside), direction marks and overrides, invisible and unpaired ones.
_UNSEEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def visible(text: str) -> str:
    """A text in which nothing is invisible or turns the direction of what follows: ``⟨U+202E⟩`` stands for such a character."""
    return _UNSEEN.sub(lambda found: f"⟨U+{ord(found[0]):04X}⟩", text.replace("\r\n", "\n"))


def cut(text: str, limit: int = SHOWN_CHARACTERS) -> tuple[str, int]:
    """The beginning of a text and the number of characters that are left off."""
    return text[:limit], max(0, len(text) - limit)


def number(value: float | None) -> str:
    """A value in three to four digits; a dash where there is none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    size = abs(value)
    text = f"{size:.3f}" if size < 10 else f"{size:.1f}" if size < 1e4 else f"{size:.2e}"
    return ("−" if value < 0 and float(text) else "") + text


def percent(value: float | None, digits: int = 0) -> str:
    """A share, 0 or more, in percent."""
    return number(value) if value is None or not math.isfinite(value) else f"{100 * value:.{digits}f} %"


def signed(value: float | None, *, share: bool = True) -> str:
    """A change with its sign: a share in percent, anything else as a number."""
    if value is None or not math.isfinite(value):
        return number(value)
    size = percent(abs(value), 0 if abs(value) >= 10 else 1) if share else number(abs(value))
    if not any(digit in size for digit in "123456789"):  # rounded to nothing, which has no sign
        return size
    return ("+" if value > 0 else "−") + size


def tick(value: float) -> str:
    """A change as an axis names it, without a needless digit."""
    return signed(value).replace(".0 %", " %")


def bounds(low: float, high: float, *, share: bool = True) -> str:
    """Both limits of an interval; empty where there is none."""
    if math.isnan(low) or math.isnan(high):
        return ""
    ends = [signed(end, share=share).removesuffix(" %") for end in (low, high)]
    return f"[{ends[0]}, {ends[1]}]"
