"""All benchmarks that need no GPU, as one table: ``python -m tests.perf``.

Every number of ours stands beside that of a named alternative from the same run.  It measures and judges nothing: the exit status
is 0 whatever the numbers are, and 1 where a benchmark did not run.  A time that is told as the processor's is not changed by
neighbours on a busy machine; others are, for both sides alike.
"""

from __future__ import annotations

import argparse
import importlib
import json
import logging
import os
import sys
import tempfile
import time
import traceback

from tests.perf._size import SIZES
from tests.perf._table import Row, show

#: Name to module; each has ``rows(size)``.
BENCHMARKS = {
    "start": "_starting",
    "memory": "_remembering",
    "harness": "_harnessing",
    "decode": "_decoding",
    "batching": "_batching",
    "scoring": "_counting",
    "growth": "_growing",
}


def main() -> int:
    """Runs, prints, and says what did not run."""
    parser = argparse.ArgumentParser(prog="python -m tests.perf", description=str(__doc__).splitlines()[0])
    parser.add_argument(
        "--only", nargs="+", choices=tuple(BENCHMARKS), default=tuple(BENCHMARKS), metavar="NAME", help=", ".join(BENCHMARKS)
    )
    parser.add_argument(
        "--full", dest="size", action="store_const", const="full", default="default", help="more work, more rounds"
    )
    parser.add_argument(
        "--tiny", dest="size", action="store_const", const="tiny", help="shows that it runs; numbers mean nothing"
    )
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    logging.disable(logging.WARNING)
    rows: list[Row] = []
    failed: list[str] = []
    for name in dict.fromkeys(given.only):
        print(f"{name} ...", end="", flush=True, file=sys.stderr)
        start = time.monotonic()
        try:
            rows += importlib.import_module(f"tests.perf.{BENCHMARKS[name]}").rows(SIZES[given.size])
        except Exception:
            traceback.print_exc()
            failed.append(name)
        print(f" {time.monotonic() - start:.0f} s", file=sys.stderr)
    print(json.dumps({"rows": [row.as_json() for row in rows], "failed": failed}) if given.json else show(rows))
    if failed:
        print(f"did not run: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    os.environ["HF_HUB_OFFLINE"] = "1"
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    with tempfile.TemporaryDirectory() as cache:
        os.environ.setdefault("DSB2_CACHE", cache)
        sys.exit(main())
