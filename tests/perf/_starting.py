"""Start: of Python with the hook, of commands that look something up, and of a run to its first request."""

from __future__ import annotations

import os
import py_compile
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.perf import bench_start
from tests.perf._size import Size
from tests.perf._table import Goal, Row

_HOOK = Path(__file__).parents[2] / "dsb2_tasks" / "_autoload"


def rows(size: Size) -> list[Row]:
    """All rows about starts."""
    return [*python_rows(size.pairs), *_commands(size), *_first_request(size)]


def python_rows(pairs: int) -> list[Row]:
    """Python with the hook, beside an environment and a setting without it."""
    command = ["-c", "pass"]
    with tempfile.TemporaryDirectory() as folder:
        without, hooked = (_environment(Path(folder) / name) for name in ("without", "hooked"))
        (site,) = (Path(folder) / "hooked").glob("lib/python*/site-packages")
        for file in ("_dsb2_tasks_autoload.py", "dsb2_tasks.pth"):
            (site / file).write_bytes((_HOOK / file).read_bytes())
        py_compile.compile(str(site / "_dsb2_tasks_autoload.py"))  # as installers do
        installed = _pairs([hooked, *command], [without, *command], pairs)
    off = {**os.environ, "DSB2_NO_AUTOLOAD": "1"}
    switched = _pairs([sys.executable, *command], [sys.executable, *command], pairs, off)
    what = "python -c pass, with the hook"
    return [
        Row(what, *installed, "ms", "the same environment without the hook's files", Goal("more", 1.0)),
        Row(what, *switched, "ms", "hook switched off by DSB2_NO_AUTOLOAD=1", Goal("more", 1.0)),
    ]


def _environment(folder: Path) -> str:
    venv.create(folder, with_pip=False, symlinks=True)
    return str(folder / "bin" / "python")


def _pairs(
    ours: Sequence[str], theirs: Sequence[str], number: int, other: Mapping[str, str] | None = None
) -> tuple[float, float]:
    """Ours and theirs in ms: the medians of theirs and of the differences of pairs, which take turns in going first."""

    def run(command: Sequence[str], environment: Mapping[str, str] | None) -> float:
        start = time.perf_counter()
        subprocess.run(command, check=True, env=environment)
        return 1e3 * (time.perf_counter() - start)

    taken = []
    for i in range(number + 1):
        pair = (run(ours, None), run(theirs, other)) if i % 2 else (run(theirs, other), run(ours, None))[::-1]
        taken.append(pair)
    base = statistics.median(b for _, b in taken[1:])
    return base + statistics.median(a - b for a, b in taken[1:]), base


def _commands(size: Size) -> list[Row]:
    found = []
    for ours, theirs, most in ((["list"], ["ls", "tasks"], 0.5), (["--help"], ["--help"], 0.3)):
        first = _processor(lambda given=ours: ["-m", "dsb2_tasks.cli", *given], size.starts)  # type: ignore[misc]
        second = _processor(lambda given=theirs: ["-m", "lm_eval", *given], max(1, size.starts // 3))  # type: ignore[misc]
        name = f"lm_eval {' '.join(theirs)}"
        found.append(Row(f"dsb2 {ours[0]}", first, second, "s", name, Goal("ours", most), "seconds of the processor"))
    return found


def _processor(command: Callable[[], list[str]], times: int) -> float:
    taken = []
    for _ in range(times):
        before = bench_start.children()
        subprocess.run([sys.executable, *command()], check=True, capture_output=True, timeout=300)
        taken.append(bench_start.children() - before)
    return statistics.median(taken)


def _first_request(size: Size) -> list[Row]:
    pairs = bench_start.pairs(max(1, size.starts // 2), "dsb2_spatial_audio")
    found = []
    for what, note in (("processor", "seconds of the processor"), ("clock", "seconds on the clock")):
        theirs, ours = (statistics.median(getattr(pair[i], what) for pair in pairs) for i in (0, 1))
        found.append(Row("dsb2 run, to the first request", ours, theirs, "s", "bare lm_eval run", Goal("ratio", 1.0), note))
    return found
