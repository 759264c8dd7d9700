"""The one number that an answer states, in the unit that the task asks for."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Literal, NamedTuple

from dsb2_tasks.parse._clean import boxed, clean
from dsb2_tasks.parse._numerals import NUMERALS, read_numeral
from dsb2_tasks.parse._tokens import IDEOGRAPHS, word_set

Unit = Literal["s", "m", "deg", "percent", "frac"]

#: Unit words: dimension and factor to its base unit.
_UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds", "秒", "秒钟"), ("s", 1.0)),
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), ("s", 0.001)),
    **dict.fromkeys(("min", "mins", "minute", "minutes", "分钟"), ("s", 60.0)),
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours"), ("s", 3600.0)),
    **dict.fromkeys(("microsecond", "microseconds"), ("s", 1e-6)),
    **dict.fromkeys(("day", "days"), ("s", 86400.0)),
    **dict.fromkeys(("m", "meter", "meters", "metre", "metres", "米"), ("m", 1.0)),
    **dict.fromkeys(("cm", "centimeter", "centimeters", "centimetre", "centimetres"), ("m", 0.01)),
    **dict.fromkeys(("mm", "millimeter", "millimeters", "millimetre", "millimetres"), ("m", 0.001)),
    **dict.fromkeys(("km", "kilometer", "kilometers", "kilometre", "kilometres"), ("m", 1000.0)),
    **dict.fromkeys(("ft", "foot", "feet"), ("m", 0.3048)),
    **dict.fromkeys(("in", "inch", "inches"), ("m", 0.0254)),
    **dict.fromkeys(("yard", "yards"), ("m", 0.9144)),
    **dict.fromkeys(("mile", "miles"), ("m", 1609.344)),
    **dict.fromkeys(("°", "deg", "degs", "degree", "degrees"), ("deg", 1.0)),
    **dict.fromkeys(("rad", "rads", "radian", "radians"), ("deg", math.degrees(1))),
    **dict.fromkeys(("%", "percent", "per-cent"), ("percent", 1.0)),
}
#: The unit of a number that follows without one ("five minutes thirty", "one metre eighty"), and where its value lies.
_SMALLER = {
    ("s", 3600.0): (60.0, 0, 60),
    ("s", 60.0): (1.0, 0, 60),
    ("m", 0.3048): (0.0254, 0, 12),
    ("m", 1.0): (0.01, 10, 100),
}
_SCALES = {"dozen": 12, "hundred": 100, "thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
_PARTS = {"half": 2, "third": 3, "quarter": 4, "fourth": 4, "fifth": 5, "sixth": 6, "eighth": 8, "tenth": 10, "hundredth": 100}
_PARTS |= {f"{word}s": parts for word, parts in _PARTS.items()} | {"halves": 2}
#: Unit words that mean something else unless the task asks for their dimension.
_LOOSE = frozenset({"s", "m", "h", "in", "min", "second", "foot"})
_CUES = word_set(
    "answer score rating result count number total duration length distance estimate prediction value mos angle azimuth position"
)
_IS = frozenset({"is", "was", "be", "equals", ":", "="})
_HEDGES = word_set("a an the about approximately around roughly nearly exactly only just probably likely at ( [ \" ' ~ ≈ $ \\")
#: What may follow the "thirty" of "five minutes thirty"; what else does is counted by it.
_ENDS = frozenset(".,!?;\n)]\"'") | word_set("long in total")
#: How far the same amount in two units ("45 degrees, 0.785 radians") may differ.
_ROUNDED = 0.005
_SENTENCE_END = frozenset(".!?;\n")
_ONE_AFTER = word_set("this that the which each every no any some other another")
#: Beyond this lies no task's number, and its square would leave the floats that JSON can carry.
_LARGEST = 1e12
#: A text with more numbers than this states none.
_TOO_MANY = 2_000
#: How far before and behind a number stands what tells its meaning, in characters.
_BEFORE, _BEHIND = 160, 48
#: A first paragraph of so few words is the answer, what follows explains it.
_HEADING = 4

_VULGAR = re.compile(r"(?<=\d) ?[¼-¾⅐-⅞]|[¼-¾⅐-⅞]")
_TOKEN = re.compile(
    r"(?P<clock>(?<![\w.:])\d{1,4}:[0-5]\d(?::[0-5]\d)?+(?:\.\d{1,9})?+(?![\d:]))"
    r"|(?P<comma>(?<![\d.,])\d{1,9},\d{1,2}(?![\d,]))"
    r"|(?P<number>(?<![\d.])(?:\d{1,3}(?:,\d{3})++(?!\d)|\d++)(?:\.\d++)?+(?:e[+-]?\d{1,3}(?!\w))?+|(?<![\w.])\.\d++)"
    r"|(?P<word>[^\W\d][\w']*+)"
    r"|(?P<sign>[^\w ])"
    r"|(?P<other>[\w.]++)"
)
_ANCHOR = re.compile(rf"\d++|\b(?:{'|'.join(sorted(NUMERALS))}|half an?|a (?:hundred|thousand|million|billion))\b")
_DASHES = re.compile(r"[‐‑‒–—−]|(?<=\d)\s?[~〜](?=\s?\d)|(?<=\d[a-z%°])[~〜](?=\d)")
#: A number beside a Chinese character; not in an ordinal.
_BESIDE_IDEOGRAPH = re.compile(rf"(?<=[{IDEOGRAPHS}])(?<!第)(?=\d)|(?<=\d)(?=[{IDEOGRAPHS}])")
_HOURS, _MINUTES = (
    re.compile(r"(?<![\w.])(\d{1,4})\s?h\s?(?=\d)"),
    re.compile(r"(?<![\w.])(\d{1,4})\s?m(?:in)?\s?(?=\d[\d.]{0,9}\s?s)"),
)
_FEET = re.compile(r"(?<![\w.])(\d{1,4})['′]\s?(\d{1,2})(?!\w)(?:[\"″]|'')?")
#: What follows a number that only says what an end of the scale means: "0 (worst)", "5 = excellent", "1 is bad".
_EXPLAINS = word_set("( = : being means meaning")
_HYPHEN = re.compile(r"(?<=[a-z])-(?=[a-z])")
#: "Two hours and a half".
_AND_A_PART = re.compile(
    r"\b(hours?|minutes?|seconds?|met(?:er|re)s?|feet|foot) and a (half|quarter)\b(?! (?:of|an?|second|minute|met|hour|f|inch))"
)
#: An angle such as "3π/4", "pi / 2 radians", "\\frac{\\pi}{4}".
_PI = re.compile(
    r"\\[dt]?frac\{(?P<a>\d{0,4}) ?\\?(?:π|pi)\}\{(?P<b>\d{1,4})\}(?: ?rad(?:ian)?s?\b)?"
    r"|(?<![\w.])(?P<c>\d{1,4}(?:\.\d{1,9})?)?(?:(?<=\d) {0,2}[·×⋅]? ?)?\\?(?:π|pi)(?!\w)"
    r"(?: ?/ ?(?P<d>\d{1,4})(?!\.?\d))?(?: ?rad(?:ian)?s?\b)?"
)


class _Item(NamedTuple):
    """A piece of an answer.

    ``kind`` is number, range, ratio, word, sign or other; ``value`` is a number's (in the unit it is written in times
    ``factor``), a ratio's first, a range's lower; ``second`` a ratio's or range's other; ``near``: no blank before it.
    """

    kind: str
    text: str
    value: float = 0.0
    dimension: str = ""
    factor: float = 1.0
    near: bool = False
    second: float = 0.0


_END = _Item("end", "")


def extract_number(
    answer: str,
    *,
    lo: float | None = None,
    hi: float | None = None,
    unit: Unit | None = None,
    noun: str | Sequence[str] = (),
) -> tuple[float | None, str]:
    r"""Reads the number that an answer gives.

    In this order: ``\boxed{…}``; "x out of y" and "x/y" where y is the top of the scale; the number after the last "answer
    is", "score:", …; the number in front of the task's noun; the only number; the only number in range.  Number words count;
    a stated scale ("on a scale of 0 to 10") does not; a range of values is no answer.  A percentage is taken of a scale that
    begins at 0.

    Args:
        answer: A model's answer.
        lo: Smallest value that the instruction allows, if it states one.
        hi: Largest value that the instruction allows.
        unit: Unit of the result: seconds, metres, degrees, percent or a fraction of 1; other units are converted.
        noun: What is counted ("phone", "phones").

    Returns:
        The value and ``ok`` (``clock`` for m:ss), or None and why: ``empty``, ``no_number``, ``ambiguous``, ``range``,
        ``other_scale``, ``out_of_range``.
    """
    text = clean(answer)
    if not text:
        return None, "empty"
    text = _VULGAR.sub(lambda sign: f"{unicodedata.numeric(sign[0][-1]):.9g}"[1:], text)
    text = unicodedata.normalize("NFKC", text).casefold()
    box = boxed(text)
    if box and any(map(str.isdigit, box)):
        text = box
    nouns = frozenset(n.casefold() for n in ((noun,) if isinstance(noun, str) else noun))
    anchors = [match.span() for match in islice(_ANCHOR.finditer(text), _TOO_MANY + 1)]
    if len(anchors) > _TOO_MANY:
        return None, "ambiguous"
    if not anchors:
        return (0.0, "ok") if _counts_none(text, nouns) else (None, "no_number")
    value, status = _Reader(_surroundings(text, anchors), lo, hi, unit, nouns).read()
    heading, _, explanation = text.partition("\n\n")
    if status == "ambiguous" and explanation and len(heading.split()) <= _HEADING and _ANCHOR.search(heading):
        value, status = _Reader(heading, lo, hi, unit, nouns).read()
    if value is None:
        return None, status
    if not abs(value) <= _LARGEST or (lo is not None and value < lo) or (hi is not None and value > hi):
        return None, "out_of_range"
    return value, status


def _counts_none(text: str, nouns: frozenset[str]) -> bool:
    """Whether a text without numbers says that there are none ("no language switches")."""
    either = "|".join(map(re.escape, sorted(nouns)))
    return bool(nouns) and re.search(rf"\b(?:no|without)\s+(?:[a-z]+\s+){{0,2}}(?:{either})\b", text) is not None


def _surroundings(text: str, anchors: list[tuple[int, int]]) -> str:
    """The numbers of a text with what stands around them, so that the length of the rest does not matter."""
    pieces: list[tuple[int, int]] = []
    for begin, end in anchors:
        first = max(begin - _BEFORE, 0)
        blank = text.find(" ", first, begin) if first else -1
        first = first if blank < 0 else blank
        if pieces and first <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], end + _BEHIND)
        else:
            pieces.append((first, end + _BEHIND))
    return "\n".join(text[begin:end] for begin, end in pieces)


class _Reader:
    """One answer on its way from items to a value."""

    def __init__(self, text: str, lo: float | None, hi: float | None, unit: Unit | None, nouns: frozenset[str]) -> None:
        self.lo, self.hi, self.unit, self.nouns = lo, hi, unit, nouns
        items = _with_fractions(_with_scales(_with_numerals(list(_tokens(text, unit)))), unit, nouns)
        items = _with_units(items, unit, nouns)
        self.items = self._without_scales(_without_denied(_with_pairs(items)))

    def read(self) -> tuple[float | None, str]:
        for step in (self._ratio, self._after_cue, self._before_noun):
            if (found := step()) is not None:
                return found
        return self._only()

    def _without_scales(self, items: list[_Item]) -> list[_Item]:
        """Leaves out stated scales: "on a scale of 0 to 10", "a 5-point scale", the allowed range itself."""
        kept: list[_Item] = []
        for at, item in enumerate(items):
            following = [other.text for other in items[at + 1 : at + 4]]
            before = {other.text for other in items[max(at - 3, 0) : at]}
            stated = "scale" in before or following[:1] == ["scale"] or (item.value, item.second) == (self.lo, self.hi)
            end = item.kind == "number" and item.value in (self.lo, self.hi) and (following[:1] or [""])[0]
            stated_end = end and (end in _EXPLAINS or (end == "is" and following[1:2] not in (["my"], ["the"])))
            if stated_end and self._speaks_of_scale(items, at):
                continue
            points = following[:2] in (["point", "scale"], ["points", "scale"]) or following == ["-", "point", "scale"]
            if not (item.kind == "range" and stated) and not (item.kind == "number" and points):
                kept.append(item)
        return kept

    @staticmethod
    def _speaks_of_scale(items: list[_Item], at: int) -> bool:
        """Whether "scale" stands before in the same sentence."""
        for item in reversed(items[max(at - 20, 0) : at]):
            if item.text in _SENTENCE_END:
                return False
            if item.text == "scale":
                return True
        return False

    def _value(self, item: _Item) -> float:
        if item.dimension == "percent" and self.unit == "frac":
            return item.value / 100
        if item.dimension == "percent" and self.unit is None and self.lo == 0 and self.hi is not None:
            return item.value * self.hi / 100  # as the authors' examples have it: 90 % on a scale of 0 to 10 is a 9
        return item.value * item.factor if item.dimension == self.unit else item.value

    def _fits(self, item: _Item) -> bool:
        """Whether a number may be meant: it has the task's unit, or none."""
        if self.unit is None or item.dimension in ("", self.unit):
            return True
        return (item.dimension, self.unit) in (("clock", "s"), ("percent", "frac"))

    def _one(self, items: Iterable[_Item]) -> tuple[float | None, str] | None:
        """The value that all items agree on."""
        found = {self._value(item): item for item in items}
        if not found:
            return None
        own = [value for value, item in found.items() if item.dimension == self.unit and item.factor == 1]
        if len(own) == 1 and all(
            item.dimension == self.unit and math.isclose(value, own[0], rel_tol=_ROUNDED) for value, item in found.items()
        ):
            found = {own[0]: found[own[0]]}
        if len(found) > 1:
            return None, "ambiguous"
        ((value, item),) = found.items()
        return value, "clock" if item.dimension == "clock" else "ok"

    def _ratio(self) -> tuple[float | None, str] | None:
        ratios = [item for item in self.items if item.kind == "ratio"]
        if not ratios:
            return None
        if self.unit == "frac":
            values = {item.value / item.second for item in ratios if item.second}
        else:
            values = {item.value for item in ratios if item.second == self.hi}
        if not values:
            return None, "other_scale"
        return (values.pop(), "ok") if len(values) == 1 else (None, "ambiguous")

    def _after_cue(self) -> tuple[float | None, str] | None:
        found: _Item | None = None
        since_cue, answered = 99, False
        for at, item in enumerate(self.items):
            since_cue += 1
            if item.kind == "word" and item.text in _CUES:
                since_cue, answered = 0, False
            elif item.text in _SENTENCE_END:
                since_cue = 99
            # "Score: 8, confidence: 9": what follows an answer is of something else, but for "2 + 2 = 4".
            elif answered and not (item.text == "=" and self.items[at - 1].kind == "number"):
                continue
            elif since_cue <= 6 and (item.text in _IS or (item.text == "of" and since_cue == 1)):
                meant = self._skip_hedges(at + 1)
                if meant.kind in ("number", "range") and self._fits(meant):
                    found, answered = meant, True
        if found is None:
            return None
        return _of_range(found) if found.kind == "range" else self._one([found])

    def _skip_hedges(self, at: int) -> _Item:
        for item in self.items[at : at + 5]:
            if item.text not in _HEDGES and item.text not in _IS:
                return item
        return _END

    def _before_noun(self) -> tuple[float | None, str] | None:
        counted: list[_Item] = []
        last, words = _END, 0
        for item in self.items if self.nouns else ():
            if item.kind in ("number", "range"):
                last, words = item, 0
            elif item.kind != "word":
                last = _END
            elif item.text in self.nouns and last is not _END:
                counted.append(last)
                last = _END
            else:
                words += 1
                last = last if words <= 2 else _END
        if (span := next((item for item in counted if item.kind == "range"), None)) is not None:
            return _of_range(span)
        return self._one(counted)

    def _only(self) -> tuple[float | None, str]:
        numbers = [item for item in self.items if item.kind in ("number", "range") and self._fits(item)]
        with_unit = [item for item in numbers if item.dimension] if self.unit else []
        numbers = with_unit or numbers
        if (span := next((item for item in numbers if item.kind == "range"), None)) is not None:
            return _of_range(span)
        found = self._one(numbers)
        if found is None:
            return None, "no_number"
        if found[0] is None:
            inside = [
                n
                for n in numbers
                if (self.lo is None or self._value(n) >= self.lo) and (self.hi is None or self._value(n) <= self.hi)
            ]
            return self._one(inside) or found
        return found


