"""The command; see ``python -m tests.fuzz --help``."""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import sys
import tempfile
from pathlib import Path

from ._engines import ENGINES, TARGETS

#: Beyond its minutes a run may start, finish its last input and end.
_GRACE_SECONDS = 180


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
    # A process of its own: what kills it, or holds it for ever, is a find too.
    arguments = (given.target, given.minutes, given.seed, corpus, folder)
    process = multiprocessing.get_context("fork").Process(target=ENGINES[given.engine], args=arguments)
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
    return 1 if finds or process.exitcode else 0


if __name__ == "__main__":
    sys.exit(main())
