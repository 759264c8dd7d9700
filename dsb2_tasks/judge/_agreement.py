"""How often the option matcher and a judge say the same, and how much of a set of answers has a verdict."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from dsb2_tasks.judge._types import Verdict


@dataclass(frozen=True)
class Confusion:
    """Two raters over the same answers.

    Attributes:
        both_right: Right by the matcher and accepted by the judge.
        matcher_only: Right by the matcher alone.
        judge_only: Accepted by the judge alone.
        both_wrong: Right by neither.
        left_out: Answers without a verdict that accepts or rejects.
    """

    both_right: int
    matcher_only: int
    judge_only: int
    both_wrong: int
    left_out: int

    @property
    def counted(self) -> int:
        """Number of answers that both have rated."""
        return self.both_right + self.matcher_only + self.judge_only + self.both_wrong

    @property
    def observed(self) -> float:
        """Share of counted answers on which they agree; nan without any."""
        return (self.both_right + self.both_wrong) / self.counted if self.counted else math.nan

    @property
    def kappa(self) -> float:
        """Cohen's kappa: agreement beyond chance, 1 at most; nan where chance alone agrees always (each says one thing only).

        Source: J. Cohen (1960), A coefficient of agreement for nominal scales.
        """
        if not self.counted:
            return math.nan
        n = self.counted
        matcher, judge = self.both_right + self.matcher_only, self.both_right + self.judge_only
        chance = (matcher * judge + (n - matcher) * (n - judge)) / n**2
        return (self.observed - chance) / (1 - chance) if chance < 1 else math.nan


def agreement(pairs: Iterable[tuple[bool, Verdict | None]]) -> Confusion:
    """Compares the matcher with a judge.

    Args:
        pairs: Whether the matcher found an answer right, and the judge's verdict on it.
    """
    cells: Counter[tuple[bool, bool] | None] = Counter()
    for right, verdict in pairs:
        rated = verdict is not None and verdict.status in ("accepted", "rejected")
        cells[(bool(right), verdict.status == "accepted") if rated and verdict else None] += 1
    return Confusion(cells[True, True], cells[True, False], cells[False, True], cells[False, False], cells[None])


@dataclass(frozen=True)
class Coverage:
    """How much of a set of answers has a usable verdict.

    Attributes:
        total: Number of answers that a judge was to rate.
        usable: Number of usable verdicts.
        statuses: Number of verdicts by status.
    """

    total: int
    usable: int
    statuses: dict[str, int]

    @property
    def share(self) -> float:
        """Usable verdicts among all; nan without any."""
        return self.usable / self.total if self.total else math.nan


def coverage(verdicts: Iterable[Verdict | None]) -> Coverage:
    """Counts verdicts; None (nothing to be rated) does not count."""
    rated = [verdict for verdict in verdicts if verdict is not None]
    return Coverage(len(rated), sum(v.usable for v in rated), dict(Counter(str(v.status) for v in rated)))
