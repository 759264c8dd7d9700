"""What single kinds do with options, languages, units, names and times."""

from __future__ import annotations

from typing import Any

import pytest
from test_kinds import make_doc, make_spec

from dsb2_tasks import hooks, metrics
from dsb2_tasks.hooks import KINDS, LabelError, close_options
from dsb2_tasks.metrics import Row
from dsb2_tasks.spec import SpecError

ANIMALS: dict[str, Any] = {"options": ["cat", "dog"], "aliases": {"cat": ["kitten", "feline"]}}


def row(kind: str, metric: str, label: str, answer: str, spoken: str | None = None, **changes: Any) -> Row | None:
    spec = make_spec(kind, metric, **changes)
    return KINDS[kind].score(answer, make_doc(label, dsb2_language=spoken), spec).statistics[metric]


def status(kind: str, label: str, answer: str, **changes: Any) -> str:
    return KINDS[kind].score(answer, make_doc(label), make_spec(kind, **changes)).status


@pytest.mark.parametrize(
    ("answer", "correct", "said"),
    [
        ("cat", 1, "ok"),
        ("It is a kitten.", 1, "ok"),
        ("not a dog but a feline", 1, "ok"),
        ("a dog", 0, "ok"),
        ("cat or dog", 0, "ambiguous"),
        ("not a cat", 0, "no_option"),
        ("<think>cat", 0, "empty"),
    ],
)
def test_choice(answer: str, correct: int, said: str) -> None:
    assert row("choice", "accuracy", "cat", answer, **ANIMALS) == (correct,)
    assert status("choice", "cat", answer, **ANIMALS) == said


def test_labels_are_matched_as_words() -> None:
    read = KINDS["choice"].read_label
    assert read(make_doc("True"), make_spec("choice", options=["true", "false"])) == "true"
    assert read(make_doc("kitten"), make_spec("choice", **ANIMALS)) == "cat"
    assert read(make_doc("Hip-Hop"), make_spec("choice", options=["hip hop", "rock"])) == "hip hop"
    assert read(make_doc("2.0m"), make_spec("choice", options=["0.4m", "2.0m"])) == "2.0m"
    with pytest.raises(LabelError, match=r"one of the 2 options 'cat', 'dog', found 'owl'"):
        read(make_doc("owl"), make_spec("choice", **ANIMALS))


@pytest.mark.parametrize("kind", ["choice", "labels"])
def test_options_must_be_given(kind: str) -> None:
    for options in (None, "labels"):
        with pytest.raises(SpecError, match="options: labels"):
            KINDS[kind].read_label(make_doc("cat"), make_spec(kind, options=options))


def test_letters_only_where_the_instruction_has_them() -> None:
    assert row("choice", "accuracy", "dog", "(B)", letters=True, **ANIMALS) == (1,)
    assert row("choice", "accuracy", "dog", "(B)", **ANIMALS) == (0,)


def test_other_views_of_a_choice() -> None:
    assert row("choice", "phase1_exact", "cat", "CAT", **ANIMALS) == (1,)
    assert row("choice", "phase1_exact", "cat", "a cat", **ANIMALS) == (0,)
    assert row("choice", "macro_f1", "cat", "owl", **ANIMALS) == ("cat", "")
    assert row("choice", "key_weighted", "C major", "G major", options=["C major", "G major"]) == (0.5,)
    assert row("choice", "chroma_acc", "60", "72", options=["60", "72"]) == (1,)
    assert row("choice", "pitch_acc", "60", "72", options=["60", "72"]) == (0,)
    with pytest.raises(LabelError, match="MIDI"):
        row("choice", "pitch_acc", "cat", "cat", **ANIMALS)
    with pytest.raises(LabelError, match="a key"):
        row("choice", "key_weighted", "cat", "cat", **ANIMALS)


