"""Every input that is kept, and some new ones, hold what the targets say; the engines run in the ``long`` tests."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from ._answers import ANSWERS
from ._audio import AUDIO
from ._records import RECORDS
from ._target import Target
from ._tasks import TASKS

TARGETS = {target.name: target for target in (ANSWERS, AUDIO, RECORDS, TASKS)}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_kept_inputs(target: Target) -> None:
    assert len(target.seeds) >= 4
    for name, data in target.seeds.items():
        assert len(data) <= target.most, name
        try:
            target.bounded(data)
        except Exception as error:
            error.add_note(f"seed {target.name}/{name}")
            raise


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_new_inputs(target: Target) -> None:
    @settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
    @given(target.inputs())
    def check(data: bytes) -> None:
        target.bounded(data)

    check()


@pytest.mark.long
@pytest.mark.parametrize("engine", ["hypothesis", "atheris"])
@pytest.mark.parametrize("target", TARGETS)
def test_a_minute(target: str, engine: str, repository: Path, tmp_path: Path) -> None:
    if engine == "atheris":
        pytest.importorskip("atheris")
    command = [sys.executable, "-m", "tests.fuzz", target, "--engine", engine, "--minutes", "1", "--corpus", str(tmp_path)]
    done = subprocess.run(command, cwd=repository, capture_output=True, text=True, errors="replace")
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert re.search(r"^0 finds", done.stdout, re.MULTILINE)
