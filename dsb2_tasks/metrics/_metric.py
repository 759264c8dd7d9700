"""What a metric is: a name, a direction, and the way from rows to a number and its error."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dsb2_tasks.metrics._stats import Estimator, Floats, Replicates, Row, Scaled, mean, standard_error


@dataclass(frozen=True)
class Metric:
    """One metric over a list of rows, one row a sample.

    A row is a short sequence of numbers (a few metrics: labels) that survives JSON, so that a value can be computed again
    from a results file, over several folds at once, or under re-weighting.  None in place of a row means that the sample is
    not counted.

    Attributes:
        name: Key in results.
        higher_is_better: Direction.
        best: The value of a perfect system.
        fields: Names of a row's entries.
        unit: ``fraction``, ``points`` (0 to 100), or the unit of the reference.
        estimator: The arithmetic.
        correlation: Whether the value lies in [-1, 1] with zero for no relation.
    """

    name: str
    higher_is_better: bool
    best: float
    fields: tuple[str, ...]
    unit: str
    estimator: Estimator
    correlation: bool = False

    def aggregate(self, rows: Sequence[Row | None]) -> float:
        """The corpus value; nan where it is not defined (no counted row, a correlation of a constant).

        Raises:
            ValueError: A row has not the entries named in ``fields``; that is a fault of whoever made it.
        """
        counted = [row for row in rows if row is not None]
        with np.errstate(all="ignore"):
            return self.estimator.value(counted) if counted else math.nan

    def stderr(self, rows: Sequence[Row | None]) -> float:
        """Standard error of :meth:`aggregate` by the delta method; nan for fewer than two rows or an undefined value."""
        counted = [row for row in rows if row is not None]
        with np.errstate(all="ignore"):
            return standard_error(self.estimator.influence(counted)) if len(counted) > 1 else math.nan

    def replicates(self, rows: Sequence[Row | None]) -> Replicates:
        """Corpus values under many re-weightings of the samples.

        Args:
            rows: One row a sample, None where it is not counted.

        Returns:
            A function of how often each sample counts, shape (draws, samples), that gives values of shape (draws,); nan where a
            draw leaves the value undefined.
        """
        kept = [i for i, row in enumerate(rows) if row is not None]
        if not kept:
            return lambda weights: np.full(len(weights), math.nan)
        of_kept = self.estimator.replicates([row for row in rows if row is not None])

        def values(weights: Floats) -> Floats:
            with np.errstate(all="ignore"):
                return of_kept(weights[:, kept] if len(kept) < len(rows) else weights)

        return values


def scaled(metric: Metric) -> Metric:
    """The N/A-scaled form ``<name>_scaled`` of a metric.

    Its rows are ``(na, *row)``: ``(1,)`` for a sample without a usable answer, ``(0, ...)`` and the metric's own row
    otherwise.  Higher is better: ``m (1 - na)``, 0 when nothing was answered.  Lower is better: ``m / (1 - na)``, nan when
    nothing was answered (it is infinite, which JSON cannot say).  Correlations count as 0 where negative or, from three
    samples on, undefined.
    """
    estimator = Scaled(metric.estimator, metric.higher_is_better, metric.correlation)
    return replace(metric, name=f"{metric.name}_scaled", fields=("na", *metric.fields), estimator=estimator)


def rate(name: str) -> Metric:
    """A share of samples that should be small, rows (0 or 1, status)."""
    return Metric(name, False, 0.0, ("counted", "status"), "fraction", mean())


def mean_metric(name: str, field: str) -> Metric:
    """A mean of per-sample scores between 0 and 1, higher is better, rows (score,)."""
    return Metric(name, True, 1.0, (field,), "fraction", mean())
