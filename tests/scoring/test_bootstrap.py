"""Bootstrap intervals: seeded, paired, defined on few and odd samples, and right as often as they say."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from dsb2_tasks import metrics
from dsb2_tasks.metrics import Row
from dsb2_tasks.scoring import bootstrap, bootstrap_improvement, difference

ACCURACY, WER = metrics.get("accuracy"), metrics.get("wer")


def _wer_rows(seed: int, count: int, rate: float = 0.2) -> list[Row]:
    rng = np.random.default_rng(seed)
    lengths = rng.integers(3, 20, count)
    return [(int(rng.binomial(n, rate)), int(n)) for n in lengths]


def test_same_seed_same_interval() -> None:
    rows = _wer_rows(0, 100)
    assert bootstrap(WER, rows, seed=3) == bootstrap(WER, rows, seed=3)
    assert bootstrap(WER, rows, seed=3) != bootstrap(WER, rows, seed=4)


@pytest.mark.parametrize("cells", [1, 5000, 1 << 30])
def test_numbers_do_not_depend_on_how_much_is_held_at_once(cells: int, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = _wer_rows(0, 90), [*_wer_rows(1, 90), None]
    for paired, other in ((True, second[:90]), (False, second), (False, [])):
        with monkeypatch.context() as patch:
            as_usual = difference(WER, first, other, paired=paired)
            patch.setattr("dsb2_tasks.scoring._bootstrap._CELLS", cells)
            again = difference(WER, first, other, paired=paired)
        for name in ("low", "high", "stderr", "defined"):
            expected = getattr(as_usual.interval, name)
            assert getattr(again.interval, name) == pytest.approx(expected, rel=1e-12, nan_ok=True), (paired, name)
        assert again.p_value == pytest.approx(as_usual.p_value, nan_ok=True)
        assert as_usual.interval.defined == (1000 if other else 0)


def test_value_lies_within_and_error_is_the_delta_methods() -> None:
    rows: list[Row | None] = [*_wer_rows(1, 300), None]
    interval = bootstrap(WER, rows, draws=4000)
    assert interval.value == WER.aggregate(rows)
    assert interval.low < interval.value < interval.high
    assert interval.stderr == pytest.approx(WER.stderr(rows), rel=0.06)
    assert (interval.draws, interval.defined, interval.level, interval.seed) == (4000, 4000, 0.95, 0)
    assert bootstrap(WER, rows, level=0.5).high < interval.high


@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say() -> None:
    rng = np.random.default_rng(5)
    hits = 0
    for run in range(1000):
        rows = [(float(x),) for x in rng.random(200) < 0.7]
        interval = bootstrap(ACCURACY, rows, draws=400, seed=run)
        hits += interval.low <= 0.7 <= interval.high
    assert 0.93 <= hits / 1000 <= 0.97


def test_few_and_undefined_samples() -> None:
    for rows in ([], [None], [None] * 3):
        interval = bootstrap(ACCURACY, rows, draws=10)
        assert math.isnan(interval.value) and math.isnan(interval.low) and interval.defined == 0
    one = bootstrap(ACCURACY, [(1.0,)], draws=10)
    assert (one.value, one.low, one.high) == (1.0, 1.0, 1.0)
    some = bootstrap(metrics.get("pcc"), [(1, 1), (2, 2), (3, 2.5), (4, 5)], draws=200)  # a draw may be of one sample only
    assert 0 < some.defined < 200 and math.isfinite(some.low)


def test_scaled_metrics_draw_the_share_too() -> None:
    rows: list[Row] = [(1,) if i % 4 == 0 else (0, *row) for i, row in enumerate(_wer_rows(2, 200))]
    metric = metrics.scaled(WER)
    interval = bootstrap(metric, rows, draws=4000)
    assert interval.stderr == pytest.approx(metric.stderr(rows), rel=0.06)


def test_improvement_and_pairing() -> None:
    baseline = _wer_rows(3, 250, 0.3)
    rows = [(max(0, edits - 1), length) for edits, length in baseline]
    paired = bootstrap_improvement(WER, rows, baseline, draws=2000)
    alone = bootstrap_improvement(WER, rows, baseline, paired=False, draws=2000)
    expected = (WER.aggregate(baseline) - WER.aggregate(rows)) / WER.aggregate(baseline)
    assert paired.value == alone.value == pytest.approx(expected)
    assert 0 < paired.low < expected < paired.high
    assert paired.stderr < 0.7 * alone.stderr
    same = bootstrap_improvement(WER, baseline, baseline, draws=50)
    assert (same.value, same.low, same.high) == (0.0, 0.0, 0.0)


def test_improvement_over_what_cannot_be_improved_on() -> None:
    rows = [(0.0,), (1.0,)]
    interval = bootstrap_improvement(ACCURACY, rows, [(0.0,), (0.0,)], draws=50)
    assert math.isnan(interval.value)
    with pytest.raises(ValueError, match="paired=False"):
        bootstrap_improvement(ACCURACY, rows, [(0.0,)])


@pytest.mark.slow
def test_a_thousand_draws_over_180_tasks_take_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    start = time.perf_counter()
    for task in range(180):
        bootstrap_improvement(WER, _wer_rows(task, 250), _wer_rows(task + 500, 250), draws=1000)
    seconds = time.perf_counter() - start
    with capsys.disabled():
        print(f"\n1,000 paired draws over 180 tasks of 250 items: {seconds:.1f} s")
    assert seconds < 10
