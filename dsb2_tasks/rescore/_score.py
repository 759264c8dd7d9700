"""Answers to numbers, by the rules that were chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from dsb2_tasks import catalog
from dsb2_tasks.baseline import Baseline
from dsb2_tasks.metrics import Row
from dsb2_tasks.rescore._answered import Answered
from dsb2_tasks.results import as_json
from dsb2_tasks.scorer import Scorer
from dsb2_tasks.scoring import RULES, Rule
from dsb2_tasks.summary import group_row

#: Rows by task and document number that a judge adds, by metric name.
Extra = Mapping[str, Mapping[str, Sequence[Row | None]]]


@dataclass(frozen=True)
class Rules:
    """By what is scored.

    Attributes:
        baseline: What relative improvements are over.
        rule: Which recipe of relative improvement.
        force: Whether to compare in spite of a mismatch.
    """

    baseline: Baseline | None = None
    rule: Rule = RULES[0]
    force: bool = False


@dataclass
class Scores:
    """What came out.

    Attributes:
        answered: The tasks, in order.
        results: Numbers of tasks and groups in lm-eval's form.
        rows: Statistics of every task by metric, in step with its documents.
        told: What is said beside numbers, by task.
        directions: Whether higher is better, by task and metric.
        members: Direct members of each group.
    """

    answered: list[Answered]
    results: dict[str, dict[str, Any]] = field(default_factory=dict)
    rows: dict[str, dict[str, list[Row | None]]] = field(default_factory=dict)
    told: dict[str, dict[str, Any]] = field(default_factory=dict)
    directions: dict[str, dict[str, bool]] = field(default_factory=dict)
    members: dict[str, list[str]] = field(default_factory=dict)


def score(
    answered: list[Answered], rules: Rules, groups: Mapping[str, Sequence[str]] | None = None, extra: Extra | None = None
) -> Scores:
    """Scores answers.

    Args:
        answered: Answers, each task once.
        rules: By what.
        groups: Direct members of the groups that are wanted, tasks and groups; by default the suite's groups that hold any of
            the tasks.
        extra: What a judge found.

    Raises:
        BaselineError: The baseline was made under other conditions.
        SpecError: A task file asks for a metric that its kind cannot count.
    """
    known = catalog.read_catalog()
    scores = Scores(answered)
    for task in tqdm(answered, "scoring", unit="task", disable=None, leave=False):
        scorer = Scorer(
            task.task,
            task.spec,
            task.version,
            hook=task.hook,
            baseline=rules.baseline,
            rule=rules.rule,
            force=rules.force,
            extra=tuple((extra or {}).get(task.task, ())),
        )
        counted = [scorer.rows(document.answer, document.doc) for document in task.documents]
        rows = {name: [row[name] for row in counted] for name in scorer.directions}
        for name, judged in (extra or {}).get(task.task, {}).items():
            rows[name] = list(judged)
        numbers: dict[str, Any] = {"name": task.task, "alias": task.task, "sample_len": len(task.documents)}
        for name in scorer.directions:
            error = as_json(scorer.stderr(name, rows))
            numbers[f"{name},none"] = as_json(scorer.value(name, rows))
            numbers[f"{name}_stderr,none"] = error if isinstance(error, float) else "N/A"
            numbers[f"{name}_stderr_stderr,none"] = "N/A"  # as lm-eval has it
        scores.results[task.task] = numbers
        scores.rows[task.task] = rows
        scores.told[task.task] = scorer.told(rows)
        if known.tasks.get(task.task) and known.tasks[task.task].spec.options == "labels":
            scores.told[task.task]["options"] = list(task.spec.options or ())
        if task.not_answered:
            scores.told[task.task]["not_answered"] = task.not_answered
        scores.directions[task.task] = scorer.directions
    scores.members = {name: list(members) for name, members in (groups if groups is not None else _groups(known, scores)).items()}
    modality = {task.task: task.spec.modality for task in answered}
    for name in scores.members:
        inside = {task: scores.results[task] for task in leaves(name, scores.members) if task in scores.results}
        mean = known.groups[name].spec.mean if name in known.groups else None
        over = [modality[task] for task in inside if task in modality]
        compared = rules.baseline is not None
        scores.results[name] = group_row(name, inside, compared=compared, modalities=over, mean=mean)
    return scores


def _groups(known: catalog.Catalog, scores: Scores) -> dict[str, list[str]]:
    """The suite's groups that hold any of the tasks, with those of their members that do."""
    found: dict[str, list[str]] = {}
    for name, group in known.groups.items():
        if set(known.members(name)) & set(scores.results):
            members = list(group.spec.groups) or [task for task in known.members(name) if task in scores.results]
            found[name] = [
                member for member in members if member in scores.results or set(known.members(member)) & set(scores.results)
            ]
    return found


def leaves(group: str, members: Mapping[str, Sequence[str]]) -> list[str]:
    """The tasks below a group, in order and each once; ends also where a file says that groups hold each other."""
    found: list[str] = []
    seen, left = set(), [group]
    while left:
        name = left.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in members:
            left += reversed(members[name])
        else:
            found.append(name)
    return found
