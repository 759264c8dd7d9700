"""Everything that a report says, as objects, before it becomes a page, a table or a plot."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby

from dsb2_tasks import catalog, metrics
from dsb2_tasks.baseline import Baseline, BaselineError
from dsb2_tasks.comparison import TaskDifference, compare
from dsb2_tasks.report._gain import Drawing, Gain, gain_in_run, gain_over, mean_gain
from dsb2_tasks.report._run import RunInfo, describe
from dsb2_tasks.results import ResultsError, Run, TaskResult
from dsb2_tasks.scoring import DomainScore, Interval, domain_score
from dsb2_tasks.spec import DOMAINS, OFFICIAL_SUITE, TaskSpec

#: Runs side by side: as many as there are colours that everybody can tell apart.
MOST_RUNS = 6
RATES = ("na_rate", "unparsed_rate", "audio_error_rate")
_MODALITIES = ("speech", "music", "audio")


class ReportError(ValueError):
    """A report cannot be made as asked; the message says why and what would do."""


@dataclass(frozen=True)
class Cell:
    """One run on one task.

    Attributes:
        result: What the run found.
        statuses: How its answers were read, with counts, most frequent first.
        gain: Improvement over the baseline; None in a report without one.
        difference: This run minus the first; None for the first itself and for tasks that it has not.
    """

    result: TaskResult
    statuses: dict[str, int]
    gain: Gain | None
    difference: TaskDifference | None


@dataclass(frozen=True)
class TaskRow:
    """One task with a cell for every run, None where a run has not the task."""

    name: str
    spec: TaskSpec
    path: str | None
    cells: tuple[Cell | None, ...]

    @property
    def title(self) -> str:
        """Name without the suite's prefix."""
        return self.name.removeprefix("dsb2_")


@dataclass(frozen=True)
class DomainCell:
    """One run on one domain.

    Attributes:
        tasks: Tasks with results.
        documents: Documents that were answered.
        rates: Plain mean over tasks of each shared rate, nan where no task has it.
        score: Improvements of its tasks in one number; None in a report without baseline.
        interval: The mean improvement with its interval; None where no task counts.
    """

    tasks: int
    documents: int
    rates: dict[str, float]
    score: DomainScore | None
    interval: Interval | None


@dataclass(frozen=True)
class DomainRow:
    """One domain of a suite.

    Attributes:
        suite: Suite of the tasks; domains of different suites are never put together.
        slug: Name as in task files.
        title: Name for people.
        modality: speech, music or audio.
        expected: Tasks that the installed suite has; 0 where it is not known.
        cells: One a run; None where a run has no task of it.
    """

    suite: str
    slug: str
    title: str
    modality: str
    expected: int
    cells: tuple[DomainCell | None, ...]


@dataclass(frozen=True)
class Report:
    """All that a report says.

    Attributes:
        title: Heading.
        sources: The runs themselves, in the order named; the first is what the others are compared with.
        runs: What is said about each.
        domains: Domains in the paper's order, others after them.
        tasks: Tasks by domain, then name.
        baseline: Name of the baseline; None without one.
        caveats: What must be told about the baseline.
        how: How intervals were made.
    """

    title: str
    sources: tuple[Run, ...] = field(repr=False)
    runs: tuple[RunInfo, ...]
    domains: tuple[DomainRow, ...]
    tasks: tuple[TaskRow, ...]
    baseline: str | None
    caveats: tuple[str, ...]
    how: Drawing

    @property
    def on_samples(self) -> bool:
        """Whether any number comes from the embedded sample data."""
        return any(run.on_samples for run in self.runs)


