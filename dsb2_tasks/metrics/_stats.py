"""From rows of sufficient statistics to a corpus value and its sampling error: the arithmetic behind every metric.

An estimator knows three things about a list of rows, one row a sample:

* ``value``: the corpus value,
* ``influence``: how far each sample moves that value, so that the standard error follows from one pass over the data,
* ``replicates``: a function that gives the value under many re-weightings of the samples at once, which is all a bootstrap needs.

Influence is the infinitesimal jackknife: the derivative of the value with respect to a sample's weight, centred.  For a
ratio ``R = sum(e) / sum(n)`` it is ``(e - R n) / sum(n)``, which makes :func:`standard_error` the delta method
``sqrt(sum(d^2) / (N - 1) / N) / mean(n)`` with ``d = e - R n``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

Row = Sequence[Any]
Floats = NDArray[np.float64]
#: How often each sample counts, shape (draws, n), to the value under each draw, shape (draws,).
Replicates = Callable[[Floats], Floats]

#: Relative step of the central difference that gives the derivative with respect to a weight; its error is of the order
#: of the square, far below any sampling error.
_STEP = 1e-4
#: Samples whose weight is varied at once where every variation needs a pass over all samples.
_BLOCK = 256


class Estimator(Protocol):
    """What a metric needs to know about its rows; ``rows`` is never empty and holds no None."""

    def value(self, rows: Sequence[Row]) -> float:
        """The corpus value; nan where it is not defined."""

    def influence(self, rows: Sequence[Row]) -> Floats:
        """Derivative of the value with respect to each sample's weight, centred, shape (n,)."""

    def replicates(self, rows: Sequence[Row]) -> Replicates:
        """The value under re-weighted samples; rows are read once for any number of calls."""


def standard_error(influence: Floats) -> float:
    """Standard error of a value from the influence of its samples; nan for fewer than two samples."""
    n = len(influence)
    return math.sqrt(n / (n - 1) * float(influence @ influence)) if n > 1 else math.nan


def _columns(rows: Sequence[Row], width: int) -> Floats:
    """The first ``width`` entries of every row as an array (n, width)."""
    try:
        return np.array([row[:width] for row in rows], dtype=np.float64).reshape(len(rows), width)
    except (TypeError, ValueError) as error:
        odd = next((row for row in rows if not _is_numeric(row, width)), rows[0])
        raise ValueError(f"row {odd!r} has not {width} leading numbers, as this metric's rows have") from error


def _is_numeric(row: Row, width: int) -> bool:
    return len(row) >= width and all(isinstance(entry, (int, float)) for entry in row[:width])


def _as_they_are(columns: Floats) -> Floats:
    return columns


@dataclass(frozen=True)
class Totals:
    """A value that is a function of summed statistics: rates, F-scores, means, correlations, BLEU.

    Attributes:
        width: Leading entries of a row that are numbers to use.
        ratio: Totals (..., k) to values (...); the leading axes hold re-weighted totals.
        statistics: Row entries (n, width) to what is summed (n, k).
    """

    width: int
    ratio: Callable[[Floats], Floats]
    statistics: Callable[[Floats], Floats] = _as_they_are

    def value(self, rows: Sequence[Row]) -> float:
        """The function of the totals."""
        return float(self.ratio(self._read(rows).sum(axis=0)))

    def influence(self, rows: Sequence[Row]) -> Floats:
        """Central difference over each sample's weight."""
        own = self._read(rows)
        total = own.sum(axis=0)
        slope = (self.ratio(total + _STEP * own) - self.ratio(total - _STEP * own)) / (2 * _STEP)
        return slope - slope.mean()

    def replicates(self, rows: Sequence[Row]) -> Replicates:
        """One matrix product, then the function of the totals."""
        own = self._read(rows)
        return lambda weights: self.ratio(weights @ own)

    def _read(self, rows: Sequence[Row]) -> Floats:
        return self.statistics(_columns(rows, self.width))