def test_label_sets() -> None:
    three = {"options": ["dog", "cat", "cow"]}
    spec = make_spec("labels", **three)
    assert KINDS["labels"].read_label(make_doc("dog", "cat", "dog"), spec) == ("dog", "cat")
    assert KINDS["labels"].read_label(make_doc("[]"), spec) == ()
    assert row("labels", "multilabel_exact", "dog, cat", "cat and dog", **three) == (2, 2, 2)
    assert row("labels", "multilabel_exact", "dog, cat", "all of them: cat, dog, cow", **three) == (2, 2, 3)
    assert row("labels", "multilabel_exact", "dog, cat", "no idea", **three) == (0, 2, 0)
    assert row("labels", "accuracy", "dog, cat", "dog", **three) == (0,)
    assert status("labels", "dog", "no idea", **three) == "no_option"


@pytest.mark.parametrize(
    ("kind", "labels", "options"),
    [
        ("choice", ["owl", "fox", "owl"], ("fox", "owl")),
        ("labels", ["owl, fox", "['bee']", "owl"], ("bee", "fox", "owl")),
        ("slots", ["artist: x, city: y"], ("artist", "city")),
        ("entities", ["ORG: x, GPE: y"], ("ORG", "PLACE")),
        ("tags", ["DET NOUN", "a / DET"], ("DET", "NOUN")),
        ("events", ["0-1 dog, 1-2 cat"], ("cat", "dog")),
    ],
)
def test_options_from_labels(kind: str, labels: list[str], options: tuple[str, ...]) -> None:
    closed = close_options(make_spec(kind, options="labels"), [make_doc(label) for label in labels])
    assert closed.options == options
    for label in labels:
        KINDS[kind].read_label(make_doc(label), closed)


def test_other_options_stay() -> None:
    for options in (None, ["a"]):
        spec = make_spec("choice", options=options)
        assert close_options(spec, [make_doc("b")]) is spec
    with pytest.raises(SpecError, match="no row has any"):
        close_options(make_spec("choice", options="labels"), [make_doc()])


def test_transcripts_whole_and_without_lead_in() -> None:
    said, answer = "I WILL GO HOME", 'Sure! Here is the transcription: "I will go home."'
    assert row("transcript", "wer_clean", said, answer, "en") == (0, 4)
    assert row("transcript", "wer", said, answer, "en") == (5, 4)
    assert row("transcript", "wer_capped", said, answer, "en") == (4, 4)
    assert row("transcript", "wer_clean", said, "I'm sorry, I cannot process audio.", "en") == (4, 4)
    assert row("transcript", "wer", said, "<think>hm</think>I will go home", "en") == (0, 4)
    assert status("transcript", said, "") == "empty"


@pytest.mark.parametrize(
    ("language", "label", "answer", "counts"),
    [
        ("en", "MISTER QUILTER WE ARE GLAD", "Mr. Quilter, we're glad", (0, 5)),
        ("es", "EL NIÑO COMIÓ", "¡El niño comio!", (1, 3)),
        ("ar", "مرحبا بك", "مَرْحَبًا بِكَ!", (0, 2)),
        ("zh", "今天天气很好", "今天 天氣很好。", (0, 6)),
        ("zh-CN", "今天天气很好", "今天天气好", (1, 6)),
        ("ja", "今日はいい天気", "今日は いい天気", (0, 7)),
        (None, "今天天气很好", "今天天氣很好", (0, 6)),
        (None, "der Hund bellt", "Der Hund bellt!", (0, 3)),
    ],
)
def test_the_language_of_the_row_chooses_normaliser_and_tokens(
    language: str | None, label: str, answer: str, counts: tuple[int, int]
) -> None:
    assert row("transcript", "wer", label, answer, language) == counts


def test_a_row_speaks_its_own_language_not_the_tasks() -> None:
    assert row("transcript", "wer", "今天天气很好", "今天天氣很好", "zh", language="en") == (0, 6)
    assert row("transcript", "wer", "we are here", "we're here", None, language="en") == (0, 3)


