"""``DSB2Group``: domain, modality and suite rows of the result table.

lm-eval's own groups average whatever metric their tasks share and ignore a custom aggregation.  Tasks of one domain have
unlike metrics (accuracy beside word error rate), whose mean means nothing, so this group never takes one: it counts
what was evaluated and averages only rates that every task defines alike.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lm_eval.api.group import Group

from dsb2_tasks import catalog, compat
from dsb2_tasks.spec import SpecError

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager

#: Rates with one meaning in every task, so that a plain mean over tasks is a number one can read.
_SHARED_RATES = ("na_rate", "unparsed_rate", "audio_error_rate")


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
        super().__init__(name=entry.name, metadata={"version": version, "title": entry.spec.title})
        paths = [catalog.yaml_root()]
        if entry.spec.suite not in catalog.OWN_SUITES:
            paths = list(dict.fromkeys([*catalog.search_paths(), origin.parent]))
        known = known or catalog.read_catalog(paths)
        manager = manager or compat.task_manager(paths, run_time)
        if not entry.spec.groups:
            names = known.tasks_of(entry.spec.suite, entry.spec.domain)
            if not names:
                raise SpecError(
                    f"{origin}: dsb2_group: no task of suite {entry.spec.suite!r}"
                    + (f" and domain {entry.spec.domain!r}" if entry.spec.domain else "")
                    + f" in {', '.join(map(str, paths))}"
                )
            for task in manager.load(names)["tasks"].values():
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
            ``tasks``: how many tasks have results; the mean over tasks of each shared rate, where any task has it.
        """
        results = [task_metrics[t.task_name] for t in self.get_all_tasks() if t.task_name in task_metrics]
        row: dict[str, Any] = {
            "name": self.name,
            "alias": self.alias or self.name,
            "sample_len": sum(int(r.get("sample_len", 0)) for r in results),
            "tasks,none": len(results),
        }
        for rate in _SHARED_RATES:
            values = [r[f"{rate},none"] for r in results if f"{rate},none" in r]
            finite = [v for v in values if isinstance(v, float) and math.isfinite(v)]
            if finite:
                row[f"{rate},none"] = sum(finite) / len(finite)
        return row

    def to_dict(self) -> dict[str, Any]:
        """What lm-eval stores about the group."""
        return {"group": self.name, "title": (self.metadata or {}).get("title"), "task": self.child_names}
