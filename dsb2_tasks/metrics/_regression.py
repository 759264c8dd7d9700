"""Numbers against numbers: errors, agreement, correlation, angles. Every row is (reference, prediction)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.metrics._metric import Metric
from dsb2_tasks.metrics._stats import Floats, Row, Totals, Weighted, mean_of

#: A spread below this share of the mean square is rounding: the values are constant and correlate with nothing.
_CONSTANT = 1e-12
#: Pairs of samples compared at once.
_BLOCK = 512


def number_row(reference: float, prediction: float) -> Row:
    """Row of every metric on numbers: (reference, prediction), both finite and in one unit."""
    return (float(reference), float(prediction))


def clipped_row(row: Row, minimum: float, maximum: float) -> Row:
    """Row of ``mse_clipped``: the prediction moved into the range of the labels."""
    return (row[0], min(max(row[1], minimum), maximum))


def _pick(columns: Floats) -> tuple[Floats, Floats]:
    return columns[:, 0], columns[:, 1]


def _error(columns: Floats) -> Floats:
    reference, prediction = _pick(columns)
    return prediction - reference


def _angle(columns: Floats) -> Floats:
    turn = np.abs(_error(columns)) % 360.0
    return np.minimum(turn, 360.0 - turn)


def _one_percentage(columns: Floats) -> Floats:
    """Relative errors and the samples they are defined for: a reference of zero has none."""
    reference, _ = _pick(columns)
    defined = reference != 0
    share = np.where(defined, np.abs(_error(columns)) / np.where(defined, np.abs(reference), 1.0), 0.0)
    return np.stack([share, defined.astype(np.float64)], axis=1)


def _moments(x: Floats, y: Floats) -> Floats:
    return np.stack([np.ones(len(x)), x, y, x * x, y * y, x * y], axis=1)


def _centred_moments(columns: Floats) -> Floats:
    # Correlation does not change when the axes move, and sums of centred values lose no digits.
    reference, prediction = _pick(columns)
    return _moments(reference - reference.mean(), prediction - prediction.mean())


def _moments_of_one_origin(columns: Floats) -> Floats:
    reference, prediction = _pick(columns)
    return _moments(reference - reference.mean(), prediction - reference.mean())


def _spreads(sums: Floats) -> tuple[Floats, Floats, Floats]:
    """n^2 times the covariance and the variances."""
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return n * xy - x * y, n * xx - x * x, n * yy - y * y


def pearson_from_sums(sums: Floats) -> Floats:
    """Pearson's correlation of sums (..., 6) in the order n, x, y, xx, yy, xy; nan below three samples or for a constant."""
    sums = np.asarray(sums, dtype=np.float64)
    covariance, x, y = _spreads(sums)
    n = sums[..., 0]
    # 2.5: a weight varied for the standard error takes a little off the count
    defined = (n > 2.5) & (x > _CONSTANT * n * sums[..., 3]) & (y > _CONSTANT * n * sums[..., 4])
    return np.where(defined, np.clip(covariance / np.sqrt(np.where(defined, x * y, 1.0)), -1.0, 1.0), np.nan)


def _concordance(sums: Floats) -> Floats:
    """Lin's concordance correlation coefficient (1989), with population variances."""
    covariance, x, y = _spreads(sums)
    below = x + y + (sums[..., 1] - sums[..., 2]) ** 2
    defined = (sums[..., 0] > 2.5) & (below > 0)
    return np.where(defined, 2 * covariance / np.where(defined, below, 1.0), np.nan)


def _ranks(values: Floats, weights: Floats) -> Floats:
    """Mean ranks of ``values`` (n,) among samples that count ``weights`` (draws, n) times; up to a constant."""
    order = np.argsort(values, kind="stable")
    _, starts, place = np.unique(values[order], return_index=True, return_inverse=True)
    group = np.add.reduceat(weights[:, order], starts, axis=1)
    ranks = np.empty_like(weights)
    ranks[:, order] = (np.cumsum(group, axis=1) - group / 2)[:, place]
    return ranks


def _spearman(columns: Floats, weights: Floats) -> Floats:
    """Pearson's correlation of the mean ranks."""
    reference, prediction = (_ranks(column, weights) for column in _pick(columns))
    size = weights.sum(axis=1, keepdims=True)
    x = reference - (weights * reference).sum(axis=1, keepdims=True) / size
    y = prediction - (weights * prediction).sum(axis=1, keepdims=True) / size
    sums = [np.broadcast_to(1.0, x.shape), x, y, x * x, y * y, x * y]
    return pearson_from_sums(np.stack([(weights * s).sum(axis=1) for s in sums], axis=1))


def _kendall(columns: Floats, weights: Floats) -> Floats:
    """Kendall's tau-b: agreement over pairs of samples, ties on either side left out of its norm."""
    reference, prediction = _pick(columns)
    agree, x, y = (np.zeros(len(weights)) for _ in range(3))
    for start in range(0, len(reference), _BLOCK):
        block = slice(start, start + _BLOCK)
        one, other = (np.sign(side[block, None] - side[None, :]) for side in (reference, prediction))
        agree += _pairs(one * other, weights, block)
        x += _pairs(one * one, weights, block)
        y += _pairs(other * other, weights, block)
    defined = (weights.sum(axis=1) > 2.5) & (x > 0) & (y > 0)
    return np.where(defined, agree / np.sqrt(np.where(defined, x * y, 1.0)), np.nan)


def _pairs(matrix: NDArray[np.float64], weights: Floats, block: slice) -> Floats:
    return ((weights @ matrix.T) * weights[:, block]).sum(axis=1)


def _root_mean(totals: Floats) -> Floats:
    return np.sqrt(totals[..., 0] / totals[..., 1])


def _squares(columns: Floats) -> Floats:
    return np.stack([_error(columns) ** 2, np.ones(len(columns))], axis=1)


_FIELDS = ("reference", "prediction")


def _lower(name: str, function: Callable[[Floats], Floats], unit: str = "unit of the reference") -> Metric:
    return Metric(name, False, 0.0, _FIELDS, unit, mean_of(function, 2))


METRICS = (
    _lower("mse", lambda columns: _error(columns) ** 2, "squared unit of the reference"),
    _lower("mse_clipped", lambda columns: _error(columns) ** 2, "squared unit of the reference"),
    _lower("mae", lambda columns: np.abs(_error(columns))),
    _lower("angular_mae", _angle, "degrees"),
    Metric("rmse", False, 0.0, _FIELDS, "unit of the reference", Totals(2, _root_mean, _squares)),
    Metric("mape", False, 0.0, _FIELDS, "fraction", Totals(2, lambda t: t[..., 0] / t[..., 1], _one_percentage)),
    Metric("exact_match", True, 1.0, _FIELDS, "fraction", mean_of(lambda columns: (_error(columns) == 0).astype(np.float64), 2)),
    Metric("pcc", True, 1.0, _FIELDS, "correlation", Totals(2, pearson_from_sums, _centred_moments), correlation=True),
    Metric("ccc", True, 1.0, _FIELDS, "correlation", Totals(2, _concordance, _moments_of_one_origin), correlation=True),
    Metric("srcc", True, 1.0, _FIELDS, "correlation", Weighted(_spearman), correlation=True),
    Metric("kendall", True, 1.0, _FIELDS, "correlation", Weighted(_kendall), correlation=True),
)
