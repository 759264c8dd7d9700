"""Whether what stands in a file of numbers can be meant: types, ranges, rows of statistics."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Metric, Row
from dsb2_tasks.results._values import NUMBERS

#: Rounding that a value may go beyond the best there is.
_ROUNDING = 1e-6
#: Longest name of a task, in bytes: it is part of the names of files.
_LONGEST_NAME = 200
#: Rows that are looked at together.
_CHUNK = 256


def is_name(name: str) -> bool:
    """Whether a task may be called so: its name is part of the names of files, and must not lead anywhere else."""
    return name.isprintable() and not set(name) & set("/\\") and 0 < len(name.encode()) <= _LONGEST_NAME


def is_number(value: Any) -> bool:
    """Whether a results file can say a number so: nan and infinities are also texts."""
    if isinstance(value, str):
        return value in NUMBERS
    return isinstance(value, float) or (isinstance(value, int) and not isinstance(value, bool) and abs(value) < 1 << 1000)


def known_metric(name: str) -> Metric | None:
    """The metric of a name; None for a metric that this version does not know."""
    try:
        return metrics.get(name)
    except metrics.UnknownMetric:
        return None


def beyond_best(metric: Metric, value: float) -> bool:
    """Whether a value is better than a perfect system's, as 85 for an accuracy is, or a share above 1; False for nan."""
    if metric.fields[0] == "counted":
        return value < 0 or value > 1
    room = _ROUNDING * max(1.0, abs(metric.best))
    return value > metric.best + room if metric.higher_is_better else value < metric.best - room


def fault_in_rows(rows: Mapping[str, Sequence[Row | None]]) -> tuple[str, int, str] | None:
    """The first row that its metric cannot count: the metric's name, the number of the row and why; None if all are fine.

    Args:
        rows: Rows by name of the metric; those of an unknown metric are not looked at.
    """
    for name, column in rows.items():
        metric = known_metric(name)
        if metric is None or (whole := _counts(metric, column)) is None:
            continue
        for number, row in enumerate(column):
            if (why := _counts(metric, [row])) is not None:
                return name, number, why
        return name, 0, whole  # rows that do not go together
    return None


def _is_entry(entry: Any) -> bool:
    """Whether a row can hold it; numpy would read null as nan, which counts as no answer."""
    if isinstance(entry, list | tuple):
        return all(map(_is_entry, entry))
    return entry is not None and not (isinstance(entry, float) and not math.isfinite(entry))


def _counts(metric: Metric, rows: Sequence[Row | None]) -> str | None:
    """Why a metric cannot count rows; None if it can."""
    try:
        for row in rows:
            if row is not None and not all(map(_is_entry, row)):
                return f"{list(row)!r:.100} holds what is no number"
            if row is not None and metric.fields[0] == "na" and list(row[:1]) not in ([0], [1]):
                return f"{list(row)!r:.100} says neither 0 (answered) nor 1 (no usable answer) first"
        for start in range(0, len(rows), _CHUNK):
            part = rows[start : start + _CHUNK]
            for value in map(float, metric.replicates(part)(np.eye(len(part)))):  # of every row by itself
                if beyond_best(metric, value):
                    return f"{metric.name} would be {value:g}, beyond the best there is ({metric.best:g})"
    except Exception as error:  # whatever strangers put in place of a number
        return f"{type(error).__name__}: {error}"[:300]
    return None
