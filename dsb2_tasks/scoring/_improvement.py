"""The relative improvement of one task, with its error, or the reason why there is none."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.scoring._rules import copied_recipe, relative_improvement

#: ``paper``: own N/A rates, a system that answered nothing is left out; ``strict``: it counts as -1 where higher is better;
#: ``copied_recipe``: see :func:`dsb2_tasks.scoring.copied_recipe`.
Rule = Literal["paper", "strict", "copied_recipe"]
RULES: tuple[Rule, ...] = ("paper", "strict", "copied_recipe")


@dataclass(frozen=True)
class Measured:
    """One system on one task, as an improvement needs it.

    Attributes:
        value: The value that is compared: N/A-scaled where the task has N/A.
        plain: The value over the answered items alone.
        na_rate: Share without a usable answer; 0 for tasks without N/A.
        stderr: Standard error of ``value``; nan if not known.
    """

    value: float
    plain: float
    na_rate: float
    stderr: float


@dataclass(frozen=True)
class Improvement:
    """A relative improvement.

    Attributes:
        value: The improvement; nan where it cannot be counted.
        stderr: Standard error by the delta method; nan where it is not known.
        reason: Why it cannot be counted; None if it can.
    """

    value: float
    stderr: float
    reason: str | None


def improve(
    own: Measured, baseline: Measured, higher_is_better: bool, *, rule: Rule = "paper", covariance: float = 0.0
) -> Improvement:
    """The relative improvement of a system over a baseline.

    Left out, with the reason: a baseline that is 0 or undefined or answered nothing, and a system that answered nothing
    (by the rule ``strict`` that is -1 where higher is better).

    Args:
        own: The system.
        baseline: The baseline.
        higher_is_better: Direction of the metric.
        rule: Which recipe.
        covariance: Of the two values; above 0 where both answered the same documents.
    """
    reason = _hindrance(own, baseline, higher_is_better, rule)
    if reason is not None:
        return Improvement(math.nan, math.nan, reason)
    if rule == "copied_recipe":
        return Improvement(copied_recipe(own.plain, baseline.plain, own.na_rate), math.nan, None)
    value = relative_improvement(own.value, baseline.value, higher_is_better)
    # d/dm = 1/b and d/db = -m/b^2, up to a common sign; a baseline without a known error is taken as exact.
    noise = baseline.stderr if math.isfinite(baseline.stderr) else 0.0
    share = own.value / baseline.value
    own_error, base_error, shared = own.stderr / baseline.value, share * noise / baseline.value, covariance / baseline.value
    # Products, since a power of a float raises where it overflows.
    variance = own_error * own_error + base_error * base_error - 2 * share * shared / baseline.value
    return Improvement(value, math.sqrt(max(variance, 0.0)) if math.isfinite(variance) else math.nan, None)


def unusable_baseline(baseline: Measured) -> str | None:
    """Why nothing can be compared with a baseline; None if something can."""
    if baseline.na_rate == 1:
        return "the baseline gave no usable answer (N/A rate 1)"
    if not math.isfinite(baseline.value):
        return "the baseline's value is not defined" if math.isnan(baseline.value) else "the baseline's error is infinite"
    return "the baseline is 0" if baseline.value == 0 or baseline.plain == 0 else None


def _hindrance(own: Measured, baseline: Measured, higher_is_better: bool, rule: Rule) -> str | None:
    if reason := unusable_baseline(baseline):
        return reason
    if own.na_rate == 1 and not (rule == "strict" and higher_is_better):
        return "no usable answer (N/A rate 1)"
    if math.isnan(own.value):
        return "the value is not defined (nothing could be counted)"
    return None


def covariance(
    metric: Metric,
    own: Sequence[Row | None],
    own_keys: Sequence[str],
    baseline: Sequence[Row | None],
    baseline_keys: Sequence[str],
) -> float:
    """Covariance of one metric's values of two systems, from the documents that both answered (delta method).

    Args:
        metric: The metric.
        own: The system's rows, None where not counted.
        own_keys: Key of the document of each row; a document that comes twice is matched in order.
        baseline: The baseline's rows.
        baseline_keys: Keys of the baseline's documents.

    Returns:
        The covariance; 0 if they share fewer than two counted documents.
    """
    first, second = _influence(metric, own, own_keys), _influence(metric, baseline, baseline_keys)
    shared = [key for key in first if key in second]
    if len(shared) < 2:
        return 0.0
    products = np.array([first[key] * second[key] for key in shared])
    return float(products.sum()) * len(shared) / (len(shared) - 1)


def _influence(metric: Metric, rows: Sequence[Row | None], keys: Sequence[str]) -> dict[tuple[str, int], float]:
    counted = [(key, row) for key, row in zip(numbered(keys), rows, strict=True) if row is not None]
    if len(counted) < 2:
        return {}
    with np.errstate(all="ignore"):
        values = metric.estimator.influence([row for _, row in counted])
    return {key: float(value) for (key, _), value in zip(counted, values, strict=True) if math.isfinite(value)}


def numbered(keys: Sequence[str]) -> list[tuple[str, int]]:
    """Keys with the number of their occurrence, so that equal documents stay apart."""
    seen: dict[str, int] = {}
    made = []
    for key in keys:
        seen[key] = seen.get(key, -1) + 1
        made.append((key, seen[key]))
    return made
