"""Baselines in every form, what is refused, and what a comparison is told."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from dsb2_tasks import catalog
from dsb2_tasks.baseline import DIMENSIONS, PHASE1_SYSTEMS, BaselineError, make_baseline, phase1_dimensions, read_baseline
from dsb2_tasks.results import Reading, Run, Sample, TaskResult, document_key
from dsb2_tasks.scorer import Scorer

ASR, MSE = "dsb2_superb_asr_librispeech", "dsb2_sound_position_prediction"
KNOWN = catalog.read_catalog([catalog.yaml_root()])


def result(
    task: str, value: float, *, version: str = "1", na: float | None = None, stderr: float = 0.01, rows: Any = ()
) -> TaskResult:
    """A task's result as read from a file; ``value`` is over the answered documents."""
    spec = KNOWN.tasks[task].spec
    metric = spec.metric
    values = {metric: Reading(value, stderr, False)}
    score = metric
    if na is not None:
        score = f"{metric}_scaled"
        values |= {score: Reading(value / (1 - na) if na < 1 else math.nan, stderr, False), "na_rate": Reading(na, 0.0, False)}
    samples = [Sample(i, "", str(i), "", "", "", "ok", (), {score: row}, {}) for i, row in enumerate(rows)]
    return TaskResult(task, version, "hub", spec, 4, 4, values, load=lambda: samples)


def table(path: Path, *rows: dict[str, Any]) -> str:
    path.write_text(json.dumps(list(rows)))
    return str(path)


def test_a_small_table_in_json_and_csv(tmp_path: Path) -> None:
    as_json = table(tmp_path / "b.json", {"task": ASR, "metric": "wer", "value": 0.2, "source": "a paper, table 3"})
    as_csv = tmp_path / "b.csv"
    as_csv.write_text(f"task,metric,value,na_rate,source\n{ASR},wer,0.2,,a paper\n{MSE},mse,100,0.5,a paper\n")
    for where in (as_json, str(as_csv)):
        improvement = read_baseline(where).improvement(result(ASR, 0.1))
        assert improvement.value == pytest.approx(0.5) and improvement.reason is None
    # N/A: b' = 100 / 0.5 = 200 against m' = 50 / 0.5 = 100
    assert read_baseline(str(as_csv)).improvement(result(MSE, 50.0, na=0.5)).value == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([{"task": ASR, "metric": "wer"}], "value: missing"),
        ([{"task": ASR, "metric": "werr", "value": 1}], "did you mean 'wer'"),
        ([{"task": ASR, "metric": "wer", "value": "low"}], "value: 'low' is no number"),
        ([{"task": ASR, "metric": "wer", "value": None}], "value: None is no number"),
        ([{"task": ASR, "metric": "wer", "value": True}], "value: True is no number"),
        ([{"task": ASR, "metric": "wer", "value": 1, "na_rate": 20}], "no share between 0 and 1"),
        ([{"task": ASR, "metric": "wer", "value": 1, "sauce": ""}], "unknown columns 'sauce'"),
        ([{"task": ASR, "metric": "wer", "value": 1}] * 2, "stands there twice"),
        ([{"task": ASR, "metric": "wer", "value": 1, "keys": ["a"], "rows": []}], "two lists of one length"),
        ([{"task": ASR, "metric": "wer", "value": 1, "keys": ["a"], "rows": [1]}], "a list of numbers or null"),
        (["wer"], "is no object"),
        ([], "holds no task"),
    ],
)
def test_faults_name_file_entry_and_reason(tmp_path: Path, rows: list[Any], said: str) -> None:
    where = table(tmp_path / "b.json", *rows)
    with pytest.raises(BaselineError, match=said) as error:
        read_baseline(where)
    assert str(tmp_path) in str(error.value)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '"x"', "\xff"])
