"""What holds for every metric: totality, order, merging, standard errors against a bootstrap, N/A scaling."""

from __future__ import annotations

import json
import math
import random

import numpy as np
import pytest

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Metric, Row

RNG = np.random.default_rng(0)


def _edit(rng: random.Random) -> Row:
    length = rng.randint(1, 20)
    return (sum(rng.random() < 0.3 for _ in range(length)), length)


def _counts(rng: random.Random) -> Row:
    n_ref, n_hyp = rng.randint(1, 6), rng.randint(0, 6)
    return (rng.randint(0, min(n_ref, n_hyp)), n_ref, n_hyp)


def _classes(rng: random.Random) -> Row:
    reference = rng.choice("abc")
    return metrics.class_row(reference, reference if rng.random() < 0.6 else rng.choice(["a", "b", "c", "d", None]))


def _event_classes(rng: random.Random) -> Row:
    row: list = []
    for label in rng.sample(["cat", "dog", "rain"], rng.randint(0, 3)):
        row += [label, *_counts(rng)]
    return tuple(row)


def _numbers(rng: random.Random) -> Row:
    x = rng.gauss(5, 2)
    return (x, x + rng.gauss(0.5, 1.5))


def _translation(rng: random.Random) -> tuple[str, str]:
    words = [rng.choice(["ein", "das", "Haus", "ist", "klein", "und", "alt", "nicht", "neu"]) for _ in range(rng.randint(4, 12))]
    return " ".join(words), " ".join(w for w in words if rng.random() > 0.15)


ROWS = {
    ("edits", "reference_length"): _edit,
    ("true_positives", "reference_labels", "predicted_labels"): _counts,
    ("true_positives", "reference", "hypothesis"): _counts,
    ("matched", "reference", "hypothesis"): _counts,
    ("label", "matched", "reference", "hypothesis"): _event_classes,
    ("missed", "false_alarm", "confused", "reference_time"): lambda r: (r.random(), r.random(), r.random(), 5 + 20 * r.random()),
    ("speaker_error", "reference_speakers"): lambda r: (2 * r.random(), 2 + (r.random() < 0.4)),
    ("substituted", "deleted", "inserted", "reference"): lambda r: (
        r.randint(0, 2),
        r.randint(0, 2),
        r.randint(0, 2),
        r.randint(3, 9),
    ),
    ("counted", "status"): lambda r: (float(r.random() < 0.3), "ok"),
}


def make_rows(metric: Metric, count: int, seed: int = 0) -> list[Row]:
    rng = random.Random(seed)
    if metric.name == "bleu":
        return [metrics.bleu_row(*_translation(rng)) for _ in range(count)]
    if metric.name in ("chrf", "chrf++"):
        return [metrics.chrf_row(*_translation(rng), 0 if metric.name == "chrf" else 2) for _ in range(count)]
    if metric.fields == ("reference", "prediction"):
        if metric.name in ("macro_f1", "balanced_accuracy"):
            return [_classes(rng) for _ in range(count)]
        if metric.name == "exact_match":
            return [(float(rng.randint(1, 3)), float(rng.randint(1, 3))) for _ in range(count)]
        return [_numbers(rng) for _ in range(count)]
    if len(metric.fields) == 1:
        return [(float(rng.random() < 0.6) if metric.fields == ("correct",) else rng.random(),) for _ in range(count)]
    return [ROWS[metric.fields](rng) for _ in range(count)]


ALL = [metrics.get(name) for name in metrics.names()]
BOTH = [form for metric in ALL for form in (metric, metrics.scaled(metric))]


def rows_of(metric: Metric, count: int, seed: int = 0) -> list[Row]:
    if not metric.name.endswith("_scaled"):
        return make_rows(metric, count, seed)
    rng = random.Random(seed + 1)
    own = make_rows(metrics.get(metric.name.removesuffix("_scaled")), count, seed)
    return [(1,) if rng.random() < 0.2 else (0, *row) for row in own]


