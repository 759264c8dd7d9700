"""Runs lm_eval as a user types it, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from _runs import Run, environment


@pytest.fixture(scope="session")
def lm_eval(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Run]:
    """``lm_eval(tasks, *arguments)``: a run on samples with the tiny model unless the arguments say otherwise."""

    def run(*arguments: str, check: bool = True, **more: str) -> Run:
        folder = tmp_path_factory.mktemp("run")
        command = [sys.executable, "-m", "lm_eval", *arguments]
        if "--tasks" in arguments:
            command += ["--output_path", str(folder)]
        done = subprocess.run(
            command,
            env=environment(DSB2_CACHE=str(folder / "cache"), **more),
            capture_output=True,
            text=True,
            timeout=900,
            check=False,
        )
        if check:
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-6000:]
        return Run(done.returncode, done.stdout + "\n" + done.stderr, folder)

    return run
