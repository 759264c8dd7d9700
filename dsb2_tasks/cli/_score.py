"""``dsb2 score``: scores again what was answered, without the model."""

from __future__ import annotations

import logging
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._output import add, show, show_json, table
from dsb2_tasks.cli._tasks import TaskName, find_task, read_catalog
from dsb2_tasks.results import finite

if TYPE_CHECKING:
    from dsb2_tasks.judge import Confusion, Judge
    from dsb2_tasks.rescore import Answered, Judged, Scores
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
@click.option("--judge", metavar="JUDGE", help="Also have an LLM judge: openai:MODEL[@URL], or lm-eval:BACKEND:ARGS.")
@click.option(
    "--contract", type=click.Choice(["default", "authors"]), default="default", show_default=True, help="Rules of the judge."
)
@click.option("--estimate", is_flag=True, help="Only say what the judge would cost.")
@click.option("--agreement", is_flag=True, help="Show how often judge and option matcher agree, task by task.")
@click.option("--judge-price", nargs=2, type=float, metavar="IN OUT", help="Prices of a million tokens of prompt and reply.")
@click.option("--judge-concurrency", type=click.IntRange(min=1), help="Requests to the judge's server at a time, 8 by default.")
@click.option("--judge-rpm", type=click.FloatRange(min=0, min_open=True), help="Requests a minute that the server allows.")
@click.option("--judge-tpm", type=click.FloatRange(min=0, min_open=True), help="Tokens a minute that the server allows.")
@click.option("--judge-key-env", default="OPENAI_API_KEY", show_default=True, help="Environment variable with the server's key.")
@click.option("--retry-unusable", is_flag=True, help="Ask again where the stored reply is no verdict.")
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
    judge: str | None,
    contract: str,
    estimate: bool,
    agreement: bool,
    as_json: bool,
    **judging: Any,
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
      dsb2 score results/mine --judge openai:gpt-4o --estimate
      dsb2 score results/mine --judge openai:gpt-4o --agreement
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    from dsb2_tasks.baseline import read_baseline
    from dsb2_tasks.rescore import Rules, agreement_of, check_target, judge_answers, write_results
    from dsb2_tasks.rescore import score as score_answers

    if (run is None) == (not answers):
        raise click.UsageError("one of RUN and --answers is needed")
    logging.basicConfig(level=logging.WARNING, format="%(message)s")
    wanted = _tasks(tasks)
    found, of_run, model = _answered(run, answers, wanted, data, choose, name)
    opened = None
    if judge is not None:
        opened = _open_judge(judge, contract, judging)
    elif estimate or agreement:
        raise click.UsageError(f"{'--estimate' if estimate else '--agreement'} needs --judge")
    if estimate:
        _print_estimate(opened, found, as_json)
        return
    rules = Rules(read_baseline(baseline) if baseline else None, rule, force)  # type: ignore[arg-type]  # one of the choices
    groups = None if of_run is None else _kept_groups(of_run, found)
    where = output or (of_run.path.parent if of_run is not None else None)
    if where is None:
        raise click.UsageError("-o is needed: answers that are no run have no folder of their own")
    check_target(where, of_run)
    judged = None if opened is None else judge_answers(found, opened)
    scores = score_answers(found, rules, groups, None if judged is None else judged.rows)
    notes: dict[str, Any] = {"rule": rule, "baseline": baseline, "forced": force}
    if opened is not None:
        notes["judge"] = opened.identity
    origin = str(of_run.path) if of_run is not None else ", ".join(map(str, [run] if run else answers))
    file = write_results(scores, where, run=of_run, origin=origin, model=model, notes=notes)
    agreed = {} if judged is None or not agreement else agreement_of(scores, judged)
    if as_json:
        confusions = {task: {**vars(c), "kappa": finite(c.kappa)} for task, c in agreed.items()}
        show_json({"file": str(file), "results": scores.results, "agreement": confusions})
    else:
        _print(scores, rules.baseline is not None)
        _print_agreement(agreed)
    if opened is not None and judged is not None:
        _tell_judge(opened, judged)
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


def _open_judge(name: str, contract: str, judging: dict[str, Any]) -> Judge:
    from dsb2_tasks.judge import Prices, open_judge
    from dsb2_tasks.models import cache_folder

    price = judging["judge_price"]
    return open_judge(
        name,
        store=cache_folder() / "verdicts",
        contract=contract,
        concurrency=judging["judge_concurrency"],
        key_env=judging["judge_key_env"],
        requests_per_minute=judging["judge_rpm"],
        tokens_per_minute=judging["judge_tpm"],
        prices=Prices(*price) if price else None,
        retry_unusable=judging["retry_unusable"],
    )


def _print_estimate(judge: Judge | None, found: list[Answered], as_json: bool) -> None:
    from dsb2_tasks.rescore import judge_items

    assert judge is not None
    cost = judge.estimate(judge_items(found))
    if as_json:
        show_json(vars(cost))
        return
    click.echo(
        f"{cost.calls} calls ({cost.cached} more are answered already): about {cost.prompt_tokens} tokens of prompts, at most "
        f"{cost.completion_tokens} of replies" + ("" if cost.cost is None else f", at most {cost.cost:.2f} in all")
    )


def _tell_judge(judge: Judge, judged: Judged) -> None:
    from dsb2_tasks.judge import coverage

    whole = coverage([verdict for verdicts in judged.verdicts.values() for verdict in verdicts])
    usage = judge.usage
    click.echo(
        f"judge: {whole.usable} of {whole.total} verdicts usable {whole.statuses}; {usage.requests} requests, "
        f"{usage.prompt_tokens} + {usage.completion_tokens} tokens" + ("" if judge.cost is None else f", cost {judge.cost:.4f}"),
        err=True,
    )


def _print_agreement(agreed: dict[str, Confusion]) -> None:
    if not agreed:
        return
    click.echo()
    lines = table("task", ">both right", ">matcher only", ">judge only", ">both wrong", ">left out", ">agree", ">kappa")
    for task, c in agreed.items():
        shares = [_number(value) if math.isfinite(value) else "" for value in (c.observed, c.kappa)]
        add(lines, task, c.both_right, c.matcher_only, c.judge_only, c.both_wrong, c.left_out, *shares)
    show(lines)


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
    from dsb2_tasks.rescore import leaves

    names = {task.task for task in found}
    kept = {group: [m for m in members if not names.isdisjoint(leaves(m, run.members))] for group, members in run.members.items()}
    return {group: members for group, members in kept.items() if members}


def _print(scores: Scores, compared: bool) -> None:
    from dsb2_tasks.results import as_number

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
