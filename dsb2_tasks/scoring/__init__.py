"""Scoring: from metrics of tasks to N/A-scaled values, improvements over a baseline, domain scores and intervals.

Pure arithmetic; nan stands for "not defined" and what is not defined is left out and counted, never taken as zero.
"""

from __future__ import annotations

from dsb2_tasks.scoring._bootstrap import (
    Difference,
    Interval,
    bootstrap,
    bootstrap_improvement,
    difference,
    improvement_draws,
    mean_interval,
)
from dsb2_tasks.scoring._domain import DomainScore, domain_score
from dsb2_tasks.scoring._improvement import RULES, Improvement, Measured, Rule, covariance, improve, numbered, unusable_baseline
from dsb2_tasks.scoring._rules import copied_recipe, na_scale, relative_improvement, relative_improvement_bounded

__all__ = [
    "RULES",
    "Difference",
    "DomainScore",
    "Improvement",
    "Interval",
    "Measured",
    "Rule",
    "bootstrap",
    "bootstrap_improvement",
    "copied_recipe",
    "covariance",
    "difference",
    "domain_score",
    "improve",
    "improvement_draws",
    "mean_interval",
    "na_scale",
    "numbered",
    "relative_improvement",
    "relative_improvement_bounded",
    "unusable_baseline",
]
