"""The tests here use the benchmarks, which are modules of ``tests.perf``."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))
