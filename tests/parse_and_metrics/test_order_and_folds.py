"""The corpus value of every metric depends on its rows alone: not on their order, nor on the folds they were saved in."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest
from answer_material import rows_of
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Row

#: Metrics of summed counts: the row of a fold is the sum of its rows.
_EDITS = ("wer", "cer", "mer_mixed", "per")
SUMMED = {
    *(f"{unit}{profile}" for unit in _EDITS for profile in ("", "_clean", "_capped", "_official", "_superb")),
    *("pitch_seq_error_rate", "pos_official_wer", "pos_tag_error_rate", "pos_tag_accuracy", "pos_transcription_wer"),
    *("slot_value_cer", "der", "jer", "segment_er", "segment_f1", "event_f1", "event_f1_onset"),
    *("beat_f_micro", "note_f1_micro", "note_f1_offset_micro", "multilabel_micro_f1"),
    *("ner_f1", "ner_label_f1", "nel_frame_f1", "nel_word_f1", "bleu", "chrf", "chrf++"),
}
#: Metrics that need the single rows: means over classes, correlations, a root of a mean.
WHOLE = {"macro_f1", "balanced_accuracy", "event_f1_macro", "pcc", "srcc", "ccc", "kendall", "rmse"}
#: All others are means over samples; mape too where no reference is zero, as here.
MEANS = set(metrics.names()) - SUMMED - WHOLE


def near(value: float) -> object:
    return pytest.approx(value, rel=1e-9, abs=1e-9, nan_ok=True)


def test_tables_name_metrics() -> None:
    assert set(metrics.names()) >= SUMMED | WHOLE


@pytest.mark.parametrize("name", metrics.names())
@settings(max_examples=12, deadline=None)
@given(data=st.data())
def test_order_and_folds(name: str, data: st.DataObject) -> None:
    metric = metrics.get(name)
    rows: list[Row | None] = data.draw(rows_of(name))
    value, error = metric.aggregate(rows), metric.stderr(rows)

    shuffled = random.Random(len(rows)).sample(rows, len(rows))
    assert metric.aggregate(shuffled) == near(value)
    assert metric.stderr(shuffled) == pytest.approx(error, rel=1e-5, abs=1e-7, nan_ok=True)

    cut = data.draw(st.integers(0, len(rows)))
    folds = [rows[:cut], rows[cut:]]
    saved = [json.loads(json.dumps(fold)) for fold in folds]
    assert metric.aggregate([*saved[1], *saved[0]]) == near(value)
    for fold, weights in zip(
        folds, ([1.0] * cut + [0.0] * (len(rows) - cut), [0.0] * cut + [1.0] * (len(rows) - cut)), strict=True
    ):
        counted = [row for row in fold if row is not None]
        if counted:
            assert metric.replicates(rows)(np.array([weights]))[0] == near(metric.aggregate(fold))

    counted_folds = [[row for row in fold if row is not None] for fold in folds]
    if name in SUMMED:
        summed = [[sum(entries) for entries in zip(*fold, strict=True)] for fold in counted_folds if fold]
        assert metric.aggregate(summed) == near(value)
    elif name in MEANS:
        count = sum(map(len, counted_folds))
        merged = sum(metric.aggregate(fold) * len(fold) for fold in counted_folds if fold) / count if count else math.nan
        assert merged == near(value)


@pytest.mark.parametrize("name", metrics.names())
@settings(max_examples=6, deadline=None)
@given(data=st.data())
def test_twice_the_corpus_has_the_same_value(name: str, data: st.DataObject) -> None:
    metric = metrics.get(name)
    rows = data.draw(rows_of(name))
    doubled = metric.aggregate([*rows, *rows])
    if not math.isnan(metric.aggregate(rows)) and name != "bleu":  # its smoothing divides by the number of n-grams
        assert doubled == near(metric.aggregate(rows))
