"""Answers read a second time, by a judge: further metrics beside the deterministic ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dsb2_tasks import metrics
from dsb2_tasks.judge import CHOICE_KINDS, EXTRACT_KINDS, Confusion, Judge, JudgeItem, Verdict, agreement, item_for, judged_rows
from dsb2_tasks.metrics import Row
from dsb2_tasks.rescore._answered import Answered
from dsb2_tasks.rescore._score import Extra, Scores


@dataclass(frozen=True)
class Judged:
    """What a judge said of some answers.

    Attributes:
        rows: Rows of the judge's metrics by task, in step with its documents.
        verdicts: The verdicts, likewise.
    """

    rows: Extra
    verdicts: dict[str, list[Verdict | None]]


def judge_items(answered: Sequence[Answered]) -> list[JudgeItem | None]:
    """What a judge is to be asked about all answers, task by task; tasks of a kind that is not judged are passed over."""
    return [item_for(task.spec, d.doc, d.answer) for task in answered if _is_judged(task) for d in task.documents]


def judge_answers(answered: Sequence[Answered], judge: Judge) -> Judged:
    """Has all answers judged in one pass, so that a server is kept busy over the borders of tasks.

    Raises:
        JudgeError: Nothing more can be had from the judge; what it said is stored, and the next pass goes on from there.
    """
    verdicts = iter(judge.verdicts(judge_items(answered)))
    said = {task.task: [next(verdicts) for _ in task.documents] for task in answered if _is_judged(task)}
    rows: dict[str, dict[str, list[Row | None]]] = {}
    for task in answered:
        if task.task in said:
            scored = [judged_rows(task.spec, d.doc, v).statistics for d, v in zip(task.documents, said[task.task], strict=True)]
            rows[task.task] = {name: [row[name] for row in scored] for name in (scored[0] if scored else ())}
    return Judged(rows, said)


def agreement_of(scores: Scores, judged: Judged) -> dict[str, Confusion]:
    """How often matcher and judge agree, for every task whose answers are accepted or rejected."""
    found = {}
    for task in scores.answered:
        if task.spec.kind in CHOICE_KINDS and task.task in judged.verdicts:
            metric = metrics.get(task.spec.metric)  # its rows may be counts, of which only the metric knows what is right
            right = [metric.aggregate([row]) == metric.best for row in scores.rows[task.task][metric.name]]
            found[task.task] = agreement(zip(right, judged.verdicts[task.task], strict=True))
    return found


def _is_judged(task: Answered) -> bool:
    return task.spec.kind in CHOICE_KINDS or task.spec.kind in EXTRACT_KINDS
