"""Simulated runs on sample data, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from _report_runs import ASR, EVIL, TASKS, UNUSABLE, write_run

from dsb2_tasks.results import Run, read_run


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("runs")
    write_run(place, "cascade", right=0.4, tasks=TASKS, copies=3)
    write_run(place, "mira", right=0.6, tasks=TASKS, copies=3)
    write_run(place, "sonata", right=0.8, tasks=TASKS, copies=3)
    evil = {(ASR, number): text for number, text in EVIL.items()}
    evil |= {(TASKS[3], number): UNUSABLE for number in range(20)}  # nothing to take an improvement of
    write_run(place, "<b>evil</b> {{ 7*7 }}|&%$#_^~\\", right=0.0, tasks=TASKS[:4], copies=2, answers=evil)
    return place


@pytest.fixture(scope="session")
def runs(folder: Path) -> dict[str, Run]:
    found = [read_run(place) for place in sorted(folder.iterdir())]
    return {"evil" if "evil" in run.name else run.name: run for run in found}