@pytest.mark.parametrize("metric", BOTH, ids=lambda m: m.name)
def test_every_metric_is_total_and_needs_only_its_rows(metric: Metric) -> None:
    rows = rows_of(metric, 60)
    value = metric.aggregate(rows)
    assert isinstance(value, float) and math.isfinite(value)
    through_json = json.loads(json.dumps(rows))
    assert metric.aggregate(through_json) == value
    assert metric.aggregate([None, *rows, None]) == value
    shuffled = random.Random(1).sample(rows, len(rows))
    assert metric.aggregate(shuffled) == pytest.approx(value, rel=1e-12)
    error = metric.stderr(rows)
    assert isinstance(error, float) and math.isfinite(error) and error >= 0
    for empty in ([], [None], [None, None]):
        assert math.isnan(metric.aggregate(empty)) and math.isnan(metric.stderr(empty))
    assert math.isnan(metric.stderr(rows[:1]))
    assert isinstance(metric.aggregate(rows[:1]), float)
    assert metric.best in (0.0, 1.0, 100.0) or metric.unit == "MOS-LQO"
    assert metric.higher_is_better == (metric.best > 0)


@pytest.mark.parametrize("metric", BOTH, ids=lambda m: m.name)
def test_weights_are_repeats(metric: Metric) -> None:
    """A sample of weight two is the sample twice: what a bootstrap and merged folds rest on."""
    rows: list[Row | None] = [*rows_of(metric, 25), None]
    weights = np.random.default_rng(3).multinomial(26, np.full(26, 1 / 26), size=5).astype(float)
    for weight, replicate in zip(weights, metric.replicates(rows)(weights), strict=True):
        repeated = [row for row, times in zip(rows, weight, strict=True) for _ in range(int(times))]
        assert replicate == pytest.approx(metric.aggregate(repeated), rel=1e-9, nan_ok=True)
    assert np.isnan(metric.replicates([None, None])(np.ones((3, 2)))).all()


@pytest.mark.parametrize("metric", BOTH, ids=lambda m: m.name)
def test_the_standard_error_is_that_of_a_bootstrap(metric: Metric) -> None:
    rows = rows_of(metric, 400, seed=5)
    weights = np.random.default_rng(4).multinomial(400, np.full(400, 1 / 400), size=4000).astype(float)
    values = metric.replicates(rows)
    spread = np.concatenate([values(weights[i : i + 500]) for i in range(0, 4000, 500)]).std(ddof=1)
    assert metric.stderr(rows) == pytest.approx(spread, rel=0.06, abs=1e-12)


def test_the_error_of_a_mean_and_of_a_ratio_in_closed_form() -> None:
    correct = [(1.0,)] * 30 + [(0.0,)] * 70
    assert metrics.get("accuracy").stderr(correct) == pytest.approx(math.sqrt(0.3 * 0.7 / 99), rel=1e-6)
    rows = make_rows(metrics.get("wer"), 50)
    edits, lengths = np.array(rows, dtype=float).T
    difference = edits - edits.sum() / lengths.sum() * lengths
    closed = math.sqrt((difference**2).sum() / 49 / 50) / lengths.mean()
    assert metrics.get("wer").stderr(rows) == pytest.approx(closed, rel=1e-6)


@pytest.mark.parametrize("name", ["srcc", "kendall"])
def test_rank_correlation_in_blocks(name: str) -> None:
    """More samples than are varied or compared at once."""
    rows = make_rows(metrics.get(name), 700)
    assert metrics.get(name).stderr(rows) == pytest.approx(metrics.get(name).stderr(rows[::-1]), rel=1e-6)
    assert 0 < metrics.get(name).stderr(rows) < 0.05


