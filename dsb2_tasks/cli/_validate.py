"""``dsb2 validate``: task files checked before anybody runs them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dsb2_tasks.validation import Outcome


@click.command()
@click.argument("paths", metavar="FILE|FOLDER...", nargs=-1, required=True, type=click.Path(exists=True, path_type=Path))
@click.option("--data", metavar="hub|samples|FOLDER", help="Where hub data sets are read from; the hub if it can be reached.")
@click.option("--no-data", is_flag=True, help="Check the files alone; open no data.")
@click.option("--allow-code", is_flag=True, help="Run functions that the files name, and follow paths out of their folders.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.pass_context
def validate(
    ctx: click.Context, paths: tuple[Path, ...], data: str | None, no_data: bool, allow_code: bool, as_json: bool
) -> None:
    """Check task files: keys, data, labels, prompts, and what the right answers score.

    Each fault is told as file:line: cause; fix. The exit code is 1 if there is one. Files that are no dsb2 task are passed over.
    Data beside a task file are always opened; --data says where data sets of the hub are read from. Nothing outside of dsb2-tasks
    is imported or run without --allow-code, so files of strangers can be checked.
    """
    if no_data and data is not None:
        raise click.UsageError("--data and --no-data are both given; which one is meant?")
    from dsb2_tasks import validation

    outcomes = []
    for outcome in validation.validate(paths, data=data, open_data=not no_data, allow_code=allow_code):
        outcomes.append(outcome)
        if not as_json:
            show(outcome)
    faults = sum(len(outcome.faults) for outcome in outcomes)
    if as_json:
        click.echo(json.dumps({"faults": faults, "files": [outcome.as_json() for outcome in outcomes]}, allow_nan=False))
    else:
        ours = sum(outcome.ours for outcome in outcomes)
        passed = f", {len(outcomes) - ours} passed over (no dsb2 task)" if len(outcomes) > ours else ""
        click.echo(
            f"{ours} task {'file' if ours == 1 else 'files'} checked, {faults} {'fault' if faults == 1 else 'faults'}{passed}"
        )
        if not outcomes:
            click.echo(f"no .yaml file in {', '.join(map(str, paths))}", err=True)
    ctx.exit(1 if faults else 0)


def show(outcome: Outcome) -> None:
    """Prints what was found in one file."""
    for finding in outcome.findings:
        click.echo(str(finding))
    if outcome.ours and not outcome.faults:
        rows = "data not opened" if outcome.rows is None else f"{outcome.rows} rows"
        scores = "".join(f", {name} {value:.4g}" for name, value in outcome.scores.items())
        click.echo(f"{outcome.path}: ok: {outcome.task}, {rows}{f'; right answers:{scores[1:]}' if scores else ''}")
