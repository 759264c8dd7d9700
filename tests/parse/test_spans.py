"""Turns, events and spans in every form that models write."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks.parse import parse_notes, parse_spans

TIMES = st.integers(0, 60_000).map(lambda t: t / 1000)
SPANS = st.lists(
    st.tuples(TIMES, st.integers(1, 9_000).map(lambda t: t / 1000), st.sampled_from(["spk1", "spk2", "Speaker A", "dog_bark"])),
    min_size=1,
    max_size=8,
).map(lambda rows: [(start, round(start + length, 3), label) for start, length, label in rows])


def clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds * 1000), 60_000)
    return f"{minutes}:{rest // 1000:02d}.{rest % 1000:03d}"


FORMS = {
    "groups": lambda rows: " ".join(f"({label}, {a}, {b})" for a, b, label in rows),
    "triples": lambda rows: json.dumps(rows),
    "python": lambda rows: str([tuple(row) for row in rows]),
    "objects": lambda rows: json.dumps([{"start": a, "end": b, "speaker": label} for a, b, label in rows], indent=2),
    "synonyms": lambda rows: str([{"onset": a, "offset": b, "event": label} for a, b, label in rows]),
    "fenced": lambda rows: f"Here it is:\n```json\n{json.dumps({'segments': rows})}\n```\nDone.",
    "texts": lambda rows: json.dumps([{"begin": f"{a} s", "stop": f"{b}s", "label": label} for a, b, label in rows]),
    "lines": lambda rows: "\n".join(f"{label}: {a} - {b}" for a, b, label in rows),
    "words": lambda rows: "\n".join(f"from {a}s to {b}s the {label}" for a, b, label in rows),
    "clocks": lambda rows: "; ".join(f"{clock(a)} – {clock(b)} {label}" for a, b, label in rows),
    "arrows": lambda rows: "\n".join(f"- [{label}] {a} -> {b}" for a, b, label in rows),
    "one line": lambda rows: ", ".join(f"{a}-{b} {label}" for a, b, label in rows),
    "one line, label first": lambda rows: ", ".join(f"{label} {a} to {b}" for a, b, label in rows),
    "sentence": lambda rows: " and then ".join(f"{label} from {a} to {b} s" for a, b, label in rows),
    "milliseconds": lambda rows: "\n".join(f"{label} {a * 1000:.0f} ms to {b * 1000:.0f} ms" for a, b, label in rows),
    "columns": lambda rows: "\n".join(f"{a},{b},{label}" for a, b, label in rows),
    "table": lambda rows: "\n".join(
        ["| who | start | end |", "|---|---|---|", *(f"| {label} | {a} | {b} |" for a, b, label in rows)]
    ),
}


@pytest.mark.parametrize("form", FORMS)
@settings(max_examples=40, deadline=None)
@given(rows=SPANS)
def test_every_form_reads_back(form: str, rows: list[tuple[float, float, str]]) -> None:
    found, status = parse_spans(FORMS[form](rows))
    assert status == "ok" and found is not None
    assert [(pytest.approx(a), pytest.approx(b), label) for a, b, label in rows] == found


@settings(max_examples=40, deadline=None)
@given(rows=SPANS)
def test_rttm(rows: list[tuple[float, float, str]]) -> None:
    text = "\n".join(f"SPEAKER rec 1 {a:.3f} {b - a:.3f} <NA> <NA> {label.replace(' ', '_')} <NA> <NA>" for a, b, label in rows)
    found, _ = parse_spans(text)
    assert [(pytest.approx(a), pytest.approx(b), label.replace(" ", "_")) for a, b, label in rows] == found


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("A: 0-1\n  2-3\nB: 4-5", [(0, 1, "A"), (2, 3, "A"), (4, 5, "B")]),
        ("0-1 dog 2-3 cat", [(0, 1, "dog"), (2, 3, "cat")]),
        ("dog 0-1 cat 2-3", [(0, 1, "dog"), (2, 3, "cat")]),
        ("0-1, 2-3 dog", [(0, 1, "dog"), (2, 3, "dog")]),
        ("A: 0-1, 2-3, B: 4-5", [(0, 1, "A"), (2, 3, "A"), (4, 5, "B")]),
        ("Speaker A:\n0.0 - 3.2\n5 - 6", [(0, 3.2, "Speaker A"), (5, 6, "Speaker A")]),
        ("{'A': [[0, 1], [2, 3]]}", [(0, 1, "A"), (2, 3, "A")]),
        ("{'A': [{'start': 0, 'end': 1}]}", [(0, 1, "A")]),
        ('[{"start": 1, "duration": 2, "name": "x"}]', [(1, 3, "x")]),
        ('[{"start": 0, "end": 1, "speaker": "A"}, {"start": 2, "en', [(0, 1, "A")]),
        ("The sound starts at 0.5 and ends at 1.2.", [(0.5, 1.2, "The sound")]),
        ("between 0.5 and 1.2", [(0.5, 1.2, "")]),
        ("[0.5, 1.2]", [(0.5, 1.2, "")]),
        ("0.5 1.2", [(0.5, 1.2, "")]),
        ("100-500 ms dog", [(0.1, 0.5, "dog")]),
        ("A 0-1, 5-4", [(0, 1, "A")]),
        ("0:05 - 0:12 the A", [(5, 12, "A")]),
        ("Speaker 1, 0.5, 1.2", [(0.5, 1.2, "Speaker 1")]),
        ("<think>0-1 A</think>2-3 B", [(2, 3, "B")]),
        ("1.5 to 2.5 minutes: dog", [(90, 150, "dog")]),
        ("0.5 - 1 min dog\n1 min - 2 mins cat", [(30, 60, "dog"), (60, 120, "cat")]),
        ("30 s to 2 minutes: dog", [(30, 120, "dog")]),
        ("1 minute 30 seconds to 2 minutes 10 seconds: dog", [(90, 130, "dog")]),
        ("1 to 2 hours: dog", [(3600, 7200, "dog")]),
        ("1:30 to 2:30 minutes: dog", [(90, 150, "dog")]),
        ("dog | 0.5 min | 1 min", [(30, 60, "dog")]),
        ('{"start_min": 1.5, "end_min": 2.5, "label": "dog"}', [(90, 150, "dog")]),
        ('{"start": "1.5 min", "end": "2.5 minutes", "label": "dog"}', [(90, 150, "dog")]),
        ('{"dog": ["0.5-1.5 minutes", "100-500 ms"]}', [(30, 90, "dog"), (0.1, 0.5, "dog")]),
        ("0-2 minke whale", [(0, 2, "minke whale")]),
        ("5s - 7 the minutes of a meeting", [(5, 7, "minutes of meeting")]),
    ],
)
def test_more_forms(answer: str, found: list[tuple[float, float, str]]) -> None:
    assert parse_spans(answer) == (found, "ok")


@pytest.mark.parametrize(
    "answer", ["[]", "{}", "None.", "No speech.", "There are no speakers", "no sound events", '{"events": []}', "Silence"]
)
def test_nothing_is_an_answer(answer: str) -> None:
    assert parse_spans(answer) == ([], "nothing")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("", "empty"),
        ("Two people talk.", "no_span"),
        ("5 - 3 A", "reversed"),
        ("(A, 1, 1)", "reversed"),
        ("[]{}(),;", "no_span"),
        ("3 s", "no_span"),
        ("1 min to 90: dog", "no_span"),
        ("30 to 2 minutes: dog", "reversed"),
        ("In minutes: 1.5 - 2.5 dog", "no_span"),
        ("minutes 1.5 to 2.5: dog", "no_span"),
        ("1.5-2.5 (minutes): dog", "no_span"),
    ],
)
def test_no_span(answer: str, status: str) -> None:
    assert parse_spans(answer) == (None, status)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("[(0.0, 0.5, 60), (0.5, 1, 64)]", [(0, 0.5, 60), (0.5, 1, 64)]),
        ("[[60, 0.5, 1.0], [62, 1, 1.5]]", [(0.5, 1, 60), (1, 1.5, 62)]),
        ("0.0-0.5: C4\n0.5-1.0: C#5", [(0, 0.5, 60), (0.5, 1, 73)]),
        ("(0.1, 0.5, Bb3)", [(0.1, 0.5, 58)]),
        ('[{"onset": 0, "offset": 0.5, "pitch": 60}]', [(0, 0.5, 60)]),
        ('[{"start": 0, "end": 0.5, "note": "C4"}]', [(0, 0.5, 60)]),
        ("0 - 1 s: 440 Hz", [(0, 1, 69)]),
        ("[]", []),
    ],
)
def test_notes(answer: str, found: list[tuple[float, float, int]]) -> None:
    assert parse_notes(answer)[0] == found


@pytest.mark.parametrize(("answer", "status"), [("a melody", "no_span"), ("0-1: dog", "no_note"), ("", "empty")])
def test_no_notes(answer: str, status: str) -> None:
    assert parse_notes(answer) == (None, status)
