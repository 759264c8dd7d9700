"""Scoring is never what one waits for: 45,000 stored answers over all 180 tasks in a minute and below a gigabyte."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROBE = Path(__file__).with_name("_scoring_probe.py")
SECONDS, PEAK_MB = 60, 1000


@pytest.mark.slow
def test_scoring_speed(capsys: pytest.CaptureFixture[str]) -> None:
    done = subprocess.run([sys.executable, str(PROBE)], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.strip().splitlines()[-1])
    with capsys.disabled():
        print(
            f"\nscoring {found['answers']} stored answers of {found['tasks']} tasks, {found['values']} corpus values with errors:"
        )
        print(f"  {found['seconds']:.1f} s ({found['processor']:.1f} s of one processor), peak memory {found['peak_mb']:.0f} MB")
        print("  by kind: " + ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in list(found["by_kind"].items())[:6]))
    assert (found["answers"], found["tasks"]) == (45_000, 180)
    assert found["seconds"] <= SECONDS
    assert found["peak_mb"] < PEAK_MB
