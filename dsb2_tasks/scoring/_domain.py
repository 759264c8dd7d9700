"""The score of a domain: the plain mean of its tasks' relative improvements, with what was left out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class DomainScore:
    """Relative improvements of a domain in one number, and two robust ones beside it.

    Attributes:
        mean: Plain mean, as in the paper; minus infinity if a kept task has an infinite error. nan without kept tasks.
        median: Median.
        clipped_mean: Mean of the improvements clipped to a range, so that one unbounded error cannot decide it.
        kept: Names of the tasks that count.
        left_out: Names of the tasks without a defined improvement.
    """

    mean: float
    median: float
    clipped_mean: float
    kept: tuple[str, ...]
    left_out: tuple[str, ...]


def domain_score(improvements: Mapping[str, float | None], clip: tuple[float, float] = (-1.0, 1.0)) -> DomainScore:
    """The score of a domain from the relative improvements of its tasks.

    Args:
        improvements: Task name to improvement; None or nan where it is not defined.
        clip: Range of the clipped mean.
    """
    kept = {name: float(value) for name, value in improvements.items() if value is not None and not math.isnan(value)}
    left_out = tuple(name for name in improvements if name not in kept)
    if not kept:
        return DomainScore(math.nan, math.nan, math.nan, (), left_out)
    values = np.array(list(kept.values()))
    with np.errstate(invalid="ignore"):  # infinity minus infinity
        return DomainScore(
            float(values.mean()), float(np.median(values)), float(np.clip(values, *clip).mean()), tuple(kept), left_out
        )
