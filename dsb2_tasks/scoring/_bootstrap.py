"""Percentile bootstrap over per-sample statistics (Efron 1979): intervals for metrics, improvements and differences.

A draw is a multinomial count of how often each sample is taken, so that all draws of a metric are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.scoring._improvement import Measured
from dsb2_tasks.scoring._rules import improvement, relative_improvement

Floats = NDArray[np.float64]
Rows = Sequence[Row | None]

#: Samples times draws held in memory at once: 2 MB, which stay in the processor's cache whatever the number of samples.
_CELLS = 1 << 18


@dataclass(frozen=True)
class Interval:
    """A value with its bootstrap interval.

    Attributes:
        value: The value from all samples, not the mean of the draws.
        low: Lower percentile limit; nan if no draw was defined.
        high: Upper percentile limit.
        stderr: Standard deviation of the draws.
        level: Share of the draws between the limits.
        draws: Draws asked for.
        defined: Draws that gave a finite value; the limits and the error are theirs.
        seed: Seed of the generator.
    """

    value: float
    low: float
    high: float
    stderr: float
    level: float
    draws: int
    defined: int
    seed: int


@dataclass(frozen=True)
class Difference:
    """How far two systems are apart.

    Attributes:
        interval: Value of the first minus value of the second, with its bootstrap interval.
        p_value: Two-sided, of the approximate randomisation test; nan where the systems are not paired.
        paired: Whether both were measured on the same samples, which are then drawn together.
        samples: Samples of each that went in.
    """

    interval: Interval
    p_value: float
    paired: bool
    samples: int


def bootstrap(metric: Metric, rows: Rows, *, draws: int = 1000, seed: int = 0, level: float = 0.95) -> Interval:
    """Percentile interval of a metric.

    Args:
        metric: The metric, also a scaled one: the share without an answer is then drawn with it.
        rows: One row a sample; None where it is not counted.
        draws: Number of draws.
        seed: Seed of the generator.
        level: Share of the draws between the limits.
    """
    return _interval(metric.aggregate(rows), _drawn(metric, rows, draws, seed), level, draws, seed)


def bootstrap_improvement(
    metric: Metric,
    rows: Rows,
    baseline: Rows,
    *,
    paired: bool = True,
    draws: int = 1000,
    seed: int = 0,
    level: float = 0.95,
) -> Interval:
    """Percentile interval of a relative improvement over a baseline.

    Args:
        metric: The metric, scaled where unusable answers are to count.
        rows: The system's rows.
        baseline: The baseline's rows.
        paired: Whether both lists are of the same samples in the same order; they are then drawn together.
        draws: Number of draws.
        seed: Seed of the generator.
        level: Share of the draws between the limits.

    Raises:
        ValueError: Paired lists differ in length.
    """
    value = relative_improvement(metric.aggregate(rows), metric.aggregate(baseline), metric.higher_is_better)
    drawn = improvement_draws(metric, rows, baseline, paired=paired, draws=draws, seed=seed)
    return _interval(value, drawn, level, draws, seed)


def improvement_draws(
    metric: Metric, rows: Rows, baseline: Rows | Measured, *, paired: bool = True, draws: int = 1000, seed: int = 0
) -> Floats:
    """Relative improvements under re-drawn samples, shape (draws,); nan where a draw leaves it undefined.

    Args:
        metric: The metric.
        rows: The system's rows.
        baseline: The baseline's rows; or, where only its numbers are known, these: it is then drawn from a normal distribution,
            or taken as exact where its error is nan.
        paired: Whether both lists are of the same samples in the same order.
        draws: Number of draws.
        seed: Seed of the generator.

    Raises:
        ValueError: Paired lists differ in length.
    """
    if isinstance(baseline, Measured):
        own = _drawn(metric, rows, draws, seed)
        error = baseline.stderr if math.isfinite(baseline.stderr) else 0.0
        spread = np.random.default_rng([seed, 1]).standard_normal(len(own)) * error
        return improvement(own, baseline.value + spread, metric.higher_is_better)
    return _pairs(
        metric, rows, baseline, lambda a, b: improvement(a, b, metric.higher_is_better), paired=paired, draws=draws, seed=seed
    )


def difference(
    metric: Metric, first: Rows, second: Rows, *, paired: bool = True, draws: int = 1000, seed: int = 0, level: float = 0.95
) -> Difference:
    """How far two systems are apart on one task, with interval and, if paired, a test.

    The test is approximate randomisation (Noreen 1989; Yeh 2000): the two systems' rows of each sample are swapped at random,
    and the p-value is the share of swaps that put them at least as far apart, counting the one observed.

    Args:
        metric: The metric, scaled where unusable answers are to count.
        first: Rows of the first system.
        second: Rows of the second.
        paired: Whether both lists are of the same samples in the same order.
        draws: Number of draws, and of swaps.
        seed: Seed of the generators.
        level: Share of the draws between the limits.

    Raises:
        ValueError: Paired lists differ in length.
    """
    value = metric.aggregate(first) - metric.aggregate(second)
    drawn = _pairs(metric, first, second, lambda a, b: a - b, paired=paired, draws=draws, seed=seed)
    p_value = _randomisation(metric, first, second, value, draws, seed) if paired and math.isfinite(value) else math.nan
    return Difference(_interval(value, drawn, level, draws, seed), p_value, paired, len(first))


def mean_interval(values: Mapping[str, float], drawn: Mapping[str, Floats], *, seed: int = 0, level: float = 0.95) -> Interval:
    """Interval of a plain mean over tasks, each drawn on its own: tasks are taken as given, their documents as a sample.

    Args:
        values: The value of each task.
        drawn: Its draws, (draws,).  Where a draw leaves a task undefined its value stands in: a mean over fewer tasks would be
            another quantity.
        seed: The seed that the draws were made with, for the record.
        level: Share of the draws between the limits.
    """
    if not values:
        return _interval(math.nan, np.empty(0), level, 0, seed)
    own = np.array([[value] for value in values.values()])
    table = np.stack([drawn[name] for name in values])
    means = np.where(np.isfinite(table), table, own).mean(axis=0)
    return _interval(float(own.mean()), means, level, table.shape[1], seed)


def _pairs(
    metric: Metric,
    first: Rows,
    second: Rows,
    combine: Callable[[Floats, Floats], Floats],
    *,
    paired: bool,
    draws: int,
    seed: int,
) -> Floats:
    if paired and len(first) != len(second):
        raise ValueError(f"paired samples, but the first has {len(first)} and the second {len(second)}; use paired=False")
    if not (first and second):
        return np.empty(0)
    if not paired:
        return combine(_drawn(metric, first, draws, seed), _drawn(metric, second, draws, [seed, 1]))
    # Paired lists are drawn together: the same weights, made once.
    one, other = metric.replicates(first), metric.replicates(second)
    return _joined([combine(one(weights), other(weights)) for weights in _weights(len(first), draws, seed)])


def _drawn(metric: Metric, rows: Rows, draws: int, seed: int | Sequence[int]) -> Floats:
    """The metric under re-drawn samples, shape (draws,); empty without samples."""
    values = metric.replicates(rows)
    return _joined([values(weights) for weights in _weights(len(rows), draws, seed)])


def _randomisation(metric: Metric, first: Rows, second: Rows, value: float, draws: int, seed: int) -> float:
    """p-value of the swap test: both systems' rows in one list, of which each sample lends one to either side."""
    values = metric.replicates([*first, *second])
    generator = np.random.default_rng([seed, 2])
    apart = defined = 0
    for size in _sizes(len(first), draws):
        swapped = generator.integers(0, 2, size=(size, len(first))).astype(np.float64)
        one = values(np.hstack([1 - swapped, swapped]))
        other = values(np.hstack([swapped, 1 - swapped]))
        gaps = np.abs(one - other)
        known = np.isfinite(gaps)
        defined += int(known.sum())
        # A share of rounding is allowed for: the same sums in another order.
        apart += int((gaps[known] >= abs(value) * (1 - 1e-9)).sum())
    return (apart + 1) / (defined + 1)


def _weights(samples: int, draws: int, seed: int | Sequence[int]) -> Iterator[Floats]:
    """How often each draw takes each sample, in chunks (draws, samples)."""
    generator = np.random.default_rng(seed)
    for size in _sizes(samples, draws if samples else 0):
        # Ten times faster than generator.multinomial: all samples of the chunk counted at once, each draw in cells of its own.
        taken = generator.integers(0, samples, size=(size, samples)) + np.arange(size)[:, None] * samples
        yield np.bincount(taken.ravel(), minlength=size * samples).reshape(size, samples).astype(np.float64)


def _sizes(samples: int, draws: int) -> Iterator[int]:
    """Draws of each chunk; the numbers drawn do not depend on how they are cut."""
    most = max(1, _CELLS // max(1, samples))
    for start in range(0, draws, most):
        yield min(most, draws - start)


def _joined(chunks: Sequence[Floats]) -> Floats:
    return np.concatenate([*chunks, np.empty(0)])


def _interval(value: float, drawn: Floats, level: float, draws: int, seed: int) -> Interval:
    values = drawn[np.isfinite(drawn)]
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail]) if len(values) else (math.nan, math.nan)
    spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    return Interval(value, float(low), float(high), spread, level, draws, len(values), seed)
