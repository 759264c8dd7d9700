"""What batches, prefetching, handles and ranks save: ``python -m tests.perf.bench_models``.

Each line compares two ways in the same run, so that a busy machine slows both.  The model is a Qwen2-Audio of random weights on
the CPU; seconds are its, the ratios are what to look at.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch

from dsb2_tasks.audio import AudioPolicy, prepare
from dsb2_tasks.models import _pipeline
from dsb2_tasks.models._batching import make_batches
from tests.perf._audio_load import Clips, backend, lengths, make_model

CPU = torch.device("cpu")
_BATCH = 8


def _in_order(seconds: Sequence[float], groups: Any, *, size: Callable[[], int], **_: Any) -> Iterator[list[int]]:
    for start in range(0, len(seconds), size()):
        yield list(range(start, min(start + size(), len(seconds))))


def _waste(seconds: Sequence[float], batches: Sequence[Sequence[int]]) -> float:
    """Share of a run's padded audio that is padding."""
    padded = sum(max(seconds[i] for i in batch) * len(batch) for batch in batches)
    return 1 - sum(seconds) / padded


def _seconds(lm: Any, clips: Clips, tokens: int, times: int = 1) -> float:
    """The faster of ``times`` runs over all clips."""
    took = []
    for _ in range(times):
        started = time.monotonic()
        lm.generate_until(clips.requests(tokens), disable_tqdm=True)
        took.append(time.monotonic() - started)
    return min(took)


def padding(seconds: Sequence[float]) -> dict[str, float]:
    """Shares of padding in batches by length, and in batches in the order of the data."""
    return {
        "padding_by_length": _waste(seconds, make_batches(seconds, [0] * len(seconds), size=_BATCH)),
        "padding_in_order": _waste(seconds, list(_in_order(seconds, None, size=lambda: _BATCH))),
    }


def order(loaded: Any, seconds: Sequence[float], tokens: int, times: int = 1) -> dict[str, float]:
    """Batches by length against batches in the order of the data, for clips of the given lengths."""
    clips = Clips(seconds)
    lm = backend(loaded, CPU, batch_size=_BATCH)
    by_length = _seconds(lm, clips, tokens, times)
    cut, _pipeline.cut_batches = _pipeline.cut_batches, _in_order  # type: ignore[assignment]
    try:
        as_they_come = _seconds(lm, clips, tokens, times)
    finally:
        _pipeline.cut_batches = cut
    times_taken = {"seconds_by_length": by_length, "seconds_in_order": as_they_come, "ratio": as_they_come / by_length}
    return {**padding(seconds), **times_taken}


def prefetch(loaded: Any, number: int, tokens: int) -> dict[str, float]:
    """Decoding and features beside the model against one after the other."""
    clips = Clips(lengths(number))
    off, on = (_seconds(backend(loaded, CPU, batch_size=_BATCH, prefetch=n), clips, tokens) for n in (0, 2))
    return {"seconds_off": off, "seconds_on": on, "ratio": off / on}


def batch(loaded: Any, number: int, tokens: int) -> dict[str, float]:
    """Eight requests at a time against one."""
    clips = Clips([4.0] * number)
    one, eight = (_seconds(backend(loaded, CPU, batch_size=n), clips, tokens) for n in (1, _BATCH))
    return {"seconds_one": one, "seconds_eight": eight, "ratio": one / eight}


def memory(number: int) -> dict[str, float]:
    """Handles in the requests against decoded clips."""

    def peak(make: Callable[[], Any]) -> float:
        tracemalloc.start()
        kept = make()
        size = tracemalloc.get_traced_memory()[0] / 1e6
        tracemalloc.stop()
        del kept
        return size

    clips = Clips([10.0] * number)
    handles = clips.handles()
    by_handle = peak(lambda: [json.loads(json.dumps(handle)) for handle in handles])
    decoded = peak(lambda: [prepare(handle, AudioPolicy()) for handle in handles])
    return {"mb_handles": by_handle, "mb_decoded": decoded, "ratio": decoded / by_handle}


def ranks(size: str, number: int, tokens: int) -> dict[str, float]:
    """Two processes of one thread each against one; what they ask takes, without the start."""

    def run(launch: Sequence[str]) -> float:
        with tempfile.TemporaryDirectory() as folder:
            worker = ["-m", "tests.perf.bench_models", "--rank-of", folder, "--size", size]
            command = [sys.executable, *launch, *worker, "--clips", str(number), "--tokens", str(tokens)]
            subprocess.run(command, check=True, capture_output=True, env={**os.environ, "OMP_NUM_THREADS": "1"}, timeout=1800)
            return max(float(file.read_text()) for file in Path(folder).iterdir())

    one = run([])
    two = run(["-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"])
    return {"seconds_one_rank": one, "seconds_two_ranks": two, "ratio": one / two}


def _rank(folder: Path, size: str, number: int, tokens: int) -> None:
    """One process of :func:`ranks`: answers its share and writes down what that took."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as made:
        lm = backend(make_model(Path(made), size, CPU, torch.float32), CPU, batch_size=_BATCH)
    requests = Clips(lengths(number)).requests(tokens)[lm.rank :: lm.world_size]
    lm.barrier()
    started = time.monotonic()
    lm.generate_until(requests, disable_tqdm=True)
    lm.barrier()
    (folder / str(lm.rank)).write_text(str(time.monotonic() - started))


def main() -> None:
    """Runs the benchmarks and prints them."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf.bench_models", description=str(__doc__).splitlines()[0])
    parser.add_argument("--size", choices=("tiny", "small"), default="small", help="of the model")
    parser.add_argument("--clips", type=int, default=48)
    parser.add_argument("--tokens", type=int, default=16, help="of each answer")
    parser.add_argument("--only", nargs="*", choices=("order", "prefetch", "batch", "memory", "ranks"))
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--rank-of", type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.rank_of is not None:
        _rank(given.rank_of, given.size, given.clips, given.tokens)
        return
    with tempfile.TemporaryDirectory() as folder:
        loaded = make_model(Path(folder), given.size, CPU, torch.float32)
    both = (given.clips, given.tokens)
    ways: dict[str, Callable[[], dict[str, float]]] = {
        "order": lambda: order(loaded, lengths(given.clips), given.tokens),
        "prefetch": lambda: prefetch(loaded, *both),
        "batch": lambda: batch(loaded, *both),
        "memory": lambda: memory(given.clips),
        "ranks": lambda: ranks(given.size, *both),
    }
    backend(loaded, CPU).generate_until(Clips([1.0]).requests(2), disable_tqdm=True)  # the first call is slower
    found = {name: way() for name, way in ways.items() if given.only is None or name in given.only}
    if given.json:
        print(json.dumps(found))
        return
    for name, numbers in found.items():
        print(f"{name:9}" + "  ".join(itertools.starmap("{}={:.3g}".format, numbers.items())))


if __name__ == "__main__":
    main()