def _of_range(item: _Item) -> tuple[None, str]:
    """Why two numbers are no value: a range, or "3,5", which is one number in one country and two in another."""
    return None, "ambiguous" if item.text == "," else "range"


def _tokens(text: str, unit: Unit | None) -> Iterable[_Item]:
    if not text.isascii():
        text = _BESIDE_IDEOGRAPH.sub(" ", text)
    if unit == "s":
        text = _MINUTES.sub(r"\1 min ", _HOURS.sub(r"\1 h ", text))
    if unit == "m":
        text = _FEET.sub(r"\1 ft \2 in", text)
    text = _HYPHEN.sub(" ", _DASHES.sub("-", text).replace("*", "").replace("`", "").replace("’", "'"))
    text = _AND_A_PART.sub(r"and a \2 \1", text)
    if unit == "deg":
        text = _PI.sub(_degrees, text)
    last_end = -1
    for match in _TOKEN.finditer(text):
        kind, found, near = str(match.lastgroup), match[0], match.start() == last_end
        last_end = match.end()
        if kind == "number":
            yield _Item(kind, "", float(found.replace(",", "")) if len(found) <= 40 else float("inf"), near=near)
        elif kind == "comma":
            whole, _, rest = found.partition(",")
            yield _Item("range", ",", float(whole), near=near, second=float(rest))
        elif kind == "clock" and unit == "s":
            yield _Item("number", "", _seconds(found), "clock", near=near)
        elif kind == "clock":
            left, _, right = found.partition(":")
            yield _Item("number", "", float(left), near=near)
            yield _Item("number", "", float(right.split(":")[0]), near=True)
        else:
            yield _Item(kind, found, near=near)


