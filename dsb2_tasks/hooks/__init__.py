"""The small functions that task files name, one per output kind: parse an answer, then count it.

Each takes the answer, the document and the task's specification and gives a :class:`Scored`.  The same kinds guard the shape
of labels when a task is loaded (:attr:`Kind.read_label`), so that a wrong guess about a data set stops a run before a model
is asked anything.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dsb2_tasks.hooks._choice import CHOICE, LABELS, TEXT
from dsb2_tasks.hooks._kind import Doc, Kind, LabelError, Scored
from dsb2_tasks.hooks._music import BEATS, NOTES, PITCHES
from dsb2_tasks.hooks._number import NUMBER
from dsb2_tasks.hooks._speech import PHONEMES, TRANSCRIPT, TRANSLATION
from dsb2_tasks.hooks._time import EVENTS, SPANS, TURNS
from dsb2_tasks.hooks._understanding import ENTITIES, POS, SLOTS
from dsb2_tasks.hooks._waveform import WAVEFORM
from dsb2_tasks.spec import SpecError, TaskSpec

#: Every output kind by the name it has in ``dsb2.kind``.
KINDS: dict[str, Kind] = {
    kind.name: kind
    for kind in (
        CHOICE,
        LABELS,
        TRANSCRIPT,
        PHONEMES,
        TRANSLATION,
        SLOTS,
        ENTITIES,
        SPANS,
        POS,
        TURNS,
        EVENTS,
        NOTES,
        BEATS,
        PITCHES,
        NUMBER,
        TEXT,
        WAVEFORM,
    )
}


def close_options(spec: TaskSpec, docs: Iterable[Doc]) -> TaskSpec:
    """Puts the distinct names in the labels of all documents, sorted, in place of ``options: labels``.

    Args:
        spec: Any specification; one with other options comes back as it is.
        docs: The documents of the split, without clips.

    Raises:
        SpecError: No label names anything.
    """
    if spec.options != "labels":
        return spec
    names_in = KINDS[spec.kind].names_in
    found = {name for doc in docs for label in doc["dsb2_label"] for name in names_in(label)} - {""}
    if not found:
        raise SpecError("dsb2.options: 'labels' takes the options from the labels, but no row has any")
    return spec.model_copy(update={"options": tuple(sorted(found))})


def choice(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """One option out of a closed set: exactly one, or it is wrong."""
    return KINDS["choice"].score(answer, doc, spec)


def labels(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """A set of options."""
    return KINDS["labels"].score(answer, doc, spec)


def transcript(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """The words that are said; the whole answer counts."""
    return KINDS["transcript"].score(answer, doc, spec)


def phonemes(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Phoneme symbols; the whole answer counts."""
    return KINDS["phonemes"].score(answer, doc, spec)


def translation(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """A sentence in another language; the whole answer counts."""
    return KINDS["translation"].score(answer, doc, spec)


def slots(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Slot types with their values."""
    return KINDS["slots"].score(answer, doc, spec)


def entities(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Named entities with their types."""
    return KINDS["entities"].score(answer, doc, spec)


def spans(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Stretches of time."""
    return KINDS["spans"].score(answer, doc, spec)


def tags(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """A part-of-speech tag for each word."""
    return KINDS["tags"].score(answer, doc, spec)


def turns(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Who speaks when."""
    return KINDS["turns"].score(answer, doc, spec)


def events(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Sound events with onset and offset."""
    return KINDS["events"].score(answer, doc, spec)


def notes(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Notes with onset, offset and pitch."""
    return KINDS["notes"].score(answer, doc, spec)


def beats(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Times of beats."""
    return KINDS["beats"].score(answer, doc, spec)


def pitches(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """A sequence of pitches."""
    return KINDS["pitches"].score(answer, doc, spec)


def number(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """One number."""
    return KINDS["number"].score(answer, doc, spec)


def text(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """A short free text."""
    return KINDS["text"].score(answer, doc, spec)


def waveform(answer: str, doc: Doc, spec: TaskSpec) -> Scored:
    """Audio: paths or base64 of the files that a model wrote."""
    return KINDS["waveform"].score(answer, doc, spec)


def instruction(doc: Doc) -> str:
    """What a model gets to read."""
    return str(doc["dsb2_prompt"])


def audio(doc: Doc) -> list[dict[str, Any]]:
    """Handles of the clips a model gets to hear, in order."""
    return list(doc["audio"])


def target(doc: Doc) -> str:
    """The label as text."""
    return ", ".join(doc["dsb2_label"])


__all__ = [
    "KINDS",
    "Doc",
    "Kind",
    "LabelError",
    "Scored",
    "audio",
    "beats",
    "choice",
    "close_options",
    "entities",
    "events",
    "instruction",
    "labels",
    "notes",
    "number",
    "phonemes",
    "pitches",
    "slots",
    "spans",
    "tags",
    "target",
    "text",
    "transcript",
    "translation",
    "turns",
    "waveform",
]
