"""What a benchmark finds: rows of two numbers measured in the same run, with a goal where there is one, and the table of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

_HEAD = ("what", "ours", "alternative", "", "ratio", "goal", "met", "note")


@dataclass(frozen=True)
class Goal:
    """The most that a number may be: what we measured, that over the alternative's, or how much more than the alternative's."""

    of: Literal["ours", "ratio", "more"]
    most: float

    def __str__(self) -> str:
        return f"{self.of} <= {_number(self.most)}"


@dataclass(frozen=True)
class Row:
    """One line of the table.

    Attributes:
        what: What was measured.
        ours: Our number.
        theirs: The alternative's, from the same run; None where it could not be measured, and the note says why.
        unit: Of both.
        alternative: What is compared with.
        goal: What is wanted, if anything was agreed on.
        note: What must be known to read the numbers.
    """

    what: str
    ours: float
    theirs: float | None
    unit: str
    alternative: str
    goal: Goal | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        """Ours over theirs; None without theirs, or where theirs is nothing or less."""
        return self.ours / self.theirs if self.theirs is not None and self.theirs > 0 else None

    @property
    def met(self) -> bool | None:
        """Whether the goal is met; None where there is none or it could not be measured."""
        if self.goal is None:
            return None
        more = None if self.theirs is None else self.ours - self.theirs
        value = {"ours": self.ours, "ratio": self.ratio, "more": more}[self.goal.of]
        return None if value is None else value <= self.goal.most

    def as_json(self) -> dict[str, Any]:
        """The row with what follows from it."""
        return {**asdict(self), "ratio": self.ratio, "goal": str(self.goal) if self.goal else None, "met": self.met}


def show(rows: Sequence[Row]) -> str:
    """The table as plain text."""
    lines = [_HEAD]
    for row in rows:
        theirs, unit = ("-", row.unit) if row.theirs is None else (_number(row.theirs), row.unit)
        ratio = "-" if row.ratio is None else f"{row.ratio:.3g}"
        met = {None: "", True: "yes", False: "NO"}[row.met]
        goal = str(row.goal or "")
        lines.append((row.what, f"{_number(row.ours)} {unit}", theirs, row.alternative, ratio, goal, met, row.note))
    widths = [max(len(line[i]) for line in lines) for i in range(len(_HEAD))]
    right = {1, 2, 4}
    text = [
        "  ".join(c.rjust(w) if i in right else c.ljust(w) for i, (c, w) in enumerate(zip(line, widths, strict=True)))
        for line in lines
    ]
    return "\n".join(line.rstrip() for line in [text[0], "-" * max(map(len, text)), *text[1:]])


def _number(value: float) -> str:
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def interleaved(
    ways: Mapping[str, Callable[[], Any]], rounds: int, clock: Callable[[], float] = time.perf_counter
) -> dict[str, float]:
    """Median seconds of each way; all of them once a round, so that a busy machine slows all alike.

    Args:
        ways: What to measure; each is called once before, for what is loaded or made at the first time.
        rounds: How often.
        clock: ``time.process_time`` counts what the processor did and not what neighbours take of it.
    """
    for way in ways.values():
        way()
    took: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    for number in range(rounds):
        for name in names[number % len(names) :] + names[: number % len(names)]:
            gc.collect()
            start = clock()
            ways[name]()
            took[name].append(clock() - start)
    return {name: statistics.median(seconds) for name, seconds in took.items()}
