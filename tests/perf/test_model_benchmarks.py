"""The benchmarks of the backends run, in a tiny setting; their numbers are for those who look at them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest


def bench(repository: Path, name: str, *arguments: str) -> Any:
    done = subprocess.run(
        [sys.executable, "-m", f"tests.perf.{name}", *arguments],
        cwd=repository,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return json.loads(done.stdout)


@pytest.mark.long  # the table of benchmarks, tried by test_table.py, runs the same
def test_ways_of_the_backend(repository: Path) -> None:
    tiny = ("--size", "tiny", "--clips", "24", "--tokens", "2", "--json")
    found = bench(repository, "bench_models", *tiny, "--only", "order", "memory")
    assert list(found) == ["order", "memory"]
    assert all(numbers["ratio"] > 0 for numbers in found.values())
    # What does not hang on the clock is asserted.
    assert found["order"]["padding_by_length"] < found["order"]["padding_in_order"]
    assert found["memory"]["ratio"] > 100


@pytest.mark.slow
def test_a_plain_loop_and_the_backend_without_a_gpu(repository: Path) -> None:
    tiny = ("--size", "tiny", "--device", "cpu", "--dtype", "float32", "--clips", "6", "--tokens", "2")
    found = bench(repository, "bench_gpu", *tiny)
    assert found["batch_size"] == 4 and found["out_of_memory_halvings"] == 0
    assert found["plain"]["clips_a_second"] > 0 and found["hf_audio"]["clips_a_second"] > 0
    assert found["ratio"] == pytest.approx(found["hf_audio"]["clips_a_second"] / found["plain"]["clips_a_second"])
    assert found["plain"]["busy"] is None
