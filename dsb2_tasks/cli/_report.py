"""``dsb2 report``: what runs found, as a page, tables or plots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from dsb2_tasks.report import Drawing
    from dsb2_tasks.results import Run

_TABLES = ("md", "csv", "latex", "json")
_PLOTS = ("png", "svg", "pdf")
_FORMATS = ("html", *_TABLES, *_PLOTS, "submission")


@click.command()
@click.argument("runs", nargs=-1, required=True, type=click.Path(), metavar="RUN...")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    metavar="FILE",
    help="Where to; - for stdout.",
)
@click.option("--format", "form", type=click.Choice(_FORMATS), help="By the ending of FILE, else html.")
@click.option("--baseline", metavar="WHERE", help="What improvements are over: a run, a table, or phase1:NAME.")
@click.option(
    "--samples", type=click.IntRange(min=0), default=0, help="Answers shown of each task, the worst and some by chance."
)
@click.option("--data", metavar="samples|hub|FOLDER", help="Where clips are read from; where the run read them by default.")
@click.option("--audio-mb", type=click.FloatRange(min=0), default=20.0, show_default=True, help="Most audio in a page, in MB.")
@click.option("--plot", type=click.Choice(("radar", "bars")), help="What is drawn to png, svg and pdf; bars by default.")
@click.option("--title", help="Heading.")
@click.option("--draws", type=click.IntRange(min=100), default=1000, show_default=True, help="Bootstrap draws.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Seed of draws and of answers shown.")
@click.option("--level", type=click.FloatRange(0.5, 0.999), default=0.95, show_default=True, help="Level of the intervals.")
def report(
    runs: tuple[str, ...],
    output: Path | None,
    form: str | None,
    baseline: str | None,
    samples: int,
    data: str | None,
    audio_mb: float,
    plot: str | None,
    title: str | None,
    draws: int,
    seed: int,
    level: float,
) -> None:
    """Write down what one or more runs found: as a page, as tables for a paper, as plots, or as a submission.

    Each RUN is a results file, the folder of a run, or a submission; others are compared with the first. The page is one file
    that loads nothing. With --samples it holds answers and clips: mind the licences of the data before you pass it on.

    \b
    Examples:
      dsb2 report results/mine -o report.html --samples 4
      dsb2 report results/mine results/theirs --baseline results/cascade -o report.html
      dsb2 report results/mine --baseline results/cascade --format latex
      dsb2 report results/mine --format submission -o mine.json
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    chosen = _format(form, output)
    if (samples or data) and chosen != "html":
        raise click.UsageError(f"--samples and --data are for pages, not for --format {chosen}")
    if data and not samples:
        raise click.UsageError("--data says where clips are read from; name --samples too")
    if plot and chosen not in _PLOTS:
        raise click.UsageError(f"--plot draws to png, svg or pdf, not to {chosen}; name one with --format")
    if output is None and chosen not in (*_TABLES, "submission"):
        raise click.UsageError(f"--format {chosen} is written to a file; name it with -o")
    from dsb2_tasks.report import Drawing
    from dsb2_tasks.results import read_run

    read = [read_run(path) for path in runs]
    how = Drawing(draws=draws, seed=seed, level=level)
    content = _content(chosen, read, baseline, samples, data, audio_mb, plot, title, how)
    with click.open_file(str(output or "-"), "wb") as file:
        file.write(content)
    if output is not None and str(output) != "-":
        size = len(content)
        click.echo(f"{output}: {f'{size / 1e6:.1f} MB' if size >= 1e5 else f'{size / 1e3:.1f} kB'}", err=True)


def _format(form: str | None, output: Path | None) -> str:
    if form is not None:
        return form
    ending = output.suffix.lower().removeprefix(".") if output is not None else ""
    known = {"htm": "html", "tex": "latex", "markdown": "md"}.get(ending, ending)
    return known if known in _FORMATS else "html"


def _content(
    form: str,
    runs: list[Run],
    baseline: str | None,
    samples: int,
    data: str | None,
    audio_mb: float,
    plot: str | None,
    title: str | None,
    how: Drawing,
) -> bytes:
    from dsb2_tasks import report as reports
    from dsb2_tasks.baseline import read_baseline
    from dsb2_tasks.results import make_submission

    if form == "submission":
        if len(runs) != 1 or baseline:
            raise click.UsageError("a submission is of one run and without a baseline")
        return reports.encode(make_submission(runs[0]))
    made = reports.build(runs, read_baseline(baseline) if baseline else None, title=title, how=how)
    if form == "html":
        shown = reports.choose(made, samples, data=data, audio_bytes=int(audio_mb * 1e6)) if samples else None
        return reports.encode(reports.render(made, shown))
    if form == "md":
        return reports.encode(reports.markdown(made))
    if form == "csv":
        return reports.encode(reports.as_csv(made))
    if form == "latex":
        return reports.encode(reports.latex(made))
    if form == "json":
        return reports.encode(reports.as_json(made))
    return reports.draw(made, plot or "bars", form)  # type: ignore[arg-type]  # one of the choices
