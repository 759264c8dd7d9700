"""A baseline as an object: its numbers by task, what forbids a comparison, and the improvement over it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.results import TaskResult, fault_in_rows
from dsb2_tasks.scoring import Improvement, Measured, Rule, covariance, improve
from dsb2_tasks.spec import TaskSpec

_SAMPLES = "-samples"


class BaselineError(ValueError):
    """A baseline cannot be read, or may not be compared with; the message names file, place and way out."""


@dataclass
class Entry:
    """The baseline on one task.

    Attributes:
        metric: Metric that is compared, without ``_scaled``.
        measured: Its numbers.
        version: Task version with ``-samples`` for sample data; None where the table names none.
        source: Where the number comes from.
        load: Gives keys of documents and rows of the compared metric, in step; both empty without them.
    """

    metric: str
    measured: Measured
    version: str | None
    source: str
    load: Callable[[], tuple[tuple[str, ...], tuple[Row | None, ...]]] = lambda: ((), ())

    @cached_property
    def samples(self) -> tuple[tuple[str, ...], tuple[Row | None, ...]]:
        """Keys of documents (:func:`dsb2_tasks.results.document_key`) and rows, in step."""
        return self.load()

    @property
    def on_samples(self) -> bool:
        """Whether the numbers come from the embedded sample data."""
        return (self.version or "").endswith(_SAMPLES)


@dataclass
class Baseline:
    """A system that others are compared with.

    Attributes:
        name: For tables.
        origin: File or reference as it was named.
        entries: By task.
        missing: Why a task that one would expect has no entry.
        caveats: What everybody who uses these numbers must be told.
        metric: The one metric that it holds, where that is not each task's primary one.
    """

    name: str
    origin: str
    entries: dict[str, Entry]
    missing: dict[str, str] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()
    metric: str | None = None

    def mismatches(self, task: str, version: str, spec: TaskSpec) -> list[str]:
        """What forbids comparing a task with this baseline, each as a part of a sentence; empty if nothing does."""
        entry = self.entries.get(task)
        if entry is None:
            return []
        found = []
        if version.endswith(_SAMPLES) != entry.on_samples:
            here, there = ("sample data", "real data") if version.endswith(_SAMPLES) else ("real data", "sample data")
            found.append(f"data: {here} here, {there} in the baseline")
        elif entry.version is not None and entry.version != version:
            found.append(f"task version: {version} here, {entry.version} in the baseline")
        if self.metric is None and entry.metric != spec.metric:
            found.append(f"metric: {spec.metric} here, {entry.metric} in the baseline")
        return found

    def why_missing(self, task: str) -> str:
        """Why there is nothing to compare a task with."""
        return self.missing.get(task, "the baseline has no number for this task")

    def compared(self, task: str, spec: TaskSpec, known: Mapping[str, Any]) -> Metric | None:
        """The metric on which a task is compared; None if the task does not count it.

        Args:
            task: Name of the task.
            spec: Its specification.
            known: Its metrics by name.
        """
        entry = self.entries.get(task)
        if entry is None:
            return None
        name = f"{entry.metric}_scaled" if entry.metric == spec.metric and f"{entry.metric}_scaled" in known else entry.metric
        return metrics.get(name) if name in known else None

    def rows(self, task: str, metric: Metric) -> tuple[tuple[str, ...], tuple[Row | None, ...]]:
        """Keys of documents and rows of the compared metric of a task, in step; both empty without them.

        Raises:
            BaselineError: The metric cannot count them.
            ResultsError: They are logged samples and cannot be read.
        """
        keys, rows = self.entries[task].samples
        if fault := fault_in_rows({metric.name: rows}):
            raise BaselineError(f"baseline {self.origin!r}: {task}: row {fault[1]} of {fault[0]}: {fault[2]}")
        return keys, rows

    def over(
        self, task: str, metric: Metric, own: Measured, rows: Sequence[Row | None], keys: Sequence[str], rule: Rule = "paper"
    ) -> Improvement:
        """The improvement of a system over this baseline on one task that both have.

        Args:
            task: Name of the task.
            metric: The compared metric, from :meth:`compared`.
            own: The system's numbers.
            rows: The system's rows of that metric; empty if not known.
            keys: Keys of their documents.
            rule: Which recipe.
        """
        entry = self.entries[task]
        base_keys, base_rows = self.rows(task, metric)
        shared = covariance(metric, rows, keys, base_rows, base_keys) if keys and base_keys else 0.0
        return improve(own, entry.measured, metric.higher_is_better, rule=rule, covariance=shared)

    def improvement(self, result: TaskResult, rule: Rule = "paper") -> Improvement:
        """The improvement of a task's result over this baseline, or why there is none."""
        metric = self.compared(result.task, result.spec, result.values)
        if metric is None:
            entry = self.entries.get(result.task)
            why = self.why_missing(result.task) if entry is None else f"the task does not count {entry.metric!r}"
            return Improvement(math.nan, math.nan, why)
        plain = result.values[metric.name.removesuffix("_scaled")]
        value = result.values[metric.name]
        own = Measured(value.value, plain.value, result.na_rate or 0.0, value.stderr)
        samples = result.samples()
        return self.over(result.task, metric, own, result.rows(metric.name), [sample.key for sample in samples], rule)
