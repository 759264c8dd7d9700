"""Kinds whose answer is one option, a set of options, or a short free text."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from typing import Any

from dsb2_tasks import metrics
from dsb2_tasks.hooks._kind import Case, Doc, Kind, LabelError, label_text
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import choose_labels, choose_option, clean, extract_text, match_option
from dsb2_tasks.spec import SpecError, TaskSpec

_SEPARATORS = re.compile(r"\s*[,;|\n]\s*")


def options_of(spec: TaskSpec) -> tuple[str, ...]:
    """The closed set of options of a task.

    Raises:
        SpecError: The task has none.
    """
    if not isinstance(spec.options, tuple) or not spec.options:
        raise SpecError(
            f"dsb2.options: kind {spec.kind!r} needs the options that an answer can name; list them, or write 'options: labels' "
            f"to take the distinct labels of the split"
        )
    return spec.options


def _expected(options: tuple[str, ...]) -> str:
    shown = ", ".join(map(repr, options[:12]))
    return f"one of the {len(options)} options {shown}{', ...' if len(options) > 12 else ''}"


def _option(name: str, label: str, spec: TaskSpec) -> str:
    """The option that a name means; ``label`` is the whole label that holds it, for the message."""
    options = options_of(spec)
    option = match_option(name, options, aliases=spec.aliases)
    if option is None:
        raise LabelError(_expected(options) + (f" (not {name!r})" if name != label else ""), label)
    return option


def _read_choice_label(doc: Doc, spec: TaskSpec) -> str:
    label = label_text(doc, _expected(options_of(spec)))
    option = _option(label, label, spec)
    named = {spec.metric, *spec.secondary}
    if named & {"pitch_acc", "chroma_acc"} and not option.isdecimal():
        raise LabelError("a MIDI number, as pitch_acc and chroma_acc compare them", option)
    if "key_weighted" in named:
        try:
            metrics.key_row(option, option)
        except ValueError:
            raise LabelError("a key such as 'C# minor', as key_weighted compares them", option) from None
    return option


def _read_choice(answer: str, doc: Doc, spec: TaskSpec) -> tuple[str | None, str]:
    option, status = choose_option(answer, options_of(spec), aliases=spec.aliases, letters=spec.letters)
    return option, status if option is None else "ok"


def _midi(value: str | None) -> int | None:
    return None if value is None else int(value)


CHOICE = Kind(
    name="choice",
    read_label=_read_choice_label,
    read_answer=_read_choice,
    rows={
        "accuracy": lambda case: metrics.accuracy_row(case.reference, case.value),
        "macro_f1": lambda case: metrics.class_row(case.reference, case.value),
        "balanced_accuracy": lambda case: metrics.class_row(case.reference, case.value),
        "phase1_exact": lambda case: metrics.phase1_row(case.reference, case.answer),
        "mmau_string_match": lambda case: (float(metrics.mmau_string_match(case.answer, case.reference, options_of(case.spec))),),
        "key_weighted": lambda case: metrics.key_row(case.reference, case.value),
        "pitch_acc": lambda case: metrics.pitch_row(int(case.reference), _midi(case.value)),
        "chroma_acc": lambda case: metrics.chroma_row(int(case.reference), _midi(case.value)),
    },
    na=False,
    answer_of=lambda reference, label: reference,
)


def _pieces(label: str) -> tuple[str, ...]:
    """Labels in one text: a Python list, else what stands between commas, semicolons, bars or line ends."""
    text = label.strip()
    if text.startswith(("[", "(", "{")):
        try:
            listed = ast.literal_eval(text)
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            listed = None
        if isinstance(listed, (list, tuple, set)):
            return tuple(str(item).strip() for item in listed)
        text = text.strip("[](){}")
    return tuple(piece for piece in _SEPARATORS.split(text) if piece)


def _read_labels_label(doc: Doc, spec: TaskSpec) -> tuple[str, ...]:
    options = options_of(spec)
    if not doc["dsb2_label"]:
        raise LabelError(f"labels out of {_expected(options)}", list(doc["dsb2_label"]))
    found: list[str] = []
    for label in doc["dsb2_label"]:
        whole = match_option(label.strip(), options, aliases=spec.aliases)
        found += [whole] if whole is not None else [_option(piece, label, spec) for piece in _pieces(label)]
    return tuple(dict.fromkeys(found))


def _read_labels(answer: str, doc: Doc, spec: TaskSpec) -> tuple[list[str], str]:
    found, status = choose_labels(answer, options_of(spec), aliases=spec.aliases)
    return list(found), status


def _set_row(case: Case) -> Row:
    return metrics.set_row(case.reference, case.value)


LABELS = Kind(
    name="labels",
    read_label=_read_labels_label,
    read_answer=_read_labels,
    rows={
        **dict.fromkeys(("multilabel_exact", "multilabel_micro_f1", "multilabel_sample_f1", "multilabel_jaccard"), _set_row),
        "accuracy": lambda case: (float(set(case.reference) == set(case.value)),),
    },
    na=False,
    answer_of=lambda reference, label: ", ".join(reference) or "none",
    names_in=_pieces,
)


def _normalizer(case: Case) -> str:
    return case.spec.normalizer or metrics.default_normalizer(case.doc.get("dsb2_language") or case.spec.language)


def _words(case: Case) -> tuple[list[str], list[str]]:
    return tuple(metrics.words(metrics.normalize(_normalizer(case), text)) for text in (case.reference, case.value or ""))  # type: ignore[return-value]


def _text_row(case: Case) -> Row:
    return metrics.text_row(case.reference, case.value or "", _normalizer(case))


def _read_text(answer: str, doc: Doc, spec: TaskSpec) -> tuple[str | None, str]:
    text, status = extract_text(answer)
    return text, status if text is None else "ok"


_TEXT_ROWS: dict[str, Callable[[Case], Any]] = {
    "text_accuracy": _text_row,
    "accuracy": _text_row,
    "phase1_exact": lambda case: metrics.phase1_row(case.reference, clean(case.answer)),
    "wer": lambda case: metrics.error_rate_row(*_words(case)),
}

TEXT = Kind(
    name="text",
    read_label=lambda doc, spec: label_text(doc, "a text"),
    read_answer=_read_text,
    rows=_TEXT_ROWS,
    na=False,
)
