"""Two runs side by side: intervals where nothing but numbers is known, and pairing of documents whatever their order."""

from __future__ import annotations

import math
from pathlib import Path
from statistics import NormalDist
from typing import Any

import pytest

from dsb2_tasks import catalog
from dsb2_tasks.comparison import compare
from dsb2_tasks.results import Reading, Run, Sample, TaskResult

ASR = "dsb2_superb_asr_librispeech"
SPEC = catalog.read_catalog([catalog.yaml_root()]).tasks[ASR].spec


def run(value: float, stderr: float = 0.01, rows: dict[str, Any] | None = None) -> Run:
    samples = [Sample(i, "", key, "", "", "", "ok", (), {"wer": row}, {}) for i, (key, row) in enumerate((rows or {}).items())]
    result = TaskResult(ASR, "1", "hub", SPEC, 4, 4, {"wer": Reading(value, stderr, False)}, load=lambda: samples)
    return Run(Path("r.json"), "m", "m", 0.0, {ASR: result}, {}, {}, {}, {})


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99])
def test_normal_interval_has_the_level_that_was_asked_for(level: float) -> None:
    (found,) = compare(run(0.1, 0.03), run(0.2, 0.04), level=level).tasks
    assert found.difference is not None
    interval = found.difference.interval
    reach = NormalDist().inv_cdf((1 + level) / 2) * 0.05
    assert (interval.low, interval.high) == (pytest.approx(-0.1 - reach), pytest.approx(-0.1 + reach))
    assert interval.level == level and math.isnan(found.difference.p_value) and not found.difference.paired


def test_only_documents_that_both_answered_enter_in_whatever_order() -> None:
    first = {"a": (1, 10), "b": (2, 10), "c": (9, 10)}
    second = {"d": (9, 10), "b": (4, 10), "a": (3, 10)}
    (found,) = compare(run(0.4, rows=first), run(0.5, rows=second), draws=200).tasks
    assert (found.first, found.second) == (pytest.approx(0.15), pytest.approx(0.35))
    assert found.difference is not None and found.difference.paired and found.difference.samples == 2
    assert (found.difference.interval.low, found.difference.interval.high) == (pytest.approx(-0.2), pytest.approx(-0.2))
    assert found.improvement.value == pytest.approx((0.35 - 0.15) / 0.35)


@pytest.mark.parametrize(("documents", "verdict"), [(3, 0), (12, 1)])
def test_a_handful_of_documents_decides_nothing(documents: int, verdict: int) -> None:
    """Better on each of three: the interval excludes 0, and two of the eight ways to swap them look as good."""
    first = {str(i): (1, 10) for i in range(documents)}
    second = {str(i): (2 + i % 2, 10) for i in range(documents)}
    (found,) = compare(run(0.1, rows=first), run(0.25, rows=second), draws=500).tasks
    assert found.difference is not None and found.difference.interval.high < 0
    assert found.verdict == verdict
