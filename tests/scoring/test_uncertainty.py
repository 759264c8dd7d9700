"""Delta-method errors and percentile intervals against simulation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Row
from dsb2_tasks.scoring import Measured, bootstrap, bootstrap_improvement, covariance, difference, improve, mean_interval

Draw = Callable[[np.random.Generator, int], list[Row]]


def _wer(g: np.random.Generator, n: int) -> list[Row]:
    length = g.integers(5, 25, n)
    return [(int(errors), int(words)) for errors, words in zip(g.binomial(length, 0.2), length, strict=True)]


def _der(g: np.random.Generator, n: int) -> list[Row]:
    total = g.uniform(5, 30, n)
    parts = g.uniform(0, 0.1, (n, 3)) * total[:, None]
    names = metrics.get("der").fields
    assert len(names) == 4, names
    return [
        (*map(float, p), float(t)) if names[-1] == "total" else (float(t), *map(float, p))
        for p, t in zip(parts, total, strict=True)
    ]


def _f1(g: np.random.Generator, n: int) -> list[Row]:
    reference, hits = g.integers(1, 6, n), None
    hits = g.binomial(reference, 0.7)
    extra = g.poisson(1.0, n)
    return [(int(h), int(r), int(h + e)) for h, r, e in zip(hits, reference, extra, strict=True)]


def _mse(g: np.random.Generator, n: int) -> list[Row]:
    truth = g.uniform(1, 5, n)
    return [(float(t), float(t + e)) for t, e in zip(truth, g.normal(0.2, 0.6, n), strict=True)]


def _accuracy(g: np.random.Generator, n: int) -> list[Row]:
    return [(float(right),) for right in g.random(n) < 0.7]


CASES: dict[str, Draw] = {"wer": _wer, "der": _der, "multilabel_micro_f1": _f1, "mse": _mse, "accuracy": _accuracy}


@pytest.mark.parametrize("name", CASES)
def test_delta_method_agrees_with_ten_thousand_draws(name: str) -> None:
    metric, rows = metrics.get(name), CASES[name](np.random.default_rng(5), 400)
    drawn = bootstrap(metric, rows, draws=10_000, seed=1)
    assert metric.stderr(rows) == pytest.approx(drawn.stderr, rel=0.05)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["accuracy", "wer", "mse"])
def test_intervals_cover_the_truth(name: str) -> None:
    """1,000 runs of 200 items each; the truth is the value of a very large sample."""
    metric, draw = metrics.get(name), CASES[name]
    generator = np.random.default_rng(11)
    truth = metric.aggregate(draw(generator, 400_000))
    covered = 0
    for run in range(1000):
        interval = bootstrap(metric, draw(generator, 200), draws=500, seed=run)
        covered += interval.low <= truth <= interval.high
    assert 930 <= covered <= 970, covered


def test_paired_error_of_an_improvement_agrees_with_the_bootstrap() -> None:
    g = np.random.default_rng(3)
    metric = metrics.get("wer")
    rows = _wer(g, 400)
    # The baseline makes the same errors and a few more: strongly paired.
    baseline = [(errors + int(more), words) for (errors, words), more in zip(rows, g.poisson(0.5, 400), strict=True)]
    keys = [str(i) for i in range(400)]
    own, other = (Measured(metric.aggregate(r), metric.aggregate(r), 0.0, metric.stderr(r)) for r in (rows, baseline))
    paired = improve(own, other, False, covariance=covariance(metric, rows, keys, baseline, keys))
    drawn = bootstrap_improvement(metric, rows, baseline, draws=10_000)
    assert paired.value == pytest.approx(drawn.value)
    assert paired.stderr == pytest.approx(drawn.stderr, rel=0.05)
    assert improve(own, other, False).stderr > 1.5 * paired.stderr  # what pairing gains
    # Only the documents in common enter: with none, nothing is gained.
    assert covariance(metric, rows, keys, baseline, [f"other {key}" for key in keys]) == 0.0


def test_covariance_matches_documents_by_key_whatever_their_order() -> None:
    g = np.random.default_rng(4)
    metric, rows = metrics.get("accuracy"), _accuracy(g, 50)
    keys = [str(i) for i in range(50)]
    turned = list(range(49, -1, -1))
    same = covariance(metric, rows, keys, [rows[i] for i in turned], [keys[i] for i in turned])
    assert same == pytest.approx(metric.stderr(rows) ** 2)


def test_difference_of_two_systems() -> None:
    g = np.random.default_rng(6)
    metric = metrics.get("accuracy")
    first = _accuracy(g, 200)
    second = [(row[0] if g.random() < 0.8 else 0.0,) for row in first]
    found = difference(metric, first, second)
    assert found.interval.value == pytest.approx(metric.aggregate(first) - metric.aggregate(second))
    assert found.interval.low > 0 and found.p_value < 0.01 and found.paired and found.samples == 200
    same = difference(metric, first, first)
    assert (same.interval.low, same.interval.high, same.p_value) == (0.0, 0.0, 1.0)
    apart = difference(metric, first, second[:100], paired=False)
    assert math.isnan(apart.p_value) and not apart.paired
    with pytest.raises(ValueError, match="paired=False"):
        difference(metric, first, second[:100])


def test_p_values_are_uniform_where_nothing_differs() -> None:
    g = np.random.default_rng(8)
    metric = metrics.get("mse")
    small = 0
    for run in range(300):
        first, second = _mse(g, 40), _mse(g, 40)
        small += difference(metric, first, second, draws=200, seed=run).p_value <= 0.1
    assert 15 <= small <= 48, small  # 30 expected, +- 3.5 standard deviations


def test_interval_of_a_mean_over_tasks() -> None:
    g = np.random.default_rng(9)
    drawn = {"a": g.normal(0.1, 0.03, 4000), "b": g.normal(0.5, 0.04, 4000)}
    drawn["b"][:10] = math.nan  # draws in which the baseline was 0
    found = mean_interval({"a": 0.1, "b": 0.5}, drawn)
    assert found.value == pytest.approx(0.3)
    assert found.stderr == pytest.approx(math.hypot(0.03, 0.04) / 2, rel=0.05)
    assert found.low == pytest.approx(0.3 - 1.96 * found.stderr, abs=0.005)
    nothing = mean_interval({}, {})
    assert math.isnan(nothing.value) and math.isnan(nothing.low)
