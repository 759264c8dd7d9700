"""Notes, beats and pitches in an answer."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterator
from itertools import islice
from typing import Any

from dsb2_tasks.parse._clean import beginning
from dsb2_tasks.parse._literal import Pairs, read_groups
from dsb2_tasks.parse._spans import MOST, parse_spans, read_time

Note = tuple[float, float, int]

_STEPS = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
_SHIFTS = {"#": 1, "♯": 1, "b": -1, "♭": -1, "x": 2}
_NAME = (
    r"(?<![^\W_])(?<![#♯♭])([A-Ga-g])(?:[\s_]?((?:#{1,2}|♯{1,2}|b{1,2}|♭{1,2}|x)?)_?|[\s-]?(sharp|flat)[\s-])"
    r"(-1|\d)(?![^\W_]|\.\d)"
)
_NAMED = re.compile(_NAME)
_HERTZ = re.compile(r"(?<![\w.])(\d{1,5}(?:\.\d{1,9})?)\s?hz\b", re.IGNORECASE)
_MIDI = re.compile(r"(?<![\w.,-])\d{1,3}(?![\w.]*\d)(?!\w)")
_NUMBER = re.compile(r"(?<![\w.])\d{1,9}(?:\.\d{1,15})?(?:e[+-]?\d{1,9}(?!\w))?", re.IGNORECASE)
#: What is said about beats in numbers and is no time.
_TEMPO = re.compile(
    r"\b(?:tempo|bpm)\b\D{0,20}\d+(?:\.\d+)?(?:\s*bpm\b)?"
    r"|(?<!\d)\d++(?:\.\d++)?+\s*+(?:bpm\b|beats?\s*(?:per|/)\s*min\w*)"
    r"|(?<![\d.])\d++(?!\.\d)(?:st|nd|rd|th)?[^\S\n]*+(?:down)?beats?\b"
    r"|\b(?:every|intervals?\s+of)\s+(?:about\s+)?\d+(?:\.\d+)?|(?<![\d.])\d++(?:\.\d++)?+\s*+s(?:ec(?:ond)?s?)?\s+apart\b"
    r"|\b(?:down)?beat\s*#?\d+(?:\s*[:.)-]|[^\S\n]+(?:(?:is|falls)\s+)?at\b)|\b\d+\s*/\s*\d+\b|^[^\S\n]*\d+\s*[.):]\s+(?=\d)",
    re.IGNORECASE | re.MULTILINE,
)
_NUMBERED = re.compile(r"^[ \t|]*(\d{1,4})[ \t]*(?:[.):][ \t]+|[|\t][ \t]*)(?=[\dA-Ga-g])", re.MULTILINE)
_ROW = re.compile(
    r"^[ \t|(\[]*([\d.]{1,20})[\s,|]+([\d.]{1,20})[\s,|]+([\d.]{1,20})(?:[\s,|]+[\d.]{1,20})?[ \t|)\]]*$", re.MULTILINE
)
_CLOCKED = re.compile(r"(?<![\w.:])\d{1,4}:[0-5]\d(?:\.\d{1,9})?(?![\w:])|(?<![\w.])\d{1,9}(?:\.\d{1,15})?\s?ms\b")
_BARE_LIST = re.compile(r"[\s,;\d.]+")
#: Times beyond this are milliseconds or samples; no clip is that long (and mir_eval refuses them).
_LONGEST = 30_000.0


def read_pitch(text: str) -> int | None:
    """A MIDI number (0 to 127) from a note name with octave (C4 is 60), a number or a frequency in Hz; None if it is none."""
    text = text.strip()
    if len(text) > 40:
        return None
    if (named := _NAMED.search(text)) is not None:
        return _named_pitch(named)
    if (hertz := _HERTZ.search(text)) is not None:
        return _hertz_pitch(float(hertz[1]))
    number = re.fullmatch(r"(?:midi\D{0,10})?(\d{1,3})(?:\.0+)?", text, re.IGNORECASE)
    return _within(int(number[1])) if number else None


def _named_pitch(match: re.Match[str]) -> int | None:
    accidental = match[2] or match[3] or ""
    shift = {"sharp": 1, "flat": -1}.get(accidental, sum(_SHIFTS.get(sign, 0) for sign in accidental))
    return _within(12 * (int(match[4]) + 1) + _STEPS[match[1].lower()] + shift)


def _hertz_pitch(frequency: float) -> int | None:
    return _within(round(69 + 12 * math.log2(frequency / 440))) if frequency >= 8 else None


def _within(midi: int) -> int | None:
    return midi if 0 <= midi <= 127 else None


def _unnumbered(text: str) -> str:
    """A text without the numbers of its lines, where these count them: 1, 2, 3, ..."""
    numbers = [int(number) for number in _NUMBERED.findall(text)]
    return _NUMBERED.sub("", text) if len(numbers) > 1 and numbers == [*range(1, len(numbers) + 1)] else text


def parse_pitches(answer: str) -> tuple[list[int] | None, str]:
    """Reads a sequence of pitches: note names with octave wherever they stand, else frequencies, else MIDI numbers.

    Args:
        answer: A model's answer.

    Returns:
        MIDI numbers and ``ok``, or None and ``empty`` or ``no_pitch``.
    """
    text = _unnumbered(unicodedata.normalize("NFKC", beginning(answer)))
    if not text:
        return None, "empty"
    found = [_named_pitch(match) for match in _NAMED.finditer(text)]
    found = found or [_hertz_pitch(float(match[1])) for match in _HERTZ.finditer(text)]
    found = found or [_within(int(match[0])) for match in _MIDI.finditer(text)]
    pitches = [pitch for pitch in found if pitch is not None]
    return (pitches, "ok") if pitches else (None, "no_pitch")


def parse_notes(answer: str) -> tuple[list[Note] | None, str]:
    """Reads notes with onset, offset (seconds) and pitch (MIDI number, note name or Hz), in every form of spans.

    Triples of numbers are (onset, offset, pitch); if that makes no notes of any of them, but (pitch, onset, offset) of all,
    they are that.

    Args:
        answer: A model's answer.

    Returns:
        (onset, offset, MIDI number) and ``ok``; an empty list and ``nothing``; or None and ``empty``, ``no_note`` or the
        reason of :func:`dsb2_tasks.parse.parse_spans`.
    """
    text = beginning(answer)
    triples = list(_triples(read_groups(text, limit=MOST))) if re.search(r"\d", text) else []
    triples = triples or list(_rows(text))
    for onset, offset, pitch in ((0, 1, 2), (1, 2, 0)):
        notes = [
            (row[onset], row[offset], int(row[pitch]))
            for row in triples
            if row[offset] > row[onset] and row[pitch].is_integer() and 12 <= row[pitch] <= 127
        ]
        if notes and (len(notes) == len(triples) or onset == 0):
            return notes, "ok"
    spans, status = parse_spans(answer)
    if not spans:
        return (None if spans is None else []), status
    read = [(start, end, read_pitch(label)) for start, end, label in spans]
    named = [(start, end, pitch) for start, end, pitch in read if pitch is not None]
    return (named, "ok") if named else (None, "no_note")


def _rows(text: str) -> Iterator[tuple[float, float, float]]:
    """Lines of three numbers or four (with a velocity)."""
    for row in islice(_ROW.finditer(text), MOST):
        numbers = [read_time(field) for field in row.groups()]
        if numbers[0] is not None and numbers[1] is not None and numbers[2] is not None:
            yield numbers[0], numbers[1], numbers[2]


def _triples(groups: list[Any]) -> Iterator[tuple[float, float, float]]:
    stack = list(reversed(groups))
    while stack:
        item = stack.pop()
        if isinstance(item, Pairs):
            stack.extend(value for _, value in reversed(item) if isinstance(value, list))
        elif isinstance(item, list):
            if len(item) in (3, 4) and all(isinstance(part, float) and part >= 0 for part in item):
                yield item[0], item[1], item[2]
            else:
                stack.extend(part for part in reversed(item) if isinstance(part, list))


def parse_beats(answer: str) -> tuple[list[float] | None, str]:
    """Reads beat times in seconds: a list, lines, or numbers in running text; ms and m:ss are converted.

    Tempo, metre and counts of beats are not times; a tempo alone, or one whole number, is no answer.

    Args:
        answer: A model's answer.

    Returns:
        Sorted, distinct times and ``ok``; an empty list and ``nothing``; or None and ``empty``, ``no_time``, ``tempo`` or
        ``too_large`` (times beyond 30,000 s: another unit).
    """
    text = _unnumbered(unicodedata.normalize("NFKC", beginning(answer)))
    if not text:
        return None, "empty"
    times = _listed_times(read_groups(text, limit=MOST))
    if not times:
        stripped = _TEMPO.sub(" ", text)
        converted = [read_time(match[0]) for match in _CLOCKED.finditer(stripped)]
        plain = [float(match[0]) for match in _NUMBER.finditer(_CLOCKED.sub(" ", stripped))]
        times = [time for time in converted if time is not None] + plain
        if len(times) == 1 and re.fullmatch(r"\W*\d+\W*", stripped):
            return None, "tempo"
    if not times:
        if _TEMPO.search(text):
            return None, "tempo"
        return (
            ([], "nothing") if re.fullmatch(r"\W*(?:\[\s*\]|no (?:down)?beats?)\W*", text, re.IGNORECASE) else (None, "no_time")
        )
    if max(times) > _LONGEST:
        return None, "too_large"
    return sorted(set(times)), "ok"


def _listed_times(groups: list[Any]) -> list[float]:
    """The numbers of bracketed lists; of mappings those under a key that speaks of time, or all if none does."""
    times: list[float] = []
    stack = list(reversed(groups))
    while stack:
        item = stack.pop()
        if isinstance(item, Pairs):
            timed = [value for key, value in item if re.search("time|onset|start|second|beats", str(key).lower())]
            values = timed or [value for key, value in item if not re.search("tempo|bpm|signature|meter|metre", str(key).lower())]
            stack.extend(reversed(values))
        elif isinstance(item, list):
            stack.extend(reversed(item))
        elif (time := read_time(item)) is not None:
            times.append(time)
    return times
