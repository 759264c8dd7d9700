"""How much work the benchmarks do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Size:
    """One setting.

    Attributes:
        pairs: Pairs of starts of Python.
        starts: Starts of commands.
        rounds: Rounds of what is measured in turns.
        clip: Seconds of a clip that is decoded.
        clips: Clips of the memory test, and their length.
        tasks: Tasks of the suite.
        documents: Documents of each.
        plain: Documents of each task of lm-eval's own, which takes longer.
        answers: Stored answers to each of the 180 tasks.
        batched: Clips that a tiny model answers.
        grown: Least documents of each of 30 tasks, and answers, where work is doubled twice.
    """

    pairs: int
    starts: int
    rounds: int
    clip: float
    clips: tuple[int, int]
    tasks: int
    documents: int
    plain: int
    answers: int
    batched: int
    grown: int


SIZES = {
    "tiny": Size(2, 1, 1, 1.0, (4, 1), 30, 100, 10, 4, 4, 4),
    "default": Size(40, 3, 5, 10.0, (200, 30), 180, 200, 10, 250, 24, 100),
    "full": Size(200, 9, 25, 30.0, (200, 30), 180, 200, 200, 250, 96, 400),
}
