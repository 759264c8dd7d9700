"""Kinds of spoken language understanding: slots, named entities, part-of-speech tags."""

from __future__ import annotations

from collections.abc import Callable

from dsb2_tasks import metrics
from dsb2_tasks.hooks._choice import options_of
from dsb2_tasks.hooks._kind import Case, Doc, Kind, LabelError, label_text, settled
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import TAGS, Tagged, clean, parse_entities, parse_slots, parse_tags
from dsb2_tasks.spec import TaskSpec

_SLOTS = "slots as 'type: value, type: value'"
_ENTITIES = "named entities as 'TYPE: phrase, TYPE: phrase', or 'none'"


def _types_in(parse: Callable[[str], tuple[list[tuple[str, str]] | None, str]]) -> Callable[[str], list[str]]:
    return lambda label: [kind for kind, _ in parse(label)[0] or ()]


def _types(spec: TaskSpec) -> tuple[str, ...]:
    return () if spec.options is None else options_of(spec)


def _read_slots_label(doc: Doc, spec: TaskSpec) -> list[tuple[str, str]]:
    text = label_text(doc, _SLOTS)
    pairs, _ = parse_slots(text, _types(spec))
    known = {name.casefold() for name in _types(spec)}
    if pairs is None or (known and any(kind not in known for kind, _ in pairs)):
        raise LabelError(f"{_SLOTS}{' of the types in dsb2.options' if known else ''}", text)
    return pairs


SLOTS = Kind(
    name="slots",
    read_label=_read_slots_label,
    read_answer=lambda answer, doc, spec: settled(parse_slots(answer, _types(spec))),
    rows={
        "slot_type_f1": lambda case: metrics.slot_type_row(case.reference, case.value),
        "slot_value_cer": lambda case: metrics.slot_value_row(case.reference, case.value),
    },
    na=True,
    names_in=_types_in(parse_slots),
)


def _read_entities_label(doc: Doc, spec: TaskSpec) -> list[tuple[str, str]]:
    text = label_text(doc, _ENTITIES)
    pairs, _ = parse_entities(text, _types(spec))
    if pairs is None:
        raise LabelError(_ENTITIES, text)
    return pairs


ENTITIES = Kind(
    name="entities",
    read_label=_read_entities_label,
    read_answer=lambda answer, doc, spec: settled(parse_entities(answer, _types(spec))),
    rows={
        "ner_f1": lambda case: metrics.entity_row(case.reference, case.value),
        "ner_label_f1": lambda case: metrics.entity_label_row(case.reference, case.value),
    },
    na=True,
    names_in=_types_in(parse_entities),
)


def _read_tags_label(doc: Doc, spec: TaskSpec) -> Tagged:
    tags = _types(spec) or TAGS
    with_sentence = "pos_transcription_wer" in (spec.metric, *spec.secondary)
    expected = f"{'a sentence, a slash and ' if with_sentence else ''}part-of-speech tags of {', '.join(tags)}"
    text = label_text(doc, expected)
    tagged, _ = parse_tags(text, tags)
    if tagged is None or (with_sentence and not tagged.sentence):
        raise LabelError(expected, text)
    return tagged


def _official_tags(case: Case) -> Row:
    return metrics.official_tag_row(label_text(case.doc, "tags"), clean(case.answer))


def _tag_row(case: Case) -> Row:
    return metrics.error_rate_row(case.reference.tags, case.value.tags)


def _sentence_row(case: Case) -> Row:
    name = case.spec.normalizer or metrics.default_normalizer(case.doc.get("dsb2_language") or case.spec.language or "en")
    sides = (metrics.words(metrics.normalize(name, side.sentence)) for side in (case.reference, case.value))
    return metrics.error_rate_row(*sides)


POS = Kind(
    name="tags",
    read_label=_read_tags_label,
    read_answer=lambda answer, doc, spec: settled(parse_tags(answer, _types(spec) or TAGS)),
    rows={
        "pos_official_wer": _official_tags,
        "pos_tag_error_rate": _tag_row,
        "pos_tag_accuracy": _tag_row,
        "pos_transcription_wer": _sentence_row,
    },
    na=True,
    names_in=lambda label: (parse_tags(label)[0] or ((), ""))[0],
)
