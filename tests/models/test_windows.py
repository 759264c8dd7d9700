"""Answers to the windows of a long clip become one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from _requests import RATE, Shelf, tone

from dsb2_tasks.audio import AudioPolicy, prepare
from dsb2_tasks.hooks import KINDS
from dsb2_tasks.models._windows import FIRST, UNREAD, join_windows, rule_for
from dsb2_tasks.parse import parse_beats, parse_notes, parse_spans

STARTS = (0.0, 30.0, 59.5)


@pytest.mark.parametrize(
    ("kind", "texts", "joined", "events"),
    [
        ("transcript", ["he said", " that ", ""], "he said that", ()),
        ("labels", ["dog, cat", "dog", "none"], "dog, cat\ndog\nnone", ()),
        ("choice", ["no", "Yes", " yes"], "Yes", ()),
        ("choice", ["no", "yes", "maybe"], "no", ()),
        ("number", ["3", "5", "5"], "3", (FIRST,)),
        (None, ["a", "b", "b"], "a", (FIRST,)),
    ],
    ids=["text", "labels", "vote", "tie", "number", "unknown"],
)
def test_rules(kind: str | None, texts: list[str], joined: str, events: tuple[str, ...]) -> None:
    assert join_windows(texts, STARTS, rule_for(kind)) == (joined, events)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_one_window_is_left_as_it_is(kind: str) -> None:
    assert join_windows([" 0.1-0.5 spk1 \n"], (0.0,), rule_for(kind)) == (" 0.1-0.5 spk1 \n", ())


def test_every_kind_has_a_rule_of_its_own() -> None:
    from dsb2_tasks.models._windows import _RULES

    assert set(_RULES) == set(KINDS)


@pytest.mark.parametrize("kind", ["turns", "events", "spans"])
def test_times_are_moved_by_the_start_of_their_window(kind: str) -> None:
    texts = ["(spk1, 0.41, 5.27) (spk2, 1.08, 6.9)", "SPEAKER x 1 2.0 1.5 <NA> <NA> spk 1 <NA> <NA>\n0:01 - 0:02 dog", "[]"]
    joined, events = join_windows(texts, STARTS, rule_for(kind))
    expected = [(s + o, e + o, n) for text, o in zip(texts, STARTS, strict=True) for s, e, n in parse_spans(text)[0]]
    assert len(expected) >= 3 and any(start > 30 for start, _, _ in expected)
    read = parse_spans(joined)[0]
    assert [(round(start, 3), round(end, 3), name) for start, end, name in read] == [
        (round(start, 3), round(end, 3), name) for start, end, name in expected
    ]
    assert events == () and json.loads(joined)


@pytest.mark.parametrize("label", ["spk 1", "1", "dog-bark, loud", 'a "name"', "", "1.5 s", "[x]"])
def test_names_survive_the_moving(label: str) -> None:
    text = json.dumps([[0.5, 1.25, label]])
    read = parse_spans(text)[0]
    joined, _ = join_windows([text, text], (0.0, 10.0), "spans")
    assert parse_spans(joined)[0] == [*read, (10.5, 11.25, read[0][2])]


def test_notes_and_beats() -> None:
    joined, _ = join_windows(["[(0.5, 1.0, 60)]", "C4 from 0.25 to 0.75"], (0.0, 30.0), rule_for("notes"))
    assert parse_notes(joined)[0] == [(0.5, 1.0, 60), (30.25, 30.75, 60)]
    joined, events = join_windows(["0.5, 1.0, 1.5", "tempo: 120 bpm", "2.25"], STARTS, rule_for("beats"))
    assert parse_beats(joined)[0] == [0.5, 1.0, 1.5, 61.75] and events == (UNREAD,)


def test_nothing_in_any_window_is_nothing() -> None:
    joined, events = join_windows(["no speech", "[]"], (0.0, 30.0), rule_for("turns"))
    assert parse_spans(joined) == ([], "nothing") and events == ()


def test_no_readable_window_leaves_the_first_answer() -> None:
    assert join_windows(["I cannot say.", "Sorry."], (0.0, 30.0), rule_for("turns")) == ("I cannot say.", (FIRST, UNREAD, UNREAD))


def test_windows_say_where_they_begin(shelf: Shelf) -> None:
    samples = tone(300, 10)
    for at in (3.5, 6.8):
        samples[round(at * RATE) : round((at + 0.02) * RATE)] = 0
    windows = prepare(shelf.put(samples), AudioPolicy(max_seconds=4.0, long_audio="chunk"))
    assert [window.start for window in windows] == pytest.approx([0, 3.51, 6.81], abs=0.011)
    assert np.array_equal(np.concatenate([window.samples for window in windows]), samples)
    assert prepare(shelf.put(samples), AudioPolicy(max_seconds=4.0))[0].start == 0.0
