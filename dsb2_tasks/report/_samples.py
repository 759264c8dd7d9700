"""Which answers a report shows: of every task the worst and some by chance, the same documents for all runs."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path

from dsb2_tasks import catalog, metrics
from dsb2_tasks.audio import FAILURE_KINDS
from dsb2_tasks.report._clips import Clips, ShownClip
from dsb2_tasks.report._report import Report
from dsb2_tasks.report._text import cut, number
from dsb2_tasks.results import Run, Sample, TaskResult


@dataclass(frozen=True)
class ShownText:
    """The beginning of a text, and how many characters are left off."""

    text: str
    left_off: int


@dataclass(frozen=True)
class ShownAnswer:
    """What one run answered, how that was read, and what was counted: metric, value, entries of its row."""

    answer: ShownText
    status: str
    counted: tuple[tuple[str, str, str], ...]


@dataclass(frozen=True)
class ShownDocument:
    """One document with the answers of all runs, None where a run has none; ``why`` it is shown: worst or by chance."""

    number: int
    why: str
    prompt: ShownText
    target: ShownText
    clips: tuple[ShownClip, ...]
    answers: tuple[ShownAnswer | None, ...]


@dataclass(frozen=True)
class Shown:
    """Documents by task, and what could not be shown."""

    documents: dict[str, tuple[ShownDocument, ...]]
    notes: tuple[str, ...]


def choose(report: Report, count: int, *, data: str | None = None, audio_bytes: int = 20_000_000) -> Shown:
    """Chooses documents and embeds their clips.

    Half of them, rounded up, are those that the first run with logged answers did worst on; the rest is drawn, with the seed
    of the report.

    Args:
        report: The report that they are for; answers of its runs to the same document stand together.
        count: Documents of each task.
        data: Where clips are read from, as in ``--metadata data=``; where the run read them by default.
        audio_bytes: Most bytes of audio in all; the first document of every task comes before the second of any.

    Raises:
        ResultsError: A file of logged samples is broken.
    """
    runs, known = report.sources, catalog.read_catalog([catalog.yaml_root()])
    clips = Clips(audio_bytes)
    chosen: dict[str, list[tuple[Sample, str]]] = {}
    unlogged = 0
    for task in dict.fromkeys(task for run in runs for task in run.tasks):
        result = next((run.tasks[task] for run in runs if task in run.tasks and _has_answers(run.tasks[task])), None)
        if result is None:
            unlogged += 1
            continue
        chosen[task] = _chosen(result, count, report.how.seed)
        if any(sample.audio for sample, _ in chosen[task]):
            entry = known.tasks.get(task)
            clips.open(task, result.spec, data or result.data, entry.path.parent if entry else _folder(runs, task))
    shown: dict[str, list[ShownDocument]] = {task: [] for task in chosen}
    for rank in range(count):
        for task, samples in chosen.items():
            if rank < len(samples):
                shown[task].append(_document(runs, task, *samples[rank], clips))
    notes = []
    if unlogged:
        notes.append(f"answers of {unlogged} tasks were not logged (run with --log_samples)")
    if clips.left_out:
        notes.append(f"{clips.left_out} clips are left out: the page holds at most {audio_bytes / 1e6:g} MB of audio")
    return Shown({task: tuple(documents) for task, documents in shown.items()}, tuple(notes))


def _has_answers(result: TaskResult) -> bool:
    """Whether there are texts: a submission has none."""
    return any(sample.doc for sample in result.samples())


def _folder(runs: Sequence[Run], task: str) -> Path:
    """Folder of a task file that does not come with this package, as the run noted it."""
    for run in runs:
        config = (run.raw.get("configs") or {}).get(task) or {}
        if source := (config.get("metadata") or {}).get("config_source"):
            return Path(str(source)).parent
    return Path()


def _chosen(result: TaskResult, count: int, seed: int) -> list[tuple[Sample, str]]:
    samples = result.samples()
    worst = sorted(samples, key=lambda sample: (-_badness(result, sample), sample.doc_id))[: math.ceil(count / 2)]
    taken = {id(sample) for sample in worst}
    rest = [sample for sample in samples if id(sample) not in taken]
    drawn = random.Random(f"{seed} {result.task}").sample(rest, min(count - len(worst), len(rest)))
    return [(sample, "among the worst") for sample in worst] + [(sample, "drawn by chance") for sample in drawn]


def _badness(result: TaskResult, sample: Sample) -> float:
    """How bad an answer is within its task: no usable answer is worst; a failure of the tool is no answer at all."""
    if sample.status in FAILURE_KINDS:
        return -math.inf
    for name in (result.spec.metric, *result.spec.secondary):
        row = sample.rows.get(name)
        if row is None:
            continue
        metric = metrics.get(name)
        value = metric.aggregate([row])
        if math.isfinite(value):  # a correlation of one document is not
            return -value if metric.higher_is_better else value
    return math.inf


def _document(runs: Sequence[Run], task: str, sample: Sample, why: str, clips: Clips) -> ShownDocument:
    answers = []
    for run in runs:
        there = [other for other in run.tasks[task].samples() if other.doc] if task in run.tasks else []
        same = next((other for other in there if other.key == sample.key and other.doc_id == sample.doc_id), None)
        same = same or next((other for other in there if other.key == sample.key), None)
        answers.append(None if same is None else _answer(run.tasks[task], same))
    return ShownDocument(
        number=sample.doc_id,
        why=why,
        prompt=ShownText(*cut(sample.prompt)),
        target=ShownText(*cut(sample.target)),
        clips=tuple(clips.show(handle) for handle in sample.audio),
        answers=tuple(answers),
    )


def _answer(result: TaskResult, sample: Sample) -> ShownAnswer:
    counted = []
    for name in dict.fromkeys((result.spec.metric, *result.spec.secondary)):
        row = sample.rows.get(name)
        if row is None:
            counted.append((name, "not counted", ""))
            continue
        metric = metrics.get(name)
        entries = ", ".join(f"{title} {_entry(entry)}" for title, entry in zip(cycle(metric.fields), row[:12]))
        counted.append((name, number(metric.aggregate([row])), entries + (" ..." if len(row) > 12 else "")))
    return ShownAnswer(ShownText(*cut(sample.answer)), sample.status, tuple(counted))


def _entry(entry: object) -> str:
    return f"{entry:.4g}" if isinstance(entry, int | float) else cut(str(entry), 80)[0]