def _degrees(angle: re.Match[str]) -> str:
    parts = float(angle["b"] or angle["d"] or 1)
    return f"{float(angle['a'] or angle['c'] or 1) * 180 / parts:.9f} degrees" if parts else "undefined"


def _seconds(clock: str) -> float:
    value = 0.0
    for part in clock.split(":"):
        value = value * 60 + float(part)
    return value


def _with_numerals(items: list[_Item]) -> list[_Item]:
    """Number words as numbers ("one" only where it counts something), and "4 and a half"."""
    words = [item.text if item.kind == "word" else "" for item in items]
    result: list[_Item] = []
    at = 0
    while at < len(items):
        item = items[at]
        if words[at] in NUMERALS and not _is_pronoun(words, at):
            value, length = read_numeral(words[at : at + 16]) or (0.0, 1)
            result.append(_Item("number", "", value))
            at += length
            continue
        if words[at] == "half" and words[at + 1 : at + 2] in (["a"], ["an"]) and words[at + 2 : at + 3] != ["dozen"]:
            result.append(_Item("number", "", 0.5))
            at += 2
            continue
        if item.kind == "number" and words[at + 1 : at + 4] == ["and", "a", "half"]:
            item, at = item._replace(value=item.value + 0.5), at + 3
        result.append(item)
        at += 1
    return result


