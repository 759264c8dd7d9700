"""Relative improvements worked out by hand, from rows of statistics to a domain's score."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Row
from dsb2_tasks.scoring import Measured, copied_recipe, domain_score, improve
from dsb2_tasks.summary import group_row

NAN, INF = math.nan, math.inf


def measured(metric: str, rows: Sequence[Row | None]) -> Measured:
    """A system with N/A on rows of a metric, None for an answer without a value."""
    scaled = metrics.get(f"{metric}_scaled")
    marked = [(1.0,) if row is None else (0.0, *row) for row in rows]
    na = sum(row is None for row in rows) / len(rows)
    return Measured(scaled.aggregate(marked), metrics.get(metric).aggregate(rows), na, scaled.stderr(marked))


def exact(value: float, na: float = 0.0, plain: float | None = None) -> Measured:
    return Measured(value, value if plain is None else plain, na, NAN)


CASES = {
    # m = 0.6, b = 0.4: (0.6 - 0.4) / 0.4
    "higher is better": (exact(0.6), exact(0.4), True, 0.5),
    # m = 0.2, b = 0.4: (0.4 - 0.2) / 0.4; the sign turns
    "lower is better": (exact(0.2), exact(0.4), False, 0.5),
    "lower is better, worse": (exact(0.6), exact(0.4), False, -0.5),
    # m = 0.5 with half unanswered: m' = 0.25; b = 0.4 all answered: 0.25 / 0.4 - 1
    "own N/A rates, higher": (exact(0.25, 0.5, 0.5), exact(0.4), True, -0.375),
    # m = 0.1 over a third unanswered: m' = 0.1 / (2/3) = 0.15; b = 0.2 with half unanswered: b' = 0.4; (0.4 - 0.15) / 0.4
    "both N/A, lower": (exact(0.15, 1 / 3, 0.1), exact(0.4, 0.5, 0.2), False, 0.625),
    # the baseline is below zero: (0.2 - -0.4) / 0.4
    "negative baseline": (exact(0.2), exact(-0.4), True, 1.5),
    # a correlation below zero against 0.5: (-0.2 - 0.5) / 0.5
    "negative value": (exact(-0.2), exact(0.5), True, -1.4),
    # an unbounded error: (0.5 - 50) / 0.5
    "unbounded error": (exact(50.0), exact(0.5), False, -99.0),
    "infinite error": (exact(INF), exact(0.5), False, -INF),
    "equal": (exact(0.3), exact(0.3), True, 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_worked_out_by_hand(case: str) -> None:
    own, baseline, higher, expected = CASES[case]
    found = improve(own, baseline, higher)
    assert found.value == pytest.approx(expected)
    assert found.reason is None


LEFT_OUT = {
    "baseline 0": (exact(0.5), exact(0.0), "the baseline is 0"),
    "both 0": (exact(0.0), exact(0.0), "the baseline is 0"),
    "baseline answered nothing": (exact(0.5), exact(NAN, 1.0), "the baseline gave no usable answer (N/A rate 1)"),
    "baseline answered nothing, scaled to 0": (
        exact(0.5),
        exact(0.0, 1.0, NAN),
        "the baseline gave no usable answer (N/A rate 1)",
    ),
    "baseline undefined": (exact(0.5), exact(NAN), "the baseline's value is not defined"),
    "baseline infinite": (exact(0.5), exact(INF), "the baseline's error is infinite"),
    "model answered nothing": (exact(0.0, 1.0, NAN), exact(0.5), "no usable answer (N/A rate 1)"),
    "model undefined": (exact(NAN), exact(0.5), "the value is not defined (nothing could be counted)"),
}


@pytest.mark.parametrize("higher", [True, False])
@pytest.mark.parametrize("case", LEFT_OUT)
def test_left_out_with_the_reason(case: str, higher: bool) -> None:
    own, baseline, reason = LEFT_OUT[case]
    found = improve(own, baseline, higher)
    assert math.isnan(found.value) and math.isnan(found.stderr)
    assert found.reason == reason


def test_by_the_strict_rule_no_answer_is_minus_one() -> None:
    own, baseline = exact(0.0, 1.0, NAN), exact(0.5)
    assert improve(own, baseline, True, rule="strict").value == -1.0
    # An error rate of nothing is no number, whatever the rule.
    assert improve(exact(NAN, 1.0, NAN), baseline, False, rule="strict").reason == "no usable answer (N/A rate 1)"


def test_from_rows_with_na_in_both_directions() -> None:
    # accuracy-like: IoU over answered 0.8 and 0.4 (mean 0.6), one of three unanswered: 0.6 * 2/3 = 0.4
    own = measured("segment_iou", [(0.8,), (0.4,), None])
    baseline = measured("segment_iou", [(0.5,), (0.5,), (0.5,)])
    assert own.value == pytest.approx(0.4) and own.na_rate == pytest.approx(1 / 3)
    assert improve(own, baseline, True).value == pytest.approx(-0.2)
    # squared errors 1 and 3 (mean 2), one of three unanswered: 2 / (2/3) = 3; baseline 4, 4 and 1: 3
    own = measured("mse", [(1.0, 2.0), None, (1.0, 1 + math.sqrt(3))])
    baseline = measured("mse", [(1.0, 3.0), (1.0, 3.0), (1.0, 2.0)])
    assert own.plain == pytest.approx(2.0)
    assert (own.value, baseline.value) == (pytest.approx(3.0), pytest.approx(3.0))
    assert improve(own, baseline, False).value == pytest.approx(0.0)


def test_folds_are_summed_and_scored_once() -> None:
    # Errors by words: 1 by 10 in one fold, 8 by 8 and 1 by 12 in the other: 10 / 30 over both, not the mean of 0.1 and 0.45.
    folds = [[(1, 10)], [(8, 8), (1, 12)]]
    assert metrics.get("wer").aggregate([row for fold in folds for row in fold]) == pytest.approx(10 / 30)
    assert metrics.get("wer").aggregate(folds[1]) == pytest.approx(9 / 20)


def test_a_task_of_one_sample_has_a_value_and_no_error() -> None:
    own, baseline = measured("mse", [(1.0, 2.0)]), measured("mse", [(1.0, 3.0)])
    found = improve(own, baseline, False)
    assert found.value == pytest.approx(0.75) and math.isnan(found.stderr)  # (4 - 1) / 4


def test_defects_of_the_circulating_recipe() -> None:
    # 1. The penalty cancels: half of the answers are unusable, and the recipe pays nothing for it.
    #    Ours: m' = 50 * 0.5 = 25, (25 - 40) / 40 = -0.375.  The recipe, with na = 0.5 and with 0: (25 - 20) / 20 = 0.25.
    own, baseline = exact(25.0, 0.5, 50.0), exact(40.0)
    assert improve(own, baseline, True).value == pytest.approx(-0.375)
    assert improve(own, baseline, True, rule="copied_recipe").value == pytest.approx(0.25) == copied_recipe(50.0, 40.0, 0.0)
    # 2. The sign never turns: an error rate of 0.2 against 0.4 is half as bad, and the recipe calls it a loss.
    assert improve(exact(0.2), exact(0.4), False).value == pytest.approx(0.5)
    assert improve(exact(0.2), exact(0.4), False, rule="copied_recipe").value == pytest.approx(-0.5)


def test_domain_score_by_hand() -> None:
    score = domain_score({"a": 0.5, "b": -0.25, "c": 4.0, "gone": None, "undefined": NAN})
    assert score.mean == pytest.approx((0.5 - 0.25 + 4.0) / 3)
    assert score.median == 0.5
    assert score.clipped_mean == pytest.approx((0.5 - 0.25 + 1.0) / 3)
    assert score.kept == ("a", "b", "c") and score.left_out == ("gone", "undefined")
    assert math.isnan(domain_score({"a": None}).mean)
    assert domain_score({"a": -INF, "b": 1.0}).mean == -INF  # said, not hidden; median and clipped mean stay finite
    assert domain_score({"a": -INF, "b": 1.0}).clipped_mean == 0.0


def test_error_of_an_improvement_by_the_delta_method() -> None:
    # m = 0.6 +- 0.03, b = 0.4 +- 0.02, independent: d/dm = 1/0.4, d/db = -0.6/0.16
    own, baseline = Measured(0.6, 0.6, 0.0, 0.03), Measured(0.4, 0.4, 0.0, 0.02)
    apart = math.hypot(0.03 / 0.4, 0.02 * 0.6 / 0.16)
    assert improve(own, baseline, True).stderr == pytest.approx(apart)
    # The same documents, wholly correlated: |0.03 / 0.4 - 0.02 * 0.6 / 0.16| = |0.075 - 0.075| = 0
    assert improve(own, baseline, True, covariance=0.03 * 0.02).stderr == pytest.approx(0.0, abs=1e-6)
    # A published number without an error is taken as exact.
    assert improve(own, exact(0.4), True).stderr == pytest.approx(0.075)


@pytest.mark.parametrize(("stderr", "noise"), [(1e300, 0.1), (0.1, 1e300), (1e300, 1e300), (math.inf, 0.1)])
def test_errors_beyond_all_measure_end_no_run(stderr: float, noise: float) -> None:
    found = improve(Measured(0.5, 0.5, 0.0, stderr), Measured(0.4, 0.4, 0.0, noise), True)
    assert found.value == pytest.approx(0.25) and found.reason is None
    assert math.isnan(found.stderr) or found.stderr > 1e299
    row = group_row("g", {"t": {"relative_improvement,none": 0.25, "relative_improvement_stderr,none": stderr}}, compared=True)
    assert row["relative_improvement_stderr,none"] in (stderr, "N/A")
