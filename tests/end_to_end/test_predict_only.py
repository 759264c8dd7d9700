"""Answers first, numbers later: a run with --predict_only, scored from its samples, equals a run that scored at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from _oracle import Oracle, evaluate
from click.testing import CliRunner

from dsb2_tasks import catalog
from dsb2_tasks.cli import main
from dsb2_tasks.results import read_run

TASKS = ["dsb2_superb_qbe_quesst14", "dsb2_sound_position_prediction"]
OPEN = next(
    name
    for name, entry in catalog.read_catalog([catalog.yaml_root()]).tasks.items()
    if entry.spec.options == "labels" and entry.spec.suite == "dsb2-phase2"
)


@pytest.mark.slow
def test_scored_later_as_at_once(tmp_path: Path) -> None:
    tasks = [*TASKS, OPEN]  # the last one has its options from the labels of the whole split
    evaluate(Oracle(0.4, 3), tasks, tmp_path / "later", predict_only=True)
    evaluate(Oracle(0.4, 3), tasks, tmp_path / "now")
    silent = read_run(tmp_path / "later")
    assert all("bypass" in task.values for task in silent.tasks.values())
    done = CliRunner().invoke(main, ["score", str(tmp_path / "later"), "-o", str(tmp_path / "scored.json")])
    assert done.exit_code == 0, done.output
    scored, now = read_run(tmp_path / "scored.json"), read_run(tmp_path / "now")
    for name in tasks:
        assert scored.raw["results"][name] == now.raw["results"][name]
        assert scored.tasks[name].statuses == now.tasks[name].statuses
        assert scored.tasks[name].spec == now.tasks[name].spec
