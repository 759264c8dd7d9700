"""Stretches of time with what happens in them: speaker turns, sound events, entity spans."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from dsb2_tasks.parse._clean import beginning
from dsb2_tasks.parse._literal import Pairs, read_groups

Span = tuple[float, float, str]

_UNITS = r"ms|milliseconds?|msecs?|s|secs?|seconds?|min(?:ute)?s?|h(?:ou)?rs?"
#: A time: m:ss, h:mm:ss, or seconds; with its unit.
_T = (
    r"(?<![\w.:])(?:\d{1,4}:[0-5]\d(?::[0-5]\d)?(?:\.\d{1,9})?|\d{1,9}(?:\.\d{1,15})?)"
    rf"(?:\s?(?:{_UNITS})(?!\w))?(?!\w|[.:]\d)"
)
_SEP = (
    r"\s*(?:-+>?|=>|→|~|,?\s*\b(?:to|until|till|and|through)\b"
    r"|[,;]?\s*(?:and\s+)?(?:it\s+)?\b(?:ends?|offset|stops?)(?:[ _]time)?\b\s*(?:at|:|=|is)?)\s*"
)
_PAIR = re.compile(rf"({_T}){_SEP}(?:at\s+)?({_T})|[(\[]\s*({_T})\s*,\s*({_T})\s*[)\]]", re.IGNORECASE)
_TIME = re.compile(_T)
_SECONDS = re.compile(r"\d{1,9}(?:\.\d{1,15})?")
_UNIT = re.compile(rf"\s?({_UNITS})$")
_DASHES = re.compile("[‐‑‒–—−〜～]")
#: Decimal comma of subtitles; minutes with seconds; an end that stands in the line after its start; Chinese words.
_COMMA = re.compile(r"(?<=:\d\d),(?=\d{3}(?!\d))")
_MINUTES = re.compile(
    r"(?<![\w.:])(\d{1,4})\s?m(?:in(?:ute)?s?)?\s?(?:and\s)?(\d{1,2}(?:\.\d{1,9})?)\s?s(?:ec(?:ond)?s?)?\b", re.IGNORECASE
)
#: Minutes that stand apart from a pair of times: what is meant is not read.
_MINUTES_BEFORE = re.compile(r"\b(?:minutes?|mins?|hours?)[\s:(]{1,3}$", re.IGNORECASE)
_MINUTES_BEHIND = re.compile(r"[\s(]{1,2}(?:minutes?|mins?|hours?)\b", re.IGNORECASE)
_END_LINE = re.compile(r"\n\W{0,8}(?=(?:end|offset|stop)s?(?:[ _]time)?\W{1,6}\d)", re.IGNORECASE)
_SECOND_SIGN, _FROM_SIGN, _TO_SIGN = re.compile(r"(?<=\d)\s?秒钟?"), re.compile(r"从\s?(?=\d)"), re.compile(r"[到至]\s?(?=\d)")
_RTTM = re.compile(
    r"^\W{0,8}SPEAKER\s+\S+\s+\S+\s+(\d{1,9}(?:\.\d{1,15})?)\s+(\d{1,9}(?:\.\d{1,15})?)\s+\S+\s+\S+\s+(\S+)", re.MULTILINE
)
_NOTHING = re.compile(
    r"\b(?:no|not any|without any|zero)\s+(?:[\w-]+\s+){0,3}?"
    r"(?:speech|speakers?|turns?|events?|sounds?|entit(?:y|ies)|notes?|voices?|matches|match|occurrences?)\b"
    r"|\bnothing\b|\bsilence\b|\bsilent\b",
    re.IGNORECASE,
)
_EMPTY = re.compile(
    r"(?:`{3}\w*)?\s*(?:\[\s*\]|\{\s*[\"']?\w+[\"']?\s*:\s*\[\s*\]\s*\}|\{\s*\}|\(\s*\)|none|nothing)\s*\.?\s*(?:`{3})?",
    re.IGNORECASE,
)
#: More spans than any clip has; what follows is not read.
MOST = 5_000
#: Keys under which a stretch of time stands as one value.
_RANGE_KEYS = frozenset({"time", "times", "timestamp", "timestamps", "interval", "segment", "span", "range"})
_KEY_UNIT = re.compile(r"_(?:in_)?(s|secs?|seconds?|ms|milliseconds?|min(?:ute)?s?)$")
_BEGIN_KEYS = ("start", "onset", "begin", "from", "start_time", "onset_time", "begin_time", "starttime")
_END_KEYS = ("end", "offset", "stop", "to", "end_time", "offset_time", "stop_time", "endtime")
_LABEL_KEYS = (
    "speaker",
    "label",
    "event",
    "event_label",
    "sound_event",
    "speaker_id",
    "name",
    "class",
    "type",
    "category",
    "sound",
    "entity",
    "tag",
    "pitch",
    "note",
    "midi",
)
#: What stands around a label in a line and is none of it. Articles only in lower case: a speaker may be called A.
_FILLER = re.compile(
    r"\b(?:[Ff]rom|[Bb]etween|[Aa]t|[Dd]uring|[Ss]tarts?|[Oo]nset|[Bb]egins?|[Ee]nds?|[Oo]ffset|[Ss]tops?|[Tt]ime|[Ss]econds?|secs?"
    r"|speaks?|speaking|talks?|talking|is|was|are|and|then|again|a|an|the|s)\b"
)
_LINE = re.compile(r"[^\n;]++")
_DIGIT = re.compile(r"\d")
_JOINT = re.compile(r",|\band\b|\bthen\b")
_LEAD = re.compile(
    r"^\W*(?:\d+[.)]\s+)?(?:(?:speaker|label|event|sound|class|type|name|pitch|note|midi)\s*[:=]\s*)?", re.IGNORECASE
)
_EDGE = " \t\"'`*“”‘’«»()[]{}<>|,;:.-=>→•#/\\"


def parse_spans(answer: str) -> tuple[list[Span] | None, str]:
    """Reads labelled stretches of time.

    Understood are RTTM lines; JSON or Python objects with start, end and label keys (and their synonyms), triples in either
    order, ``{label: [[start, end]]}``; ``(label, start, end)`` groups; and lines such as "0:05 - 0:12 speaker A", "Speaker 1:
    0.0s to 3.2s, 5s - 7s".  Times are seconds, with s or ms, minutes or hours that say so, or [h:]mm:ss.

    Args:
        answer: A model's answer.

    Returns:
        (start, end, label) in the order given, label "" where none is stated, and ``ok``; an empty list and ``nothing`` for
        an answer that says there is nothing; or None and why: ``empty``, ``no_span``, ``reversed`` (no span ends after it
        begins).
    """
    text = _COMMA.sub(".", _DASHES.sub("-", beginning(answer)))
    if not text:
        return None, "empty"
    if not text.isascii():
        text = _TO_SIGN.sub(" to ", _FROM_SIGN.sub(" from ", _SECOND_SIGN.sub(" s ", text)))
    text = _MINUTES.sub(lambda found: f"{float(found[1]) * 60 + float(found[2]):.15g} s", text)
    found: list[Span] = []
    if _DIGIT.search(text):
        structured = _structured(read_groups(text, limit=MOST))
        found = _first(_rttm(text)) or _first(structured) or _first(_lines(_END_LINE.sub(", ", text)))
    kept = [(start, end, label) for start, end, label in found if end > start]
    if kept:
        return kept, "ok"
    if found:
        return None, "reversed"
    if _EMPTY.fullmatch(text) or _NOTHING.search(text):
        return [], "nothing"
    return None, "no_span"


def _first(spans: Iterator[Span]) -> list[Span]:
    return list(islice(spans, MOST))


def _rttm(text: str) -> Iterator[Span]:
    for turn in _RTTM.finditer(text):
        yield float(turn[1]), float(turn[1]) + float(turn[2]), turn[3]


def read_time(value: Any) -> float | None:
    """A time in seconds from a number, "1.5 s", "250 ms", "2 min" or "1:02.5"; None if it is none."""
    if isinstance(value, float):
        return value if value >= 0 else None
    if not isinstance(value, str):
        return None
    text = value.strip().lower()
    if _SECONDS.fullmatch(text):
        return float(text)
    if len(text) > 40 or _TIME.fullmatch(text) is None:
        return None
    unit = _UNIT.search(text)
    number = text[: unit.start()] if unit else text
    seconds = 0.0
    for part in number.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds * _factor(unit[1]) if unit and ":" not in number else seconds


def _factor(unit: str) -> float:
    """Seconds in a unit."""
    return 60.0 if unit.startswith("min") else {"m": 0.001, "h": 3600.0}.get(unit[0], 1.0)


def _stretch(one: str, other: str) -> tuple[float, float] | None:
    """Both times of a pair in seconds; a unit behind the second alone is that of both ("1.5 to 2.5 minutes")."""
    start, end = read_time(one), read_time(other)
    if start is None or end is None:
        return None
    units = [_factor(unit[1]) if (unit := _UNIT.search(time.lower())) else None for time in (one, other)]
    if ":" in one or ":" in other or units[0] == units[1]:
        return start, end
    if units[1] is None:  # "1 min to 90" may mean either
        return (start, end) if units[0] == 1 else None
    return (start * units[1] if units[0] is None else start), end


def _structured(groups: Iterable[Any], label: str = "") -> Iterator[Span]:
    """Spans in lists and mappings, depth first; ``label`` is that of the mapping's key above."""
    stack: list[tuple[Any, str]] = [(group, label) for group in reversed(list(groups))]
    while stack:
        item, above = stack.pop()
        pair = _PAIR.fullmatch(item.strip()) if isinstance(item, str) else None
        if pair is not None and (times := _stretch(pair[1] or pair[3], pair[2] or pair[4])) is not None:
            yield *times, above
        if not isinstance(item, list):
            continue
        span = _of_mapping(item, above) if isinstance(item, Pairs) else _of_sequence(item, above)
        if span is not None:
            yield span
        elif isinstance(item, Pairs):
            stack.extend(_parts(item, above))
        else:
            stack.extend((inner, above) for inner in reversed(item) if isinstance(inner, list))


