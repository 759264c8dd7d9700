"""Task names on the command line: looked up with a suggestion, completed by the shell."""

from __future__ import annotations

import difflib
import fnmatch
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from dsb2_tasks.catalog import Catalog, TaskEntry
    from dsb2_tasks.sources import Docs


#: Where tasks of the user's own come from; every command reads it.
_OWN = "; the folder of a task of your own is named by DSB2_TASKS_PATH"


class WrongUse(click.ClickException):
    """A wrong argument, told in one line."""

    exit_code = 2


class TaskName(click.ParamType):
    """Name of a task; the shell completes it.

    Args:
        groups: Whether a group may be named too.
    """

    name = "task"

    def __init__(self, groups: bool = False) -> None:
        self._groups = groups

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Known names that begin with what is typed."""
        from click.shell_completion import CompletionItem

        known = read_catalog(ctx.params.get("include_path") or ())
        names = [*known.tasks, *(known.groups if self._groups else ())]
        return [CompletionItem(name) for name in names if name.startswith(incomplete)]


def read_catalog(more: Iterable[str | Path] = ()) -> Catalog:
    """The suite, the folders of ``DSB2_TASKS_PATH`` and ``more`` ones.

    Raises:
        WrongUse: One of ``more`` is no folder.
    """
    from dsb2_tasks import catalog

    folders = [Path(path).expanduser().resolve() for path in more]
    for folder in folders:
        if not folder.is_dir():
            raise WrongUse(f"--include_path {str(folder)!r}: no such folder")
    return catalog.read_catalog(list(dict.fromkeys([*catalog.search_paths(), *folders])))


def find_task(name: str, known: Catalog) -> TaskEntry:
    """The task of that name.

    Raises:
        WrongUse: There is none, or it is a group or a tag; the message names the nearest one.
    """
    if name in known.groups:
        members = known.members(name)
        raise WrongUse(f"{name!r} is a group; name one of its {len(members)} tasks{f', as {members[0]!r}' if members else ''}")
    if name not in known.tasks:
        tagged = [task.name for task in known.tasks.values() if name in task.tags]
        if tagged:
            raise WrongUse(f"{name!r} is a tag; name one of its {len(tagged)} tasks, as {tagged[0]!r}")
        raise unknown("task", name, known.tasks, f"there are {len(known.tasks)} tasks, all listed by 'dsb2 list'{_OWN}")
    return known.tasks[name]


def choose(names: Iterable[str], known: Catalog) -> list[TaskEntry]:
    """Tasks by name, group, tag or wildcard, each once.

    Raises:
        WrongUse: A name is none of these; the message names the nearest one.
    """
    tags: dict[str, list[str]] = {}
    for task in known.tasks.values():
        for tag in task.tags:
            tags.setdefault(tag, []).append(task.name)
    chosen: dict[str, None] = {}
    for name in names:
        found = known.members(name) if name in known.groups else tags.get(name) or fnmatch.filter(known.tasks, name)
        if not found:
            raise unknown("task or group", name, [*known.tasks, *known.groups, *tags], f"all are listed by 'dsb2 list'{_OWN}")
        chosen |= dict.fromkeys(found)
    return [known.tasks[name] for name in chosen]


def open_docs(task: TaskEntry, data: str) -> Docs:
    """The documents of a task from ``hub``, ``samples`` or a folder.

    Raises:
        DataError: They cannot be opened or do not fit the task.
    """
    from dsb2_tasks.sources import Docs, open_rows

    return Docs(task.name, task.spec, [open_rows(source, data, task.path.parent, task.name) for source in task.spec.data])


def unknown(what: str, name: str, known: Iterable[str], otherwise: str) -> WrongUse:
    """The error for a name that is none of ``known``: with the nearest one, or what else to do."""
    by_name: dict[str, str] = {}
    for full in known:
        by_name |= {full.removeprefix("dsb2_"): full, full: full}
    near = difflib.get_close_matches(name, by_name, n=1)
    return WrongUse(f"unknown {what} {name!r}; " + (f"did you mean {by_name[near[0]]!r}?" if near else otherwise))
