"""The page: one file that loads nothing.  Every text that comes from results is escaped, none stands in a script."""

from __future__ import annotations

import base64
import hashlib
import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from dsb2_tasks import __version__, metrics
from dsb2_tasks.report import _charts, _text
from dsb2_tasks.report._report import Cell, Report, TaskRow
from dsb2_tasks.report._samples import Shown
from dsb2_tasks.spec import OFFICIAL_SUITE, DataSource

_HUB = "https://huggingface.co/datasets/"
#: What ``dsb2_tasks.audio`` notes about a clip.
_EVENTS = {
    "resampled": "to the rate of the model",
    "rate_rounded": "rate rounded before resampling",
    "mixed_down": "several channels to one",
    "spatial_mixdown": "of a task that asks about space",
    "cancelling": "channels cancel each other out when mixed",
    "truncated": "longer than the model hears, cut",
    "chunked": "longer than the model hears, in windows",
    "padded": "shorter than the model hears, silence added",
    "nonfinite": "values that are no sound set to 0",
    "joined": "several clips joined into one",
}
_COLOURS = ("s1", "s2", "s3", "s4", "s5")


def render(report: Report, samples: Shown | None = None) -> str:
    """The page of a report.

    Args:
        report: What it says.
        samples: Answers to show; none by default.
    """
    css, js = (Markup(_source(name).strip()) for name in ("report.css", "report.js"))
    colours = _status_colours(report)
    per_task = max((len(documents) for documents in samples.documents.values()), default=0) if samples else 0
    return (
        _environment()
        .get_template("report.html.j2")
        .render(
            report=report,
            samples=samples,
            per_task=per_task,
            worst_per_task=math.ceil(per_task / 2),
            css=css,
            js=js,
            policy=_policy(css, js),
            version=__version__,
            several=len(report.runs) > 1,
            official=OFFICIAL_SUITE,
            shown_rates=_shown_rates(report),
            kinds=sorted({row.spec.kind for row in report.tasks}),
            axis=_charts.improvement_axis(report),
            shares=_charts.SHARES,
            radar=_charts.radar(report) if report.baseline else None,
            strips=_strips(report),
            status_colours=colours,
            status_lines=_status_lines(report, colours),
            events=sorted({event for run in report.runs for event in run.audio_events or ()}),
            event_meanings=_EVENTS,
            failures=sorted({failure for run in report.runs for failure in run.failures or ()}),
            verdicts=[_verdicts(report, i) for i in range(len(report.runs))],
            left=[row for row in report.tasks if any(cell and cell.gain and cell.gain.reason for cell in row.cells)],
            shown_characters=f"{_text.SHOWN_CHARACTERS:,}",
        )
    )


def _source(name: str) -> str:
    loader = _environment().loader
    assert loader is not None
    return loader.get_source(_environment(), name)[0]


