"""Time from the command to the first request, ``lm_eval run`` beside ``dsb2 run``: ``python tests/perf/bench_start.py``.

Both start on the same task with a model that costs nothing, in turns, so that a busy machine slows both alike.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

_PROBE = Path(__file__).with_name("_start_probe.py")
_RUN = ("run", "--model", "probe", "--limit", "1", "--tasks")


def seconds_to_first_request(command: str, task: str) -> float:
    """Starts one process and waits until its model is asked."""
    data = ("--data", "samples") if command == "dsb2" else ("--metadata", '{"data": "samples"}')
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    start = time.time()
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
    return times[0] - start


def pairs(rounds: int, task: str) -> list[tuple[float, float]]:
    """Seconds of ``lm_eval`` and of ``dsb2``, one pair a round, the first of them in turns."""
    result = []
    for number in range(rounds):
        order = ["lm_eval", "dsb2"] if number % 2 == 0 else ["dsb2", "lm_eval"]
        taken = {command: seconds_to_first_request(command, task) for command in order}
        result.append((taken["lm_eval"], taken["dsb2"]))
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--task", default="dsb2_spatial_audio")
    given = parser.parse_args()
    measured = pairs(given.rounds, given.task)
    for theirs, ours in measured:
        print(f"lm_eval {theirs:6.2f} s   dsb2 {ours:6.2f} s   ratio {ours / theirs:.2f}")
    middle = [statistics.median(column) for column in zip(*measured)]
    print(f"median  {middle[0]:6.2f} s        {middle[1]:6.2f} s   ratio {statistics.median(o / t for t, o in measured):.2f}")
