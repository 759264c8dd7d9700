"""From documents and answers to items, and from verdicts to rows; agreement and coverage."""

from __future__ import annotations

import json
import math
from typing import Any

import pytest
from _judging import SCALE, SOUND, doc, item, spec

from dsb2_tasks import catalog, hooks, metrics
from dsb2_tasks.audio import failure
from dsb2_tasks.judge import (
    CHOICE_KINDS,
    EXTRACT_KINDS,
    Confusion,
    JudgeError,
    Verdict,
    agreement,
    contract_for,
    coverage,
    item_for,
    judged_rows,
)
from dsb2_tasks.sources import Docs, open_rows

ACCEPTED, REJECTED, NA = Verdict("accepted"), Verdict("rejected"), Verdict("na")
UNUSABLE, FAILED = Verdict("unusable"), Verdict("failed")


def test_an_item_holds_the_reference_as_the_task_reads_it_and_a_clean_answer() -> None:
    found = item_for(SOUND, doc("Dog"), "<think>cat?</think> A <|im_end|>dog")
    assert found == item("A  dog", instruction="Which animal is it?", options=("dog", "cat"))
    tags = spec("labels", "multilabel_exact", options=("dog", "cat", "owl"))
    found = item_for(tags, doc("['owl', 'dog']"), "owl and dog")
    assert found is not None
    assert found.reference == ("owl", "dog")


def test_a_failure_of_the_tool_is_no_item_and_a_model_cannot_feign_one() -> None:
    assert item_for(SOUND, doc("dog"), failure("audio_error", "no such file")) is None
    feigned = item_for(SOUND, doc("dog"), "[[dsb2:audio_error]] no such file")
    assert feigned is not None
    assert feigned.answer == "[[dsb2:audio_error]] no such file"


def test_kinds_without_a_contract_are_refused() -> None:
    with pytest.raises(JudgeError, match="kind 'transcript' is not judged"):
        item_for(spec("transcript", "wer"), doc("a"), "a")


@pytest.mark.parametrize(
    ("verdict", "accuracy", "covered", "status"),
    [
        (ACCEPTED, (1.0,), (1.0,), "ok"),
        (REJECTED, (0.0,), (1.0,), "ok"),
        (UNUSABLE, None, (0.0,), "unusable"),
        (FAILED, None, (0.0,), "failed"),
        (None, None, None, "failed"),
    ],
)
def test_choices_give_rows_of_accuracy(verdict: Verdict | None, accuracy: Any, covered: Any, status: str) -> None:
    scored = judged_rows(SOUND, doc("dog"), verdict)
    assert scored.statistics == {"judge_accuracy": accuracy, "judge_coverage": covered}
    assert scored.status == status


def test_extracted_text_is_counted_by_the_tasks_own_kind() -> None:
    scored = judged_rows(SCALE, doc("7"), Verdict("extracted", "90 %"))
    direct = SCALE, doc("7"), hooks.KINDS["number"].score("9", doc("7"), SCALE)
    assert scored.statistics["judge_mae"] == direct[2].statistics["mae"]
    assert scored.statistics["judge_mae_scaled"] == (0.0, *direct[2].statistics["mae"])
    assert scored.statistics["judge_na_rate"] == (0.0, "ok")
    assert (scored.value, scored.status) == (9.0, "ok")


@pytest.mark.parametrize("verdict", [UNUSABLE, FAILED, None])
def test_what_is_no_verdict_leaves_value_and_na_rate_alone(verdict: Verdict | None) -> None:
    scored = judged_rows(SCALE, doc("7"), verdict)
    covered = None if verdict is None else (0.0,)
    assert scored.statistics == {
        "judge_mae": None,
        "judge_mae_scaled": None,
        "judge_na_rate": None,
        "judge_coverage": covered,
    }


