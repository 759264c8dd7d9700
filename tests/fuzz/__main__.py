"""The command; see ``python -m tests.fuzz --help``."""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from ._engines import ENGINES, TARGETS

#: Beyond its minutes a run may start, finish its last input and end.
_GRACE_SECONDS = 180
#: A folder in memory, where the system has one.
_MEMORY = Path("/dev/shm")


def _run(engine: str, scratch: str, *arguments: Any) -> None:
    tempfile.tempdir = scratch  # files of single inputs; an engine may end without removing what it made
    ENGINES[engine](*arguments)


def main() -> int:
    """Runs one engine over one target; 1 if it found something, 2 if it could not run."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description="Fuzzes one kind of readers.")
    parser.add_argument("target", choices=TARGETS)
    parser.add_argument("--engine", choices=ENGINES, default="hypothesis")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=1, help="of the engine's random choices; 1 or more")
    parser.add_argument("--corpus", type=Path, help="folder of further inputs; atheris adds to it what reaches new code")
    given = parser.parse_args()
    if given.engine == "atheris" and importlib.util.find_spec("atheris") is None:
        parser.error("atheris is not installed: pip install atheris (Python 3.11 to 3.13), or choose --engine hypothesis")
    folder = Path(tempfile.mkdtemp(prefix=f"dsb2-fuzz-{given.target}-"))
    corpus = given.corpus or folder / "corpus"
    corpus.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="dsb2-fuzz-", dir=_MEMORY if _MEMORY.is_dir() else None) as scratch:
        # A process of its own: what kills it, or holds it for ever, is a find too.
        arguments = (given.engine, scratch, given.target, given.minutes, given.seed, corpus, folder)
        process = multiprocessing.get_context("fork").Process(target=_run, args=arguments)
        process.start()
        process.join(60 * given.minutes + _GRACE_SECONDS)
        if process.is_alive():
            process.kill()
            process.join()
    if process.exitcode != 0:
        print(f"the process ended with {process.exitcode}; its last input is {folder / 'at-hand'}")
    finds = sorted(path for path in folder.glob("find-*") if path.suffix != ".txt")
    for find in finds:
        how = find.with_suffix(".txt")
        print(f"found: {find} ({find.stat().st_size} bytes{f'; {how.name} says how' if how.exists() else ''})")
    print(f"{len(finds)} finds of {given.engine} in {given.target}; inputs worth keeping go to tests/fuzz/seeds/{given.target}/")
    if finds or process.exitcode:
        return 1
    shutil.rmtree(folder)  # a corpus that is to stay has a place of its own
    return 0


if __name__ == "__main__":
    sys.exit(main())
