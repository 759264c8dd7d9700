"""``dsb2 judge``: what an LLM judge is told, and how a reply of it would be read.  Asks nobody."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._output import add, plain, show_json, table
from dsb2_tasks.cli._output import show as show_table
from dsb2_tasks.cli._tasks import TaskName, WrongUse, find_task, open_docs, read_catalog

if TYPE_CHECKING:
    from dsb2_tasks.judge import Contract, JudgeItem
    from dsb2_tasks.spec import TaskSpec


@click.group()
def judge() -> None:
    """Show what an LLM judge is told, and how its reply is read; asks nobody."""


@judge.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def contracts(as_json: bool) -> None:
    """List the contracts: prompt and parser together, each with a version."""
    from dsb2_tasks.judge import CHOICE_KINDS, CONTRACTS, EXTRACT_KINDS, contract_for

    found: list[dict[str, Any]] = [
        {
            "name": contract.name,
            "version": contract.version,
            "asked_for": "authors" if contract.name.endswith("_authors") else "default",
            "kinds": [
                kind
                for kind in (*CHOICE_KINDS, *EXTRACT_KINDS)
                if contract in (contract_for(kind, family) for family in ("default", "authors"))
            ],
            "about": contract.about,
        }
        for contract in CONTRACTS.values()
    ]
    if as_json:
        show_json(found)
        return
    lines = table("contract", "form", "output kinds", "what it does")
    for row in found:
        add(lines, f"{row['name']} {row['version']}", row["asked_for"], ", ".join(row["kinds"]), row["about"])
    show_table(lines)


@judge.command()
@click.argument("task", type=TaskName())
@click.option("--answer", metavar="TEXT", help="What a model answered; the reference answer by default.")
@click.option("--doc", type=click.IntRange(min=0), default=0, help="Number of the document, 0 by default.")
@click.option("--data", metavar="samples|hub|FOLDER", default="samples", help="Where documents come from; the embedded samples.")
@click.option("--contract", type=click.Choice(["default", "authors"]), default="default", help="Which form of the contract.")
@click.option("--verdict", metavar="TEXT", help="A judge's reply, to be read.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def show(task: str, answer: str | None, doc: int, data: str, contract: str, verdict: str | None, as_json: bool) -> None:
    """Show the prompt that a judge gets about one answer to TASK and, with --verdict, how a reply would be read and counted."""
    from dsb2_tasks import hooks
    from dsb2_tasks.judge import contract_for, item_for

    entry = find_task(task, read_catalog())
    rules = contract_for(entry.spec.kind, contract)
    rows = open_docs(entry, data)
    docs = [rows.text(index) for index in range(len(rows))]
    if doc >= len(docs):
        raise WrongUse(f"{entry.name} has documents 0 to {len(docs) - 1}, not {doc}")
    spec = hooks.close_options(entry.spec, docs)
    try:
        given = hooks.KINDS[spec.kind].reference_answer(docs[doc], spec) if answer is None else answer
        item = item_for(spec, docs[doc], given)
    except hooks.LabelError as error:
        raise click.ClickException(f"{entry.name}: {rows.place(doc)}: {error}") from error
    if item is None:
        raise WrongUse("--answer is the record of a broken clip; no judge is asked about it")
    found = {
        "task": entry.name,
        "kind": spec.kind,
        "contract": rules.name,
        "version": rules.version,
        "most_tokens": rules.most_tokens(spec.kind),
        "prompt": rules.prompt(item),
        "reply": None if verdict is None else _reply(verdict, rules, item, spec, docs[doc]),
    }
    if as_json:
        show_json(found)
    else:
        click.echo("\n".join(_lines(found)))


def _reply(text: str, rules: Contract, item: JudgeItem, spec: TaskSpec, doc: dict[str, Any]) -> dict[str, Any]:
    from dsb2_tasks.judge import judged_rows

    verdict = rules.read(text, False, item)
    scored = judged_rows(spec, doc, verdict)
    return {
        "status": verdict.status,
        "value": verdict.value,
        "explanation": verdict.explanation,
        "read_as": scored.value,
        "statistics": scored.statistics,
    }


def _lines(found: dict[str, Any]) -> list[str]:
    lines = [f"{found['task']} ({found['kind']}): contract {found['contract']} {found['version']}, ", "", found["prompt"]]
    lines[0] += f"one user turn, temperature 0, at most {found['most_tokens']} tokens"
    reply = found["reply"]
    if reply is None:
        return lines
    value = "" if reply["value"] is None else f" {reply['value']!r}, read as {reply['read_as']!r}"
    lines += ["", f"reply       {reply['status']}{value}", f"explanation {plain(reply['explanation']) or 'none'}"]
    for name, row in reply["statistics"].items():
        lines.append(f"{name}: {'not counted' if row is None else list(row)}")
    return lines
