"""Starts processes as torchrun does, and finds them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path


def torchrun(ranks: int, *command: str) -> list[str]:
    """The command that starts ``ranks`` processes; ``command`` is a script, or ``-m`` and a module, with its arguments."""
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(ranks), *command]


def environment(cache: Path) -> dict[str, str]:
    """Without a way to the hub; with few threads, for the processes share the machine."""
    return {
        **os.environ,
        "HF_HUB_OFFLINE": "1",
        "TOKENIZERS_PARALLELISM": "false",
        "OMP_NUM_THREADS": "1",
        "DSB2_CACHE": str(cache),
    }


def process_of_rank(launcher: int, rank: int) -> int | None:
    """Process number of a rank below a torchrun process; None if it has not started."""
    for child in _children(launcher):
        try:
            settings = Path(f"/proc/{child}/environ").read_bytes().split(b"\0")
        except OSError:
            continue
        if f"RANK={rank}".encode() in settings:
            return child
    return None


def _children(parent: int) -> Iterator[int]:
    for task in Path(f"/proc/{parent}/task").glob("*/children"):
        yield from map(int, task.read_text().split())
