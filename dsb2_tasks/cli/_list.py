"""``dsb2 list``: tasks and groups by what they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import click

from dsb2_tasks.cli._tasks import read_catalog, unknown

if TYPE_CHECKING:
    from dsb2_tasks.catalog import Catalog, TaskEntry

#: Filter -> the values that a task has there.
_VALUES: dict[str, Callable[[TaskEntry], Iterable[str | None]]] = {
    "modality": lambda task: [task.spec.modality],
    "domain": lambda task: [task.spec.domain],
    "kind": lambda task: [task.spec.kind],
    "suite": lambda task: [task.spec.suite],
    "language": lambda task: languages(task),
    "tag": lambda task: task.tags,
    "metric": lambda task: [task.spec.metric, *task.spec.secondary],
}


def _filters(command: Callable[..., None]) -> Callable[..., None]:
    for name in reversed(_VALUES):
        text = "Main or further metric." if name == "metric" else f"Only tasks of this {name}."
        command = click.option(f"--{name}", multiple=True, metavar=name.upper(), help=text)(command)
    return command


@click.command(name="list")
@click.argument("word", required=False)
@_filters
@click.option("--groups", is_flag=True, help="Groups that hold such tasks, in place of the tasks.")
@click.option(
    "--include_path", multiple=True, type=click.Path(), metavar="FOLDER", help="A further folder with tasks, as in lm_eval."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON list.")
def list_(word: str | None, groups: bool, include_path: tuple[str, ...], as_json: bool, **filters: tuple[str, ...]) -> None:
    """List tasks, all or those that fit.

    WORD is looked for in names, domains and data sets. A filter given twice means one or the other, two filters mean both.
    A metric with * stands for one of the authors of which only the name is known.

    \b
    Examples:
      dsb2 list
      dsb2 list --modality music --kind choice
      dsb2 list --metric wer --language zh
      dsb2 list emotion --json
      dsb2 list --groups
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    known = read_catalog(include_path)
    tasks = [task for task in known.tasks.values() if _fits(task, _checked(filters, known))]
    if groups:
        _show_groups(known, {task.name for task in tasks}, word, as_json)
    else:
        _show_tasks([task for task in tasks if word is None or word.casefold() in _searched(task)], as_json)


def languages(task: TaskEntry) -> list[str]:
    """Languages of a task's data, in order."""
    found = [source.language or task.spec.language for source in task.spec.data]
    return list(dict.fromkeys(language for language in found if language))


def _checked(filters: dict[str, tuple[str, ...]], known: Catalog) -> dict[str, set[str]]:
    """The filters that are set; a value that no task has is an error with the nearest one that some task has."""
    for name, wanted in filters.items():
        there = sorted({value for task in known.tasks.values() for value in _VALUES[name](task) if value})
        for value in wanted:
            if value not in there:
                raise unknown(name, value, there, f"known are {', '.join(there)}")
    return {name: set(wanted) for name, wanted in filters.items() if wanted}


def _fits(task: TaskEntry, filters: dict[str, set[str]]) -> bool:
    return all(not wanted.isdisjoint(_VALUES[name](task)) for name, wanted in filters.items())


def _searched(task: TaskEntry) -> str:
    return " ".join(
        [task.name, task.spec.domain, task.spec.instance or "", *(source.path for source in task.spec.data)]
    ).casefold()


def _show_tasks(tasks: list[TaskEntry], as_json: bool) -> None:
    from dsb2_tasks.cli import _output

    if as_json:
        _output.show_json([_object(task) for task in tasks])
        return
    columns = ("task", "modality", "domain", "kind", "metric", "language", ">rows", "confidence")
    table = _output.table(*columns, one_line=True)
    for task in tasks:
        spec = task.spec
        metric = f"{spec.metric}{'*' if spec.metric_assumed else ''}"
        shown = ", ".join(languages(task))
        _output.add(table, task.name, spec.modality, spec.domain, spec.kind, metric, shown, spec.rows, spec.confidence)
    if tasks:
        _output.show(table)
    click.echo(f"{len(tasks)} task{'' if len(tasks) == 1 else 's'}", err=True)


def _object(task: TaskEntry) -> dict[str, Any]:
    spec = task.spec
    return {
        "name": task.name,
        "modality": spec.modality,
        "domain": spec.domain,
        "kind": spec.kind,
        "metric": spec.metric,
        "assumed": spec.metric_assumed,
        "secondary": list(spec.secondary),
        "suite": spec.suite,
        "language": languages(task),
        "confidence": spec.confidence,
        "rows": spec.rows,
        "data": [source.model_dump(mode="json") for source in spec.data],
        "licence": spec.licence,
        "tags": list(task.tags),
        "version": task.version,
        "file": str(task.path),
    }


def _show_groups(known: Catalog, tasks: set[str], word: str | None, as_json: bool) -> None:
    from dsb2_tasks.cli import _output

    found: list[dict[str, Any]] = []
    for name, group in known.groups.items():
        members = [member for member in known.members(name) if member in tasks]
        if members and (word is None or word.casefold() in f"{name} {group.spec.title}".casefold()):
            spec = {"title": group.spec.title, "suite": group.spec.suite, "domain": group.spec.domain}
            found.append({"name": name, **spec, "groups": list(group.spec.groups), "tasks": members})
    if as_json:
        _output.show_json(found)
        return
    table = _output.table("group", "title", "suite", ">tasks", one_line=True)
    for row in found:
        _output.add(table, row["name"], row["title"], row["suite"], len(row["tasks"]))
    if found:
        _output.show(table)
    click.echo(f"{len(found)} group{'' if len(found) == 1 else 's'}", err=True)
