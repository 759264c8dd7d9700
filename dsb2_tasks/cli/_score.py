"""``dsb2 score``: scores again what was answered, without the model."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._output import add, show, show_json, table
from dsb2_tasks.cli._tasks import TaskName, find_task, read_catalog

if TYPE_CHECKING:
    from dsb2_tasks.rescore import Answered, Scores
    from dsb2_tasks.results import Run


@click.command()
@click.argument("run", type=click.Path(exists=True, path_type=Path), required=False)
@click.option(
    "--answers",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Answers made elsewhere: .jsonl, or .json of the authors' scripts.",
)
@click.option(
    "--data", metavar="samples|hub|FOLDER", default="hub", show_default=True, help="Where documents of answers come from."
)
@click.option("--tasks", multiple=True, type=TaskName(groups=True), help="Only these tasks or groups.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Results file (.json) or folder; beside the old one by default."
)
@click.option("--baseline", metavar="FILE", help="What relative improvements are over.")
@click.option(
    "--rule",
    type=click.Choice(["paper", "strict", "copied_recipe"]),
    default="paper",
    show_default=True,
    help="Recipe of relative improvement.",
)
@click.option("--force", is_flag=True, help="Compare with a baseline of other versions or data too.")
@click.option("--choose", multiple=True, metavar="NAME=VALUE", help="Setting of the answers that are meant, in a response store.")
@click.option("--name", default="answers", show_default=True, help="Name of the model that gave answers made elsewhere.")
@click.option("--json", "as_json", is_flag=True, help="Print the numbers as one JSON object.")
def score(
    run: Path | None,
    answers: tuple[Path, ...],
    data: str,
    tasks: tuple[str, ...],
    output: Path | None,
    baseline: str | None,
    rule: str,
    force: bool,
    choose: tuple[str, ...],
    name: str,
    as_json: bool,
) -> None:
    """Score again what was answered: other rules, another baseline, no model.

    RUN is a results file, a folder of a run with logged samples, or a response store of a run that did not finish. --answers
    reads answers made elsewhere: lines of {"task", "doc_id", "answer"} (or "sha256" or "file" of the clip in place of doc_id), or
    files of the authors' own inference scripts.

    \b
    Examples:
      dsb2 score results/mine --baseline cascade.json
      dsb2 score ~/.cache/dsb2/responses/1a2b3c4d5e6f7081 --tasks dsb2_speech --data hub
      dsb2 score --answers mine.jsonl --data samples -o scored.json
      dsb2 score --answers Authors_Results/ -o scored.json
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    from dsb2_tasks.baseline import read_baseline
    from dsb2_tasks.rescore import Rules, write_results
    from dsb2_tasks.rescore import score as score_answers

    if (run is None) == (not answers):
        raise click.UsageError("one of RUN and --answers is needed")
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    wanted = _tasks(tasks)
    found, of_run, model = _answered(run, answers, wanted, data, choose, name)
    rules = Rules(read_baseline(baseline) if baseline else None, rule, force)  # type: ignore[arg-type]  # one of the choices
    groups = None if of_run is None else _kept_groups(of_run, found)
    scores = score_answers(found, rules, groups)
    where = output or (of_run.path.parent if of_run is not None else None)
    if where is None:
        raise click.UsageError("-o is needed: answers that are no run have no folder of their own")
    notes = {"rule": rule, "baseline": baseline, "forced": force}
    origin = str(of_run.path) if of_run is not None else ", ".join(map(str, [run] if run else answers))
    file = write_results(scores, where, run=of_run, origin=origin, model=model, notes=notes)
    _print(scores, rules.baseline is not None, as_json)
    if rules.baseline is not None:
        for caveat in rules.baseline.caveats:
            click.echo(f"Note: {caveat}", err=True)
    if any(task.version.endswith("-samples") for task in found):
        click.echo("SAMPLE DATA: these numbers are no benchmark results", err=True)
    click.echo(f"written: {file}", err=True)


def _tasks(names: tuple[str, ...]) -> list[str] | None:
    if not names:
        return None
    known = read_catalog()
    return list(dict.fromkeys(t for n in names for t in (known.members(n) if n in known.groups else [find_task(n, known).name])))


def _answered(
    run: Path | None, answers: tuple[Path, ...], tasks: list[str] | None, data: str, choose: tuple[str, ...], name: str
) -> tuple[list[Answered], Run | None, dict[str, Any]]:
    """Answers, the run that they are of, and who gave them."""
    from dsb2_tasks.rescore import from_answers, from_run, from_store
    from dsb2_tasks.results import read_run

    if run is None:
        found = [task for task in from_answers(answers, data) if tasks is None or task.task in tasks]
        return found, None, {"model": "answers", "model_args": {"name": name}}
    if run.is_dir() and any(run.rglob("responses*.jsonl")) and not any(run.rglob("results_*.json")):
        wanted = tasks if tasks is not None else read_catalog().tasks_of("dsb2-phase2", None)
        found, identity = from_store(run, wanted, data, dict(_setting(text) for text in choose))
        known_as = str(identity.get("name") or identity.get("pretrained") or run.name)
        return found, None, {"model": "responses", "model_args": {"name": known_as}, "dsb2_model": identity}
    read = read_run(run)
    return from_run(read, tasks), read, {}


def _setting(text: str) -> tuple[str, Any]:
    import json

    name, equals, value = text.partition("=")
    if not equals:
        raise click.UsageError(f"--choose {text!r}: NAME=VALUE is needed, such as max_new_tokens=256")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _kept_groups(run: Run, found: list[Answered]) -> dict[str, list[str]]:
    """The groups of the run, without tasks that are not scored again and without groups that are then empty."""
    names = {task.task for task in found}

    def holds(member: str) -> bool:
        return member in names or any(holds(m) for m in run.members.get(member, ()))

    return {group: [m for m in members if holds(m)] for group, members in run.members.items() if holds(group)}


def _print(scores: Scores, compared: bool, as_json: bool) -> None:
    from dsb2_tasks.results import as_number

    if as_json:
        show_json(scores.results)
        return
    lines = table("task", "metric", ">value", ">±", ">N/A", ">answers", *([">improvement", ""] if compared else []))
    for task in scores.answered:
        numbers = scores.results[task.task]
        metric = f"{task.spec.metric}_scaled" if f"{task.spec.metric}_scaled,none" in numbers else task.spec.metric
        na = as_number(numbers.get("na_rate,none"))
        cells = [task.task, metric, _number(numbers[f"{metric},none"]), _number(numbers[f"{metric}_stderr,none"])]
        cells += ["" if math.isnan(na) else f"{na:.2f}", f"{len(task.documents)}/{task.total}"]
        if compared:
            told = scores.told[task.task].get("left_out")
            gain = as_number(numbers.get("relative_improvement,none"))
            cells += ["" if math.isnan(gain) else f"{gain:+.1%}", f"left out: {told}" if told else ""]
        add(lines, *cells)
    show(lines)
    if compared and scores.members:
        click.echo()
        rows = table("group", ">improvement", ">±", ">median", ">clipped", ">kept")
        for name in scores.members:
            row = scores.results[name]
            values = [_share(row.get(f"relative_improvement{part},none")) for part in ("", "_stderr", "_median", "_clipped")]
            add(rows, name, *values, f"{row['kept,none']}/{row['tasks,none']}")
        show(rows)


def _number(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def _share(value: Any) -> str:
    return f"{value:+.1%}" if isinstance(value, float) else "" if value is None else str(value)
