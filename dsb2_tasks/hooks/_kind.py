"""What an output kind is: how a label is read, how an answer is read, and which metrics compare the two."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dsb2_tasks.metrics import Row
from dsb2_tasks.spec import SpecError, TaskSpec

Doc = Mapping[str, Any]


class LabelError(ValueError):
    """A label has not the shape that its task states; the message says what was expected and shows what was found.

    Whoever reads the rows adds the task and the row.
    """

    def __init__(self, expected: str, found: Any) -> None:
        shown = repr(found)
        super().__init__(f"expected {expected}, found {shown if len(shown) <= 120 else shown[:117] + '...'}")


@dataclass(frozen=True)
class Scored:
    """One answer, read and counted.

    Attributes:
        statistics: A row of every metric of the task; None where the answer cannot be counted (N/A).
        status: ``ok``; for kinds with N/A ``na:<reason>``; otherwise why the answer is wrong without a value.
        value: What was read, fit for JSON.
    """

    statistics: dict[str, Row | None]
    status: str
    value: Any


@dataclass(frozen=True)
class Case:
    """One answer beside its reference: what a row is made of.

    ``value`` is None only in kinds without N/A, where an answer that cannot be read is wrong.
    """

    reference: Any
    value: Any
    answer: str
    doc: Doc
    spec: TaskSpec


@dataclass(frozen=True)
class Kind:
    """One output kind.

    Attributes:
        name: Name as in ``dsb2.kind``.
        read_label: Reference of a document; raises :class:`LabelError` if the label has another shape, :class:`SpecError` if
            the task file lacks what the kind needs.
        read_answer: Value of an answer and its status; the value is None if there is none.
        rows: Metrics that the kind can count, each with the function that makes its row.
        na: Whether an answer that cannot be read is N/A: not counted, and the metric scaled by their share.
        parsed: Whether answers are parsed at all; transcripts are taken as they are.
        answer_of: The text that a perfect model says for a reference and its label text; the label text by default.
        names_in: The names in a label text that ``options: labels`` collects; the label itself by default.
    """

    name: str
    read_label: Callable[[Doc, TaskSpec], Any]
    read_answer: Callable[[str, Doc, TaskSpec], tuple[Any, str]]
    rows: Mapping[str, Callable[[Case], Row | None]]
    na: bool
    parsed: bool = True
    answer_of: Callable[[Any, str], str] = lambda reference, label: label
    names_in: Callable[[str], Iterable[str]] = lambda label: (label.strip(),)

    def metrics(self, spec: TaskSpec) -> list[str]:
        """Names of the task's metrics, primary first.

        Raises:
            SpecError: The kind cannot count one of them.
        """
        names = list(dict.fromkeys((spec.metric, *spec.secondary)))
        for name in names:
            if name not in self.rows:
                key = "metric" if name == spec.metric else "secondary"
                near = difflib.get_close_matches(name, self.rows, n=1)
                hint = f"; did you mean {near[0]!r}?" if near else ""
                raise SpecError(
                    f"dsb2.{key}: kind {self.name!r} cannot count {name!r}; it counts {', '.join(sorted(self.rows))}{hint}"
                )
        return names

    def score(self, answer: str, doc: Doc, spec: TaskSpec) -> Scored:
        """Reads one answer and counts it for every metric of the task; never raises because of what the answer holds."""
        reference = self.read_label(doc, spec)
        value, status = self.read_answer(answer, doc, spec)
        names = self.metrics(spec)
        if value is None and self.na:
            return Scored(dict.fromkeys(names), f"na:{status}", None)
        case = Case(reference, value, answer, doc, spec)
        return Scored({name: self.rows[name](case) for name in names}, status, value)

    def reference_answer(self, doc: Doc, spec: TaskSpec) -> str:
        """The text that a perfect model says: it scores the best value of every metric."""
        return self.answer_of(self.read_label(doc, spec), ", ".join(doc["dsb2_label"]))


def label_text(doc: Doc, expected: str) -> str:
    """The one label of a document as text.

    Raises:
        LabelError: There is none, or several.
    """
    labels = doc["dsb2_label"]
    if len(labels) != 1 or not labels[0].strip():
        raise LabelError(expected, labels[0] if len(labels) == 1 else list(labels))
    return str(labels[0]).strip()


def settled(read: tuple[Any, str]) -> tuple[Any, str]:
    """A parser's result with the status of a hook: ``ok`` wherever there is a value."""
    value, status = read
    return value, status if value is None else "ok"
