"""The numbers of a report as tables for other programs and for papers: Markdown, CSV, LaTeX and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from dsb2_tasks import __version__
from dsb2_tasks.report._report import RATES, Cell, DomainCell, DomainRow, Report
from dsb2_tasks.report._text import bounds, number, percent, signed, visible
from dsb2_tasks.results import finite
from dsb2_tasks.scoring import Interval
from dsb2_tasks.spec import OFFICIAL_SUITE

_SAMPLE_NOTE = "Sample data: these are not results."


@dataclass(frozen=True)
class _Table:
    """A table of a paper: some columns of text, then the same columns for every run."""

    title: str
    texts: tuple[str, ...]
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def markdown(report: Report) -> str:
    """Tables of domains and tasks in Markdown."""
    several = len(report.runs) > 1
    parts = [f"# {_cell(report.title)}", *_notes(report, _cell)]
    for table in _tables(report):
        heads = [f"{run.name}: {name}" if several else name for run in report.runs for name in table.columns]
        lines = [[_cell(text) for text in line] for line in ((*table.texts, *heads), *table.rows)]
        lines.insert(1, ["---"] * len(table.texts) + ["---:"] * len(heads))
        parts.append(f"## {table.title}\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines))
    return "\n\n".join(parts) + "\n"


def _cell(text: str) -> str:
    """A text that Markdown shows as it stands."""
    return re.sub(r"([\\`*_{}\[\]<>#|~$&])", r"\\\1", " ".join(visible(text).split()))


def latex(report: Report) -> str:
    """Tables of domains and tasks for booktabs, each over as many pages as it needs."""
    parts = [f"% Made by dsb2-tasks {__version__}. Needs \\usepackage{{booktabs}} and \\usepackage{{longtable}}."]
    parts += [f"% {note}" for note in _notes(report, lambda text: " ".join(visible(text).split()))]
    for table in _tables(report):
        width, before = len(table.columns), len(table.texts)
        lines = [
            rf"\begin{{longtable}}{{{'l' * before}{'r' * width * len(report.runs)}}}",
            rf"\caption{{{_caption(report, table)}}}\\",
        ]
        lines.append(r"\toprule")
        if len(report.runs) > 1:
            names = [rf"\multicolumn{{{width}}}{{c}}{{{_tex(run.name)}}}" for run in report.runs]
            lines.append(" & ".join([""] * before + names) + r" \\")
            starts = [before + 1 + i * width for i in range(len(report.runs))]
            lines.append(" ".join(rf"\cmidrule(lr){{{start}-{start + width - 1}}}" for start in starts))
        lines.append(" & ".join(map(_tex, (*table.texts, *table.columns * len(report.runs)))) + r" \\")
        lines += [r"\midrule", r"\endhead", r"\bottomrule", r"\endfoot"]
        lines += [" & ".join(map(_tex, row)) + r" \\" for row in table.rows]
        parts.append("\n".join([*lines, r"\end{longtable}"]))
    return "\n\n".join(parts) + "\n"


def _caption(report: Report, table: _Table) -> str:
    """A caption that does not lose what must be said."""
    return _tex(f"{table.title}. {_SAMPLE_NOTE}" if report.on_samples else f"{table.title}.")


_TEX = {
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "−": "$-$",
    "–": "--",
    "∞": r"$\infty$",
    "↑": r"$\uparrow$",
    "↓": r"$\downarrow$",
    "±": r"$\pm$",
    "⟨": r"$\langle$",
    "⟩": r"$\rangle$",
    "[": "{[}",  # the end of a line before it would take it for a length
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}


def _tex(text: str) -> str:
    return "".join(_TEX.get(sign, sign) for sign in " ".join(visible(text).split()))


def _notes(report: Report, escape: Callable[[str], str]) -> list[str]:
    notes = [_SAMPLE_NOTE] if report.on_samples else []
    notes += [f"{escape(run.name)}: {run.limit}." for run in report.runs if run.limit]
    if report.baseline:
        notes.append(
            f"Improvements are relative to {escape(report.baseline)}, with {percent(report.how.level)} intervals "
            f"({report.how.draws} draws, seed {report.how.seed})."
        )
    return notes + [escape(caveat) for caveat in report.caveats]


def _tables(report: Report) -> list[_Table]:
    improved = report.baseline is not None
    domains = tuple((_whose(d), *(text for cell in d.cells for text in _domain(cell, improved))) for d in report.domains)
    tasks = tuple(
        (
            row.title,
            next(cell.result.score for cell in row.cells if cell is not None) + (" (assumed)" if row.spec.metric_assumed else ""),
            *(text for cell in row.cells for text in _task(cell, improved)),
        )
        for row in report.tasks
    )
    gain = ("Improvement",) if improved else ()
    return [
        _Table("Domains", ("Domain",), ("Tasks", "N/A", "Unparsed", *gain), domains),
        _Table("Tasks", ("Task", "Metric"), ("Value", "N/A", *gain), tasks),
    ]


def _whose(domain: DomainRow) -> str:
    """Title of a domain, with its suite where that is not the official one: domains of two suites may share a name."""
    return domain.title if domain.suite == OFFICIAL_SUITE else f"{domain.title} ({domain.suite})"


def _domain(cell: DomainCell | None, improved: bool) -> list[str]:
    if cell is None:
        return ["–"] * (3 + improved)
    rates = [percent(cell.rates["na_rate"]), percent(cell.rates["unparsed_rate"])]
    if cell.score is None:
        return [str(cell.tasks), *rates]
    kept = len(cell.score.kept)
    counted = str(kept) if kept == cell.tasks else f"{kept} of {cell.tasks}"
    return [counted, *rates, f"{signed(cell.score.mean)} {_bounds(cell.interval)}".strip()]


def _task(cell: Cell | None, improved: bool) -> list[str]:
    if cell is None:
        return ["–"] * (2 + improved)
    reading = cell.result.values.get(cell.result.score)
    value = number(reading.value if reading else None)
    if reading and math.isfinite(reading.stderr):
        value += f" ± {number(reading.stderr)}"
    found = [value, percent(cell.result.na_rate)]
    if cell.gain is not None:
        interval = cell.gain.interval
        found.append(f"{signed(interval.value)} {_bounds(interval)}".strip() if interval else "left out")
    return found


def _bounds(interval: Interval | None) -> str:
    return bounds(interval.low, interval.high) if interval else ""


_COLUMNS = (
    *("run", "model", "task", "suite", "domain", "kind", "version", "data", "metric", "metric_assumed", "higher_is_better"),
    *("value", "stderr", "scaled", "na_rate", "unparsed_rate", "audio_error_rate", "documents", "total"),
    *("baseline", "improvement", "improvement_low", "improvement_high", "left_out"),
    *("difference", "difference_low", "difference_high", "p_value", "compared_documents"),
)


def as_csv(report: Report) -> str:
    """One line a run and task, full precision; what is not defined is empty."""
    file = io.StringIO()
    writer = csv.DictWriter(file, _COLUMNS, lineterminator="\n")
    writer.writeheader()
    for record in _records(report):
        writer.writerow({key: _plain(value) for key, value in record.items()})
    return file.getvalue()


#: Where a spreadsheet may take what follows for a formula; in some countries cells end at a semicolon.
_FORMULA = re.compile(r"(^|[,;] ?)(?=[=+\-@＝＋－＠])")


def _plain(value: Any) -> Any:
    """A cell that no spreadsheet takes for a formula."""
    if isinstance(value, str):
        return _FORMULA.sub(r"\1'", " ".join(visible(value).split()))
    return value


def as_json(report: Report) -> str:
    """Everything as one JSON object; what is not defined is null."""
    domains = [
        {
            "run": run.name,
            "suite": domain.suite,
            "domain": domain.slug,
            "title": domain.title,
            "tasks": cell.tasks,
            "expected_tasks": domain.expected or None,
            "documents": cell.documents,
            **{rate: finite(cell.rates[rate]) for rate in RATES},
            "improvement": _score(cell),
        }
        for domain in report.domains
        for run, cell in zip(report.runs, domain.cells, strict=True)
        if cell is not None
    ]
    whole = {
        "title": report.title,
        "dsb2_tasks": __version__,
        "sample_data": report.on_samples,
        "baseline": report.baseline,
        "caveats": report.caveats,
        "intervals": asdict(report.how),
        "runs": [asdict(run) for run in report.runs],
        "domains": domains,
        "tasks": list(_records(report)),
    }
    return json.dumps(whole, indent=1, allow_nan=False) + "\n"


def _score(cell: DomainCell) -> dict[str, Any] | None:
    if cell.score is None:
        return None
    score, interval = cell.score, cell.interval
    return {
        "mean": finite(score.mean),
        "low": finite(interval.low) if interval else None,
        "high": finite(interval.high) if interval else None,
        "median": finite(score.median),
        "clipped_mean": finite(score.clipped_mean),
        "kept": score.kept,
        "left_out": score.left_out,
    }


def _records(report: Report) -> list[dict[str, Any]]:
    return [_record(report, i, row.name, cell) for row in report.tasks for i, cell in enumerate(row.cells) if cell is not None]


def _record(report: Report, run: int, task: str, cell: Cell) -> dict[str, Any]:
    result, spec = cell.result, cell.result.spec
    plain = result.values.get(spec.metric)
    scaled = result.values.get(result.score) if result.score != spec.metric else None
    gain = cell.gain.interval if cell.gain else None
    gap = cell.difference.difference if cell.difference else None
    values = (
        *(report.runs[run].name, report.runs[run].model, task, spec.suite, spec.domain, spec.kind, result.version, result.data),
        *(spec.metric, spec.metric_assumed, plain.higher_is_better if plain else None),
        *(finite(plain.value) if plain else None, finite(plain.stderr) if plain else None),
        finite(scaled.value) if scaled else None,
        *(finite(result.values[rate].value) if rate in result.values else None for rate in RATES),
        *(result.documents, result.total, report.baseline, *_ends(gain), cell.gain.reason if cell.gain else None),
        *(*_ends(gap.interval if gap else None), finite(gap.p_value) if gap else None, gap.samples if gap else None),
    )
    return dict(zip(_COLUMNS, values, strict=True))


def _ends(interval: Interval | None) -> tuple[float | None, float | None, float | None]:
    if interval is None:
        return None, None, None
    return finite(interval.value), finite(interval.low), finite(interval.high)
