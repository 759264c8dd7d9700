"""``DSB2Group``: domain, modality and suite rows of the result table.

lm-eval's own groups average whatever metric their tasks share and ignore a custom aggregation.  Tasks of one domain have
unlike metrics (accuracy beside word error rate), whose mean means nothing; what a group shows instead stands in
:mod:`dsb2_tasks.summary`.
"""

from __future__ import annotations

import logging
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval.api.group import Group

from dsb2_tasks import catalog, compat
from dsb2_tasks.plugin import merge_paths
from dsb2_tasks.spec import SpecError
from dsb2_tasks.summary import group_row

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager

log = logging.getLogger(__name__)


class DSB2Group(Group):
    """A group whose members follow from the task files: suite and domain, suite alone, or the groups that it names."""

    def __init__(self, config: dict[str, Any], known: catalog.Catalog | None = None, manager: TaskManager | None = None) -> None:
        """Builds the group and all its tasks.

        Args:
            config: The group file as a mapping, with lm-eval's run-time metadata merged in.
            known: All tasks and groups; read once by the outermost group.
            manager: Builds tasks by name; made once by the outermost group.

        Raises:
            SpecError: The group file is wrong or names a group that does not exist.
        """
        metadata = dict(config.get("metadata") or {})
        origin = Path(str(metadata.pop("config_source", config["task"])))
        entry = catalog.read_group(origin, config)
        run_time = {k: v for k, v in metadata.items() if k != "version"}
        version = f"{entry.version}-samples" if run_time.get("data") == "samples" else entry.version
        self._mean = entry.spec.mean
        super().__init__(name=entry.name, metadata={"version": version, "title": entry.spec.title})
        paths = [catalog.yaml_root()]
        if entry.spec.suite not in catalog.OWN_SUITES:
            paths = [Path(p) for p in merge_paths([*catalog.search_paths(), *catalog.included, origin.parent], [])]
        known = known or catalog.read_catalog(paths)
        manager = manager or compat.task_manager(paths, run_time)
        if not entry.spec.groups:
            names = known.chosen(entry.spec)
            if not names:
                suite = entry.spec.suite
                what = "task" if suite == catalog.OTHER_SUITES else f"task of suite {suite!r}"
                raise SpecError(
                    f"{origin}: dsb2_group: no {what}"
                    + (f" and domain {entry.spec.domain!r}" if entry.spec.domain else "")
                    + f" in {', '.join(map(str, paths))}; name the folder of yours by --include_path or {catalog.TASKS_PATH}"
                )
            if unknown := [name for name in names if name not in known.tasks]:
                raise SpecError(f"{origin}: dsb2_group.tasks: there is no task {unknown[0]!r}")
            for name, task in manager.load(names)["tasks"].items():
                if (found := Path(str(task.config.metadata["config_source"]))) != known.tasks[name].path:
                    raise SpecError(f"{found}: task: {name!r} is the name of {known.tasks[name].path} too; give one another name")
                self.add(task)
        for name in entry.spec.groups:
            if name not in known.groups:
                raise SpecError(f"{origin}: dsb2_group.groups: there is no group {name!r}; known: {', '.join(known.groups)}")
            child = known.groups[name]
            child_metadata = {**run_time, "version": child.version, "config_source": str(child.path)}
            self.add(DSB2Group({**child.config, "metadata": child_metadata}, known, manager))

    @property
    def has_aggregation(self) -> bool:
        """Always true: the group has rows of its own in the table of groups."""
        return True

    def aggregate(self, task_metrics: dict[str, Any]) -> dict[str, Any]:
        """Rows of the group from the finished results of its tasks.

        Args:
            task_metrics: Results of all tasks, ``{task: {"metric,filter": value, ...}}``.

        Returns:
            See :func:`dsb2_tasks.summary.group_row`.
        """
        tasks = [task for task in self.get_all_tasks() if task.task_name in task_metrics]
        results = {task.task_name: task_metrics[task.task_name] for task in tasks}
        compared = [task for task in tasks if getattr(task, "has_baseline", False)]
        for task in compared:
            if task.left_out is not None:
                _tell_once(task.task_name, task.left_out)
        modalities = [task.spec.modality for task in tasks if hasattr(task, "spec")]
        return group_row(self.name, results, compared=bool(compared), modalities=modalities, mean=self._mean)

    def to_dict(self) -> dict[str, Any]:
        """What lm-eval stores about the group."""
        return {"group": self.name, "title": (self.metadata or {}).get("title"), "task": self.child_names}


@lru_cache(maxsize=1024)
def _tell_once(task: str, reason: str) -> None:
    """A task belongs to several groups; why it is left out is said once."""
    log.warning("%s: no relative improvement: %s", task, reason)
