"""The task manager of ``dsb2 run``: it reads our task files alone where that is enough, and merges what overlaps."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lm_eval.tasks import TaskManager

from dsb2_tasks import catalog, plugin
from dsb2_tasks.cli._tasks import WrongUse, unknown

log = logging.getLogger(__name__)

_WILDCARDS = "*?["


class QuickManager(TaskManager):
    """Reads our task files alone, and lm-eval's 14,000 only when one of their tasks may be meant."""

    def __init__(self, include_path: Any = None, metadata: dict[str, Any] | None = None) -> None:
        """As lm-eval's, but that the built-in tasks are not read yet."""
        self._given: list[str | Path] = [include_path] if isinstance(include_path, (str, Path)) else list(include_path or ())
        for folder in self._given:
            if not Path(folder).is_dir():
                raise WrongUse(f"--include_path {str(folder)!r}: no such folder")
        paths = plugin.merge_paths(catalog.search_paths(), self._given)
        catalog.included[:] = [Path(path).resolve() for path in self._given]  # for the group of community tasks
        self._known = catalog.read_catalog([Path(path) for path in paths])
        self._scanned_all = False
        super().__init__(include_path=paths, include_defaults=False, metadata=metadata)

    def match_tasks(self, task_list: list[str]) -> list[str]:
        """Names that match; all that there are, if none of ours does.

        Raises:
            WrongUse: A name is neither ours nor lm-eval's, nor a folder.
        """
        self._scan_all_unless_ours(task_list)
        found = super().match_tasks(task_list)
        missing = [name for name in task_list if not super(QuickManager, self).match_tasks([name]) and not Path(name).is_dir()]
        if missing:
            raise unknown("task", missing[0], self.all_tasks, "all names: dsb2 list, dsb2 list --groups, lm_eval ls tasks")
        return found

    def load(self, task_list: Any) -> Any:
        """As lm-eval's; what stands below a group that is asked for too is built once, as part of it."""
        specs = list(task_list) if isinstance(task_list, (list, tuple)) else [task_list]
        self._scan_all_unless_ours(specs)
        return super().load(self._merged(specs))

    @staticmethod
    def _check_duplicates(built: Any) -> None:
        """Nothing: a task that two groups share runs once, and counts in both."""

    def is_task(self, name: str) -> bool:
        """Whether this is a single task, which lm-eval cannot tell from our groups."""
        return name in self.all_subtasks and name not in self._known.groups

    def is_ours(self, spec: Any) -> bool:
        """Whether the built-in tasks are not needed for this name, pattern or configuration."""
        if isinstance(spec, dict):
            return bool({"dsb2", "dsb2_group"} & set(spec))
        if not isinstance(spec, str):
            return True
        wild = min((spec.index(sign) for sign in _WILDCARDS if sign in spec), default=None)
        if wild is not None and not spec.startswith("dsb2"):
            return False
        names = super().match_tasks([spec]) or [spec]
        return all(task in self._known.tasks or task in self._known.groups for name in names for task in self._tagged(name))

    def _tagged(self, name: str) -> Iterable[str]:
        entry = self.task_index.get(name)
        return sorted(entry.tags) if entry is not None and entry.kind.name == "TAG" else [name]

    def _scan_all_unless_ours(self, specs: Iterable[Any]) -> None:
        other = [spec for spec in specs if not self.is_ours(spec)]
        if self._scanned_all or not other or all(isinstance(s, str) and s.startswith("dsb2") for s in other):
            return
        log.info("%s: not one of the dsb2 tasks, so all of lm-eval's are looked through", ", ".join(map(str, other)))
        super().__init__(include_path=self._given, include_defaults=True, metadata=self.metadata)
        self._scanned_all = True

    def _merged(self, specs: list[Any]) -> list[Any]:
        """What is asked for, tags as their tasks, without what stands below a group that is asked for."""
        asked = [name for spec in specs for name in (self._tagged(spec) if isinstance(spec, str) else [spec])]
        below = {name: group for group in asked if isinstance(group, str) for name in self._below(group)}
        kept: list[Any] = []
        for spec in asked:
            if isinstance(spec, str) and spec in below:
                log.info("%s runs as part of %s", spec, below[spec])
            elif spec not in kept:
                kept.append(spec)
        return kept

    def _below(self, name: str) -> Iterable[str]:
        """Groups and tasks below a group; nothing below anything else."""
        if name in self._known.groups:
            for child in self._known.groups[name].spec.groups or self._known.members(name):
                yield child
                yield from self._below(child)