def build(
    runs: Sequence[Run], baseline: Baseline | None = None, *, title: str | None = None, how: Drawing | None = None
) -> Report:
    """Puts runs side by side.

    Args:
        runs: One to six runs; the first is what the others are compared with.
        baseline: What improvements are over; without one, those that the runs themselves counted are shown, if all of them
            counted them over the same baseline.
        title: Heading.
        how: How intervals are made.

    Raises:
        ReportError: No run, or too many.
        ResultsError: A file of logged samples is broken.
        BaselineError: The baseline's is.
    """
    if not 1 <= len(runs) <= MOST_RUNS:
        raise ReportError(f"{len(runs)} runs; a report shows 1 to {MOST_RUNS} side by side")
    how = how or Drawing()
    known = catalog.read_catalog([catalog.yaml_root()])
    name, caveats = (baseline.name or "baseline", baseline.caveats) if baseline is not None else _counted_over(runs)
    differences = [_differences(run, runs[0], how) if run is not runs[0] else {} for run in runs]
    rows = [
        TaskRow(
            task,
            next(run.tasks[task].spec for run in runs if task in run.tasks),
            str(known.tasks[task].path.relative_to(catalog.yaml_root())) if task in known.tasks else None,
            tuple(
                _cell(run, task, baseline, name is not None, found.get(task), how) if task in run.tasks else None
                for run, found in zip(runs, differences, strict=True)
            ),
        )
        for task in dict.fromkeys(task for run in runs for task in run.tasks)
    ]
    rows.sort(key=lambda row: (*_place(row.spec), row.name))
    domains = []
    for (suite, slug), members in groupby(rows, key=lambda row: (row.spec.suite, row.spec.domain)):
        tasks = list(members)
        modality, heading = DOMAINS.get(slug, (tasks[0].spec.modality, slug.replace("_", " ").capitalize()))
        cells = tuple(_domain_cell({t.name: t.cells[i] for t in tasks}, name is not None, how) for i in range(len(runs)))
        domains.append(DomainRow(suite, slug, heading, modality, len(known.tasks_of(suite, slug)), cells))
    return Report(
        title=title or "Dynamic-SUPERB Phase-2",
        sources=tuple(runs),
        runs=describe(runs),
        domains=tuple(domains),
        tasks=tuple(rows),
        baseline=name,
        caveats=caveats,
        how=how,
    )


def _place(spec: TaskSpec) -> tuple[bool, str, int, int, str]:
    """Where a task stands: the 180 first, then by suite; within a suite in the paper's order of domains."""
    order = list(DOMAINS)
    known = order.index(spec.domain) if spec.domain in DOMAINS else len(order)
    return spec.suite != OFFICIAL_SUITE, spec.suite, _MODALITIES.index(spec.modality), known, spec.domain


def _counted_over(runs: Sequence[Run]) -> tuple[str | None, tuple[str, ...]]:
    """The one baseline that all runs were counted over when they were made, with what to tell of it; None if there is no such."""
    names = {
        str((result.baseline or {}).get("name") or "the run's own baseline")
        for run in runs
        for result in run.tasks.values()
        if result.baseline or "relative_improvement" in result.values
    }
    if len(names) == 1:
        return names.pop(), ("Improvements are as the runs counted them; intervals are normal ones, from their standard errors.",)
    if names:
        return None, (f"The runs were counted over different baselines ({', '.join(sorted(names))}); no improvement is shown.",)
    return None, ()


def _differences(run: Run, reference: Run, how: Drawing) -> dict[str, TaskDifference]:
    if not run.tasks.keys() & reference.tasks.keys():
        return {}
    with _naming(f"{run.path} beside {reference.path}"):
        return {found.task: found for found in compare(run, reference, draws=how.draws, seed=how.seed, level=how.level).tasks}


@contextmanager
def _naming(place: str) -> Iterator[None]:
    """Names the place of rows that are none of their metric's; a metric cannot know it."""
    try:
        yield
    except (ResultsError, BaselineError):
        raise
    except (ValueError, metrics.UnknownMetric) as error:
        raise ReportError(f"{place}: {error}") from None


def _cell(
    run: Run, task: str, baseline: Baseline | None, improved: bool, difference: TaskDifference | None, how: Drawing
) -> Cell:
    result, gain = run.tasks[task], None
    if improved:
        with _naming(f"{run.path}: {task}"):
            gain = gain_over(baseline, result, how) if baseline is not None else gain_in_run(result, how)
    statuses = result.statuses or Counter(sample.status for sample in result.samples())
    order = sorted(statuses.items(), key=lambda item: (item[0] != "ok", -item[1], item[0]))
    return Cell(result, dict(order), gain, difference)


def _domain_cell(cells: Mapping[str, Cell | None], improved: bool, how: Drawing) -> DomainCell | None:
    there = {task: cell for task, cell in cells.items() if cell is not None}
    if not there:
        return None
    results = [cell.result for cell in there.values()]
    gains = {task: cell.gain for task, cell in there.items() if cell.gain is not None}
    values = {task: gain.interval.value if gain.interval else math.nan for task, gain in gains.items()}
    return DomainCell(
        tasks=len(results),
        documents=sum(result.documents for result in results),
        rates={rate: _mean([r.values[rate].value for r in results if rate in r.values]) for rate in RATES},
        score=domain_score(values) if improved else None,
        interval=mean_gain(gains, how) if improved else None,
    )


def _mean(values: Sequence[float]) -> float:
    finite = [value for value in values if math.isfinite(value)]
    return sum(finite) / len(finite) if finite else math.nan