@pytest.mark.parametrize("name", ["pcc", "srcc", "kendall", "ccc"])
def test_undefined_correlations(name: str) -> None:
    metric = metrics.get(name)
    form = metrics.scaled(metric)
    assert math.isnan(metric.aggregate([(1, 2), (2, 3)]))  # too few
    assert math.isnan(metric.stderr([(1, 2), (2, 3)]))
    if name != "ccc":
        assert math.isnan(metric.aggregate([(1, 0.1), (2, 0.1), (3, 0.1)]))  # constant
        assert form.aggregate([(0, 1, 0.1), (0, 2, 0.1), (0, 3, 0.1)]) == 0.0
    falling: list[Row] = [(float(i), float(-i)) for i in range(10)]
    assert metric.aggregate(falling) < 0
    assert form.aggregate([(0, *row) for row in falling]) == 0.0
    assert math.isnan(form.aggregate([(0, 1, 2), (0, 2, 3)]))
    assert form.aggregate([(1,)] * 4) == 0.0


def test_scaling_rule() -> None:
    accuracy, wer = metrics.scaled(metrics.get("accuracy")), metrics.get("wer_scaled")
    assert accuracy.name == "accuracy_scaled" and accuracy.fields == ("na", "correct")
    assert accuracy.aggregate([(0, 1.0), (0, 0.0), (1,), (1,)]) == pytest.approx(0.5 * 0.5)
    assert wer.aggregate([(0, 1, 5), (0, 1, 5), (1,), (1,)]) == pytest.approx(0.2 / 0.5)
    assert accuracy.aggregate([(1,), (1,)]) == 0.0
    assert math.isnan(wer.aggregate([(1,), (1,)])) and math.isnan(wer.stderr([(1,), (1,)]))
    assert accuracy.stderr([(1,), (1,)]) == 0.0


def test_values_out_of_bounds_stay_floats() -> None:
    assert math.isnan(metrics.get("mse").aggregate([(1.0, math.nan), (1.0, 2.0)]))
    assert metrics.get("mae").aggregate([(1.0, math.inf)]) == math.inf
    assert math.isnan(metrics.get("pcc").aggregate([(1.0, math.inf), (2.0, 1.0), (3.0, 1.0)]))
    assert math.isnan(metrics.get("mape").aggregate([(0.0, 1.0)]))
    assert metrics.get("mape").aggregate([(0.0, 1.0), (2.0, 3.0)]) == 0.5
    assert metrics.get("exact_match").aggregate([(3.0, 3.0), (3.0, 3.5)]) == 0.5
    assert metrics.get("mse").aggregate([metrics.clipped_row((3.0, 5000.0), 2, 10)]) == 49.0


def test_no_reference_at_all() -> None:
    assert math.isnan(metrics.get("slot_value_cer").aggregate([(0, 0)]))
    assert math.isnan(metrics.get("segment_er").aggregate([(0, 0, 2, 0)]))
    assert math.isnan(metrics.get("event_f1_macro").aggregate([()]))
    assert math.isnan(metrics.get("event_f1_macro").aggregate([("dog", 0, 0, 2)]))
    assert metrics.get("note_f1").aggregate([(0, 0, 0)]) == 0.0
    for name in ("ner_f1", "event_f1", "slot_type_f1", "nel_frame_f1", "multilabel_jaccard", "multilabel_sample_f1"):
        assert metrics.get(name).aggregate([(0, 0, 0)]) == 1.0


def test_a_malformed_row_is_named() -> None:
    with pytest.raises(ValueError, match=r"row \(1,\) has not 2 leading numbers"):
        metrics.get("wer").aggregate([(1, 2), (1,)])
    with pytest.raises(ValueError, match="'x'"):
        metrics.get("wer").aggregate([("x", 2)])


def test_names() -> None:
    assert metrics.names() == sorted(metrics.names())
    with pytest.raises(KeyError, match="did you mean 'wer'") as caught:
        metrics.get("werr")
    assert str(caught.value).startswith("unknown metric 'werr'")
    with pytest.raises(metrics.UnknownMetric, match="known: "):
        metrics.get("qqqqqq")
