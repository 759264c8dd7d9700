"""Baselines: what a relative improvement is over, where its numbers come from, and whether they may be compared at all.

A baseline is a results file or a folder of a run, a small table in JSON or CSV, or a named reference such as
``phase1:ASR-ChatGPT``::

    from dsb2_tasks.baseline import read_baseline

    read_baseline("results/cascade").improvement(read_run("results/model").tasks["dsb2_superb_asr_librispeech"])
"""

from __future__ import annotations

from dsb2_tasks.baseline._baseline import Baseline, BaselineError, Entry
from dsb2_tasks.baseline._make import make_baseline
from dsb2_tasks.baseline._phase1 import DIMENSIONS, PHASE1_SYSTEMS, phase1_dimensions
from dsb2_tasks.baseline._read import read_baseline

__all__ = [
    "DIMENSIONS",
    "PHASE1_SYSTEMS",
    "Baseline",
    "BaselineError",
    "Entry",
    "make_baseline",
    "phase1_dimensions",
    "read_baseline",
]
