"""Plots of the mean improvements by domain, as files for papers and slides."""

from __future__ import annotations

import io
import math
from typing import TYPE_CHECKING, Any, Literal

from dsb2_tasks.report._charts import improvement_axis, two_lines
from dsb2_tasks.report._report import DomainRow, Report, ReportError
from dsb2_tasks.report._text import tick, visible

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

PlotFormat = Literal["png", "svg", "pdf"]
Plot = Literal["radar", "bars"]

#: As on the page: colours that everybody can tell apart, each with a marker of its own.
_COLOURS = ("#0072b2", "#c64f00", "#008a63", "#b0578a", "#8a6d00", "#5b5bd6")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def draw(report: Report, plot: Plot, form: PlotFormat) -> bytes:
    """Draws a report.

    Args:
        report: What to draw; its mean improvements by domain.
        plot: ``radar``, or ``bars`` with intervals.
        form: File format.

    Raises:
        ReportError: There is no baseline and so no improvement, too few domains for a radar, or matplotlib is not installed.
    """
    domains = [d for d in report.domains if any(cell is not None and cell.interval is not None for cell in d.cells)]
    if not domains:
        raise ReportError("nothing to plot: plots show improvements by domain, and none could be counted; name a --baseline")
    try:
        import matplotlib
        from matplotlib.figure import Figure
        from matplotlib.layout_engine import ConstrainedLayoutEngine
    except ImportError:
        raise ReportError(f"--format {form} needs matplotlib: pip install 'dsb2-tasks[report]'") from None
    # Fixed ids and no date: the same report gives the same file. No text of a run is taken for a formula.
    settings: Any = {"svg.hashsalt": "dsb2", "text.parse_math": False, "font.size": 9, "axes.spines.top": False}
    with matplotlib.rc_context(settings):
        layout = ConstrainedLayoutEngine(rect=(0, 0.05, 1, 0.88))  # room for legend and note
        figure = (_radar if plot == "radar" else _bars)(report, domains, Figure, layout)
        if report.on_samples:
            figure.text(0.5, 0.01, "Sample data: these are not results.", ha="center", weight="bold")
        figure.legend(loc="upper center", ncols=min(3, len(report.runs)), frameon=False)
        file = io.BytesIO()
        figure.savefig(file, format=form, dpi=200, metadata={"Date": None} if form == "svg" else _undated(form))
    return file.getvalue()


def _undated(form: PlotFormat) -> dict[str, Any]:
    return {"CreationDate": None} if form == "pdf" else {}


def _bars(report: Report, domains: list[DomainRow], figure_class: type[Figure], layout: ConstrainedLayoutEngine) -> Figure:
    height = 1.2 + len(domains) * (0.2 + 0.1 * len(report.runs))
    figure = figure_class(figsize=(7.0, height), layout=layout)
    axes = figure.subplots()
    axis = improvement_axis(report)
    for i, run in enumerate(report.runs):
        places, values, below, above = [], [], [], []
        for place, domain in enumerate(domains):
            cell = domain.cells[i]
            if cell is None or cell.interval is None:
                continue
            value, low, high = (
                min(max(end, axis.low), axis.high) for end in (cell.interval.value, cell.interval.low, cell.interval.high)
            )
            places.append(place + 0.7 * ((i + 0.5) / len(report.runs) - 0.5))
            values.append(value)
            below.append(0.0 if math.isnan(cell.interval.low) else value - low)
            above.append(0.0 if math.isnan(cell.interval.high) else high - value)
        axes.errorbar(
            values,
            places,
            xerr=[[max(0.0, gap) for gap in below], [max(0.0, gap) for gap in above]],
            fmt=_MARKERS[i],
            color=_COLOURS[i],
            markersize=4.5,
            elinewidth=1.2,
            label=visible(run.name),
        )
    axes.axvline(0, color="black", linewidth=0.8)
    axes.set_xlim(axis.low, axis.high)
    axes.set_xticks(axis.ticks, [tick(value) for value in axis.ticks])
    axes.set_yticks(range(len(domains)), [visible(domain.title) for domain in domains])
    axes.set_ylim(len(domains) - 0.5, -0.5)
    axes.grid(axis="x", linewidth=0.4)
    axes.set_axisbelow(True)
    axes.spines["right"].set_visible(False)
    axes.set_xlabel(f"Mean relative improvement over {visible(report.baseline or '')}")
    return figure


def _radar(report: Report, domains: list[DomainRow], figure_class: type[Figure], layout: ConstrainedLayoutEngine) -> Figure:
    if len(domains) < 3:
        raise ReportError(f"a radar needs 3 domains with an improvement, there are {len(domains)}; draw bars")
    figure = figure_class(figsize=(7.0, 6.0), layout=layout)
    axes = figure.subplots(subplot_kw={"projection": "polar", "theta_offset": math.pi / 2, "theta_direction": -1})
    axis = improvement_axis(report)
    turns = [2 * math.pi * i / len(domains) for i in range(len(domains))]
    for i, run in enumerate(report.runs):
        values = []
        for domain in domains:
            cell = domain.cells[i]
            known = cell is not None and cell.interval is not None
            values.append(min(max(cell.interval.value, axis.low), axis.high) if known else math.nan)  # type: ignore[union-attr]
        axes.plot(
            [*turns, turns[0]],
            [*values, values[0]],
            marker=_MARKERS[i],
            color=_COLOURS[i],
            markersize=4,
            linewidth=1.4,
            label=visible(run.name),
        )
    axes.set_ylim(axis.low - 0.1 * (axis.high - axis.low), axis.high)
    axes.set_yticks(axis.ticks, [tick(value) for value in axis.ticks], fontsize=7)
    axes.plot([2 * math.pi * i / 360 for i in range(361)], [0.0] * 361, color="black", linewidth=0.8, linestyle="dashed")
    axes.set_xticks(turns, [""] * len(turns))
    for domain, turn in zip(domains, turns, strict=True):
        side = math.sin(turn)
        place = axis.high + 0.06 * (axis.high - axis.low)
        axes.text(
            turn,
            place,
            "\n".join(two_lines(visible(domain.title))),
            ha="center" if abs(side) < 0.1 else "left" if side > 0 else "right",
            va="bottom" if math.cos(turn) > 0.9 else "top" if math.cos(turn) < -0.9 else "center",
            fontsize=8,
        )
    axes.grid(linewidth=0.4)
    return figure
