"""Kinds of music: notes, beats, sequences of pitches."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsb2_tasks import metrics
from dsb2_tasks.hooks._kind import Case, Doc, Kind, LabelError, label_text, settled
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import parse_beats, parse_notes, parse_pitches
from dsb2_tasks.spec import TaskSpec


def _reader(parse: Callable[[str], tuple[Any, str]], expected: str) -> Callable[[Doc, TaskSpec], Any]:
    def read_label(doc: Doc, spec: TaskSpec) -> Any:
        text = label_text(doc, expected)
        value, _ = parse(text)
        if not value:
            raise LabelError(expected, text)
        return value

    return read_label


def _notes(case: Case) -> Row:
    return metrics.note_row(case.reference, case.value)


def _notes_with_offset(case: Case) -> Row:
    return metrics.note_row(case.reference, case.value, offset_ratio=0.2)


def _beats(case: Case) -> Row:
    return metrics.beat_row(case.reference, case.value)


NOTES = Kind(
    name="notes",
    read_label=_reader(parse_notes, "notes as (onset, offset, pitch), times in seconds and pitch as MIDI number or name"),
    read_answer=lambda answer, doc, spec: settled(parse_notes(answer)),
    rows={
        **dict.fromkeys(("note_f1", "note_f1_micro"), _notes),
        **dict.fromkeys(("note_f1_offset", "note_f1_offset_micro"), _notes_with_offset),
    },
    na=True,
)

BEATS = Kind(
    name="beats",
    read_label=_reader(parse_beats, "beat times in seconds such as '0.52, 1.03, 1.55'"),
    read_answer=lambda answer, doc, spec: settled(parse_beats(answer)),
    rows=dict.fromkeys(("beat_f", "beat_f_micro"), _beats),
    na=True,
)

PITCHES = Kind(
    name="pitches",
    read_label=_reader(parse_pitches, "pitches as note names with octave or MIDI numbers such as 'C4 D4 E4'"),
    read_answer=lambda answer, doc, spec: settled(parse_pitches(answer)),
    rows={
        "pitch_seq_error_rate": lambda case: metrics.error_rate_row(case.reference, case.value),
        "accuracy": lambda case: (float(case.reference == case.value),),
    },
    na=True,
)