def test_what_is_no_baseline(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(ValueError, match=r"b\.json"):
        read_baseline(str(path))
    with pytest.raises(BaselineError, match="no such file or folder"):
        read_baseline(str(tmp_path / "nowhere"))


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    import os

    where = table(tmp_path / "b.json", {"task": ASR, "metric": "wer", "value": 0.2})
    assert read_baseline(where) is read_baseline(where)
    table(tmp_path / "b.json", {"task": ASR, "metric": "wer", "value": 0.4})
    os.utime(where, ns=(1, 1))
    assert read_baseline(where).entries[ASR].measured.value == 0.4


@pytest.mark.parametrize(
    ("here", "there", "said"),
    [
        ("1", "2", "task version: 1 here, 2 in the baseline"),
        ("1-samples", "1", "data: sample data here, real data in the baseline"),
        ("1", "1-samples", "data: real data here, sample data in the baseline"),
        ("1-samples", None, "data: sample data here, real data in the baseline"),
        ("1", "1", None),
        ("1", None, None),
    ],
)
def test_mismatches(tmp_path: Path, here: str, there: str | None, said: str | None) -> None:
    row = {"task": ASR, "metric": "wer", "value": 0.2, **({"version": there} if there else {})}
    found = read_baseline(table(tmp_path / "b.json", row)).mismatches(ASR, here, KNOWN.tasks[ASR].spec)
    assert found == ([said] if said else [])


def test_another_metric_is_a_mismatch(tmp_path: Path) -> None:
    baseline = read_baseline(table(tmp_path / "b.json", {"task": ASR, "metric": "cer", "value": 0.2}))
    assert baseline.mismatches(ASR, "1", KNOWN.tasks[ASR].spec) == ["metric: wer here, cer in the baseline"]
    assert baseline.improvement(result(ASR, 0.1)).reason == "the task does not count 'cer'"


def test_missing_tasks_and_unusable_baselines_have_reasons(tmp_path: Path) -> None:
    rows = [{"task": ASR, "metric": "wer", "value": 0}, {"task": MSE, "metric": "mse", "value": None, "na_rate": 1}]
    baseline = read_baseline(table(tmp_path / "b.json", *rows))
    assert baseline.improvement(result(ASR, 0.1)).reason == "the baseline is 0"
    assert baseline.improvement(result(MSE, 1.0, na=0.0)).reason == "the baseline gave no usable answer (N/A rate 1)"
    other = "dsb2_superb_qbe_quesst14"
    assert baseline.improvement(result(other, 0.1)).reason == "the baseline has no number for this task"


def test_a_baseline_made_from_a_run_pairs_documents(tmp_path: Path) -> None:
    strong, weak = [(1, 10), (0, 8), (2, 12), (1, 9)], [(2, 10), (1, 8), (4, 12), (2, 9)]
    own, other = result(ASR, 4 / 39, stderr=0.03, rows=strong), result(ASR, 9 / 39, stderr=0.05, rows=weak)
    run = Run(tmp_path / "r.json", "weak", "weak", 0.0, {ASR: other}, {}, {}, {}, {})
    path = tmp_path / "made.json"
    path.write_text(json.dumps(make_baseline(run), allow_nan=False))
    paired = read_baseline(str(path)).improvement(own)
    assert paired.value == pytest.approx(1 - 4 / 9)
    alone = read_baseline(
        table(tmp_path / "b.json", {"task": ASR, "metric": "wer", "value": 9 / 39, "stderr": 0.05})
    ).improvement(own)
    assert alone.value == pytest.approx(paired.value)
    assert paired.stderr < alone.stderr


def test_document_key_hangs_on_what_is_asked_and_expected_alone() -> None:
    doc = {"dsb2_prompt": "p", "dsb2_label": ["yes"], "audio": [{"sha256": "a", "row": 0, "revision": "x"}], "file": "a.wav"}
    assert document_key(doc) == document_key({**doc, "audio": [{"sha256": "a", "row": 7, "revision": "y"}], "file": "b"})
    for other in ({"dsb2_prompt": "q"}, {"dsb2_label": ["no"]}, {"audio": [{"sha256": "b"}]}):
        assert document_key({**doc, **other}) != document_key(doc)


@pytest.mark.parametrize("system", PHASE1_SYSTEMS)
def test_published_systems_of_phase_1(system: str) -> None:
    baseline = read_baseline(f"phase1:{system.lower()}")
    assert baseline.name == f"phase1:{system}"
    assert len(baseline.entries) == 52 and len(baseline.missing) == 3
    assert len(baseline.caveats) == 3
    assert all(0 <= entry.measured.value <= 1 and entry.metric == "phase1_exact" for entry in baseline.entries.values())
    for task in (*baseline.entries, *baseline.missing):
        assert "phase1_exact" in KNOWN.tasks[task].spec.secondary


def test_phase_1_is_compared_on_phase1_exact_alone() -> None:
    baseline = read_baseline("phase1:ASR-ChatGPT")
    task = next(iter(baseline.entries))
    spec = KNOWN.tasks[task].spec
    values = {"accuracy": Reading(0.9, 0.0, True), "phase1_exact": Reading(0.3, 0.0, True)}
    published = baseline.entries[task].measured.value
    found = baseline.improvement(TaskResult(task, "1", "hub", spec, 200, 200, values))
    assert found.value == pytest.approx((0.3 - published) / published)
    assert baseline.mismatches(task, "1", spec) == []
    other = TaskResult(ASR, "1", "hub", KNOWN.tasks[ASR].spec, 200, 200, {"wer": Reading(0.1, 0.0, False)})
    assert baseline.improvement(other).reason == "the baseline has no number for this task"
    gone = next(iter(baseline.missing))
    assert baseline.improvement(TaskResult(gone, "1", "hub", KNOWN.tasks[gone].spec, 2, 2, values)).reason == (
        "Phase-1 used another data set for this instance"
    )


def test_unknown_systems_are_suggested() -> None:
    with pytest.raises(BaselineError, match="did you mean 'phase1:ASR-ChatGPT'"):
        read_baseline("phase1:ASR-ChatGTP")
    with pytest.raises(BaselineError, match="known are BERT-GSLM"):
        read_baseline("phase1:xyz")


def test_six_dimensions_over_the_55_instances() -> None:
    found = phase1_dimensions()
    assert len(found) == 55 and set(found.values()) == set(DIMENSIONS)
    assert {name for name, task in KNOWN.tasks.items() if "dsb2_phase1" in task.tags} == set(found)
    assert set(KNOWN.members("dsb2_phase1_dimensions")) == set(found)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (
            {"task": "dsb2_superb_qbe_quesst14", "metric": "accuracy", "value": 85},
            r"beyond the best accuracy .*\(a percentage",
        ),
        ({"task": ASR, "metric": "wer", "value": -0.1}, "beyond the best wer"),
        ({"task": ASR, "metric": "wer", "value": 10**400}, "is no number"),
        ({"task": ASR, "metric": "wer", "value": 0.1, "stderr": -1}, "stderr: -1 is below 0"),
        ({"task": None, "metric": "wer", "value": 0.1}, "task: a name is needed"),
    ],
)
def test_numbers_that_cannot_be_meant(tmp_path: Path, row: dict[str, Any], said: str) -> None:
    with pytest.raises(BaselineError, match=said):
        read_baseline(table(tmp_path / "b.json", row))


