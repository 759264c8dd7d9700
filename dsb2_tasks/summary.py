"""Rows of groups: domains, modalities, suites.

Tasks of one domain have unlike metrics (accuracy beside word error rate), whose mean means nothing, so none is ever taken.
What is averaged is what every task defines alike: shares, and the relative improvement over one baseline.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import Any

from dsb2_tasks.results import as_json, as_number
from dsb2_tasks.scoring import domain_score

#: Shares with one meaning in every task, so that a plain mean over tasks is a number one can read.
_SHARED_RATES = ("na_rate", "unparsed_rate", "audio_error_rate")


def group_row(
    name: str,
    results: Mapping[str, Mapping[str, Any]],
    *,
    compared: bool = False,
    modalities: Collection[str] = (),
    mean: str | None = None,
) -> dict[str, Any]:
    """The row of a group in lm-eval's form.

    Args:
        name: Name of the group.
        results: Finished results of its tasks, ``{task: {"metric,none": value, ...}}``.
        compared: Whether there is a baseline.
        modalities: Modalities of its tasks. Over several of them no mean improvement is given: the paper has no such score.
        mean: A metric that all tasks of the group count alike, whose plain mean over tasks is shown.

    Returns:
        ``tasks``: how many have results; the mean over tasks of each shared rate; with a baseline the plain mean of the
        relative improvements as in the paper, median, mean of the improvements clipped to [-1, 1], and of the ``tasks`` how
        many are ``kept`` and ``left_out``.
    """
    row: dict[str, Any] = {
        "name": name,
        "alias": name,
        "sample_len": sum(int(r.get("sample_len", 0)) for r in results.values()),
        "tasks,none": len(results),
    }
    for metric in (*_SHARED_RATES, *([mean] if mean else [])):
        values = [as_number(r[f"{metric},none"]) for r in results.values() if f"{metric},none" in r]
        finite = [value for value in values if math.isfinite(value)]
        if finite:
            row[f"{metric},none"] = sum(finite) / len(finite)
    if mean and f"{mean},none" in row:
        row[f"{mean}_stderr,none"] = _finite_or_na(_mean_error(results, mean, list(results)))
    if not compared:
        return row
    improvements = {task: as_number(r.get("relative_improvement,none")) for task, r in results.items()}
    score = domain_score(improvements)
    row["kept,none"] = len(score.kept)
    if score.kept and len(set(modalities)) <= 1:
        row["relative_improvement,none"] = as_json(score.mean)
        row["relative_improvement_stderr,none"] = _finite_or_na(_mean_error(results, "relative_improvement", score.kept))
        row["relative_improvement_median,none"] = as_json(score.median)
        row["relative_improvement_clipped,none"] = as_json(score.clipped_mean)
    row["left_out,none"] = len(score.left_out)
    return row


def _mean_error(results: Mapping[str, Mapping[str, Any]], metric: str, tasks: Any) -> float:
    """Standard error of a plain mean over tasks whose documents were drawn independently."""
    errors = [as_number(results[task].get(f"{metric}_stderr,none")) for task in tasks if f"{metric},none" in results[task]]
    return math.hypot(*errors) / len(errors) if errors else math.nan


def _finite_or_na(value: float) -> float | str:
    return value if math.isfinite(value) else "N/A"