def test_totals_over_many_verdicts() -> None:
    verdicts = [Verdict("extracted", "5"), NA, UNUSABLE, Verdict("extracted", "8"), None]
    rows = [judged_rows(SCALE, doc("7"), verdict).statistics for verdict in verdicts]

    def value(name: str) -> float:
        return metrics.get(name).aggregate([row[name] for row in rows])

    assert value("judge_mae") == pytest.approx(1.5)
    assert value("judge_na_rate") == pytest.approx(1 / 3)
    assert value("judge_mae_scaled") == pytest.approx(1.5 / (2 / 3))
    assert value("judge_coverage") == 0.75
    choices = [judged_rows(SOUND, doc("dog"), v).statistics for v in (ACCEPTED, REJECTED, ACCEPTED, UNUSABLE)]
    assert metrics.get("judge_accuracy").aggregate([row["judge_accuracy"] for row in choices]) == pytest.approx(2 / 3)


def test_items_of_every_task_can_be_made_and_perfect_extractions_score_best() -> None:
    tasks = catalog.read_catalog().tasks
    seen = set()
    for entry in tasks.values():
        if entry.spec.kind in seen or entry.spec.kind not in (*CHOICE_KINDS, *EXTRACT_KINDS):
            continue
        rows = Docs(entry.name, entry.spec, [open_rows(s, "samples", entry.path.parent, entry.name) for s in entry.spec.data])
        docs = [rows.text(i) for i in range(len(rows))]
        task = hooks.close_options(entry.spec, docs)
        seen.add(task.kind)
        for document in docs:
            answer = hooks.KINDS[task.kind].reference_answer(document, task)
            found = item_for(task, document, answer)
            assert found is not None
            assert json.dumps(document["dsb2_prompt"])[1:5] in contract_for(task.kind).prompt(found)
            if task.kind in EXTRACT_KINDS:
                read = contract_for(task.kind).read(f"Result: {' '.join(answer.split())}", False, found)
                assert read.status == "extracted", (entry.name, answer, read)
                scored = judged_rows(task, document, read)
                assert (
                    scored.statistics[f"judge_{task.metric}"]
                    == hooks.KINDS[task.kind].score(answer, document, task).statistics[task.metric]
                )
    assert seen == {*CHOICE_KINDS, *EXTRACT_KINDS}


@pytest.mark.parametrize("name", ["judge_accuracy", "judge_coverage", "judge_mae", "judge_pcc_scaled", "judge_na_rate"])
def test_judged_metrics_have_names_of_their_own(name: str) -> None:
    found = metrics.get(name)
    assert found.name == name
    if name not in metrics.names():
        plain = metrics.get(name.removeprefix("judge_"))
        assert (found.estimator, found.fields, found.correlation) == (plain.estimator, plain.fields, plain.correlation)
    with pytest.raises(metrics.UnknownMetric, match="unknown metric 'judge_no_such'"):
        metrics.get("judge_no_such")


def test_agreement_of_matcher_and_judge() -> None:
    pairs = [(True, ACCEPTED)] * 20 + [(True, REJECTED)] * 5 + [(False, ACCEPTED)] * 10 + [(False, REJECTED)] * 15
    found = agreement([*pairs, (True, UNUSABLE), (False, FAILED), (True, None), (True, NA)])
    assert found == Confusion(20, 5, 10, 15, 4)
    assert found.observed == pytest.approx(0.7)
    assert found.kappa == pytest.approx(0.4)  # the textbook's example


@pytest.mark.parametrize(
    ("pairs", "kappa"),
    [
        ([], math.nan),
        ([(True, ACCEPTED)] * 3, math.nan),
        ([(True, ACCEPTED), (False, REJECTED)], 1.0),
        ([(True, REJECTED), (False, ACCEPTED)], -1.0),
        ([(True, ACCEPTED), (False, ACCEPTED)], 0.0),
    ],
)
def test_kappa_at_its_edges(pairs: list[Any], kappa: float) -> None:
    assert agreement(pairs).kappa == pytest.approx(kappa, nan_ok=True)


def test_coverage_counts_verdicts() -> None:
    found = coverage([ACCEPTED, REJECTED, NA, UNUSABLE, FAILED, None])
    assert (found.total, found.usable, found.share) == (5, 3, 0.6)
    assert found.statuses == {"accepted": 1, "rejected": 1, "na": 1, "unusable": 1, "failed": 1}
    assert math.isnan(coverage([]).share)
