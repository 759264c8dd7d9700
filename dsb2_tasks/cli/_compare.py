"""``dsb2 compare``: two runs, task by task."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._output import add, show, show_json, table
from dsb2_tasks.results import finite

if TYPE_CHECKING:
    from dsb2_tasks.comparison import Comparison, PartDifference, TaskDifference


@click.command()
@click.argument("first", type=click.Path())
@click.argument("second", type=click.Path())
@click.option(
    "--draws", type=click.IntRange(min=100), default=1000, show_default=True, help="Bootstrap draws, and swaps of the test."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Seed of both.")
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True, help="Level of the intervals.")
@click.option("--force", is_flag=True, help="Compare tasks of other versions or data too.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def compare(first: str, second: str, draws: int, seed: int, level: float, force: bool, as_json: bool) -> None:
    """Compare two runs: differences with intervals, task by task.

    FIRST and SECOND are results files or folders of runs. Documents that both answered are paired. A difference is first minus
    second; p is of a paired randomisation test, not corrected for the number of tasks. Rows of domains and modalities are the
    mean relative improvement of the first over the second.

    \b
    Examples:
      dsb2 compare results/mine results/theirs
      dsb2 compare results/mine results/theirs --json
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    from dsb2_tasks.comparison import compare as compare_runs
    from dsb2_tasks.results import read_run

    one, two = read_run(first), read_run(second)
    found = compare_runs(one, two, draws=draws, seed=seed, level=level, force=force)
    if as_json:
        show_json({"first": str(one.path), "second": str(two.path), "level": level, "draws": draws, "seed": seed, **_json(found)})
        return
    if any(task.version.endswith("-samples") for run in (one, two) for task in run.tasks.values()):
        click.echo("SAMPLE DATA: these numbers are no benchmark results", err=True)
    click.echo(f"first:  {one.model}  ({one.path})\nsecond: {two.model}  ({two.path})\n")
    tasks = table("task", "metric", ">first", ">second", ">difference", f"{level:.0%} interval", ">p", "")
    for row in found.tasks:
        gap = row.difference
        cells = [row.task, f"{row.metric} {'↑' if row.higher_is_better else '↓'}", _number(row.first), _number(row.second)]
        if gap is None:
            add(tasks, *cells, "", "", "", f"not compared: {row.reason}")
            continue
        limits = f"[{_number(gap.interval.low)}, {_number(gap.interval.high)}]"
        told = {1: "first is better", -1: "second is better", 0: ""}[row.verdict]
        add(tasks, *cells, _number(gap.interval.value), limits, _p(gap.p_value), told + ("" if gap.paired else " (not paired)"))
    show(tasks)
    click.echo()
    parts = table(
        "part", ">improvement of first over second", f"{level:.0%} interval", ">tasks kept", ">first better", ">second better"
    )
    for part in (*found.domains, *found.modalities):
        interval = part.improvement
        limits = f"[{_share(interval.low)}, {_share(interval.high)}]" if part.kept else ""
        add(parts, part.part, _share(interval.value), limits, f"{part.kept}/{part.tasks}", part.better, part.worse)
    show(parts)
    for which, names in (("first", found.only_first), ("second", found.only_second)):
        if names:
            click.echo(f"\nonly in the {which} run: {', '.join(names)}")


def _number(value: float) -> str:
    return f"{value:.4g}" if math.isfinite(value) else "N/A" if math.isnan(value) else str(value)


def _share(value: float) -> str:
    return f"{value:+.1%}" if math.isfinite(value) else _number(value)


def _p(value: float) -> str:
    return "" if math.isnan(value) else f"{value:.3f}"


def _json(found: Comparison) -> dict[str, Any]:
    return {
        "tasks": [_task(row) for row in found.tasks],
        "domains": [_part(part) for part in found.domains],
        "modalities": [_part(part) for part in found.modalities],
        "only_first": found.only_first,
        "only_second": found.only_second,
    }


def _task(row: TaskDifference) -> dict[str, Any]:
    gap = row.difference
    return {
        "task": row.task,
        "domain": row.domain,
        "modality": row.modality,
        "metric": row.metric,
        "higher_is_better": row.higher_is_better,
        "first": finite(row.first),
        "second": finite(row.second),
        "difference": None if gap is None else finite(gap.interval.value),
        "low": None if gap is None else finite(gap.interval.low),
        "high": None if gap is None else finite(gap.interval.high),
        "p_value": None if gap is None else finite(gap.p_value),
        "paired": None if gap is None else gap.paired,
        "documents": None if gap is None else gap.samples,
        "better": {1: "first", -1: "second", 0: None}[row.verdict],
        "reason": row.reason,
        "relative_improvement": finite(row.improvement.value),
    }


def _part(part: PartDifference) -> dict[str, Any]:
    interval = part.improvement
    return {
        "part": part.part,
        "relative_improvement": finite(interval.value),
        "low": finite(interval.low),
        "high": finite(interval.high),
        "kept": part.kept,
        "tasks": part.tasks,
        "first_better": part.better,
        "second_better": part.worse,
    }
