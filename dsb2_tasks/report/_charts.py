"""Where marks stand in the drawings of a page: numbers to per cent of a width, or to points of a circle."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from dsb2_tasks.report._report import DomainCell, Report

#: Improvements beyond these are drawn at the edge: one unbounded error would flatten all others.
_FARTHEST = (-1.5, 3.0)
_RADIUS = 165


@dataclass(frozen=True)
class Axis:
    """A horizontal axis.

    Attributes:
        low: Value at the left edge.
        high: Value at the right edge.
        ticks: Values with a line.
    """

    low: float
    high: float
    ticks: tuple[float, ...]

    def at(self, value: float) -> str:
        """Place of a value in per cent of the width; values beyond an edge stand at it."""
        inside = min(max(value, self.low), self.high)
        return f"{100 * (inside - self.low) / (self.high - self.low):.2f}%"

    def span(self, low: float, high: float) -> str:
        """Width between two values in per cent."""
        ends = [min(max(end, self.low), self.high) for end in (low, high)]
        return f"{100 * (ends[1] - ends[0]) / (self.high - self.low):.2f}%"

    def beyond(self, value: float) -> bool:
        """Whether a value lies outside."""
        return not self.low <= value <= self.high


#: A share between none and all.
SHARES = Axis(0.0, 1.0, (0.0, 0.5, 1.0))


def axis_of(values: Iterable[float]) -> Axis:
    """An axis over improvements, always with 0 on it and in round steps."""
    low, high = _FARTHEST
    inside = [min(max(value, low), high) for value in values if not math.isnan(value)]
    least, most = min([*inside, 0.0]), max([*inside, 0.0])
    step = _step((most - least) or 0.1)
    first, last = math.floor(least / step), math.ceil(most / step)
    if first == last:
        first, last = -1, 1
    return Axis(first * step, last * step, tuple(round(i * step, 10) for i in range(first, last + 1)))


def _step(width: float) -> float:
    """A round step that cuts a width into about four."""
    size = 10.0 ** math.floor(math.log10(width / 4))
    return next((size * factor for factor in (1, 2, 2.5, 5) if width / (size * factor) <= 5), 10 * size)


def improvement_axis(report: Report) -> Axis:
    """The axis for the mean improvements of all domains and runs."""
    found = []
    for domain in report.domains:
        for cell in domain.cells:
            if cell is not None and cell.interval is not None:
                found += [cell.interval.value, cell.interval.low, cell.interval.high]
    return axis_of(found)


@dataclass(frozen=True)
class Spoke:
    """One axis of a radar: its name in lines, its end, where the name stands, and how that is anchored."""

    lines: tuple[str, ...]
    x: float
    y: float
    label_x: float
    label_y: float
    anchor: str


@dataclass(frozen=True)
class Ring:
    """One value of a radar's scale, and where it is written."""

    value: float
    radius: float
    x: float
    y: float


@dataclass(frozen=True)
class Radar:
    """A radar chart around 0, 0.

    Attributes:
        spokes: One a domain.
        rings: The scale.
        outlines: For every run the path through its domains; domains without a value break it.
        points: For every run where its values stand.
    """

    spokes: tuple[Spoke, ...]
    rings: tuple[Ring, ...]
    outlines: tuple[str, ...]
    points: tuple[tuple[tuple[float, float], ...], ...]


def radar(report: Report) -> Radar | None:
    """The radar of mean improvements by domain; None for fewer than three domains with a value."""
    domains = [d for d in report.domains if any(cell is not None and cell.interval is not None for cell in d.cells)]
    domains = [d for d in domains if d.suite == domains[0].suite]
    if len(domains) < 3:
        return None
    axis = improvement_axis(report)
    turns = [2 * math.pi * i / len(domains) - math.pi / 2 for i in range(len(domains))]

    def radius(value: float) -> float:
        return _RADIUS * (0.1 + 0.9 * (min(max(value, axis.low), axis.high) - axis.low) / (axis.high - axis.low))

    spokes = []
    for domain, turn in zip(domains, turns, strict=True):
        x, y = math.cos(turn), math.sin(turn)
        lines = two_lines(domain.title)
        anchor = "middle" if abs(x) < 0.1 else "start" if x > 0 else "end"
        reach = _RADIUS + 12
        # Text hangs below its line, so names above the circle are raised and those below lowered.
        label_y = reach * y + 4 - (len(lines) - 1) * 7 * (1 - y)
        spokes.append(Spoke(lines, _RADIUS * x, _RADIUS * y, reach * x, label_y, anchor))
    between = math.pi / len(domains) - math.pi / 2
    rings = [Ring(tick, r := radius(tick), r * math.cos(between), r * math.sin(between) + 4) for tick in axis.ticks]
    outlines = [_outline([d.cells[i] for d in domains], turns, radius) for i in range(len(report.runs))]
    return Radar(tuple(spokes), tuple(rings), tuple(path for path, _ in outlines), tuple(points for _, points in outlines))


def two_lines(title: str) -> tuple[str, ...]:
    """A name in one line, or in two about equally long ones."""
    words = title.split()
    if len(title) <= 16 or len(words) < 2:
        return (title,)
    splits = [(" ".join(words[:i]), " ".join(words[i:])) for i in range(1, len(words))]
    return min(splits, key=lambda pair: max(map(len, pair)))


def _outline(
    cells: Sequence[DomainCell | None], turns: Sequence[float], radius: Callable[[float], float]
) -> tuple[str, tuple[tuple[float, float], ...]]:
    places: list[tuple[float, float] | None] = []
    for cell, turn in zip(cells, turns, strict=True):
        if cell is None or cell.interval is None:
            places.append(None)
        else:
            r = radius(cell.interval.value)
            places.append((r * math.cos(turn), r * math.sin(turn)))
    path, pen = "", "M"
    for place in places:
        if place is not None:
            path += f"{pen}{place[0]:.1f} {place[1]:.1f}"
        pen = "M" if place is None else "L"
    if path and None not in places:
        path += "Z"
    elif places[0] is not None and places[-1] is not None:  # across the top
        path += f"L{places[0][0]:.1f} {places[0][1]:.1f}"
    return path, tuple(place for place in places if place is not None)
