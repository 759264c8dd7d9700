"""Generated labels and answers of every output kind, and the rows that the kinds make of them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from dsb2_tasks import metrics
from dsb2_tasks.hooks import KINDS, Scored
from dsb2_tasks.metrics import Row
from dsb2_tasks.spec import TaskSpec

WORDS = "the a big fox dog runs over his head while it rains softly in paris today".split()  # noqa: SIM905
TAGS = ["DET", "ADJ", "NOUN", "VERB", "ADP"]
JUNK = ["", "qwxz", "I'm sorry, but I cannot listen to audio.", "[[]", "a scale of 0 to 10", "¿? 我 \ud83d", "<think>hm"]


def _seconds(most: int = 40) -> st.SearchStrategy[float]:
    return st.integers(0, most).map(lambda tenths: tenths / 10)


@st.composite
def spans(draw: st.DrawFn, names: list[str], least: int = 1) -> list[tuple[float, float, str]]:
    """(start, end, name): one after the other, so that each form of writing them keeps them apart."""
    found, at = [], 0.0
    for name in draw(st.lists(st.sampled_from(names), min_size=least, max_size=4)):
        start = round(at + draw(_seconds(10)), 1)
        at = round(start + 0.1 + draw(_seconds(20)), 1)
        found.append((start, at, name))
    return found


def _sentence(words: list[str], least: int = 1) -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(words), min_size=least, max_size=6).map(" ".join)


def _tagged(words: list[str]) -> str:
    return f"{' '.join(words)} / {' '.join(TAGS[WORDS.index(word) % len(TAGS)] for word in words)}"


def _pairs(types: list[str]) -> st.SearchStrategy[str]:
    pair = st.tuples(st.sampled_from(types), _sentence(WORDS))
    return st.lists(pair, min_size=1, max_size=3).map(lambda found: ", ".join(f"{kind}: {value}" for kind, value in found))


KEYS = ["C major", "G major", "A minor", "C# minor"]
MIDI = ["48", "60", "62", "72"]
#: Kind -> (changes of the specification, label texts).
MATERIAL: dict[str, tuple[dict[str, Any], st.SearchStrategy[str]]] = {
    "choice": ({"options": MIDI}, st.sampled_from(MIDI)),
    "labels": ({"options": ["dog", "cat", "cow"]}, st.sampled_from(["dog", "cat, dog", "cow, dog, cat", "cow", "[]"])),
    "transcript": ({"language": "en"}, _sentence(WORDS)),
    "phonemes": ({}, _sentence(["HH", "AH0", "L", "OW1", "K", "AE1", "T"])),
    "translation": ({}, _sentence(WORDS, least=4)),
    "slots": ({"options": ["artist", "city", "time"]}, _pairs(["artist", "city", "time"])),
    "entities": ({}, _pairs(["ORG", "PERSON", "GPE", "LAW"])),
    "spans": ({}, spans([""]).map(lambda found: ", ".join(f"{a}-{b}" for a, b, _ in found))),
    "tags": ({}, st.lists(st.sampled_from(WORDS), min_size=1, max_size=5).map(_tagged)),
    "turns": ({}, spans(["spk1", "spk2", "spk3"]).map(lambda found: " ".join(f"({s}, {a}, {b})" for a, b, s in found))),
    "events": ({}, spans(["dog", "alarm bell"]).map(lambda found: ", ".join(f"{a}-{b} {s}" for a, b, s in found))),
    "notes": ({}, spans(["60", "64", "67"]).map(lambda found: f"[{', '.join(f'({a}, {b}, {s})' for a, b, s in found)}]")),
    "beats": ({}, st.lists(_seconds(), min_size=2, max_size=6, unique=True).map(lambda times: str(sorted(times)))),
    "pitches": ({}, _sentence(["C4", "D4", "E4", "F#4"])),
    "number": ({"number": {"minimum": 0, "maximum": 10}}, st.integers(1, 40).map(lambda quarters: f"{quarters / 4:g}")),
    "text": ({}, _sentence(WORDS)),
}
#: Metrics whose labels are of another form than those of their kind.
SPECIAL: dict[str, tuple[dict[str, Any], st.SearchStrategy[str]]] = {
    "key_weighted": ({"options": KEYS}, st.sampled_from(KEYS)),
}
#: (kind, metric) of all that a kind counts.
COUNTED = [(kind, metric) for kind in MATERIAL for metric in KINDS[kind].rows]


def spec_of(kind: str, metric: str) -> TaskSpec:
    """A task of this kind that counts this metric alone."""
    changes = SPECIAL.get(metric, MATERIAL[kind])[0]
    base = {"modality": "audio", "domain": "sound_event", "data": [{"path": "./clips"}], "kind": kind, "metric": metric}
    return TaskSpec.model_validate({**base, **changes})


def labels_of(kind: str, metric: str) -> st.SearchStrategy[str]:
    """Label texts that this kind and metric take."""
    return SPECIAL.get(metric, MATERIAL[kind])[1]


def document(label: str) -> dict[str, Any]:
    return {"dsb2_prompt": "What?", "dsb2_label": [label], "dsb2_language": None, "audio": []}


def scored(kind: str, metric: str, label: str, answer: str) -> Scored:
    return KINDS[kind].score(answer, document(label), spec_of(kind, metric))


def reference_answer(kind: str, metric: str, label: str) -> str:
    return KINDS[kind].reference_answer(document(label), spec_of(kind, metric))


@st.composite
def answered(draw: st.DrawFn, kind: str, metric: str) -> tuple[str, str]:
    """A label and an answer to it: right, that of another label, or junk."""
    label = draw(labels_of(kind, metric))
    other = draw(st.sampled_from([label]) | labels_of(kind, metric))
    return label, draw(st.sampled_from([reference_answer(kind, metric, other)]) | st.sampled_from(JUNK))


#: Rows of metrics that no kind here counts.
DIRECT: dict[str, st.SearchStrategy[Row | None]] = {
    **dict.fromkeys(
        ("na_rate", "unparsed_rate", "audio_error_rate"), st.sampled_from([(0.0, "ok"), (1.0, "na:empty"), (1.0, "no_option")])
    ),
    **dict.fromkeys(("judge_accuracy", "judge_coverage"), st.sampled_from([(0.0,), (1.0,), None])),
    "chord_majmin": st.tuples(*[st.sampled_from(["C:maj", "A:min", "C:7", "G:dim", "N", "?"])] * 2).map(
        lambda pair: metrics.chord_row(pair[0].replace("?", "N"), pair[1])
    ),
    "nel_word_f1": st.tuples(spans([""]), spans([""])).map(
        lambda sides: metrics.word_hit_row([(a, b, a < 2) for a, b, _ in sides[0]], [(a, b) for a, b, _ in sides[1]])
    ),
}


def _counted(kind: str, metric: str) -> st.SearchStrategy[Row | None]:
    return answered(kind, metric).map(lambda pair: scored(kind, metric, *pair).statistics[metric])


def rows_of(metric: str) -> st.SearchStrategy[list[Row | None]]:
    """Lists of rows of a metric, made by the row functions of the kinds that count it; plain values of measures on audio."""
    sources = [_counted(kind, metric) for kind, name in COUNTED if name == metric]
    if not sources:
        assert metric in DIRECT or metrics.get(metric).fields == ("value",), f"no rows of {metric!r} here: say how they are made"
        sources = [DIRECT.get(metric, st.floats(0, 5).map(lambda value: (value,)))]
    return st.one_of([st.lists(source, min_size=1, max_size=8) for source in sources])