def _named(item: Pairs) -> dict[str, Any]:
    """A mapping by the plain names of its keys; times under "start_ms" and the like in seconds."""
    known: dict[str, Any] = {}
    for key, value in item:
        name = str(key).strip().lower().replace(" ", "_")
        unit = _KEY_UNIT.search(name)
        if unit is not None and isinstance(value, float):
            value *= _factor(unit[1])
        known[name[: unit.start()] if unit else name] = value
    return known


def _label_of(known: dict[str, Any], above: str) -> str:
    return _text(next((known[key] for key in _LABEL_KEYS if isinstance(known.get(key), (str, float))), above))


def _parts(item: Pairs, above: str) -> Iterator[tuple[Any, str]]:
    """The values of a mapping, last first, with the label of each: the mapping's own, else its key."""
    own = _label_of(_named(item), "")
    for key, value in reversed(item):
        name = str(key).strip().lower()
        if isinstance(value, list) or name in _RANGE_KEYS:
            yield value, own or (above if name in _RANGE_KEYS and above else str(key))


def _of_mapping(item: Pairs, above: str) -> Span | None:
    known = _named(item)
    start = next((read_time(known[key]) for key in _BEGIN_KEYS if key in known), None)
    end = next((read_time(known[key]) for key in _END_KEYS if key in known), None)
    if end is None and start is not None and (length := read_time(known.get("duration"))) is not None:
        end = start + length
    if start is None or end is None:
        return None
    return start, end, _label_of(known, above)


