"""To give no usable answer is never better than to give the right one, and never better than the metric's best."""

from __future__ import annotations

import math

import pytest
from answer_material import COUNTED, JUNK, answered, labels_of, reference_answer, scored
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks import metrics
from dsb2_tasks.hooks import KINDS
from dsb2_tasks.metrics import Row


def value(kind: str, metric: str, pairs: list[tuple[str, str]]) -> float:
    """What a task reports: the scaled form for kinds with N/A, nothing answered counting as the worst."""
    rows: list[Row | None] = [scored(kind, metric, *pair).statistics[metric] for pair in pairs]
    one = metrics.get(metric)
    if KINDS[kind].na:
        one = metrics.scaled(one)
        rows = [(1.0,) if row is None else (0.0, *row) for row in rows]
    found = one.aggregate(rows)
    if math.isnan(found):
        return -math.inf
    return found if one.higher_is_better else -found


@pytest.mark.parametrize(("kind", "metric"), COUNTED)
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_no_answer_is_not_better_than_the_right_one(kind: str, metric: str, data: st.DataObject) -> None:
    """Whatever the other answers are; a correlation, to which one right point can be fatal, among right answers."""
    others = data.draw(st.lists(answered(kind, metric), min_size=3, max_size=6))
    label = data.draw(labels_of(kind, metric))
    if metrics.get(metric).correlation:
        others = [(other, reference_answer(kind, metric, other)) for other, _ in others]
    right = value(kind, metric, [*others, (label, reference_answer(kind, metric, label))])
    absent = value(kind, metric, [*others, (label, data.draw(st.sampled_from(JUNK)))])
    assert absent <= right + 1e-9


@pytest.mark.parametrize(("kind", "metric"), [(kind, metric) for kind, metric in COUNTED if KINDS[kind].na])
def test_nothing_answered_is_worst(kind: str, metric: str) -> None:
    scaled = metrics.scaled(metrics.get(metric))
    found = scaled.aggregate([(1.0,)] * 4)
    assert found == 0.0 if scaled.higher_is_better else math.isnan(found)
