"""``dsb2 run`` asks the model its first question well before ``lm_eval`` does; more: ``python -m tests.perf --only start``."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.perf import _starting, bench_start


@pytest.mark.long  # the table that CI prints has it too
def test_time_to_the_first_request(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = bench_start.pairs(1, "dsb2_spatial_audio")
    with capsys.disabled():
        print("\n" + "\n".join(f"  first request: {bench_start.line(*pair)}" for pair in pairs))
    # About a third; the processor's time is the one that neighbours on a busy machine do not change much.
    assert all(ours.processor < 0.6 * theirs.processor for theirs, ours in pairs)


@pytest.mark.parametrize(("command", "seconds"), [("--help", 0.3), ("list", 0.9)])
def test_looking_something_up_takes_no_time(command: str, seconds: float) -> None:
    """Of the processor, best of three: a neighbour doubles it at times; alone it is 0.1 and 0.4 s."""
    taken = []
    for _ in range(3):
        before = bench_start.children()
        subprocess.run([sys.executable, "-m", "dsb2_tasks.cli", command], capture_output=True, check=True, timeout=60)
        taken.append(bench_start.children() - before)
    assert min(taken) < seconds


def test_the_rows_of_python_with_and_without_the_hook() -> None:
    installed, switched = _starting.python_rows(2)
    assert installed.theirs and installed.ours > 0 and "without the hook's files" in installed.alternative
    assert switched.theirs and switched.ours > 0 and "DSB2_NO_AUTOLOAD" in switched.alternative
