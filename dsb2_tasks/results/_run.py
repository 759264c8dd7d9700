"""What a run left behind, as objects."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dsb2_tasks.metrics import Row
from dsb2_tasks.spec import TaskSpec


class ResultsError(ValueError):
    """A results file cannot be read; the message names file, place and reason."""


@dataclass(frozen=True)
class Reading:
    """One number of a task.

    Attributes:
        value: The number; nan where it is not defined, infinite for an unbounded error.
        stderr: Its standard error; nan where it is not known.
        higher_is_better: Direction.
    """

    value: float
    stderr: float
    higher_is_better: bool


@dataclass(frozen=True)
class Sample:
    """One answered document.

    Attributes:
        doc_id: Number of the document in its task.
        doc_hash: lm-eval's hash of the document.
        key: :func:`document_key` of the document.
        prompt: What the model was asked.
        target: The label as text.
        answer: What the model said, or the record of a failure of the tool.
        status: How the answer was read: ``ok``, ``na:<reason>``, ``ambiguous`` ..., ``audio_error``, ``model_error``.
        audio: Handles of the clips, in order.
        rows: Statistics by metric; None where not counted.
        doc: The document.
    """

    doc_id: int
    doc_hash: str
    key: str
    prompt: str
    target: str
    answer: str
    status: str
    audio: tuple[dict[str, Any], ...]
    rows: dict[str, Row | None]
    doc: dict[str, Any]


@dataclass
class TaskResult:
    """Results of one task.

    Attributes:
        task: Name.
        version: Task version, with ``-samples`` for sample data.
        data: Where documents came from: ``hub``, ``samples`` or a folder.
        spec: The task's specification at the time of the run.
        documents: Documents that were answered.
        total: Documents that the task has.
        values: Numbers by metric name, primary first.
        statuses: How answers were read, with counts; empty if the run did not write it down.
        left_out: Why the relative improvement could not be counted; None if it could, or if there was no baseline.
        baseline: What the relative improvement is over; None without a baseline.
    """

    task: str
    version: str
    data: str
    spec: TaskSpec
    documents: int
    total: int
    values: dict[str, Reading]
    statuses: dict[str, int] = field(default_factory=dict)
    left_out: str | None = None
    baseline: dict[str, Any] | None = None
    load: Callable[[], list[Sample]] = list

    @property
    def score(self) -> str:
        """Name of the metric that compares systems: the N/A-scaled one where the kind has N/A, else the primary metric."""
        scaled = f"{self.spec.metric}_scaled"
        return scaled if scaled in self.values else self.spec.metric

    @property
    def na_rate(self) -> float | None:
        """Share of answers without a usable value; None for kinds in which such an answer is wrong."""
        return self.values["na_rate"].value if "na_rate" in self.values else None

    @cached_property
    def _samples(self) -> list[Sample]:
        return self.load()

    def samples(self) -> list[Sample]:
        """The logged samples in document order; none if the run logged none.

        Raises:
            ResultsError: The file of samples is there and cannot be read.
        """
        return self._samples

    def rows(self, metric: str) -> list[Row | None]:
        """The rows of a metric, one a sample, in document order."""
        return [sample.rows.get(metric) for sample in self.samples()]


@dataclass
class Run:
    """Results of one run.

    Attributes:
        path: The results file.
        name: Short name for tables, distinct enough to tell runs apart: the model's.
        model: Name of the backend and the model.
        date: Seconds since 1970; nan if unknown.
        tasks: The dsb2 tasks, in file order.
        groups: Rows of groups, without ``,none``.
        members: Names of the direct members of each group.
        config: lm-eval's ``config``: model, its arguments, its counts.
        raw: The whole file.
    """

    path: Path
    name: str
    model: str
    date: float
    tasks: dict[str, TaskResult]
    groups: dict[str, dict[str, Any]]
    members: dict[str, tuple[str, ...]]
    config: dict[str, Any]
    raw: dict[str, Any]

    @property
    def data(self) -> frozenset[str]:
        """Where documents came from, over all tasks."""
        return frozenset(task.data for task in self.tasks.values())
