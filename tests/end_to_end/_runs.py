"""A finished run of lm_eval and what it left."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass
class Run:
    """A finished run: exit status, what it printed, and the files it wrote."""

    status: int
    printed: str
    folder: Path

    @property
    def results(self) -> dict[str, Any]:
        """The newest results file."""
        return json.loads(sorted(self.folder.rglob("results_*.json"))[-1].read_text())

    def samples(self, task: str) -> list[dict[str, Any]]:
        """The newest logged samples of a task."""
        file = sorted(self.folder.rglob(f"samples_{task}_*.jsonl"))[-1]
        return [json.loads(line) for line in file.read_text().splitlines()]

    def table(self, title: str) -> list[str]:
        """First column of one printed table, empty cells left out, indentation kept."""
        lines = self.printed.splitlines()
        (start,) = [i for i, line in enumerate(lines) if line.startswith("|") and line.split("|")[1].strip() == title]
        cells = []
        for line in lines[start + 2 :]:
            if not line.startswith("|"):
                break
            cells.append(line.split("|")[1])
        return [cell.strip().removeprefix("- ") for cell in cells if cell.strip()]


def environment(**more: str) -> dict[str, str]:
    """The tests' environment without a way to the hub."""
    return {**os.environ, "HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false", **more}
