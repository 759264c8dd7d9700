"""The rules of Dynamic-SUPERB Phase-2 (arXiv 2411.05361) for one task: N/A scaling and relative improvement."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def na_scale(value: float, na_rate: float, higher_is_better: bool, worst: float | None = None) -> float:
    """A metric over the answered items, scaled for those without a usable answer.

    Higher is better: ``m (1 - na)``; lower is better: ``m / (1 - na)``.  The rule has two holes: an error of exactly 0 is
    not punished, and a negative correlation is rewarded.  ``worst`` closes both by the anchored form
    ``(1 - na) m + na worst``, which is the paper's rule where the worst value of a higher-is-better metric is 0.

    Args:
        value: The metric over the answered items; any value, also nan, when there are none.
        na_rate: Share of items without a usable answer, 0 to 1.
        higher_is_better: Direction of the metric.
        worst: What an unanswered item counts as; None for the paper's rule.

    Returns:
        The scaled value. With nothing answered: 0 or infinity by the paper's rule, ``worst`` by the anchored one.

    Raises:
        ValueError: ``na_rate`` is not within 0 and 1.
    """
    if not 0 <= na_rate <= 1:
        raise ValueError(f"na_rate {na_rate!r} is not a share between 0 and 1")
    if na_rate == 1:
        return worst if worst is not None else 0.0 if higher_is_better else math.inf
    if worst is not None:
        return (1 - na_rate) * value + na_rate * worst
    return value * (1 - na_rate) if higher_is_better else value / (1 - na_rate)


def relative_improvement(value: float, baseline: float, higher_is_better: bool) -> float:
    """How much better than the baseline, as a share of the baseline; positive is better in both directions.

    ``(m - b) / |b|`` where higher is better, ``(b - m) / |b|`` where lower is; both values N/A-scaled, each with its own
    rate.  The absolute value keeps the sign right for a negative baseline.

    Args:
        value: The system's value.
        baseline: The baseline's value.
        higher_is_better: Direction of the metric.

    Returns:
        The improvement; minus infinity for an infinite error. nan (leave the task out) for a baseline of 0, unless the value
        is 0 as well, for a baseline that is not finite, and for a value that is not defined.
    """
    return float(improvement(np.array(value), np.array(baseline), higher_is_better))


def improvement(values: Floats, baselines: Floats, higher_is_better: bool) -> Floats:
    """:func:`relative_improvement` of arrays."""
    gain = values - baselines if higher_is_better else baselines - values
    usable = np.isfinite(baselines) & (baselines != 0)
    share = np.where(usable, gain / np.where(usable, np.abs(baselines), 1.0), np.nan)
    return np.where((baselines == 0) & (values == 0), 0.0, share)


def relative_improvement_bounded(value: float, baseline: float, higher_is_better: bool) -> float:
    """Relative improvement that no error can push below -1: the higher-is-better rule on ``1 / m`` where lower is better.

    Args:
        value: The system's value.
        baseline: The baseline's value.
        higher_is_better: Direction of the metric.

    Returns:
        ``b / m - 1`` where lower is better (infinity for an error of 0), else :func:`relative_improvement`.
    """
    if higher_is_better or baseline == 0 or not math.isfinite(baseline):
        return relative_improvement(value, baseline, higher_is_better)
    return math.inf if value == 0 else baseline / value - 1


def copied_recipe(value: float, baseline: float, na_rate: float) -> float:
    """A recipe that circulates under the paper's name, for comparison with numbers made by it; not for new results.

    ``((1 - na) m - (1 - na) b) / ((1 - na) b)`` with the **system's** rate on both sides.  Two defects: the rate cancels, so
    nothing is paid for unusable answers, and the sign never turns, so a higher error rate is an improvement.

    Args:
        value: The system's value over its answered items.
        baseline: The baseline's value.
        na_rate: The system's share of items without a usable answer.

    Returns:
        The recipe's number; nan where it divides by zero.
    """
    share = 1 - na_rate
    return (share * value - share * baseline) / (share * baseline) if share * baseline else math.nan
