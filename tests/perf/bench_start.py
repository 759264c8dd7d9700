"""Time from the command to the first request, ``lm_eval run`` beside ``dsb2 run``: ``python tests/perf/bench_start.py``.

Both start on the same task with a model that costs nothing, in turns, so that a busy machine slows both alike; seconds of the
processor, which it does not, stand beside.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_PROBE = Path(__file__).with_name("_start_probe.py")
_RUN = ("run", "--model", "probe", "--limit", "1", "--tasks")


@dataclass(frozen=True)
class Start:
    """Seconds from the command to the first request: on the clock, and of the processor."""

    clock: float
    processor: float


def start(command: str, task: str) -> Start:
    """Starts one process and waits until its model is asked."""
    data = ("--data", "samples") if command == "dsb2" else ("--metadata", '{"data": "samples"}')
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    used, began = children(), time.time()
    done = subprocess.run(
        [sys.executable, str(_PROBE), command, *_RUN, task, *data],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    times = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("first request at")]
    if not times:
        raise RuntimeError(f"{command} asked its model nothing:\n{done.stderr[-3000:]}")
    return Start(times[0] - began, children() - used)


def children() -> float:
    """Seconds of the processor that finished processes took, all together."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def pairs(rounds: int, task: str) -> list[tuple[Start, Start]]:
    """``lm_eval`` and ``dsb2``, one pair a round, the first of them in turns."""
    result = []
    for number in range(rounds):
        order = ["lm_eval", "dsb2"] if number % 2 == 0 else ["dsb2", "lm_eval"]
        taken = {command: start(command, task) for command in order}
        result.append((taken["lm_eval"], taken["dsb2"]))
    return result


def line(theirs: Start, ours: Start) -> str:
    """One pair for people."""
    return (
        f"lm_eval {theirs.clock:6.2f} s, dsb2 {ours.clock:6.2f} s, ratio {ours.clock / theirs.clock:.2f};  "
        f"processor {theirs.processor:5.2f} s, {ours.processor:5.2f} s, ratio {ours.processor / theirs.processor:.2f}"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--task", default="dsb2_spatial_audio")
    given = parser.parse_args()
    measured = pairs(given.rounds, given.task)
    for pair in measured:
        print(line(*pair))
    ratios = [statistics.median(getattr(o, what) / getattr(t, what) for t, o in measured) for what in ("clock", "processor")]
    print(f"median ratio {ratios[0]:.2f} on the clock, {ratios[1]:.2f} of the processor")
