"""Percentile bootstrap over per-sample statistics (Efron 1979): intervals for metrics and for improvements.

A draw is a multinomial count of how often each sample is taken, so that all draws of a metric are one matrix product.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.scoring._rules import improvement, relative_improvement

Floats = NDArray[np.float64]

#: Draws held in memory at once.
_CHUNK = 256


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


def bootstrap(metric: Metric, rows: Sequence[Row | None], *, draws: int = 1000, seed: int = 0, level: float = 0.95) -> Interval:
    """Percentile interval of a metric.

    Args:
        metric: The metric, also a scaled one: the share without an answer is then drawn with it.
        rows: One row a sample; None where it is not counted.
        draws: Number of draws.
        seed: Seed of the generator.
        level: Share of the draws between the limits.
    """
    values = [metric.replicates(rows, weights) for weights in _weights(len(rows), draws, seed)]
    return _interval(metric.aggregate(rows), values, level, draws, seed)


def bootstrap_improvement(
    metric: Metric,
    rows: Sequence[Row | None],
    baseline: Sequence[Row | None],
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
    if paired and len(rows) != len(baseline):
        raise ValueError(f"paired samples, but the system has {len(rows)} and the baseline {len(baseline)}; use paired=False")
    own = _weights(len(rows), draws, seed)
    other = _weights(len(baseline), draws, seed if paired else seed + 1)
    values = []
    for weights, others in zip(own, other, strict=True):
        pair = metric.replicates(rows, weights), metric.replicates(baseline, others)
        values.append(improvement(*pair, metric.higher_is_better))
    value = relative_improvement(metric.aggregate(rows), metric.aggregate(baseline), metric.higher_is_better)
    return _interval(value, values, level, draws, seed)


def _weights(samples: int, draws: int, seed: int) -> Iterator[Floats]:
    """How often each draw takes each sample, in chunks (draws, samples)."""
    generator = np.random.default_rng(seed)
    share = np.full(samples, 1 / max(samples, 1))
    for start in range(0, draws if samples else 0, _CHUNK):
        yield generator.multinomial(samples, share, size=min(_CHUNK, draws - start)).astype(np.float64)


def _interval(value: float, chunks: list[Floats], level: float, draws: int, seed: int) -> Interval:
    values = np.concatenate([*chunks, np.empty(0)])
    values = values[np.isfinite(values)]
    tail = (1 - level) / 2
    low, high = np.quantile(values, [tail, 1 - tail]) if len(values) else (math.nan, math.nan)
    spread = float(values.std(ddof=1)) if len(values) > 1 else math.nan
    return Interval(value, float(low), float(high), spread, level, draws, len(values), seed)
