"""Kinds whose answer lies in time: speaker turns, sound events, spans."""

from __future__ import annotations

from dsb2_tasks import metrics
from dsb2_tasks.hooks._choice import options_of
from dsb2_tasks.hooks._kind import Doc, Kind, LabelError, label_text, settled
from dsb2_tasks.parse import choose_option, match_option, parse_spans
from dsb2_tasks.spec import TaskSpec

_TURNS = "speaker turns in seconds such as '(spk1, 0.41, 5.27) (spk2, 1.08, 6.9)'"
_EVENTS = "events with onset and offset in seconds such as '0.5-1.2 dog, 3.0-4.1 cat' (a set of names alone is kind 'labels')"
_SPANS = "start and end in seconds such as '0.5-1.2'"


def _labelled(doc: Doc, expected: str) -> list[tuple[float, float, str]]:
    text = label_text(doc, expected)
    spans, _ = parse_spans(text)
    if spans is None or any(not label for _, _, label in spans):
        raise LabelError(expected, text)
    return spans


def _read_turns_label(doc: Doc, spec: TaskSpec) -> list[tuple[float, float, str]]:
    turns = _labelled(doc, _TURNS)
    if not turns:
        raise LabelError(_TURNS, doc["dsb2_label"][0])
    return turns


TURNS = Kind(
    name="turns",
    read_label=_read_turns_label,
    read_answer=lambda answer, doc, spec: settled(parse_spans(answer)),
    # Scored is the span of both sides' turns, as dscore does without a file of scored regions (the authors' scorer): a
    # turn beyond the end of the clip is false alarm.
    rows={
        "der": lambda case: metrics.der_row(case.reference, case.value),
        "jer": lambda case: metrics.jer_row(case.reference, case.value),
    },
    na=True,
)


def _read_events_label(doc: Doc, spec: TaskSpec) -> list[tuple[float, float, str]]:
    events = _labelled(doc, _EVENTS)
    if spec.options is None:
        return events
    options = options_of(spec)
    named = [(start, end, match_option(label, options, aliases=spec.aliases)) for start, end, label in events]
    if any(option is None for _, _, option in named):
        raise LabelError(f"{_EVENTS}, named as in dsb2.options", doc["dsb2_label"][0])
    return [(start, end, option) for start, end, option in named if option is not None]


def _read_events(answer: str, doc: Doc, spec: TaskSpec) -> tuple[list[tuple[float, float, str]] | None, str]:
    events, status = settled(parse_spans(answer))
    if events is None or spec.options is None:
        return events, status
    options = options_of(spec)
    # An event of another name stays as it is: it is one too many.
    named = ((start, end, choose_option(label, options, aliases=spec.aliases)[0] or label) for start, end, label in events)
    return list(named), status


EVENTS = Kind(
    name="events",
    read_label=_read_events_label,
    read_answer=_read_events,
    rows={
        "event_f1": lambda case: metrics.event_row(case.reference, case.value),
        "event_f1_onset": lambda case: metrics.event_row(case.reference, case.value, offset_share=None),
        "event_f1_macro": lambda case: metrics.event_class_row(case.reference, case.value),
        "segment_f1": lambda case: metrics.segment_row(case.reference, case.value),
        "segment_er": lambda case: metrics.segment_error_row(case.reference, case.value),
    },
    na=True,
    names_in=lambda label: [name for _, _, name in parse_spans(label)[0] or ()],
)


def _read_spans_label(doc: Doc, spec: TaskSpec) -> list[tuple[float, float, str]]:
    text = label_text(doc, _SPANS)
    spans, _ = parse_spans(text)
    if spans is None:
        raise LabelError(_SPANS, text)
    return spans


SPANS = Kind(
    name="spans",
    read_label=_read_spans_label,
    read_answer=lambda answer, doc, spec: settled(parse_spans(answer)),
    rows={
        "nel_frame_f1": lambda case: metrics.frame_row(case.reference, case.value),
        **dict.fromkeys(
            ("segment_iou", "recall_at_iou", "recall_at_iou_0.7"),
            lambda case: metrics.overlap_row(case.reference, case.value),
        ),
    },
    na=True,
)
