"""Transcripts, slots, entities, tags, beats and pitches; lists inside text."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks.parse import (
    Tagged,
    clean,
    extract_text,
    extract_transcript,
    parse_beats,
    parse_entities,
    parse_pitches,
    parse_slots,
    parse_tags,
    read_pitch,
)
from dsb2_tasks.parse._literal import Pairs, read_groups


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<think>a</think>b", "b"),
        ("<THINK>a", ""),
        ("a</think>b", "b"),
        ("<think>a<think>b</think>c</think>d", "d"),
        ("x<think>a</think>y<think>b", "x y"),
        ("<|en|><|0.00|>hello<|endoftext|>", "hello"),
        ("a < b and <|", "a < b and <|"),
        ("a\r\nb\x00\u200bc", "a\nb  c"),
        ("\ud83d", "\ufffd"),
    ],
)
def test_clean(text: str, left: str) -> None:
    assert clean(text) == left


@pytest.mark.parametrize(
    ("answer", "text", "status"),
    [
        ("hello there", "hello there", "whole"),
        ("The speaker, having risen, left", "The speaker, having risen, left", "whole"),
        ("The transcription is hello", "The transcription is hello", "whole"),
        ("Note: this is it", "Note: this is it", "whole"),
        ('HE SAID "GO" AND LEFT', 'HE SAID "GO" AND LEFT', "whole"),
        ('"Go," he said, "now"', '"Go," he said, "now"', "whole"),
        ("'tis the season", "'tis the season", "whole"),
        ("I cannot go home without you", "I cannot go home without you", "whole"),
        ("Here's the transcription: hello world", "hello world", "preamble"),
        ("Sure! Here's what the speaker's saying:\n\nhello", "hello", "preamble"),
        ("**Transcription:** hello", "hello", "preamble"),
        ('The audio says "hello".', "hello", "preamble"),
        ("The man said 'go'", "go", "preamble"),
        ("The translation: Hallo, Welt: gut", "Hallo, Welt: gut", "preamble"),
        ('"hello there"', "hello there", "quoted"),
        ("「你好」", "你好", "quoted"),
        ('```json\n{"transcription": "hi"}\n```', "hi", "json"),
        ('{"id": 1, "text": "hi there"}', "hi there", "json"),
        ("Transcription:", None, "empty"),
        ("I'm sorry. I cannot process audio.", None, "refusal"),
        ("I can’t help you with that", None, "refusal"),
        ("As an AI language model, I do not have ears", None, "refusal"),
    ],
)
def test_transcripts(answer: str, text: str | None, status: str) -> None:
    assert extract_transcript(answer) == (text, status)


def test_short_texts() -> None:
    assert extract_text("I listened twice. The answer is: the second word.") == ("the second word.", "preamble")
    assert extract_text("the second word") == ("the second word", "whole")
    assert extract_text("")[0] is None


SLOTS = [("artist", "miles davis"), ("time", "7:30"), ("city", "new york, ny")]


@pytest.mark.parametrize(
    "text",
    [
        "artist: miles davis, time: 7:30, city: new york, ny",
        "Artist: Miles Davis\nTime: 7:30\nCity: New York, NY",
        "- artist = miles davis\n- time = 7:30\n- city = new york, ny",
        "Here are the slots: artist: miles davis, time: 7:30, city: new york, ny",
        json.dumps(dict(SLOTS)),
        json.dumps([{"type": kind, "value": value} for kind, value in SLOTS]),
        str(SLOTS),
        "PLAY B-artist MILES DAVIS E-artist AT B-time 7:30 E-time IN B-city NEW YORK, NY E-city",
    ],
)
def test_slots(text: str) -> None:
    assert parse_slots(text, ["artist", "time", "city"]) == (SLOTS, "ok")


def test_slots_without_known_types_and_without_slots() -> None:
    assert parse_slots("artist: miles, song_name: so what")[0] == [("artist", "miles"), ("song_name", "so what")]
    assert parse_slots("song: so what", ["artist"])[0] == [("song", "so what")]
    assert parse_slots("album name: x", ["album_name"])[0] == [("album_name", "x")]
    assert parse_slots("B-a X E-a", casefold=False)[0] == [("a", "X")]
    assert parse_slots("nothing") == (None, "no_slot") and parse_slots("") == (None, "empty")


ENTITIES = [("ORG", "european union"), ("PLACE", "germany"), ("WHEN", "today")]


@pytest.mark.parametrize(
    "text",
    [
        "ORG: European Union, GPE: Germany, DATE: today",
        "Organization: European Union\nPlace: Germany\nWHEN: today",
        "European Union (ORG), Germany (LOC), today (TIME)",
        '{"ORG": ["European Union"], "PLACE": "Germany", "WHEN": "today"}',
        '[{"text": "European Union", "type": "ORG"}, {"text": "Germany", "type": "GPE"}, {"text": "today", "type": "DATE"}]',
        "[('ORG', 'european union'), ('PLACE', 'germany'), ('today', 'WHEN')]",
        "ORG: european union; PLACE: germany; WHEN: today; FAC: the bridge",
    ],
)
def test_entities(text: str) -> None:
    assert parse_entities(text) == (ENTITIES, "ok")


def test_entities_share_a_type_and_may_be_absent() -> None:
    assert parse_entities("PERSON: Merkel, Obama")[0] == [("PERSON", "merkel"), ("PERSON", "obama")]
    assert parse_entities("No named entities.") == ([], "nothing")
    assert parse_entities("Merkel spoke") == (None, "no_entity")


@pytest.mark.parametrize(
    ("text", "tags", "sentence"),
    [
        ("DET ADJ NOUN", "DET ADJ NOUN", ""),
        ("DET, ADJ, NOUN", "DET ADJ NOUN", ""),
        ("det adj noun", "DET ADJ NOUN", ""),
        ("The dog runs / DET NOUN VERB", "DET NOUN VERB", "The dog runs"),
        ("either / or / DET NOUN", "DET NOUN", "either / or"),
        ("(transcription): the fox / (POS): DET NOUN", "DET NOUN", "the fox"),
        ("The/DET dog/NOUN", "DET NOUN", ""),
        ("The tags are: DET NOUN PUNCT", "DET NOUN", ""),
    ],
)
def test_tags(text: str, tags: str, sentence: str) -> None:
    assert parse_tags(text) == (Tagged(tuple(tags.split()), sentence), "ok")


def test_prose_about_tags_holds_none() -> None:
    assert parse_tags("the noun is part of it") == (None, "no_tag")


@pytest.mark.parametrize(
    ("answer", "times"),
    [
        ("[0.5, 1.0, 1.5]", [0.5, 1, 1.5]),
        ("1.5, 0.5, 1.0, 0.5", [0.5, 1, 1.5]),
        ("Beat 1: 0.5s\nBeat 2: 1.0s", [0.5, 1]),
        ("1. 0.5\n2. 1.0", [0.5, 1]),
        ("At 120 BPM in 4/4 the 12 beats fall on 0.5, 1.0 and 1.5 seconds", [0.5, 1, 1.5]),
        ('{"tempo": 120, "beats": [1, 2]}', [1, 2]),
        ('[{"beat": 1, "time": 0.5}, {"beat": 2, "time": 1}]', [0.5, 1]),
        ("500 ms, 1000 ms", [0.5, 1]),
        ("0:01.5 0:02", [1.5, 2]),
        ("5.0e-01, 1e0 and 1.5E+0", [0.5, 1, 1.5]),
        ("the 2e of 3", [2, 3]),
        ("Beat 1: 0.5\nBeat 2: 1.0", [0.5, 1]),
        ("Downbeat: 0.5\nBeat: 1.0", [0.5, 1]),
        ("Tempo: 120 BPM\nBeats: 0.5, 1.0, 1.5", [0.5, 1, 1.5]),
        ("The tempo is 120 bpm. Beats at 0.5, 1.0, 1.5", [0.5, 1, 1.5]),
        ("1st beat: 0.5, 2nd beat: 1.0", [0.5, 1]),
        ("Beat 1 at 0.5 s, beat 2 is at 1.0 s", [0.5, 1]),
    ],
)
def test_beats(answer: str, times: list[float]) -> None:
    assert parse_beats(answer) == (times, "ok")


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("120 BPM", "tempo"),
        ("120", "tempo"),
        ("there are 4 beats", "tempo"),
        ("a beat every 0.5 s", "tempo"),
        ("beats 0.5 seconds apart", "tempo"),
        ("at intervals of 0.5 s", "tempo"),
        ("120.5 beats per minute", "tempo"),
        ('{"tempo": 120}', "tempo"),
        ("steady", "no_time"),
        ("", "empty"),
        ("[40000, 50000]", "too_large"),
        ("at 1e999999 s", "too_large"),
    ],
)
def test_no_beats(answer: str, status: str) -> None:
    assert parse_beats(answer) == (None, status)


@pytest.mark.parametrize(
    ("answer", "pitches"),
    [
        ("C4 D4 E4", [60, 62, 64]),
        ("C4-D4-E4.", [60, 62, 64]),
        ("[60, 62]", [60, 62]),
        ("The pitch is C#4.", [61]),
        ("c sharp 4, E♭3", [61, 51]),
        ("440 Hz", [69]),
        ("B#3 Cb4", [60, 59]),
    ],
)
def test_pitches(answer: str, pitches: list[int]) -> None:
    assert parse_pitches(answer) == (pitches, "ok")


def test_a_pitch_needs_its_octave() -> None:
    assert parse_pitches("C D E") == (None, "no_pitch")
    assert read_pitch("MIDI 60") == 60 and read_pitch("128") is None and read_pitch("x") is None


KEYS = st.text(alphabet="abc", min_size=1, max_size=3)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-999, 999).map(float) | st.text(alphabet="abc é'\"\\,:[]{}()\n", max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=12,
)


def same(read: object, value: object) -> bool:
    if isinstance(value, dict):
        return isinstance(read, Pairs) and [k for k, _ in read] == list(value) and all(same(r, value[k]) for k, r in read)
    if isinstance(value, list):
        return isinstance(read, list) and len(read) == len(value) and all(map(same, read, value))
    return read == value


@settings(max_examples=200, deadline=None)
@given(value=st.lists(JSON, max_size=4), indent=st.sampled_from([None, 2]))
def test_json_reads_as_json(value: list[object], indent: int | None) -> None:
    (read,) = read_groups(f"see {json.dumps(value, indent=indent)} there")
    assert same(read, value)


def test_groups_of_models() -> None:
    assert read_groups("(spk1, 0.41, 5.27) (spk2, 1, .9)") == [["spk1", 0.41, 5.27], ["spk2", 1.0, 0.9]]
    assert read_groups("{'a': [1, 2]") == [[("a", [1.0, 2.0])]]
    assert read_groups("[0:05, it's]") == [["0:05", "it's"]]
    assert read_groups("no list ]}") == []
    assert read_groups("[" * 100_000)[0] != []