def _policy(css: str, js: str) -> str:
    def digest(text: str) -> str:
        return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"

    return (
        f"default-src 'none'; style-src {digest(css)}; script-src {digest(js)}; media-src data:; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


@cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("dsb2_tasks.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    made.filters.update(
        number=_text.number,
        percent=_text.percent,
        signed=_text.signed,
        tick=_text.tick,
        short=lambda text: _text.cut(text, 300)[0],
        slug=lambda name: re.sub(r"[^\w-]", "_", name),
        breakable=_breakable,
        searched=_searched,
        page=_page,
        direction=_direction,
        no_answer=_no_answer,
        differs=lambda cells: any(cell is not None and cell.difference is not None for cell in cells[1:]),
        compared_by=lambda cells: next(cell.difference for cell in cells[1:] if cell is not None and cell.difference),
        versions=lambda cells: dict.fromkeys(cell.result.version for cell in cells if cell is not None),
        metric_names=lambda cells: dict.fromkeys(name for cell in cells if cell is not None for name in cell.result.values),
        told=lambda bars: ", ".join(f"{bar.name} {bar.count}" for bar in bars),
    )
    made.tests["nan"] = lambda value: isinstance(value, float) and math.isnan(value)
    made.globals.update(
        bounds=lambda interval: _text.bounds(interval.low, interval.high),
        change=lambda interval: (
            f"{_text.signed(interval.value, share=False)} {_text.bounds(interval.low, interval.high, share=False)}"
        ),
    )
    return made


def _shown(value: Any) -> Any:
    """Applied to whatever a template prints: nothing invisible gets onto the page."""
    return _text.visible(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _breakable(name: str) -> Markup:
    """A name that may be broken after its underscores."""
    return Markup("_<wbr>").join(_text.visible(part) for part in name.split("_"))


def _searched(row: TaskRow) -> str:
    spec = row.spec
    words = [row.name, spec.instance or "", spec.domain, spec.modality, spec.kind, spec.metric, *(s.path for s in spec.data)]
    return " ".join(words).lower()


def _page(source: DataSource) -> str | None:
    """Address of a data set on the hub; None for folders and for what is no name of one."""
    if source.is_local or not re.fullmatch(r"[\w.-]+/[\w.-]+", source.path, re.ASCII):
        return None
    return _HUB + quote(source.path) + (f"/tree/{source.revision}" if source.revision else "")


def _direction(cells: Sequence[Cell | None]) -> bool | None:
    """Whether higher is better for the task's primary metric; None if no run has it."""
    for cell in cells:
        if cell is not None and (reading := cell.result.values.get(cell.result.spec.metric)):
            return reading.higher_is_better
    return None


def _no_answer(cell: Cell) -> tuple[float, bool]:
    """Share of answers without a value, and whether they count as wrong."""
    for rate, wrong in (("na_rate", False), ("unparsed_rate", True)):
        if reading := cell.result.values.get(rate):
            return reading.value, wrong
    return math.nan, False


def _shown_rates(report: Report) -> dict[str, str]:
    """Rates that have a column; that of failures only where there are any."""
    shown = {"na_rate": "N/A", "unparsed_rate": "Unparsed"}
    failed = any(cell is not None and cell.rates["audio_error_rate"] > 0 for domain in report.domains for cell in domain.cells)
    return shown | ({"audio_error_rate": "Audio errors"} if failed else {})


@dataclass(frozen=True)
class _Strip:
    """All tasks of one metric in one run."""

    run: int
    higher_is_better: bool
    values: tuple[float, ...]
    undefined: int
    shares: bool

    @property
    def tasks(self) -> int:
        return len(self.values)

    @property
    def median(self) -> float:
        return statistics.median(self.values) if self.values else math.nan

    @property
    def low(self) -> float:
        return min(self.values, default=math.nan)

    @property
    def high(self) -> float:
        return max(self.values, default=math.nan)


def _strips(report: Report) -> dict[str, list[_Strip]]:
    """Metrics that more than one task has, the most frequent first, each with a line for every run."""
    found: dict[str, list[list[float]]] = {}
    better: dict[str, bool] = {}
    for row in report.tasks:
        for i, cell in enumerate(row.cells):
            if cell is not None and (reading := cell.result.values.get(cell.result.score)):
                lines = found.setdefault(cell.result.score, [[] for _ in report.runs])
                lines[i].append(reading.value)
                better[cell.result.score] = reading.higher_is_better
    order = sorted(found, key=lambda name: (-max(map(len, found[name])), name))
    return {
        name: [_strip(i, values, name, better[name]) for i, values in enumerate(found[name]) if values]
        for name in order
        if max(map(len, found[name])) > 1
    }


def _strip(run: int, values: Sequence[float], name: str, higher_is_better: bool) -> _Strip:
    finite = sorted(value for value in values if math.isfinite(value))
    fraction = name.removesuffix("_scaled") in metrics.names() and metrics.get(name).unit == "fraction"
    return _Strip(run, higher_is_better, tuple(finite), len(values) - len(finite), fraction)


@dataclass(frozen=True)
class _Bar:
    name: str
    count: int
    colour: str
    start: str
    width: str


@dataclass(frozen=True)
class _StatusLine:
    kind: str
    run: int
    bars: tuple[_Bar, ...]
    ok: float
    total: int


def _status_colours(report: Report) -> dict[str, str]:
    """A colour for ``ok``, one for failures of the tool, one for each frequent reason, and grey for the rest."""
    counts: Counter[str] = Counter()
    for row in report.tasks:
        for cell in row.cells:
            if cell is not None:
                counts.update(cell.statuses)
    reasons = [name for name, _ in counts.most_common() if name not in ("ok", "audio_error", "model_error")]
    named = {"ok": "s0", **dict(zip(reasons, _COLOURS[:-1], strict=False))}
    if len(reasons) > len(_COLOURS) - 1:
        named["other"] = _COLOURS[-1]
    return named | {name: "sbad" for name in ("audio_error", "model_error") if counts[name]}


def _status_lines(report: Report, colours: Mapping[str, str]) -> list[_StatusLine]:
    lines = []
    for kind in sorted({row.spec.kind for row in report.tasks}):
        for i in range(len(report.runs)):
            counts: Counter[str] = Counter()
            for row in report.tasks:
                cell = row.cells[i]
                if row.spec.kind == kind and cell is not None:
                    for name, count in cell.statuses.items():
                        counts[name if name in colours else "other"] += count
            total = counts.total()
            if total:
                bars, start = [], 0.0
                for name, colour in colours.items():
                    if width := 100 * counts[name] / total:
                        bars.append(_Bar(name, counts[name], colour, f"{start:.2f}%", f"{width:.2f}%"))
                        start += width
                lines.append(_StatusLine(kind, i, tuple(bars), counts["ok"] / total, total))
    return lines


def _verdicts(report: Report, run: int) -> dict[int, int]:
    """On how many tasks a run is better (1), worse (-1) or neither (0) than the first."""
    cells = [row.cells[run] for row in report.tasks]
    return Counter(cell.difference.verdict for cell in cells if cell and cell.difference and cell.difference.difference)
