"""Published accuracies of Dynamic-SUPERB Phase-1 (arXiv 2309.09510) as named baselines for the metric ``phase1_exact``."""

from __future__ import annotations

import csv
import difflib
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from dsb2_tasks.baseline._baseline import Baseline, BaselineError, Entry
from dsb2_tasks.scoring import Measured

METRIC = "phase1_exact"
#: The six dimensions of Phase-1, in the paper's order.
DIMENSIONS = ("content", "speaker", "semantics", "degradation", "paralinguistics", "audio")
PHASE1_SYSTEMS = ("BERT-GSLM", "Whisper", "ImageBind-LLM", "Whisper-LLM", "ASR-ChatGPT")
_SOURCE = "Dynamic-SUPERB Phase-1, arXiv 2309.09510, accuracy by whole-string match"
_CAVEATS = (
    "The published accuracies are of Phase-1's full-size sets of 2023; Phase-2 holds 200 rows of each.",
    "31 of the 55 instances were not seen in training by four of the five systems (ASR-ChatGPT was not trained on any).",
    "They count whole-string matches, so they are compared with phase1_exact alone, not with accuracy.",
)


@lru_cache(maxsize=1)
def _table() -> list[dict[str, str]]:
    with Path(__file__).with_name("phase1.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def read_phase1(where: str) -> Baseline:
    """The published system that ``phase1:NAME`` names.

    Raises:
        BaselineError: There is none.
    """
    by_name = {system.lower(): system for system in PHASE1_SYSTEMS}
    wanted = where.removeprefix("phase1:").lower()
    if wanted not in by_name:
        near = difflib.get_close_matches(wanted, by_name, n=1)
        hint = f"did you mean 'phase1:{by_name[near[0]]}'?" if near else f"known are {', '.join(PHASE1_SYSTEMS)}"
        raise BaselineError(f"baseline {where!r}: no such system; {hint}")
    system = by_name[wanted]
    entries, missing = {}, {}
    for row in _table():
        if row["system"] != system:
            continue
        if row["same_data"] != "1":
            missing[row["task"]] = "Phase-1 used another data set for this instance"
            continue
        accuracy = float(row["accuracy_percent"]) / 100
        entries[row["task"]] = Entry(METRIC, Measured(accuracy, accuracy, 0.0, math.nan), None, _SOURCE)
    return Baseline(f"phase1:{system}", where, entries, missing, _CAVEATS, METRIC)


def phase1_dimensions() -> Mapping[str, str]:
    """Dimension of each of the 55 Phase-1 tasks."""
    return {row["task"]: row["dimension"] for row in _table()}
