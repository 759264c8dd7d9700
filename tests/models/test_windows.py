"""Answers to the windows of a long clip become one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from _requests import RATE, Shelf, tone

from dsb2_tasks.audio import AudioPolicy, prepare
from dsb2_tasks.hooks import KINDS
from dsb2_tasks.models._windows import FIRST, UNREAD, join_windows, rule_for
from dsb2_tasks.parse import (
    choose_labels,
    clean,
    extract_text,
    extract_transcript,
    parse_beats,
    parse_entities,
    parse_notes,
    parse_pitches,
    parse_slots,
    parse_spans,
)

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


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["a thought</think>hello there", "<think>x</think>general kenobi"], "hello there general kenobi"),
        (["<answer>hello there</answer>", "So: <answer>general kenobi</answer>"], "hello there general kenobi"),
        (['{"text": "hello there"}', '{"text": "general kenobi"}'], "hello there general kenobi"),
        (['{"text": "a \\"b\\" c"}', '{"text": "d", "language": "en"}'], 'a "b" c d'),
        (["Sure! Here is the transcription: hello", "Sure! Here is the transcription: there"], "hello there"),
        (["hello", "Here is the transcript:\nthere"], "hello there"),
        (['The speaker says "hello."', 'The speaker says "there."'], "hello. there."),
        (["```\nhello\n```", "```\nthere\n```"], "hello there"),
        (["so so so", "so"], "so so so so"),
        (["the time: noon", "and more"], "the time: noon and more"),
        (["he said", "I'm sorry, I cannot go"], "he said I'm sorry, I cannot go"),
    ],
)
def test_what_is_said_is_read_window_by_window(texts: list[str], said: str) -> None:
    joined, events = join_windows(texts, STARTS, rule_for("transcript"))
    assert extract_transcript(joined)[0] == said and events == ()


def test_one_lead_in_stays_in_the_raw_answer() -> None:
    """As in the answer to a clip of one window, which is scored as it stands."""
    joined, _ = join_windows(["<think>x</think>Transcript: a", "Transcript: b"], STARTS, rule_for("transcript"))
    assert clean(joined) == "Transcript: a b"


def test_short_answers_are_read_window_by_window() -> None:
    joined, events = join_windows(["The answer is a dog.", "Answer: a cat."], STARTS, rule_for("text"))
    assert extract_text(joined)[0] == "a dog. a cat." and events == ()
    joined, _ = join_windows(["he says the answer is no", "so it is"], STARTS, rule_for("transcript"))
    assert joined == "he says the answer is no so it is"


@pytest.mark.parametrize("kind", ["transcript", "text", "labels", "slots", "entities"])
def test_windows_without_a_usable_answer_are_counted(kind: str) -> None:
    rule = rule_for(kind)
    assert join_windows(["<think>unfinished", "city: Oslo"], STARTS, rule) == ("city: Oslo", (UNREAD,))
    assert join_windows(["city: Oslo", "", "<think>x"], STARTS, rule)[1] == (UNREAD,)
    assert join_windows(["<think>x", "<think>y"], STARTS, rule) == ("<think>x", (FIRST, UNREAD, UNREAD))
    assert join_windows(["", " "], STARTS, rule) == ("", ())


def test_a_refusal_stays_and_is_counted() -> None:
    refusal = "I'm sorry, I cannot transcribe this audio."
    assert join_windows(["a", refusal, "b"], STARTS, rule_for("transcript")) == (f"a {refusal} b", (UNREAD,))
    assert join_windows([refusal, refusal], STARTS, rule_for("transcript")) == (refusal, (FIRST, UNREAD, UNREAD))


@pytest.mark.parametrize(
    ("texts", "labels"),
    [
        (["The answer is dog", "The answer is cat"], ("dog", "cat")),
        (["dog", "It may be a cow. Final answer: cat"], ("dog", "cat")),
        (["**Final answer**\ndog", "**Final answer**\ncat"], ("dog", "cat")),
        (['["dog"]', '["cat"]'], ("dog", "cat")),
        (['["dog"]', "cat, cow"], ("dog", "cat", "cow")),
        (["dog", '```json\n["cat", "cow"]\n```'], ("dog", "cat", "cow")),
        (["['dog']", "['cat', 'cow']"], ("dog", "cat", "cow")),
        (['{"labels": ["dog"]}', '{"labels": ["cat"]}'], ("dog", "cat")),
        (['{"label": "dog"}', '{"label": "cat"}'], ("dog", "cat")),
        (['["dog", "ca', '["cow"]'], ("dog", "cow")),
        (["animals (dog)", "others (cat)"], ("dog", "cat")),
        (["<think>cow</think>dog", "<think>cow</think><answer>cat</answer>"], ("dog", "cat")),
        (['["dog"]', "[]"], ("dog",)),
        (["There is no dog", '["cat"]'], ("cat",)),
        (["[" * 100_000, '["cat"]'], ("cat",)),
        (["dog", "dog"], ("dog",)),
        (["[]", "[]"], ()),
    ],
)
def test_labels_are_read_window_by_window(texts: list[str], labels: tuple[str, ...]) -> None:
    joined, _ = join_windows(texts, STARTS, rule_for("labels"))
    assert choose_labels(joined, ["dog", "cat", "cow"])[0] == labels


@pytest.mark.parametrize(
    ("texts", "pairs"),
    [
        (["none", '[{"type": "PERSON", "value": "Ann"}]'], [("PERSON", "ann")]),
        (["PERSON: Ann", "There are none.", "No named entities are mentioned."], [("PERSON", "ann")]),
        (["<think>PERSON: Eve</think>PERSON: Ann", "PERSON: Bob"], [("PERSON", "ann"), ("PERSON", "bob")]),
        (["none", "[]"], []),
    ],
)
def test_entities(texts: list[str], pairs: list[tuple[str, str]]) -> None:
    joined, _ = join_windows(texts, STARTS, rule_for("entities"))
    assert parse_entities(joined)[0] == pairs


def test_slots_and_pitches() -> None:
    joined, _ = join_windows(["<answer>city: Oslo</answer>", "None", "mood: none"], STARTS, rule_for("slots"))
    assert parse_slots(joined)[0] == [("city", "oslo"), ("mood", "none")]
    joined, events = join_windows(["1. 60\n2. 62", "<think>C5", "C4 E4"], STARTS, rule_for("pitches"))
    assert parse_pitches(joined)[0] == [60, 62, 60, 64] and events == (UNREAD,)


@pytest.mark.parametrize(
    ("texts", "joined", "events"),
    [
        (["no", "<think>a</think>yes", "<think>b</think>Yes"], "<think>a</think>yes", ()),
        (["<think>a", "", "no"], "no", (UNREAD, UNREAD)),
        (["", ""], "", (FIRST, UNREAD, UNREAD)),
    ],
)
def test_thinking_has_no_vote(texts: list[str], joined: str, events: tuple[str, ...]) -> None:
    assert join_windows(texts, STARTS, rule_for("choice")) == (joined, events)


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