def _with_scales(items: list[_Item]) -> list[_Item]:
    """Numbers before "hundred", "thousand", ... times these, with what follows: "2.5 thousand", "a hundred and one"."""
    scaled: list[tuple[_Item, int]] = []  # each with the scale that it ends in
    for item in items:
        scale = _SCALES.get(item.text, 0) if item.kind == "word" else 0
        last = scaled[-1][0] if scaled else _END
        if scale and last.kind == "number":
            scaled[-1] = last._replace(value=last.value * scale), scale
        elif scale >= 100 and last.text == "a":
            scaled[-1] = _Item("number", "", float(scale)), scale
        else:
            scaled.append((item, scale))
    result: list[_Item] = []
    scales: list[int] = []
    for item, scale in scaled:
        joined = 1 + bool(result and result[-1].text == "and")
        if item.kind == "number" and len(result) >= joined and scales[-joined] >= 100:
            larger = result[-joined]
            if larger.kind == "number" and item.value < scales[-joined]:
                result[-joined:] = [larger._replace(value=larger.value + item.value)]
                scales[-joined:] = [scale]
                continue
            if larger.kind != "number":  # "several hundred and one"
                item = item._replace(kind="other")
        result.append(item)
        scales.append(scale)
    return result


def _with_fractions(items: list[_Item], unit: Unit | None, nouns: frozenset[str]) -> list[_Item]:
    """Fractions in words: "three quarters of a second", "two and a quarter"; "a third of them" is no number."""
    result: list[_Item] = []
    at = 0
    while at < len(items):
        item, following = items[at], items[at + 1] if at + 1 < len(items) else _END
        whole = result[-2] if len(result) > 1 and result[-1].text == "and" and result[-2].kind == "number" else _END
        parts = _PARTS.get(following.text, 0) if item.kind == "number" or item.text == "a" else 0
        count = 1.0 if item.text == "a" else item.value
        of = [other.text for other in items[at + 2 : at + 4]] in (["of", "a"], ["of", "an"])
        end = at + (4 if of else 2)
        dimension = _UNITS.get(items[end].text, ("", 0.0))[0] if end < len(items) else ""
        usable = not nouns and dimension != "" and dimension == unit
        ordinal = item.text == "a" and not usable and whole is _END
        if not parts or count < 1 or (count == 1) == following.text.endswith("s") or ordinal:
            result.append(item)
            at += 1
            continue
        value, at = count / parts, end
        if whole.kind == "number" and value < 1:
            value += whole.value
            usable = not nouns and whole.value < 1000 and not any(other.text == "between" for other in result[-4:])
            del result[-2:]
        elif unit in ("percent", "frac") and dimension == "":
            value, usable = value * (100 if unit == "percent" else 1), True
        result.append(_Item("number" if usable else "other", "", value))
    return result