def test_mixed_and_named_normalisers() -> None:
    assert row("transcript", "mer_mixed", "这个 project 的 deadline 是明天", "这个project的deadline是今天") == (1, 8)
    assert row("transcript", "wer", "a b", "A b.", normalizer="none") == (2, 2)
    assert row("transcript", "wer_official", "A b", "a, b!", "en") == (0, 2)
    assert row("transcript", "wer_superb", "WE'RE HERE", "we are here", "en") == (2, 2)


def test_phonemes() -> None:
    assert row("phonemes", "per", "S P IY1 CH", "/s p iy ch/") == (0, 4)
    assert row("phonemes", "per_superb", "S P IY1 CH", "s p iy ch") == (1, 4)
    assert row("phonemes", "per_clean", "S P", "The phoneme sequence is: S P") == (0, 2)
    assert row("phonemes", "per", "K AE T", "") == (3, 3)


def test_translations_are_cut_by_the_script_of_the_reference() -> None:
    counts = row("translation", "bleu", "今天天气很好。", "今天天气很好。")
    assert counts is not None and counts[9] == 7
    counts = row("translation", "bleu", "Das ist gut.", "")
    assert counts is not None and counts[8:] == (0, 4)


@pytest.mark.parametrize(
    ("answer", "said", "value"),
    [("8", "ok", 8.0), ("8/10", "ok", 8.0), ("3-5", "na:range", None), ("", "na:empty", None), ("42", "na:out_of_range", None)],
)
def test_numbers(answer: str, said: str, value: float | None) -> None:
    spec = make_spec("number", "mse", number={"minimum": 0, "maximum": 10, "integer": True})
    scored = hooks.number(answer, make_doc("7"), spec)
    assert (scored.status, scored.value) == (said, value)
    assert scored.statistics["mse"] == (None if value is None else (7.0, value))


def test_number_labels_must_fit_what_the_task_file_says() -> None:
    form = {"minimum": 0.5, "maximum": 4.5, "unit": "m"}
    assert KINDS["number"].read_label(make_doc("1.8402917365520184"), make_spec("number", number=form)) == 1.8402917365520184
    assert KINDS["number"].read_label(make_doc("250 cm"), make_spec("number", number=form)) == 2.5
    with pytest.raises(LabelError, match=r"one number from 0.5 to 4.5 \(m\) \(see dsb2.number\), found '5.0'"):
        KINDS["number"].read_label(make_doc("5.0"), make_spec("number", number=form))
    with pytest.raises(LabelError, match="whole number of 1 or more"):
        KINDS["number"].read_label(make_doc("2.5"), make_spec("number", number={"minimum": 1, "integer": True}))


def test_counts_keep_wild_answers_unless_a_range_is_stated() -> None:
    assert row("number", "mse", "5", "5000", number={"minimum": 1, "integer": True}) == (5, 5000)
    assert row("number", "mse_clipped", "5", "5000", number={"minimum": 1}) == (5, 5000)
    assert row("number", "accuracy", "5", "five phones", number={"noun": ["phones"]}) == (1,)


def test_slots_and_entities() -> None:
    label = "artist: miles davis, city: paris"
    assert row("slots", "slot_type_f1", label, '{"artist": "Miles Davis"}') == (1, 2, 1)
    assert row("slots", "slot_value_cer", label, "artist: miles davis") == (5, 16)
    assert status("slots", label, "no idea") == "na:no_slot"
    with pytest.raises(LabelError, match="of the types in"):
        KINDS["slots"].read_label(make_doc("song: x"), make_spec("slots", options=["artist"]))
    assert row("entities", "ner_f1", "ORG: EU, GPE: Germany", "EU (ORG), Germans (NORP)") == (1, 2, 2)
    assert row("entities", "ner_f1", "ORG: EU", "There are no entities.") == (0, 1, 0)
    assert row("entities", "ner_f1", "none", "ORG: EU") == (0, 0, 1)


