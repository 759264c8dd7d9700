"""``dsb2 baseline``: make one from a run, look at one, check whether a run may be compared with one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click

from dsb2_tasks.cli._output import add, show, show_json, table
from dsb2_tasks.results import finite


@click.group()
def baseline() -> None:
    """Make, show and check baselines.

    A baseline is what relative improvements are over: a results file or a folder of a run, a table in JSON or CSV (task,
    metric, value, na_rate, stderr, version, source), or a published system of Phase-1 such as phase1:ASR-ChatGPT.

    \b
    Examples:
      dsb2 baseline make results/cascade -o cascade.json
      dsb2 baseline show phase1:ASR-ChatGPT
      dsb2 baseline check results/mine cascade.json
      lm_eval --tasks dsb2 ... --metadata baseline=cascade.json
    """  # noqa: D301 (click reads the sign \\b, a backspace)


@baseline.command()
@click.argument("run", type=click.Path())
@click.option("-o", "--output", type=click.Path(dir_okay=False, path_type=Path), required=True, help="The JSON file to write.")
@click.option("--name", help="Name for tables; the model's by default.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
def make(run: str, output: Path, name: str | None, force: bool) -> None:
    """Make a baseline file from a run; with its statistics where the run logged samples, so that intervals are paired."""
    from dsb2_tasks.baseline import make_baseline
    from dsb2_tasks.results import read_run

    if output.exists() and not force:
        raise click.UsageError(f"{output} is there already; --force writes over it")
    read = read_run(run)
    made = make_baseline(read, name)
    text = json.dumps(made, allow_nan=False) + "\n"
    draft = output.with_name(f".{output.name}.{os.getpid()}")
    try:
        draft.write_text(text, encoding="utf-8")
        draft.replace(output)
    finally:
        draft.unlink(missing_ok=True)
    paired = sum("rows" in entry for entry in made["tasks"])
    click.echo(f"{output}: {made['name']}, {len(made['tasks'])} tasks, {paired} of them with the statistics of each document")
    if any(entry["version"].endswith("-samples") for entry in made["tasks"]):
        click.echo("made from SAMPLE DATA: good to try things out; its numbers are no results", err=True)


@baseline.command("show")
@click.argument("where", metavar="BASELINE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show_(where: str, as_json: bool) -> None:
    """Show the tasks that a baseline covers, with its numbers and caveats."""
    from dsb2_tasks import catalog
    from dsb2_tasks.baseline import read_baseline

    found = read_baseline(where)
    known = catalog.read_catalog()
    official = known.tasks_of("dsb2-phase2", None)
    uncovered = [task for task in official if task not in found.entries]
    rows = [
        {
            "task": task,
            "metric": entry.metric,
            "value": finite(entry.measured.plain),
            "na_rate": entry.measured.na_rate,
            "stderr": finite(entry.measured.stderr),
            "version": entry.version,
            "source": entry.source,
            "known": task in known.tasks,
        }
        for task, entry in found.entries.items()
    ]
    if as_json:
        missing = {task: found.why_missing(task) for task in uncovered}
        show_json({"name": found.name, "caveats": list(found.caveats), "tasks": rows, "not_covered": missing})
        return
    lines = table("task", "metric", ">value", ">N/A", ">stderr", "version", "source")
    for row in rows:
        numbers = [_shown(row["value"]), _shown(row["na_rate"]), _shown(row["stderr"])]
        add(lines, row["task"], row["metric"], *numbers, row["version"] or "", row["source"])
    show(lines)
    click.echo(f"\n{found.name}: {len(official) - len(uncovered)} of the {len(official)} tasks of Phase-2")
    for caveat in found.caveats:
        click.echo(f"Note: {caveat}")


@baseline.command()
@click.argument("run", type=click.Path())
@click.argument("where", metavar="BASELINE")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def check(run: str, where: str, as_json: bool) -> None:
    """Check whether RUN may be compared with BASELINE; exit code 1 if anything forbids it."""
    from dsb2_tasks.baseline import read_baseline
    from dsb2_tasks.results import read_run

    read, found = read_run(run), read_baseline(where)
    faults = {name: found.mismatches(name, task.version, task.spec) for name, task in read.tasks.items()}
    faults = {name: told for name, told in faults.items() if told}
    reasons = {name: found.improvement(task).reason for name, task in read.tasks.items() if name not in faults}
    left_out = {name: reason for name, reason in reasons.items() if reason is not None}
    if as_json:
        show_json({"compared": [n for n, r in reasons.items() if r is None], "left_out": left_out, "mismatches": faults})
    else:
        lines = table("task", "")
        for name in read.tasks:
            if name in faults or name in left_out:
                told = "; ".join(faults[name]) if name in faults else left_out[name]
                add(lines, name, ("mismatch: " if name in faults else "left out: ") + told)
        if faults or left_out:
            show(lines)
        compared = len(reasons) - len(left_out)
        click.echo(f"{compared} of {len(read.tasks)} tasks compared, {len(left_out)} left out, {len(faults)} mismatches")
    if faults:
        raise SystemExit(1)


def _shown(value: object) -> str:
    return "" if value is None else f"{value:.4g}"