@dataclass(frozen=True)
class Macro:
    """Mean over the classes that have a reference of a per-class ratio of counts.

    Attributes:
        entries: A row to ``(class, tp, n_ref, n_hyp)`` of every class it touches.
        numerator: Weights of (tp, n_ref, n_hyp) in the numerator.
        denominator: Weights of (tp, n_ref, n_hyp) in the denominator; must be positive for a class with references.
    """

    entries: Callable[[Row], Iterator[tuple[str, float, float, float]]]
    numerator: tuple[float, float, float]
    denominator: tuple[float, float, float]

    def value(self, rows: Sequence[Row]) -> float:
        """Plain mean of the per-class ratios; nan when no class has a reference."""
        _, classes, counts = self._read(rows)
        totals = _sum_by(classes, counts)
        present = totals[:, 1] > 0
        return (
            float(np.mean((totals @ self.numerator)[present] / (totals @ self.denominator)[present]))
            if present.any()
            else math.nan
        )

    def influence(self, rows: Sequence[Row]) -> Floats:
        """Closed form: the sum over classes of each class's own ratio influence, divided by their number."""
        samples, classes, counts = self._read(rows)
        totals = _sum_by(classes, counts)
        present = totals[:, 1] > 0
        below = np.where(present, totals @ self.denominator, np.inf)
        ratio = totals @ self.numerator / below
        slope = (counts @ self.numerator - ratio[classes] * (counts @ self.denominator)) / below[classes]
        return np.bincount(samples, weights=slope, minlength=len(rows)) / max(present.sum(), 1)

    def replicates(self, rows: Sequence[Row]) -> Replicates:
        """Sparse products, since a sample touches few of the classes."""
        from scipy.sparse import csr_array

        samples, classes, counts = self._read(rows)
        shape = (int(classes.max()) + 1 if len(classes) else 0, len(rows))
        columns = [csr_array((column, (classes, samples)), shape=shape) for column in counts.T]

        def values(weights: Floats) -> Floats:
            totals = [column @ weights.T for column in columns]
            above = sum(w * t for w, t in zip(self.numerator, totals, strict=True))
            below = sum(w * t for w, t in zip(self.denominator, totals, strict=True))
            present = totals[1] > 0
            return np.where(present, above / np.where(present, below, 1.0), 0.0).sum(axis=0) / present.sum(axis=0)

        return values

    def _read(self, rows: Sequence[Row]) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats]:
        numbers: dict[str, int] = {}
        samples, classes, counts = [], [], []
        for sample, row in enumerate(rows):
            for label, *count in self.entries(row):
                samples.append(sample)
                classes.append(numbers.setdefault(label, len(numbers)))
                counts.append(count)
        return (
            np.array(samples, dtype=np.intp),
            np.array(classes, dtype=np.intp),
            np.array(counts, dtype=np.float64).reshape(-1, 3),
        )


def _sum_by(classes: NDArray[np.intp], counts: Floats) -> Floats:
    return np.stack([np.bincount(classes, weights=column) for column in counts.T], axis=1)


@dataclass(frozen=True)
class Weighted:
    """A value that needs all samples at once, such as a rank correlation.

    Attributes:
        estimate: Row entries (n, width) and weights (draws, n) to values (draws,).
        width: Leading entries of a row that are numbers to use.
    """

    estimate: Callable[[Floats, Floats], Floats]
    width: int = 2

    def value(self, rows: Sequence[Row]) -> float:
        """The value under equal weights."""
        return float(self.estimate(_columns(rows, self.width), np.ones((1, len(rows))))[0])

    def influence(self, rows: Sequence[Row]) -> Floats:
        """Central difference over each sample's weight; quadratic in the number of samples."""
        own, n = _columns(rows, self.width), len(rows)
        slope = np.empty(n)
        for start in range(0, n, _BLOCK):
            block = np.arange(start, min(start + _BLOCK, n))
            step = np.zeros((len(block), n))
            step[np.arange(len(block)), block] = _STEP
            slope[block] = (self.estimate(own, 1 + step) - self.estimate(own, 1 - step)) / (2 * _STEP)
        return slope - slope.mean()

    def replicates(self, rows: Sequence[Row]) -> Replicates:
        """The value under each set of weights."""
        own = _columns(rows, self.width)
        return lambda weights: self.estimate(own, weights)


