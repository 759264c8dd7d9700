"""Two runs side by side: differences with intervals and a paired test by task, relative improvements by domain and modality."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from tqdm import tqdm

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.results import Run, TaskResult
from dsb2_tasks.scoring import (
    Difference,
    Improvement,
    Interval,
    Measured,
    difference,
    improve,
    improvement_draws,
    mean_interval,
    numbered,
)


class ComparisonError(ValueError):
    """Two runs cannot be compared; the message says why."""


@dataclass(frozen=True)
class TaskDifference:
    """Two systems on one task.

    Attributes:
        task: Name.
        domain: Its domain.
        modality: Its modality.
        metric: What is compared, N/A-scaled where the task has N/A.
        higher_is_better: Direction.
        first: Value of the first system, over the documents that both answered where they are known.
        second: Value of the second.
        difference: First minus second; None where it cannot be told.
        reason: Why not.
        improvement: Relative improvement of the first over the second.
    """

    task: str
    domain: str
    modality: str
    metric: str
    higher_is_better: bool
    first: float
    second: float
    difference: Difference | None
    reason: str | None
    improvement: Improvement

    @property
    def verdict(self) -> int:
        """1 if the first is better, -1 if the second is: the interval excludes 0, and the test, where there is one, agrees.

        Of a handful of documents the interval alone is too sure of itself; the test is exact at any number.
        """
        if self.difference is None:
            return 0
        interval = self.difference.interval
        if self.difference.p_value > 1 - interval.level:  # nan, where there was no test, is not above
            return 0
        low, high = interval.low, interval.high
        if not self.higher_is_better:
            low, high = -high, -low
        return 1 if low > 0 else -1 if high < 0 else 0


@dataclass(frozen=True)
class PartDifference:
    """Two systems on the tasks of a domain or a modality.

    Attributes:
        part: Name of the domain or modality.
        improvement: Mean over tasks of the first's relative improvement over the second, with its interval.
        kept: Tasks that the mean is over.
        tasks: Tasks that both runs have.
        better: Tasks on which the first is better beyond its interval.
        worse: Tasks on which the second is.
    """

    part: str
    improvement: Interval
    kept: int
    tasks: int
    better: int
    worse: int


@dataclass(frozen=True)
class Comparison:
    """What came out, with the tasks that only one of the two runs has."""

    tasks: list[TaskDifference]
    domains: list[PartDifference]
    modalities: list[PartDifference]
    only_first: list[str]
    only_second: list[str]


def compare(first: Run, second: Run, *, draws: int = 1000, seed: int = 0, level: float = 0.95, force: bool = False) -> Comparison:
    """Compares two runs on the tasks that both have.

    Documents are paired by what was asked and expected; where a run logged no samples, the interval is a normal one from the
    two standard errors, and there is no test.

    Args:
        first: A run.
        second: Another.
        draws: Bootstrap draws, and swaps of the test.
        seed: Seed of both.
        level: Share of the draws between the limits.
        force: Whether to compare tasks of different versions, metrics or sources of data.

    Raises:
        ComparisonError: They have no task in common.
        ResultsError: Samples cannot be read.
    """
    shared = [task for task in first.tasks if task in second.tasks]
    if not shared:
        raise ComparisonError(f"{first.path} and {second.path} have no task in common")
    tasks, drawn = [], {}
    for name in tqdm(shared, "comparing", unit="task", disable=None, leave=False):
        own_seed = zlib.crc32(name.encode()) ^ seed  # tasks are independent of one another
        row, improvements = _task(first.tasks[name], second.tasks[name], draws, own_seed, level, force)
        tasks.append(row)
        if improvements is not None:
            drawn[name] = improvements
    return Comparison(
        tasks=tasks,
        domains=_parts(tasks, "domain", drawn, seed, level),
        modalities=_parts(tasks, "modality", drawn, seed, level),
        only_first=[name for name in first.tasks if name not in second.tasks],
        only_second=[name for name in second.tasks if name not in first.tasks],
    )


def _task(
    first: TaskResult, second: TaskResult, draws: int, seed: int, level: float, force: bool
) -> tuple[TaskDifference, np.ndarray | None]:
    name = first.score
    reason = None if force else _mismatch(first, second)
    if reason is None and (name not in first.values or name not in second.values):
        reason = f"{name} is not among the numbers of both"
    if reason is not None:
        none = Improvement(math.nan, math.nan, reason)
        higher = metrics.get(name).higher_is_better
        return TaskDifference(
            first.task, first.spec.domain, first.spec.modality, name, higher, math.nan, math.nan, None, reason, none
        ), None
    metric = metrics.get(name)
    left, right, paired = _matched(first, second, name)
    if left and right:
        values = metric.aggregate(left), metric.aggregate(right)
        gap = difference(metric, left, right, paired=paired, draws=draws, seed=seed, level=level)
    else:
        values = first.values[name].value, second.values[name].value
        gap = _normal(values, first.values[name].stderr, second.values[name].stderr, level, first.documents)
    own, other = (_measured(result, value, metric) for result, value in zip((first, second), values, strict=True))
    improvement = improve(own, other, metric.higher_is_better)
    drawn = None
    if improvement.reason is None and left and right:
        drawn = improvement_draws(metric, left, right, paired=paired, draws=draws, seed=seed)
    undefined = None if math.isfinite(gap.interval.value) else "the value of one of them is not defined"
    return TaskDifference(
        first.task,
        first.spec.domain,
        first.spec.modality,
        name,
        metric.higher_is_better,
        *values,
        gap if undefined is None else None,
        undefined,
        improvement,
    ), drawn


def _mismatch(first: TaskResult, second: TaskResult) -> str | None:
    if first.version != second.version:
        return f"task version {first.version} against {second.version}"
    if first.spec.metric != second.spec.metric:
        return f"metric {first.spec.metric} against {second.spec.metric}"
    return None


def _matched(first: TaskResult, second: TaskResult, metric: str) -> tuple[list[Row | None], list[Row | None], bool]:
    """Rows of the documents that both answered, in step; all rows and False where no document is the same."""
    one, two = (_by_key(result, metric) for result in (first, second))
    shared = [key for key in one if key in two]
    if shared:
        return [one[key] for key in shared], [two[key] for key in shared], True
    return list(one.values()), list(two.values()), False


def _by_key(result: TaskResult, metric: str) -> dict[tuple[str, int], Row | None]:
    return dict(zip(numbered([sample.key for sample in result.samples()]), result.rows(metric), strict=True))


def _measured(result: TaskResult, value: float, metric: Metric) -> Measured:
    plain = result.values[metric.name.removesuffix("_scaled")].value
    return Measured(value, plain if math.isfinite(plain) else value, result.na_rate or 0.0, result.values[metric.name].stderr)


def _normal(values: tuple[float, float], one: float, two: float, level: float, documents: int) -> Difference:
    gap, spread = values[0] - values[1], math.hypot(one, two)
    reach = NormalDist().inv_cdf((1 + level) / 2) * spread
    limits = (gap - reach, gap + reach)
    return Difference(Interval(gap, *limits, spread, level, 0, 0, 0), math.nan, False, documents)


def _parts(
    tasks: Sequence[TaskDifference], attribute: str, drawn: dict[str, np.ndarray], seed: int, level: float
) -> list[PartDifference]:
    """Rows by domain or modality, in the order of the first task of each."""
    found = []
    for part in dict.fromkeys(getattr(task, attribute) for task in tasks):
        inside = [task for task in tasks if getattr(task, attribute) == part]
        kept = {task.task: task.improvement.value for task in inside if task.task in drawn}
        verdicts = _count(task.verdict for task in inside)
        found.append(
            PartDifference(
                part=part,
                improvement=mean_interval(kept, drawn, seed=seed, level=level),
                kept=len(kept),
                tasks=len(inside),
                better=verdicts.get(1, 0),
                worse=verdicts.get(-1, 0),
            )
        )
    return found


def _count(verdicts: Iterable[int]) -> dict[int, int]:
    counts: dict[int, int] = {}
    for verdict in verdicts:
        counts[verdict] = counts.get(verdict, 0) + 1
    return counts
