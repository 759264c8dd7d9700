"""English number words and digits, both ways, 0 to 999,999."""

from __future__ import annotations

from collections.abc import Sequence

# fmt: off
_SMALL = (
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
    "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen",
)
# fmt: on
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
UNITS = {word: value for value, word in enumerate(_SMALL)}
TENS = {word: 20 + 10 * value for value, word in enumerate(_TENS)} | {"fourty": 40}
#: Every word that can begin a number.
NUMERALS = frozenset(UNITS) | frozenset(TENS)


def read_numeral(words: Sequence[str], at: int = 0) -> tuple[float, int] | None:
    """Reads the longest number word sequence that begins at ``words[at]``.

    Understood are "seventeen", "twenty three", "two hundred and four", "seven point five", "three and a half".

    Args:
        words: Lower-case words, hyphens already split.
        at: Where to begin.

    Returns:
        The value and the index after its last word, or None if no number word stands there.
    """
    if at >= len(words) or words[at] not in NUMERALS:
        return None
    total, group, end = 0, 0, at
    room = 1000  # what follows in a group must be smaller than what stands before: "two five" is two numbers
    while end < len(words):
        word = words[end]
        if word in TENS and room > 99:
            group, room = group + TENS[word], 10
        elif word in UNITS and UNITS[word] < min(room, 20) and not (room == 10 and UNITS[word] == 0):
            group, room = group + UNITS[word], 1
        elif word == "hundred" and 0 < group < 100 and end > at:
            group, room = group * 100, 100
        elif word == "thousand" and group > 0 and total == 0:
            total, group, room = group * 1000, 0, 1000
        elif word == "and" and room in (100, 1000) and end > at and _continues(words, end + 1):
            if room == 100 and list(words[end + 2 : end + 3]) == ["hundred"]:
                break  # "between one hundred and two hundred"
        else:
            break
        end += 1
    value = float(total + group)
    return _fraction(words, value, end)


def _continues(words: Sequence[str], at: int) -> bool:
    return at < len(words) and words[at] in NUMERALS and words[at] != "zero"


def _fraction(words: Sequence[str], value: float, end: int) -> tuple[float, int]:
    if end + 1 < len(words) and words[end] == "point" and words[end + 1] in UNITS and UNITS[words[end + 1]] < 10:
        digits, end = "", end + 1
        while end < len(words) and len(digits) < 15 and UNITS.get(words[end], 10) < 10:
            digits, end = digits + str(UNITS[words[end]]), end + 1
        return value + float(f"0.{digits}"), end
    if list(words[end : end + 3]) == ["and", "a", "half"]:
        return value + 0.5, end + 3
    return value, end


def spell(number: int) -> str | None:
    """The number in words, without hyphens and "and"; None outside 0 to 999,999."""
    if not 0 <= number <= 999_999:
        return None
    if number < 20:
        return _SMALL[number]
    if number < 100:
        tens, rest = divmod(number, 10)
        return _TENS[tens - 2] + (f" {_SMALL[rest]}" if rest else "")
    unit, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    front, rest = divmod(number, unit)
    return f"{spell(front)} {name}" + (f" {spell(rest)}" if rest else "")