@dataclass(frozen=True)
class Scaled:
    """Another estimator's value, scaled for the share of samples without a usable answer (first entry of a row).

    Higher is better: ``m (1 - na)``.  Lower is better: ``m / (1 - na)``, which is infinite at ``na = 1`` and given as nan,
    because a results file has no infinity.

    Attributes:
        inner: The estimator of the metric itself; it sees the answered samples, without the first entry.
        higher_is_better: Direction of the metric.
        correlation: Whether the value counts as zero where it is negative, or undefined for a constant prediction:
            scaling would reward a negative one.
    """

    inner: Estimator
    higher_is_better: bool
    correlation: bool = False

    def value(self, rows: Sequence[Row]) -> float:
        """The scaled value."""
        answered = self._answered(rows)
        return float(self._scale(np.array(self._inner_value(rows, answered)), np.array(1 - len(answered) / len(rows))))

    def influence(self, rows: Sequence[Row]) -> Floats:
        """Product rule over the metric and the share."""
        answered = self._answered(rows)
        missing = np.ones(len(rows))
        missing[answered] = 0.0
        na = missing.mean()
        own = np.zeros(len(rows))
        value = self._inner_value(rows, answered)
        if answered and not (self.correlation and value == 0.0):
            own[answered] = self.inner.influence([rows[i][1:] for i in answered])
        share = (missing - na) / len(rows)
        if self.higher_is_better:
            return (1 - na) * own - (value * share if answered else 0.0)
        return own / (1 - na) + value * share / (1 - na) ** 2

    def replicates(self, rows: Sequence[Row]) -> Replicates:
        """Metric and share under the same weights."""
        answered = self._answered(rows)
        if not answered:
            value = self.value(rows)
            return lambda weights: np.full(len(weights), value)
        inner = self.inner.replicates([rows[i][1:] for i in answered])

        def values(weights: Floats) -> Floats:
            kept = weights[:, answered] if len(answered) < len(rows) else weights
            own = np.fmax(inner(kept), 0.0) if self.correlation else inner(kept)
            return self._scale(own, 1 - kept.sum(axis=1) / weights.sum(axis=1))

        return values

    def _answered(self, rows: Sequence[Row]) -> list[int]:
        return [i for i, row in enumerate(rows) if not row[0]]

    def _inner_value(self, rows: Sequence[Row], answered: list[int]) -> float:
        value = self.inner.value([rows[i][1:] for i in answered]) if answered else math.nan
        # Three samples are too few for a correlation whatever the model says: that stays undefined.
        return float(np.fmax(value, 0.0)) if self.correlation and len(rows) >= 3 else value

    def _scale(self, value: Floats, na: Floats) -> Floats:
        if self.higher_is_better:
            return np.where(na == 1, 0.0, value * (1 - na))
        return np.where(na == 1, np.nan, value / np.where(na == 1, 1.0, 1 - na))


def mean_of(function: Callable[[Floats], Floats], width: int) -> Totals:
    """Plain mean over samples of ``function`` of the row entries, (n, width) to (n,)."""
    return Totals(width, lambda t: t[..., 0] / t[..., 1], lambda columns: _with_ones(function(columns)))


def mean() -> Totals:
    """Plain mean of the first entry."""
    return mean_of(lambda columns: columns[:, 0], 1)


def _with_ones(values: Floats) -> Floats:
    return np.stack([values, np.ones(len(values))], axis=1)


def error_rate() -> Totals:
    """``sum(edits) / sum(length)`` of rows (edits, length); without any reference length the bare edits, as jiwer has it."""
    return Totals(2, lambda t: t[..., 0] / np.where(t[..., 1] > 0, t[..., 1], 1.0))


def f_score(counts: Floats, empty: float) -> Floats:
    """``2 tp / (n_ref + n_hyp)`` of counts (..., 3) in the order (tp, n_ref, n_hyp); ``empty`` where both sides are empty."""
    both = counts[..., 1] + counts[..., 2]
    return np.where(both > 0, 2 * counts[..., 0] / np.where(both > 0, both, 1.0), empty)


def micro_f(empty: float = 1.0) -> Totals:
    """F-score of the summed counts of rows (tp, n_ref, n_hyp)."""
    return Totals(3, lambda t: f_score(t, empty))


def mean_f(empty: float = 1.0) -> Totals:
    """Mean over samples of their own F-scores, rows (tp, n_ref, n_hyp)."""
    return mean_of(lambda columns: f_score(columns, empty), 3)
