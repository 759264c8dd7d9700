"""The paper's rules by hand, both directions and every edge; and the defects of the circulating recipe."""

from __future__ import annotations

import math

import pytest

from dsb2_tasks.scoring import copied_recipe, domain_score, na_scale, relative_improvement, relative_improvement_bounded

nan, inf = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "na", "up", "worst", "result"),
    [
        (0.8, 0.25, True, None, 0.6),  # 0.8 * 0.75
        (0.2, 0.5, False, None, 0.4),  # 0.2 / 0.5
        (0.2, 0.0, False, None, 0.2),
        (0.8, 1.0, True, None, 0.0),
        (nan, 1.0, True, None, 0.0),  # nothing answered: there is no value to scale
        (nan, 1.0, False, None, inf),
        (0.0, 0.5, False, None, 0.0),  # first hole of the rule
        (-0.2, 0.5, True, None, -0.1),  # second hole
        (-0.2, 0.5, True, -1.0, -0.6),  # 0.5 * -0.2 + 0.5 * -1
        (nan, 1.0, True, -1.0, -1.0),
        (nan, 0.5, True, None, nan),
    ],
)
def test_na_scale(value: float, na: float, up: bool, worst: float | None, result: float) -> None:
    assert na_scale(value, na, up, worst) == pytest.approx(result, nan_ok=True)


@pytest.mark.parametrize("na", [-0.1, 1.1, nan])
def test_a_share_is_between_0_and_1(na: float) -> None:
    with pytest.raises(ValueError, match="na_rate"):
        na_scale(0.5, na, True)


@pytest.mark.parametrize(
    ("value", "baseline", "up", "result"),
    [
        (0.6, 0.5, True, 0.2),  # 0.1 / 0.5
        (0.4, 0.5, True, -0.2),
        (0.1, 0.2, False, 0.5),  # 0.1 / 0.2
        (0.4, 0.2, False, -1.0),
        (0.2, -0.4, True, 1.5),  # 0.6 / |-0.4|: better, so positive
        (-0.6, -0.4, True, -0.5),
        (0.3, 0.0, True, nan),
        (0.0, 0.0, True, 0.0),
        (0.0, 0.0, False, 0.0),
        (0.3, 0.0, False, nan),
        (inf, 0.5, False, -inf),
        (0.5, inf, False, nan),
        (nan, 0.5, True, nan),
        (0.5, nan, True, nan),
        (0.0, 0.5, False, 1.0),
    ],
)
def test_relative_improvement(value: float, baseline: float, up: bool, result: float) -> None:
    assert relative_improvement(value, baseline, up) == pytest.approx(result, nan_ok=True)


@pytest.mark.parametrize(
    ("value", "baseline", "up", "result"),
    [
        (0.4, 0.2, False, -0.5),  # 0.2 / 0.4 - 1
        (0.1, 0.2, False, 1.0),
        (1e9, 0.2, False, -1.0),
        (inf, 0.2, False, -1.0),
        (0.0, 0.2, False, inf),
        (0.6, 0.5, True, 0.2),
        (0.3, 0.0, False, nan),
        (0.3, inf, False, nan),
    ],
)
def test_bounded_improvement(value: float, baseline: float, up: bool, result: float) -> None:
    assert relative_improvement_bounded(value, baseline, up) == pytest.approx(result, nan_ok=True)


def test_the_copied_recipe_forgives_what_was_not_answered() -> None:
    # system 0.5 with half unanswered, baseline 0.4 all answered: 0.5 * 0.5 / 0.4 - 1 = -0.375, the recipe says +0.25
    assert copied_recipe(0.5, 0.4, 0.5) == pytest.approx(0.25) == pytest.approx(copied_recipe(0.5, 0.4, 0.0))
    assert relative_improvement(na_scale(0.5, 0.5, True), 0.4, True) == pytest.approx(-0.375)


def test_the_copied_recipe_praises_more_errors() -> None:
    assert copied_recipe(0.4, 0.2, 0.0) == pytest.approx(1.0)
    assert relative_improvement(0.4, 0.2, False) == pytest.approx(-1.0)
    assert math.isnan(copied_recipe(0.4, 0.0, 0.0)) and math.isnan(copied_recipe(0.4, 0.2, 1.0))


def test_domain_score() -> None:
    score = domain_score({"a": 0.2, "b": -0.5, "c": None, "d": -inf, "e": nan})
    assert score.mean == -inf  # as in the paper: nothing is clipped
    assert score.median == pytest.approx(-0.5)
    assert score.clipped_mean == pytest.approx((0.2 - 0.5 - 1) / 3)
    assert score.kept == ("a", "b", "d") and score.left_out == ("c", "e")
    assert domain_score({"a": 0.1, "b": 0.3}).mean == pytest.approx(0.2)


def test_a_domain_of_nothing() -> None:
    for improvements in ({}, {"a": None}):
        score = domain_score(improvements)
        assert math.isnan(score.mean) and math.isnan(score.median) and math.isnan(score.clipped_mean)
        assert score.kept == () and score.left_out == tuple(improvements)
    both = domain_score({"a": inf, "b": -inf})
    assert math.isnan(both.mean) and both.clipped_mean == 0.0
