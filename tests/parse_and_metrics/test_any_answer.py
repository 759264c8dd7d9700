"""Any text at all is scored: each kind and metric gives a row that survives JSON, soon enough, and the same one again."""

from __future__ import annotations

import json
import time

import pytest
from answer_material import COUNTED, labels_of, scored
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks import metrics

PIECES = [
    "0.5",
    "-",
    "1.2",
    "dog",
    "C4",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ":",
    ",",
    '"',
    "/",
    "DET",
    "<think>",
    "</think>",
    "é́",
    "我",
    "\n",
    "\ud83d",
]
TEXTS = st.text(max_size=60) | st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join)


@pytest.mark.parametrize(("kind", "metric"), COUNTED)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_any_text(kind: str, metric: str, data: st.DataObject) -> None:
    label, answer = data.draw(labels_of(kind, metric)), data.draw(TEXTS)
    result = scored(kind, metric, label, answer)
    row = result.statistics[metric]
    saved = json.loads(json.dumps(row))
    one = metrics.get(metric)
    assert isinstance(one.aggregate([saved]), float)
    assert one.aggregate([saved]) == pytest.approx(one.aggregate([row]), nan_ok=True)
    assert result == scored(kind, metric, label, answer)
    assert json.loads(json.dumps(result.value)) is not None or result.value is None


@pytest.mark.parametrize(("kind", "metric"), COUNTED)
@settings(max_examples=1, deadline=None)
@given(data=st.data())
def test_a_long_answer_is_scored_in_seconds(kind: str, metric: str, data: st.DataObject) -> None:
    """A model that never stops: 100,000 characters, far beyond any cap on its answer."""
    label = data.draw(labels_of(kind, metric))
    start = time.process_time()
    scored(kind, metric, label, "the dog barks from 0.5 to 1.2 and (C4, 2, 3) again DET NOUN\n" * 1_700)
    assert time.process_time() - start < 5.0
