"""How time and memory grow: the exponent fitted to one, two and four times the work, which is 1 where they are in proportion."""

from __future__ import annotations

import math
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dsb2_tasks import metrics
from dsb2_tasks.scoring import bootstrap
from tests.perf import _counting
from tests.perf._decoding import FLOOR, Files, decoders, encoded, music
from tests.perf._remembering import probe
from tests.perf._scoring_probe import count, stored
from tests.perf._size import Size
from tests.perf._table import Goal, Row

_TIMES = (1, 2, 4)
_EVERY = 6  # of the 180 tasks: 30
_MOST = 1.1


def exponent(found: list[float]) -> float:
    """Slope of a straight line through the logarithms, by least squares."""
    return float(np.polyfit(np.log(_TIMES), np.log(found), 1)[0])


def rows(size: Size) -> list[Row]:
    """One exponent for each kind of work."""
    with tempfile.TemporaryDirectory() as folder:
        return [*_suite(size), _decode(size, Path(folder)), *_counts(size, Path(folder))]


def _row(what: str, found: list[float], unit: str, theirs: float = 1.0, name: str = "in proportion to the work") -> Row:
    note = f"{', '.join(f'{value:.3g}' for value in found)} {unit}"
    return Row(f"growth, {what}", exponent(found), theirs, "exponent", name, Goal("ours", _MOST), note)


def _suite(size: Size) -> list[Row]:
    each = 2 * size.grown
    found = [probe("_suite_probe", "ours", str(180 // _EVERY), str(each * n)) for n in _TIMES]
    what = f"{180 // _EVERY} tasks from {each} documents on"
    return [
        _row(f"run of {what}", [f["seconds"] for f in found], "s"),
        _row(f"memory of {what}", [max(f["growth"], 1e-3) for f in found], "MB"),
    ]


def _decode(size: Size, folder: Path) -> Row:
    files = [encoded(music(size.clip * n), "flac") for n in _TIMES]
    pairs = zip(files, Files(files).handles(), strict=True)
    ways = [decoders(data, handle, folder / f"{number}.flac") for number, (data, handle) in enumerate(pairs)]
    found, theirs = (_medians([own[name] for own in ways], size.rounds) for name in ("ours", FLOOR))
    return _row(f"decoding from {size.clip:g} s on", found, "s", exponent(theirs), FLOOR)


def _counts(size: Size, folder: Path) -> list[Row]:
    tasks = [stored(size.grown * n, every=_EVERY, clips=True) for n in _TIMES]
    runs = [_counting.run_of(some, folder / f"{n}") for n, some in zip(_TIMES, tasks, strict=True)]
    others = [_counting.run_of(stored(size.grown * n, every=_EVERY, seed=1, clips=True), folder / f"other{n}") for n in _TIMES]
    drawn = [_counting.statistics(tasks[0], "accuracy", 20 * size.grown * n) for n in _TIMES]
    metric, times = metrics.get("accuracy"), math.ceil(size.rounds / 3)
    ways: dict[str, list[Callable[[], Any]]] = {
        "scoring": [lambda t=t: count(t) for t in tasks],  # type: ignore[misc]
        "re-scoring": [lambda r=r: _counting.rescored(r, folder / "again") for r in runs],  # type: ignore[misc]
        "report": [lambda r=r, o=o: _counting.report(r, o) for r, o in zip(runs, others, strict=True)],  # type: ignore[misc]
        "bootstrap": [lambda d=d: bootstrap(metric, d) for d in drawn],  # type: ignore[misc]
    }
    about = {"bootstrap": f"{len(drawn[0])} rows"}
    default = f"{180 // _EVERY} x {size.grown} answers"
    return [_row(f"{what} from {about.get(what, default)} on", _medians(own, times), "s") for what, own in ways.items()]


def _medians(ways: list[Callable[[], Any]], rounds: int) -> list[float]:
    """Median seconds of the processor of each, all of them once a round."""
    ways[0]()
    took: list[list[float]] = [[] for _ in ways]
    for _ in range(rounds):
        for way, seconds in zip(ways, took, strict=True):
            start = time.process_time()
            way()
            seconds.append(time.process_time() - start)
    return [statistics.median(seconds) for seconds in took]