def _of_smaller_unit(result: list[_Item], item: _Item, unit: Unit | None) -> _Item:
    """The "thirty" of "five minutes thirty" in its unit; neither is a number if that makes no sense ("five minutes ninety")."""
    joined = 1 + bool(result and result[-1].text == "and")
    larger = result[-joined] if len(result) >= joined else _END
    if larger.kind != "number" or larger.dimension != unit or (larger.dimension, larger.factor) not in _SMALLER:
        return item
    factor, least, most = _SMALLER[larger.dimension, larger.factor]
    if least <= item.value < most:
        return item._replace(dimension=larger.dimension, factor=factor)
    result[-joined] = larger._replace(kind="other")
    return item._replace(kind="other")


def _is_pronoun(words: list[str], at: int) -> bool:
    if words[at] != "one":
        return False
    return (at > 0 and words[at - 1] in _ONE_AFTER) or words[at + 1 : at + 2] == ["of"]


def _with_units(items: list[_Item], unit: Unit | None, nouns: frozenset[str]) -> list[_Item]:
    """Joins numbers with their units and signs, and the parts of "1 minute 30 seconds"."""
    result: list[_Item] = []
    skip = False
    for item, following in zip(items, [*items[1:], _END], strict=True):
        if skip:
            skip = False
            continue
        if item.kind == "number" and not item.dimension:
            known = _UNITS.get(following.text)
            if known is not None and (following.text not in _LOOSE or known[0] == unit):
                item, skip = item._replace(dimension=known[0], factor=known[1]), True
            elif following.near and following.kind == "word" and following.text not in nouns:
                item = item._replace(kind="other")  # "3rd", "4x", "16khz"
            item = _negative(result, item)
            if item.kind == "number" and not item.dimension and (following is _END or following.text in _ENDS):
                item = _of_smaller_unit(result, item, unit)
            if _completes(result, item):
                continue
        result.append(item)
    return result


