"""A baseline file from a run: one small JSON to keep, to send around and to compare with."""

from __future__ import annotations

import math
from typing import Any

from dsb2_tasks.baseline._read import FORMAT
from dsb2_tasks.results import Run, finite


def make_baseline(run: Run, name: str | None = None) -> dict[str, Any]:
    """The baseline of a run, as an object for JSON.

    Its rows are kept where the run logged samples, so that intervals over it are paired.

    Args:
        run: The run.
        name: Name for tables; the model's by default.
    """
    tasks = []
    for result in run.tasks.values():
        metric = result.spec.metric
        if metric not in result.values:  # --predict_only
            continue
        value = result.values[metric].value
        na_rate = result.na_rate or 0.0
        if math.isnan(na_rate) or not (math.isfinite(value) or na_rate == 1):  # nothing that could be compared with
            continue
        stderr = result.values[result.score].stderr
        entry: dict[str, Any] = {
            "task": result.task,
            "metric": metric,
            "value": finite(value),
            "na_rate": na_rate,
            "stderr": finite(stderr),
            "version": result.version,
            "source": f"run of {run.model}",
        }
        if samples := result.samples():
            entry |= {"keys": [sample.key for sample in samples], "rows": result.rows(result.score)}
        tasks.append(entry)
    return {FORMAT: 1, "name": name or run.name, "tasks": tasks}
