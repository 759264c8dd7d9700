"""Every output kind: labels it takes and refuses, what a perfect, a silly and an absent answer score."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import pytest

from dsb2_tasks import hooks, metrics
from dsb2_tasks.hooks import KINDS, LabelError, Scored
from dsb2_tasks.spec import SpecError, TaskSpec

Make = Callable[..., TaskSpec]
TAGS = "DET ADJ NOUN VERB"


def make_spec(kind: str, metric: str | None = None, **changes: Any) -> TaskSpec:
    base: dict[str, Any] = {"modality": "audio", "domain": "sound_event", "data": [{"path": "./clips"}], "kind": kind}
    return TaskSpec.model_validate({**base, "metric": metric or next(iter(KINDS[kind].rows)), **changes})


def make_doc(*labels: str, **more: Any) -> dict[str, Any]:
    return {"dsb2_prompt": "What?", "dsb2_label": list(labels), "dsb2_language": None, "audio": [], **more}


#: Kinds whose label and answer are text; of the others tests/generation has the tests.
TEXT_KINDS = {name: kind for name, kind in KINDS.items() if name != "waveform"}
#: Kind -> (changes of the specification, good labels, bad labels).  Good ones differ, so that correlations are defined.
LABELS: dict[str, tuple[dict[str, Any], list[str], list[str]]] = {
    "choice": ({"options": ["60", "62", "70"]}, ["60", "62", "70", "sixty"], ["61", "60, 62", ""]),
    "labels": (
        {"options": ["dog", "cat", "cow"]},
        ["['dog', 'cat', 'dog']", "cow", "cat, cow", "dog; Cat"],
        ["owl", "dog, owl"],
    ),
    "transcript": ({"language": "en"}, ["HE HOPED THERE WOULD BE STEW", "Mr. Quilter is glad.", "no"], ["", "  "]),
    "phonemes": ({}, ["HH AH0 L OW1", "K AE T"], ["he hoped there was stew", ""]),
    "translation": ({}, ["Das ist ein kleiner Test.", "Der Fuchs springt über den Hund."], [""]),
    "slots": ({}, ["artist: miles davis, playlist: late night jazz", "B-city PARIS E-city", "time: 7:30"], ["miles davis", ""]),
    "entities": ({}, ["ORG: european union, PLACE: germany", "today (DATE)", "[('PERSON', 'merkel')]"], ["germany", ""]),
    "spans": ({}, ["0.5-1.2", "[1.5, 3.0]", "[[0, 1], [2, 3]]", "1.5, 3.0", "0.5 1.5"], ["a dog", "5", "3-2", ""]),
    "tags": ({}, [f"the big fox runs / {TAGS}", f"(transcription): the big fox runs / (POS): {TAGS}"], ["the fox", ""]),
    "turns": ({}, ["(spk1, 0.41, 5.27) (spk2, 1.08, 6.9)", "A: 0.0-3.2\nB: 3-4"], ["spk1", "0.5-1.2", "no speech", ""]),
    "events": ({"options": ["dog", "alarm_bell"]}, ["0.5-1.2 dog, 3-4 alarm bell", "[(0.5, 1, 'dog')]"], ["dog", "0-1 cow", ""]),
    "notes": ({}, ["[(0.0, 0.5, 60), (0.5, 1.0, 64)]", "0.5-1.0: C4"], ["C4 D4", "60", ""]),
    "beats": ({}, ["[0.5, 1.0, 1.5]", "0.52 1.03 1.55"], ["120 BPM", "steady", ""]),
    "pitches": ({}, ["C4 D4 E4", "60 62 64", "[67]"], ["C D E", "high", ""]),
    "number": (
        {"number": {"minimum": 0, "maximum": 10}},
        ["8", "3.5", "7.25", "seven", "0"],
        ["11", "3-5", "(1, 2)", ""],
    ),
    "text": ({}, ["the second word", "yes"], [""]),
}
GOOD = [(kind, label) for kind, (_, good, _) in LABELS.items() for label in good]
BAD = [(kind, label) for kind, (_, _, bad) in LABELS.items() for label in bad]
#: Metrics that need labels or options of their own kind.
SPECIAL: dict[str, tuple[dict[str, Any], list[str]]] = {
    "key_weighted": ({"options": ["C minor", "Db major", "A"]}, ["C minor", "Db major", "A"]),
}
NONSENSE = [
    *("", " ", "qwxz", "I am sorry, but I cannot listen to audio.", "\x00\u200b\ud83d", "[]{}()::,,;", "<think>maybe", "-"),
    *("NaN inf -1e999", "?" * 2000, "<|x|>", "(((", "{'a': [[", "9" * 5000, "我不知道"),
]


def test_all_kinds_are_there_and_named_as_in_task_files() -> None:
    assert set(TEXT_KINDS) == set(LABELS)
    for name, kind in KINDS.items():
        assert kind.name == name and callable(getattr(hooks, name))
        for metric in kind.rows:
            assert metrics.get(metric).name == metric


@pytest.mark.parametrize(("kind", "label"), GOOD)
def test_good_labels_score_the_best_value(kind: str, label: str) -> None:
    spec, doc = make_spec(kind, **LABELS[kind][0]), make_doc(label)
    answer = KINDS[kind].reference_answer(doc, spec)
    scored = getattr(hooks, kind)(answer, doc, spec)
    assert isinstance(scored, Scored) and scored.status == "ok"
    json.dumps(scored.value)
    metric = metrics.get(spec.metric)
    if not metric.correlation:
        assert metric.aggregate([scored.statistics[spec.metric]]) == pytest.approx(metric.best, abs=1e-9)


@pytest.mark.parametrize(("kind", "label"), BAD)
def test_bad_labels_are_refused_with_the_shape_and_the_value(kind: str, label: str) -> None:
    spec = make_spec(kind, **LABELS[kind][0])
    with pytest.raises(LabelError, match=r"^expected .*found") as caught:
        KINDS[kind].read_label(make_doc(label), spec)
    assert repr(label) in str(caught.value) and len(str(caught.value)) < 600


@pytest.mark.parametrize("kind", LABELS)
def test_no_label_is_refused(kind: str) -> None:
    with pytest.raises(LabelError):
        KINDS[kind].read_label(make_doc(), make_spec(kind, **LABELS[kind][0]))


@pytest.mark.parametrize("kind", [kind for kind in LABELS if kind != "labels"])
def test_two_labels_are_refused_where_one_is_meant(kind: str) -> None:
    changes, good, _ = LABELS[kind]
    with pytest.raises(LabelError):
        KINDS[kind].read_label(make_doc(good[0], good[0]), make_spec(kind, **changes))


@pytest.mark.parametrize(("kind", "metric"), [(name, metric) for name, kind in TEXT_KINDS.items() for metric in kind.rows])
def test_every_metric_of_every_kind_is_best_for_the_reference(kind: str, metric: str) -> None:
    changes, labels = SPECIAL.get(metric, LABELS[kind][:2])
    spec = make_spec(kind, metric, **changes)
    docs = [make_doc(label) for label in labels]
    answers = [KINDS[kind].reference_answer(doc, spec) for doc in docs]
    rows = [KINDS[kind].score(answer, doc, spec).statistics[metric] for answer, doc in zip(answers, docs, strict=True)]
    assert metrics.get(metric).aggregate(rows) == pytest.approx(metrics.get(metric).best, abs=1e-9), (answers, rows)


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("answer", NONSENSE)
def test_nonsense_is_wrong_or_na_and_never_raises(kind: str, answer: str) -> None:
    changes, good, _ = LABELS[kind]
    for metric in KINDS[kind].rows:
        if metric in SPECIAL or metric in ("pitch_acc", "chroma_acc"):
            continue
        spec = make_spec(kind, metric, **changes)
        scored = KINDS[kind].score(answer, make_doc(good[0]), spec)
        row = scored.statistics[metric]
        if row is None:
            assert KINDS[kind].na and scored.status.startswith("na:") and scored.value is None
            continue
        value = metrics.get(metric).aggregate([row])
        worse = metrics.get(metric).higher_is_better
        assert math.isnan(value) or (value < metrics.get(metric).best if worse else value > 0), (answer, row)


@pytest.mark.parametrize("kind", LABELS)
def test_na_and_parsed_as_the_paper_has_them(kind: str) -> None:
    plain_text, wrong_without_value = {"transcript", "phonemes", "translation"}, {"choice", "labels", "text"}
    assert KINDS[kind].na == (kind not in plain_text | wrong_without_value)
    assert KINDS[kind].parsed == (kind not in plain_text)


@pytest.mark.parametrize("kind", LABELS)
def test_metrics_primary_first_and_unknown_ones_refused(kind: str) -> None:
    names = list(KINDS[kind].rows)
    changes = LABELS[kind][0]
    spec = make_spec(kind, names[-1], secondary=names, **changes)
    assert KINDS[kind].metrics(spec) == [names[-1], *names[:-1]]
    for wrong in ({"metric": "frobnication"}, {"metric": names[0], "secondary": ["frobnication"]}):
        with pytest.raises(SpecError, match=rf"cannot count 'frobnication'; it counts .*{names[0].replace('+', '.')}"):
            KINDS[kind].metrics(make_spec(kind, **wrong, **changes))


def test_a_near_metric_name_is_suggested() -> None:
    with pytest.raises(SpecError, match="did you mean 'accuracy'"):
        KINDS["choice"].metrics(make_spec("choice", "acuracy", options=["a"]))


def test_the_functions_for_the_harness() -> None:
    doc = make_doc("a", "b", audio=[{"row": 1}])
    assert hooks.instruction(doc) == "What?" and hooks.audio(doc) == [{"row": 1}] and hooks.target(doc) == "a, b"