def _negative(result: list[_Item], item: _Item) -> _Item:
    """A minus counts only where it does not follow a word character: "A-3" and "3-5" hold none."""
    if not result:
        return item
    sign = result[-1]
    if sign.text in ("minus", "negative") or (
        sign.text == "-" and item.near and not (sign.near and len(result) > 1 and result[-2].kind != "sign")
    ):
        result.pop()
        return item._replace(value=-item.value, near=sign.near)
    return item


def _completes(result: list[_Item], item: _Item) -> bool:
    """Adds the seconds of "1 minute (and) 30 seconds" to the item before."""
    joined = 1 + bool(result and result[-1].text in ("and", ","))
    if len(result) < joined or result[-joined].kind != "number":
        return False
    larger = result[-joined]
    if item.dimension not in ("s", "m") or larger.dimension != item.dimension or larger.factor <= item.factor:
        return False
    value = larger.value * larger.factor / item.factor + item.value
    result[-joined:] = [larger._replace(value=value, factor=item.factor)]
    return True


def _without_denied(items: list[_Item]) -> list[_Item]:
    """Leaves out numbers that are said not to be the answer: "6, not 5", "6 rather than 5", "6 instead of 5"."""
    texts = [item.text for item in items]
    denied = (["not"], ["rather", "than"], ["instead", "of"])
    return [
        item
        for at, item in enumerate(items)
        if item.kind not in ("number", "range") or not any(texts[max(at - len(words), 0) : at] == words for words in denied)
    ]


