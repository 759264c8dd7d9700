"""Unions of stretches of time, as sorted lists of disjoint (start, end) pairs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Span = tuple[float, float]


def union(spans: Iterable[Sequence[float]]) -> list[Span]:
    """Overlapping and touching spans joined, empty ones dropped."""
    joined: list[Span] = []
    for start, end in sorted((span[0], span[1]) for span in spans if span[0] < span[1]):
        if joined and start <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end))
        else:
            joined.append((start, end))
    return joined


def length(spans: Iterable[Span]) -> float:
    """Total length of disjoint spans."""
    return sum(end - start for start, end in spans)


def shared(one: Sequence[Span], other: Sequence[Span]) -> float:
    """Length of what two unions have in common."""
    total, i, j = 0.0, 0, 0
    while i < len(one) and j < len(other):
        total += max(0.0, min(one[i][1], other[j][1]) - max(one[i][0], other[j][0]))
        if one[i][1] < other[j][1]:
            i += 1
        else:
            j += 1
    return total
