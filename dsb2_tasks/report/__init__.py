"""Reports: what runs found, side by side, as a page, as tables, or as plots.

:func:`build` puts runs together and makes all intervals; :func:`render` and the functions beside it only write down::

    from dsb2_tasks.baseline import read_baseline
    from dsb2_tasks.report import build, render
    from dsb2_tasks.results import read_run

    report = build([read_run("results/a"), read_run("results/b")], read_baseline("results/cascade"))
    Path("report.html").write_bytes(encode(render(report)))
"""

from __future__ import annotations

from dsb2_tasks.report._gain import Drawing, Gain
from dsb2_tasks.report._html import render
from dsb2_tasks.report._plots import draw
from dsb2_tasks.report._report import (
    MOST_RUNS,
    Cell,
    DomainCell,
    DomainRow,
    Report,
    ReportError,
    TaskRow,
    build,
)
from dsb2_tasks.report._run import RunInfo
from dsb2_tasks.report._samples import Shown, choose
from dsb2_tasks.report._tables import as_csv, as_json, latex, markdown

__all__ = [
    "MOST_RUNS",
    "Cell",
    "DomainCell",
    "DomainRow",
    "Drawing",
    "Gain",
    "Report",
    "ReportError",
    "RunInfo",
    "Shown",
    "TaskRow",
    "as_csv",
    "as_json",
    "build",
    "choose",
    "draw",
    "encode",
    "latex",
    "markdown",
    "render",
]


def encode(text: str) -> bytes:
    """Bytes for a file; half a character that cannot be written as UTF-8 becomes a visible escape."""
    return text.encode("utf-8", "backslashreplace")