def _of_sequence(item: list[Any], above: str) -> Span | None:
    times = [read_time(part) for part in item]
    if len(item) == 3 and times[0] is not None and times[1] is not None and not isinstance(item[2], list):
        return times[0], times[1], _text(item[2])
    if len(item) == 3 and times[1] is not None and times[2] is not None and isinstance(item[0], str):
        return times[1], times[2], _text(item[0])
    if len(item) == 2 and above and times[0] is not None and times[1] is not None:
        return times[0], times[1], above
    return None


def _text(label: Any) -> str:
    if isinstance(label, float):
        return f"{label:g}"
    return "" if label is None or isinstance(label, list) else str(label).strip()


def _lines(text: str) -> Iterator[Span]:
    """Spans of running text, line by line; a line without a label goes on with the last one."""
    last = ""
    for part in _LINE.finditer(text):
        line = part[0]
        timed = _DIGIT.search(line) is not None
        pairs = [(m.start(), m.end(), m[1] or m[3], m[2] or m[4]) for m in islice(_PAIR.finditer(line), MOST)] if timed else []
        pairs = pairs or (list(islice(_fields(line), MOST)) if timed else [])
        if len(pairs) == MOST:
            line = line[: pairs[-1][1]]
        if not pairs:
            if line.rstrip().endswith(":"):
                last = _label(line) or last
            continue
        for label, (begin, end, one, other) in zip(_labels(line, pairs), pairs, strict=True):
            last = label or last
            apart = _MINUTES_BEFORE.search(line, max(begin - 12, 0), begin) or _MINUTES_BEHIND.match(line, end)
            if apart is None and (times := _stretch(one, other)) is not None:
                yield *times, last


