"""Row functions at their edges: what a row says of empty, odd and huge references and answers."""

from __future__ import annotations

import time

import pytest

from dsb2_tasks import metrics


def test_phones() -> None:
    assert metrics.phones("HH AH0 L OW1") == metrics.phones("/hh ah l ow/") == ["HH", "AH", "L", "OW"]
    assert metrics.phones("HH AH0", strip_stress=False) == ["HH", "AH0"]
    assert metrics.phones("a1, e-2 3") == ["A", "E", "2", "3"]  # a digit alone is no stress
    assert metrics.phones("") == []


def test_tokens() -> None:
    assert metrics.mixed("这个project的 deadline 是𠀀〇") == ["这", "个", "project", "的", "deadline", "是", "𠀀", "〇"]
    assert metrics.characters(" a b ") == ["a", " ", "b"]
    assert metrics.mostly_ideographs("我 love 你们大") is False
    assert metrics.mostly_ideographs("我们爱 you 你们大家")
    assert not metrics.mostly_ideographs("")


def test_capped_errors() -> None:
    endless = metrics.error_rate_row(["a"], ["a"] * 5000)
    assert endless == (4999, 1)
    assert metrics.get("wer").aggregate([endless]) == 4999
    assert metrics.get("wer_capped").aggregate([metrics.capped_row(endless)]) == 1


def test_slots() -> None:
    reference = [("time", "7:30"), ("Artist", "Foo: Bar")]
    assert metrics.slot_type_row(reference, [("ARTIST", "x")]) == (1, 2, 1)
    assert metrics.slot_value_row(reference, reference) == (0, 12)
    assert metrics.slot_value_row(reference, [("artist", "FOO: BAR"), ("place", "nowhere")]) == (4, 12)  # 7:30 is missing
    assert metrics.slot_value_row([("a", "X")], [("a", "x")], casefold=False) == (1, 1)
    assert metrics.slot_value_row([], [("a", "x")]) == (0, 0)
    assert metrics.slot_type_row([], []) == (0, 0, 0)


def test_entities() -> None:
    reference = [("GPE", "The E.U."), ("DATE", "today"), ("FAC", "dropped")]
    assert metrics.entity_row(reference, [("PLACE", "the e u"), ("WHEN", "Today!"), ("PRODUCT", "x")]) == (2, 2, 2)
    assert metrics.entity_row([("ORG", "a"), ("ORG", "a")], [("org", "a")]) == (1, 2, 1)
    assert metrics.entity_label_row([("ORG", "a"), ("ORG", "b")], [("ORG", "x")]) == (1, 2, 1)
    assert metrics.combined_type("work of art") is None and metrics.combined_type("loc") == "PLACE"
    assert metrics.combined_type("SPECIES") == "SPECIES"


def test_frames_of_spans() -> None:
    assert metrics.frame_row([(0, 1), (0.5, 1.5)], [(1, 2)]) == (50, 150, 100)
    assert metrics.frame_row([(1, 0)], []) == (0, 0, 0)
    assert metrics.frame_row([(0, 1)], [(0, 1e12)])[0] == 100


def test_part_of_speech_as_the_authors_count_it() -> None:
    assert metrics.official_tag_row("NOUN VERB", "NOUN, VERB.") == (0, 2)
    assert metrics.official_tag_row("NOUN VERB", "noun verb") == (2, 2)


def test_spans() -> None:
    assert metrics.overlap_row([(2, 6)], [(2, 3), (3, 4), (3.5, 4)]) == (0.5,)
    assert metrics.overlap_row([], []) == (1.0,)
    assert metrics.overlap_row([], [(0, 1)]) == (0.0,)
    assert metrics.get("recall_at_iou").aggregate([(0.5,), (0.49,), (0.7,), (0.1,)]) == 0.5
    assert metrics.get("recall_at_iou_0.7").aggregate([(0.5,), (0.7,)]) == 0.5


def test_events_without_times_beyond_reason() -> None:
    start = time.perf_counter()
    flood = [(i * 0.01, i * 0.01 + 0.5, "dog") for i in range(20_000)]
    assert metrics.event_row([(1, 2, "dog")], [*flood, (0, 1e15, "dog")])[1:] == (1, 20_001)
    assert metrics.segment_row([(0, 1, "dog")], [(0, 1e15, "dog")], duration=4.0) == (1, 1, 4)
    assert metrics.segment_row([(0, 1, "dog")], [(0, 1e9, "dog")]) == (1, 1, 10**9)
    assert metrics.note_row([(1.0, 2.0, 60)], [(i * 0.01, i * 0.01 + 1, 60) for i in range(20_000)]) == (1, 1, 20_000)
    assert metrics.beat_row([1.0], [i * 0.01 for i in range(20_000)]) == (1, 1, 20_000)
    assert time.perf_counter() - start < 5


def test_notes_without_length_and_without_partner() -> None:
    assert metrics.note_row([(1.0, 1.0, 60)], [(1.0, 0.5, 60)]) == (1, 1, 1)
    assert metrics.note_row([], [(1, 2, 60)]) == (0, 0, 1)
    assert metrics.note_row([(1, 2, 60)], [(9, 10, 60)]) == (0, 1, 1)
    assert metrics.note_row([], []) == (0, 0, 0)
    assert metrics.beat_row([], []) == (0, 0, 0)
    assert metrics.beat_row([2.0, 1.0, 1.0], [1.0]) == (1, 2, 1)
    assert metrics.beat_row([1.0, 5.0, 6.0], [1.0, 5.05], trim=5.0) == (1, 2, 1)


@pytest.mark.parametrize(
    ("hypothesis", "score"),
    [
        ("c# MINOR", 1.0),
        ("Db:min", 1.0),
        ("C♯ minor", 1.0),
        ("C sharp minor", 1.0),
        ("d flat minor", 1.0),
        ("C#m", 1.0),
        ("G# minor", 0.5),
        ("E major", 0.3),
        ("E", 0.3),
        ("C# major", 0.2),
        ("H minor", 0.0),
        ("", 0.0),
        (None, 0.0),
        ("the key of everything", 0.0),
    ],
)
def test_keys(hypothesis: str | None, score: float) -> None:
    assert metrics.key_row("C# minor", hypothesis) == (score,)


def test_a_reference_that_is_no_key() -> None:
    with pytest.raises(ValueError, match="'loud'"):
        metrics.key_row("loud", "C major")


def test_chords() -> None:
    assert metrics.chord_row("C:maj", "nonsense") == (0.0,)
    assert metrics.chord_row("C:aug", "C:maj") is None


def test_texts() -> None:
    assert metrics.phase1_row("Happy", "happy") == (1.0,)
    assert metrics.phase1_row("Happy", "happy.") == (0.0,)
    assert metrics.phase1_row("Happy", " happy") == (0.0,)
    assert metrics.text_row("It's a dog!", "it’s  a DOG") == (1.0,)
    assert metrics.text_row("a", "b") == (0.0,)
    assert metrics.mmau_string_match("It is sad", "sad", ["sad", "very sad"])
    assert not metrics.mmau_string_match("It is very sad", "sad", ["sad", "very sad"])


def test_answers_of_no_characters_a_file_can_hold() -> None:
    strange = "\x00\u200b\ud83d"
    for name in metrics.NORMALIZERS:
        metrics.normalize(name, strange)
    metrics.bleu_row("a b", strange)
    metrics.chrf_row("a b", strange)
    assert metrics.error_rate_row(metrics.characters("ab"), metrics.characters(strange))[1] == 2