def test_tags_official_and_own() -> None:
    label = "(transcription): the fox / (POS): DET NOUN"
    assert row("tags", "pos_official_wer", label, "the fox / DET NOUN") == (2, 6)
    assert row("tags", "pos_tag_error_rate", label, "the fox / DET NOUN") == (0, 2)
    assert row("tags", "pos_transcription_wer", label, "a fox / DET NOUN") == (1, 2)
    assert status("tags", label, "a fox") == "na:no_tag"
    with pytest.raises(LabelError, match="a sentence"):
        row("tags", "pos_transcription_wer", "DET NOUN", "DET NOUN")


def test_turns_are_scored_up_to_the_last_turn_of_either_side() -> None:
    assert row("turns", "der", "(a, 0, 10) (b, 10, 20)", "A 0-11; B 11-20") == pytest.approx((0, 0, 1, 20))
    assert row("turns", "der", "(a, 0, 10)", "A 0-15") == pytest.approx((0, 5, 0, 10))
    assert row("turns", "der", "(a, 0, 10)", "no speech") == pytest.approx((10, 0, 0, 10))
    assert status("turns", "(a, 0, 10)", "two people") == "na:no_span"
    assert status("turns", "(a, 0, 10)", "A 5-3") == "na:reversed"


def test_events_go_by_the_names_of_the_options() -> None:
    named = {"options": ["dog", "alarm_bell"], "aliases": {"dog": ["barking"]}}
    label = "0.5-1.2 dog, 3.0-4.0 alarm bell"
    assert row("events", "event_f1", label, "A dog is barking from 0.5 to 1.2 s\nAlarm_Bell: 3.0-4.0", **named) == (2, 2, 2)
    assert row("events", "event_f1", label, "0.5-1.2 dog, 3.0-4.0 cow", **named) == (1, 2, 2)
    assert row("events", "event_f1", label, "0.5-1.9 dog", **named) == (0, 2, 1)
    assert row("events", "event_f1_onset", label, "0.5-1.9 dog", **named) == (1, 2, 1)
    assert row("events", "event_f1", label, "nothing", **named) == (0, 2, 0)
    with pytest.raises(LabelError, match="kind 'labels'"):
        KINDS["events"].read_label(make_doc("dog, cat"), make_spec("events"))


def test_music() -> None:
    assert row("notes", "note_f1", "[(0, 0.5, 60)]", "0.02-0.3 C4") == (1, 1, 1)
    assert row("notes", "note_f1_offset", "[(0, 0.5, 60)]", "0.02-0.3 C4") == (0, 1, 1)
    assert row("beats", "beat_f", "[1.0, 2.0]", "1.07, 2.08") == (1, 2, 2)
    assert row("pitches", "pitch_seq_error_rate", "C4 D4 E4 C4", "C4 D4 Fb4 C5") == (1, 4)
    assert row("pitches", "accuracy", "C4 D4", "60 62") == (1,)


def test_short_texts() -> None:
    assert row("text", "text_accuracy", "The second word.", "The answer is: the SECOND word") == (1,)
    assert row("text", "text_accuracy", "the second word", "the third word") == (0,)
    assert row("text", "text_accuracy", "42 switches", "forty two switches", language="en") == (1,)
    assert status("text", "x", "I'm sorry, I can't process audio") == "refusal"


def test_na_is_never_better_than_right() -> None:
    for metric in ("mse", "pcc"):
        scaled = metrics.scaled(metrics.get(metric))
        right: list[Row | None] = [(0, 1.0, 1.0), (0, 2.0, 2.0), (0, 4.0, 4.0), (0, 5.0, 5.0)]
        absent: list[Row | None] = [*right[:3], (1,)]
        better = scaled.aggregate(right) >= scaled.aggregate(absent) if scaled.higher_is_better else True
        assert better and scaled.aggregate(absent) >= 0
