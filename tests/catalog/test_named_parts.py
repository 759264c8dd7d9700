"""The metrics and hooks that task files name exist."""

from __future__ import annotations

from pathlib import Path

import catalog_checks
import pytest

from dsb2_tasks import catalog, hooks, metrics

ROOT = catalog.yaml_root()
FILES = [*catalog_checks.task_files(ROOT), *catalog_checks.template_files(ROOT)]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_metrics_and_hooks_exist(path: Path) -> None:
    config = catalog_checks.merged(path)
    kind = config["dsb2_template"]["kind"]
    assert callable(getattr(hooks, kind))
    chosen = {**config["dsb2_template"], **config.get("dsb2", {})}
    names = [chosen["metric"], *chosen.get("secondary", [])]
    assert [metrics.get(name).name for name in names] == names
    assert len(set(names)) == len(names)
