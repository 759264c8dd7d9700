"""How much better a system is than the baseline, with intervals; documents are paired by their key."""

from __future__ import annotations

import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.baseline import Baseline
from dsb2_tasks.metrics import Row
from dsb2_tasks.results import TaskResult
from dsb2_tasks.scoring import Interval, Measured, improvement_draws, mean_interval, numbered

Floats = NDArray[np.float64]
Rows = Sequence[Row | None]


@dataclass(frozen=True)
class Drawing:
    """How intervals are made: number of draws, seed, and the share of the draws between the limits."""

    draws: int = 1000
    seed: int = 0
    level: float = 0.95

    def seed_of(self, task: str) -> int:
        """A seed of the task's own: with one seed for all, the errors of equally long tasks would go together."""
        return self.seed ^ zlib.crc32(task.encode(errors="surrogatepass"))


@dataclass(frozen=True)
class Gain:
    """A relative improvement over the baseline.

    Attributes:
        interval: With its interval; None where it cannot be counted.
        reason: Why not; None if it can.
        drawn: The draws behind the interval, (draws,).
    """

    interval: Interval | None
    reason: str | None
    drawn: Floats


def _left_out(reason: str) -> Gain:
    return Gain(None, reason, np.empty(0))


def gain_over(baseline: Baseline, result: TaskResult, how: Drawing) -> Gain:
    """The improvement of a result over a baseline, its documents paired with the baseline's where they are the same."""
    if found := baseline.mismatches(result.task, result.version, result.spec):
        return _left_out("; ".join(found))
    made = baseline.improvement(result)
    metric = baseline.compared(result.task, result.spec, result.values)
    if made.reason is not None or metric is None:
        return _left_out(made.reason or "the task does not count the baseline's metric")
    entry, rows = baseline.entries[result.task], result.rows(metric.name)
    base_keys, base_rows = entry.samples
    if not rows:
        return _by_error(result.task, made.value, made.stderr, how)
    compared: tuple[Rows, Rows | Measured] = rows, entry.measured
    paired = False
    if base_rows:
        pairs = _pairs(_keyed(result, metric.name), dict(zip(numbered(base_keys), base_rows, strict=True)))
        paired = len(pairs) == len(rows) == len(base_rows)
        compared = ([own for own, _ in pairs], [other for _, other in pairs]) if paired else (rows, base_rows)
    drawn = improvement_draws(metric, *compared, paired=paired, draws=how.draws, seed=how.seed_of(result.task))
    return _gain(made.value, drawn, how)


def gain_in_run(result: TaskResult, how: Drawing) -> Gain:
    """The improvement that the run itself counted, its interval by the normal approximation."""
    reading = result.values.get("relative_improvement")
    if reading is None or math.isnan(reading.value):
        return _left_out(result.left_out or "the run counted no relative improvement")
    return _by_error(result.task, reading.value, reading.stderr, how)


def _by_error(task: str, value: float, error: float, how: Drawing) -> Gain:
    """Draws from a normal distribution, where only a standard error is known; without one there is no interval."""
    if not math.isfinite(error):
        return _gain(value, np.full(how.draws, math.nan), how)
    generator = np.random.default_rng(how.seed_of(task))
    return _gain(value, value + error * generator.standard_normal(how.draws), how)


def _gain(value: float, drawn: Floats, how: Drawing) -> Gain:
    return Gain(mean_interval({"": value}, {"": drawn}, seed=how.seed, level=how.level), None, drawn)


def mean_gain(gains: Mapping[str, Gain], how: Drawing) -> Interval | None:
    """Plain mean of the improvements that can be counted; None if there is none."""
    kept = {task: gain for task, gain in gains.items() if gain.interval is not None}
    if not kept:
        return None
    values = {task: gain.interval.value for task, gain in kept.items() if gain.interval is not None}
    # A task without any draw counts in the mean as it stands: leaving it out would give the interval of another mean.
    drawn = {
        task: gain.drawn if np.isfinite(gain.drawn).any() else np.full(how.draws, values[task]) for task, gain in kept.items()
    }
    return mean_interval(values, drawn, seed=how.seed, level=how.level)


def _keyed(result: TaskResult, metric: str) -> dict[tuple[str, int], Row | None]:
    return dict(zip(numbered([sample.key for sample in result.samples()]), result.rows(metric), strict=True))


def _pairs(
    first: Mapping[tuple[str, int], Row | None], second: Mapping[tuple[str, int], Row | None]
) -> Sequence[tuple[Row | None, Row | None]]:
    return [(row, second[key]) for key, row in first.items() if key in second]