def _labels(line: str, pairs: list[tuple[int, int, str, str]]) -> list[str]:
    """The label of each pair of times: its own where the line names several ("0-1 dog, 2-3 cat"), else what the line holds."""
    edges = [0, *(edge for begin, end, _, _ in pairs for edge in (begin, end)), len(line)]
    rests = [line[a:b] for a, b in zip(edges[::2], edges[1::2], strict=True)]  # before, between and after the pairs
    label_first = bool(_label(rests[0]))
    cuts = [0]
    for rest in rests[1:-1]:
        joint = list(_JOINT.finditer(rest))
        cuts.append(joint[-1].start() if joint else (0 if label_first else len(rest)))
    cuts.append(len(rests[-1]))
    own = [_label(f"{rests[i][cuts[i] :]} {rests[i + 1][: cuts[i + 1]]}") for i in range(len(pairs))]
    return own if sum(map(bool, own)) > 1 else [_label(" ".join(rests))] * len(pairs)


def _fields(line: str) -> Iterator[tuple[int, int, str, str]]:
    """Neighbouring fields that are times, in a line cut at commas, tabs or bars ("spk1, 0.41, 5.27") or at blanks."""
    at = 0
    run: list[tuple[int, int, str]] = []
    separator = r"[,|\t]" if re.search(r"[,|\t]", line) else " "
    for field in [*re.split(separator, line, maxsplit=2 * MOST), ""]:
        content = field.strip(" ()[]\"'")
        if _SECONDS.fullmatch(content) or read_time(content) is not None:
            run.append((at, at + len(field), content))
        else:
            yield from _pairs_of_run(run)
            run = []
        at += len(field) + 1


def _pairs_of_run(run: list[tuple[int, int, str]]) -> Iterator[tuple[int, int, str, str]]:
    """Neighbours two by two; of three the one that does not fit in is a speaker's number."""
    if len(run) == 3:
        times = [read_time(content) or 0.0 for _, _, content in run]
        run = run[:2] if times[0] < times[1] >= times[2] else run[1:]
    for (begin, _, one), (_, end, other) in zip(run[::2], run[1::2], strict=False):
        yield begin, end, one, other


def _label(rest: str) -> str:
    words = " ".join(_FILLER.sub(" ", rest).split())
    return _LEAD.sub("", words).strip(_EDGE)