@pytest.mark.parametrize("text", ["task,metric,value\n" + "x" * 200_000, 'task,metric,value\n"a\x00,b'])
def test_what_is_no_csv(tmp_path: Path, text: str) -> None:
    path = tmp_path / "b.csv"
    path.write_text(text)
    with pytest.raises(BaselineError, match=r"b\.csv"):
        read_baseline(str(path))


@pytest.mark.parametrize("row", [["x", 1], [1], [None, 1], [[1], 2], [float("nan"), 1], [-1, 10]])
def test_rows_that_the_metric_cannot_count_are_refused_before_a_model_is_asked(tmp_path: Path, row: Any) -> None:
    entry = {"task": ASR, "metric": "wer", "value": 0.2, "version": "1", "keys": ["0", "1"], "rows": [[1, 10], row]}
    baseline = read_baseline(table(tmp_path / "b.json", entry))
    with pytest.raises(BaselineError, match=rf"{ASR}: row 1 of wer: "):
        Scorer(ASR, KNOWN.tasks[ASR].spec, "1", baseline=baseline)
    with pytest.raises(BaselineError, match="row 1 of wer"):
        baseline.improvement(result(ASR, 0.1, rows=[(1, 10), (0, 8)]))


@pytest.mark.parametrize("na", [None, 0.25, 1.0, math.nan])
@pytest.mark.parametrize("value", [0.5, math.nan, math.inf])
def test_whatever_a_run_found_a_baseline_made_from_it_can_be_read(tmp_path: Path, na: float | None, value: float) -> None:
    odd = result(MSE, value, na=na, stderr=math.nan)
    run = Run(tmp_path / "r.json", "weak", "weak", 0.0, {MSE: odd, ASR: result(ASR, 0.2)}, {}, {}, {}, {})
    path = tmp_path / "made.json"
    path.write_text(json.dumps(make_baseline(run), allow_nan=False))
    baseline = read_baseline(str(path))
    assert ASR in baseline.entries
    found = baseline.improvement(result(MSE, 0.4, na=None if na is None else 0.0))
    assert (found.reason is None) == (math.isfinite(value) and na != 1 and not (na is not None and math.isnan(na))), found
