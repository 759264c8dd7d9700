"""A reference said in any documented form scores the best value: parser, hook and metric together."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from answer_material import SPECIAL, TAGS, WORDS, labels_of, scored, spans
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks import metrics, parse
from dsb2_tasks.hooks import KINDS

Span = tuple[float, float, str]
Form = Callable[[Any], str]

NOTE_NAMES = {"60": "C4", "64": "E4", "67": "G4"}
SPELLED = {2.0: "two", 3.0: "three", 7.0: "seven", 10.0: "ten", 0.0: "zero"}


def clock(seconds: float) -> str:
    return f"{int(seconds // 60)}:{seconds % 60:04.1f}"


def objects(found: list[Span], start: str, end: str, label: str, name: Callable[[str], Any] = str) -> list[dict[str, Any]]:
    return [{start: a, end: b, label: name(s)} for a, b, s in found]


def fenced(value: Any) -> str:
    return f"Here is the list:\n```json\n{json.dumps(value, indent=1)}\n```"


def lines(form: Callable[[float, float, str], str]) -> Form:
    return lambda found: "\n".join(form(*span) for span in found)


LABELLED: dict[str, Form] = {
    "(label, start, end)": lambda found: " ".join(f"({s}, {a}, {b})" for a, b, s in found),
    "[start, end, label]": lambda found: json.dumps([[a, b, s] for a, b, s in found]),
    "JSON objects": lambda found: json.dumps(objects(found, "start", "end", "label")),
    "JSON objects in a fence": lambda found: fenced({"segments": objects(found, "onset", "offset", "label")}),
    "Python objects": lambda found: str(objects(found, "start_time", "end_time", "label")),
    "mapping of label to spans": lambda found: json.dumps(
        {name: [[a, b] for a, b, s in found if s == name] for name in dict.fromkeys(s for _, _, s in found)}
    ),
    "start - end label": lines(lambda a, b, s: f"{a} - {b} {s}"),
    "label: start s to end s": lines(lambda a, b, s: f"{s}: {a}s to {b}s"),
    "bullets": lines(lambda a, b, s: f"* **{s}**: {a} - {b} seconds"),
    "m:ss": lines(lambda a, b, s: f"{clock(a)} - {clock(b)} {s}"),
    "bracketed m:ss": lines(lambda a, b, s: f"[{clock(a)} - {clock(b)}] {s}"),
    "en dash": lines(lambda a, b, s: f"{a}–{b}: {s}"),
    "milliseconds": lines(lambda a, b, s: f"{s}: {round(a * 1000)} ms - {round(b * 1000)} ms"),
    "fields": lines(lambda a, b, s: f"{s}, {a}, {b}"),
    "one line": lambda found: "; ".join(f"{s}: {a}-{b}" for a, b, s in found),
}
TURNS: dict[str, Form] = {
    **LABELLED,
    "RTTM": lines(lambda a, b, s: f"SPEAKER clip 1 {a} {round(b - a, 3)} <NA> <NA> {s} <NA> <NA>"),
    "speaker objects": lambda found: json.dumps(objects(found, "start", "end", "speaker")),
}
EVENTS: dict[str, Form] = {
    **LABELLED,
    "event objects": lambda found: json.dumps(objects(found, "onset", "offset", "event")),
    "sentence": lambda found: "\n".join(f"From {a} to {b} seconds, {s}" for a, b, s in found),
}
NOTES: dict[str, Form] = {
    "triples": lambda found: f"[{', '.join(f'({a}, {b}, {s})' for a, b, s in found)}]",
    "names in triples": lambda found: f"[{', '.join(f'({a}, {b}, {NOTE_NAMES[s]!r})' for a, b, s in found)}]",
    "JSON objects": lambda found: json.dumps(objects(found, "onset", "offset", "pitch", int)),
    "JSON objects with names": lambda found: fenced(objects(found, "start", "end", "note", NOTE_NAMES.__getitem__)),
    "lines of names": lines(lambda a, b, s: f"{a}-{b}: {NOTE_NAMES[s]}"),
    "lines of MIDI": lines(lambda a, b, s: f"{a} - {b}: MIDI {s}"),
}
SPANS: dict[str, Form] = {
    "start-end": lambda found: ", ".join(f"{a}-{b}" for a, b, _ in found),
    "to": lambda found: "\n".join(f"{a} s to {b} s" for a, b, _ in found),
    "from to": lambda found: "\n".join(f"from {a} to {b} seconds" for a, b, _ in found),
    "between and": lambda found: "\n".join(f"between {a} and {b}" for a, b, _ in found),
    "pairs": lambda found: ", ".join(f"({a}, {b})" for a, b, _ in found),
    "lists": lambda found: "\n".join(f"[{a}, {b}]" for a, b, _ in found),
    "JSON objects": lambda found: json.dumps([{"start": a, "end": b} for a, b, _ in found]),
    "m:ss": lambda found: "\n".join(f"{clock(a)} - {clock(b)}" for a, b, _ in found),
    "start and end": lambda found: "\n".join(f"start: {a}, end: {b}" for a, b, _ in found),
}
TIMED: list[tuple[str, list[str], dict[str, Form], Form]] = [
    ("turns", ["spk1", "spk2", "spk3"], TURNS, LABELLED["(label, start, end)"]),
    ("events", ["dog", "alarm bell"], EVENTS, LABELLED["start - end label"]),
    ("notes", ["60", "64", "67"], NOTES, NOTES["triples"]),
    ("spans", [""], SPANS, SPANS["start-end"]),
]


def check(kind: str, label: str, answer: str, skip: tuple[str, ...] = ()) -> None:
    """The answer scores the best value of every metric of the kind."""
    for name in KINDS[kind].rows:
        metric = metrics.get(name)
        if name in skip or name in SPECIAL or metric.correlation:
            continue
        result = scored(kind, name, label, answer)
        assert result.status == "ok", (answer, result)
        assert metric.aggregate([result.statistics[name]]) == pytest.approx(metric.best, abs=1e-6), (name, label, answer, result)


@pytest.mark.parametrize(
    ("kind", "form"), [pytest.param(kind, form, id=f"{kind}: {form}") for kind, _, forms, _ in TIMED for form in forms]
)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_what_lies_in_time(kind: str, form: str, data: st.DataObject) -> None:
    names, forms, plain = next((names, forms, plain) for name, names, forms, plain in TIMED if name == kind)
    found = data.draw(spans(names))
    check(kind, plain(found), forms[form](found))


BEATS: dict[str, Form] = {
    "list": str,
    "lines": lambda times: "\n".join(map(str, times)),
    "numbered lines": lambda times: "\n".join(f"{n}. {time}" for n, time in enumerate(times, 1)),
    "blanks": lambda times: " ".join(map(str, times)),
    "commas": lambda times: ", ".join(map(str, times)),
    "seconds": lambda times: ", ".join(f"{time} s" for time in times),
    "milliseconds": lambda times: ", ".join(f"{round(time * 1000)} ms" for time in times),
    "m:ss": lambda times: ", ".join(map(clock, times)),
    "lead-in": lambda times: f"The beats are at {', '.join(map(str, times))} seconds.",
    "with a tempo": lambda times: f"At 120 BPM the beats fall at: {times}",
    "JSON": lambda times: json.dumps({"tempo": 120, "beats": times}),
    "JSON in a fence": lambda times: fenced({"beat_times": times}),
    "unsorted": lambda times: str(times[::-1]),
}


@pytest.mark.parametrize("form", BEATS)
@settings(max_examples=15, deadline=None)
@given(times=st.lists(st.integers(51, 300), min_size=2, max_size=6, unique=True).map(lambda t: sorted(x / 10 for x in t)))
def test_beats(form: str, times: list[float]) -> None:
    check("beats", str(times), BEATS[form](times))


NUMBERS: dict[str, Form] = {
    "bare": lambda value: f"{value:g}",
    "zeros": lambda value: f"{value:.2f}",
    "sentence": lambda value: f"The answer is {value:g}.",
    "field": lambda value: f"Score: {value:g}",
    "bold": lambda value: f"**{value:g}**",
    "of the scale": lambda value: f"{value:g}/10",
    "out of": lambda value: f"I would give it {value:g} out of 10.",
    "with the scale": lambda value: f"On a scale of 0 to 10, I rate it {value:g}.",
    "boxed": lambda value: rf"so \boxed{{{value:g}}}",
    "JSON": lambda value: json.dumps({"score": value}),
    "after thinking": lambda value: f"<think>4 or 5 or 6?</think> {value:g}",
    "after other numbers": lambda value: f"With 3 pauses and 2 errors, the score is {value:g}.",
    "word": lambda value: SPELLED.get(value, f"{value:g}"),
}


@pytest.mark.parametrize("form", NUMBERS)
@settings(max_examples=20, deadline=None)
@given(value=st.sampled_from(sorted(SPELLED)) | st.integers(1, 40).map(lambda quarters: quarters / 4))
def test_numbers(form: str, value: float) -> None:
    check("number", f"{value:g}", NUMBERS[form](value), skip=("mape",))


@pytest.mark.parametrize(
    ("unit", "answer", "value"),
    [
        ("s", "2.5 seconds", 2.5),
        ("s", "2500 ms", 2.5),
        ("s", "1:02.5", 62.5),
        ("s", "1 minute 2 seconds", 62.0),
        ("s", "The clip lasts two and a half seconds.", 2.5),
        ("m", "250 cm", 2.5),
        ("m", "2.5m", 2.5),
        ("m", "about 2.5 metres away", 2.5),
        ("deg", "-45°", -45.0),
        ("deg", "minus 45 degrees", -45.0),
        ("percent", "80 %", 80.0),
        ("percent", "80 percent", 80.0),
        (None, "12 phones", 12.0),
        (None, "There are twelve phones.", 12.0),
        (None, "1,024", 1024.0),
        (None, "no phones", 0.0),
    ],
)
def test_numbers_with_units(unit: Any, answer: str, value: float) -> None:
    assert parse.extract_number(answer, unit=unit, noun=("phone", "phones"))[0] == pytest.approx(value)


Pairs = list[tuple[str, str]]
_VALUES = st.lists(st.sampled_from([word for word in WORDS if word not in ("a", "the")]), min_size=1, max_size=3).map(" ".join)


def typed(types: list[str]) -> st.SearchStrategy[Pairs]:
    return st.lists(st.tuples(st.sampled_from(types), _VALUES), min_size=1, max_size=3, unique_by=lambda pair: pair[0])


PAIRED: dict[str, Form] = {
    "type: value, ...": lambda pairs: ", ".join(f"{kind}: {value}" for kind, value in pairs),
    "lines": lambda pairs: "\n".join(f"{kind}: {value}" for kind, value in pairs),
    "bullets": lambda pairs: "\n".join(f"- **{kind}**: {value}" for kind, value in pairs),
    "capitals": lambda pairs: ", ".join(f"{kind}: {value.title()}" for kind, value in pairs),
    "JSON": lambda pairs: json.dumps(dict(pairs)),
    "JSON over lines": lambda pairs: f"```json\n{json.dumps(dict(pairs), indent=2)}\n```",
    "JSON objects": lambda pairs: json.dumps([{"type": kind, "value": value} for kind, value in pairs]),
    "list of pairs": str,
}
SLOTS: dict[str, Form] = {
    **PAIRED,
    "equals signs": lambda pairs: ", ".join(f"{kind}={value}" for kind, value in pairs),
    "B- and E-": lambda pairs: " ".join(f"B-{kind} {value} E-{kind}" for kind, value in pairs),
}
ENTITIES: dict[str, Form] = {
    **PAIRED,
    "phrase (TYPE)": lambda pairs: ", ".join(f"{value} ({kind})" for kind, value in pairs),
    "entity objects": lambda pairs: json.dumps([{"text": value, "label": kind} for kind, value in pairs]),
}


@pytest.mark.parametrize("form", SLOTS)
@settings(max_examples=15, deadline=None)
@given(pairs=typed(["artist", "city", "time"]))
def test_slots(form: str, pairs: Pairs) -> None:
    check("slots", PAIRED["type: value, ..."](pairs), SLOTS[form](pairs))


@pytest.mark.parametrize("form", ENTITIES)
@settings(max_examples=15, deadline=None)
@given(pairs=typed(["ORG", "PERSON", "PLACE", "LAW"]))
def test_entities(form: str, pairs: Pairs) -> None:
    check("entities", PAIRED["type: value, ..."](pairs), ENTITIES[form](pairs))


TAGGED: dict[str, Form] = {
    "slash": lambda found: f"{' '.join(found[0])} / {' '.join(found[1])}",
    "marked": lambda found: f"(transcription): {' '.join(found[0])} / (POS): {' '.join(found[1])}",
    "commas": lambda found: f"{' '.join(found[0])} / {', '.join(found[1])}",
    "lines": lambda found: f"(transcription): {' '.join(found[0])}\n(POS): {' '.join(found[1])}",
}


@pytest.mark.parametrize("form", TAGGED)
@settings(max_examples=15, deadline=None)
@given(found=st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(TAGS)), min_size=1, max_size=6))
def test_tags(form: str, found: list[tuple[str, str]]) -> None:
    sides = ([word for word, _ in found], [tag for _, tag in found])
    # The official form compares whole strings, the shape of the answer included.
    check("tags", TAGGED["slash"](sides), TAGGED[form](sides), skip=() if form == "slash" else ("pos_official_wer",))


SHARP = ["C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"]
FLAT = ["C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B"]
PITCHES: dict[str, Form] = {
    "names": lambda midi: " ".join(f"{SHARP[m % 12]}{m // 12 - 1}" for m in midi),
    "flats": lambda midi: ", ".join(f"{FLAT[m % 12]}{m // 12 - 1}" for m in midi),
    "MIDI": lambda midi: " ".join(map(str, midi)),
    "list": str,
    "JSON names": lambda midi: json.dumps(PITCHES["names"](midi).split()),
    "Hz": lambda midi: ", ".join(f"{440 * 2 ** ((m - 69) / 12):.1f} Hz" for m in midi),
    "sentence": lambda midi: f"The pitches are {PITCHES['names'](midi)}.",
}


@pytest.mark.parametrize("form", PITCHES)
@settings(max_examples=15, deadline=None)
@given(midi=st.lists(st.integers(40, 84), min_size=1, max_size=6))
def test_pitches(form: str, midi: list[int]) -> None:
    check("pitches", PITCHES["MIDI"](midi), PITCHES[form](midi))


OPTIONS = ["dog", "cat", "cow", "alarm bell", "jazz_blues", "no emotion"]
LISTED: dict[str, Form] = {
    "commas": ", ".join,
    "and": lambda names: " and ".join(names),
    "lines": "\n".join,
    "bullets": lambda names: "\n".join(f"- {name}" for name in names),
    "numbered": lambda names: "\n".join(f"{n}. {name}" for n, name in enumerate(names, 1)),
    "JSON": json.dumps,
    "Python": str,
    "JSON object": lambda names: json.dumps({"labels": names}),
    "in a fence": fenced,
    "lead-in": lambda names: f"The labels are: {', '.join(names)}.",
    "capitals": lambda names: ", ".join(name.title() for name in names),
    "another order": lambda names: "; ".join(names[::-1]),
}


@pytest.mark.parametrize("form", LISTED)
@settings(max_examples=20, deadline=None)
@given(data=st.data())
def test_label_sets(form: str, data: st.DataObject) -> None:
    """The set is read whatever the form, and whatever the order in which the instruction offers the options."""
    names = data.draw(st.lists(st.sampled_from(OPTIONS), min_size=1, max_size=4, unique=True))
    offered = data.draw(st.permutations(OPTIONS))
    found, status = parse.choose_labels(LISTED[form](names), offered)
    assert (set(found), status) == (set(names), "ok")


SAID: dict[str, Form] = {
    "quoted": lambda text: f'"{text}"',
    "lead-in": lambda text: f"Sure! Here is the transcription: {text}",
    "lead-in and quotes": lambda text: f'The speaker says "{text}".',
    "bold lead-in": lambda text: f"**Transcription:** {text}",
    "JSON": lambda text: json.dumps({"transcription": text}),
    "JSON in a fence": lambda text: f"```json\n{json.dumps({'text': text})}\n```",
    "after thinking": lambda text: f"<think>hm, {text}?</think>{text}",
    "end token": lambda text: f"{text}<|im_end|>",
}


@pytest.mark.parametrize("form", SAID)
@pytest.mark.parametrize(("kind", "clean"), [("transcript", "wer_clean"), ("transcript", "cer_clean"), ("phonemes", "per_clean")])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_the_clean_profile_drops_what_is_not_said(kind: str, clean: str, form: str, data: st.DataObject) -> None:
    label = data.draw(labels_of(kind, clean))
    row = scored(kind, clean, label, SAID[form](label)).statistics[clean]
    assert metrics.get(clean).aggregate([row]) == 0.0


@pytest.mark.parametrize("form", ["{}", "{}.", '"{}"', "The answer is: {}", "Answer: {}", '{{"answer": "{}"}}', "**{}**"])
@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_short_texts(form: str, data: st.DataObject) -> None:
    label = data.draw(labels_of("text", "text_accuracy"))
    assert scored("text", "text_accuracy", label, form.format(label)).statistics["text_accuracy"] == (1,)


@pytest.mark.parametrize(
    ("language", "label", "answer"),
    [
        ("ar", "مرحبا بك", "مَرْحَبًا بِكَ!"),
        ("zh", "今天天气很好", "今天 天氣很好。"),
        ("hi", "मैं घर जा रहा हूँ", "मैं घर जा रहा हूँ।"),
        ("de", "DIE STRASSE IST LANG", "Die Strasse ist lang."),
        ("de", "über die Brücke", "Über die Brücke!"),
        ("fr", "L'ÉTÉ EST LÀ", "« L’été est là. »"),
        ("en", "MISTER SMITH'S DOG DIDN'T BARK", "Mr. Smith's dog didn't bark."),
    ],
)
def test_written_forms_of_one_sentence_have_no_errors(language: str, label: str, answer: str) -> None:
    name = metrics.default_normalizer(language)
    assert metrics.normalize(name, label) == metrics.normalize(name, answer)


def test_a_code_switched_sentence_in_either_script() -> None:
    sides = [metrics.mixed(metrics.normalize("norm_mixed", text)) for text in ("這個 project 的期限", "这个Project的期限。")]
    assert sides[0] == sides[1]