def _with_pairs(items: list[_Item]) -> list[_Item]:
    """Two numbers that belong together: a ratio ("8/10", "8 out of 10") or a range ("3-5", "3 or 4", "between 3 and 5")."""
    result: list[_Item] = []
    between = 0
    for item in items:
        between = 6 if item.text == "between" else between - 1
        if item.kind == "number":
            kind = _pairing(result, between > 0)
            if kind is not None:
                joint = 1 if kind == "range" or result[-1].text == "/" else (2 if result[-3].kind == "number" else 3)
                first = result[-joint - 1]
                del result[-joint - 1 :]
                dimension = item.dimension or first.dimension
                item = _Item(kind, "", first.value, dimension, item.factor, second=item.value)
        result.append(item)
    return result


def _pairing(before: list[_Item], between: bool) -> str | None:
    if len(before) >= 3 and [i.text for i in before[-2:]] == ["out", "of"]:
        counted = before[-4] if before[-3].kind == "word" and len(before) > 3 else before[-3]  # "3.5 stars out of 5"
        if counted.kind == "number":
            return "ratio"
    if len(before) < 2 or before[-2].kind != "number":
        return None
    if before[-1].text == "/":
        return "ratio"
    if before[-1].text in ("-", "to", "or", "through") or (between and before[-1].text == "and"):
        return "range"
    return None
