"""Scoring, re-scoring, intervals and reports over stored answers."""

from __future__ import annotations

import itertools
import json
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dsb2_tasks import hooks, metrics
from dsb2_tasks.baseline import read_baseline
from dsb2_tasks.metrics import Row as Statistics
from dsb2_tasks.report import Drawing, build, render
from dsb2_tasks.rescore import Answered, Document, Rules, from_run, score, write_results
from dsb2_tasks.results import read_run
from dsb2_tasks.scoring import bootstrap
from tests.perf._scoring_probe import Stored, count, rows_of, stored
from tests.perf._size import Size
from tests.perf._table import Goal, Row, interleaved

_MODEL = {"model": "answers", "model_args": {"name": "answers"}}
DRAWS = 1000


def rows(size: Size) -> list[Row]:
    """All rows about what follows the answers; seconds are of the processor."""
    tasks = stored(size.answers, clips=True)
    answers = size.answers * len(tasks)
    with tempfile.TemporaryDirectory() as folder:
        first, second = (run_of(stored(size.answers, seed=seed, clips=True), Path(folder) / str(seed)) for seed in (1, 2))
        found = [
            _compared(
                "scoring", "lm-eval's exact_match of each answer", lambda: count(tasks), lambda: exact_match(tasks), answers, 60
            ),
            _compared(
                "re-scoring, files to files",
                "json.loads of the same lines",
                lambda: rescored(first, Path(folder) / "again"),
                lambda: read_lines([first]),
                answers,
                120,
            ),
        ]
        name = "reading the files of both runs by json.loads"
        found.append(
            _compared(
                "report of two runs and a baseline",
                name,
                lambda: report(first, second),
                lambda: read_lines([first, second]),
                2 * answers,
                120,
            )
        )
    return [*found, *_bootstrap(tasks, size)]


def _compared(what: str, name: str, ours: Any, theirs: Any, answers: int, most: float) -> Row:
    took = []
    for way in (ours, theirs):
        start = time.process_time()
        way()
        took.append(time.process_time() - start)
    return Row(f"{what}, {answers} answers", *took, "s", name, Goal("ours", most), f"{1e6 * took[0] / answers:.0f} us each")


def exact_match(tasks: Sequence[Stored]) -> float:
    """lm-eval's own metric over the same answers, called for each document as its tasks do."""
    from lm_eval.api.metrics import exact_match_fn

    total = 0.0
    for task in tasks:
        kind = hooks.KINDS[task.spec.kind]
        right = [kind.reference_answer(doc, task.spec) for doc in task.docs]
        for number, text in task.answers:
            total += exact_match_fn(predictions=[text], references=[right[number]], ignore_case=True)["exact_match"]
    return total


def run_of(tasks: Sequence[Stored], folder: Path) -> Path:
    """Answers as a finished run with its samples."""
    answered = []
    for task in tasks:
        said = [Document(i, task.docs[number], text) for i, (number, text) in enumerate(task.answers)]
        version = f"{task.entry.version}-samples"
        answered.append(Answered(task.entry.name, task.spec, version, "samples", said, len(said)))
    return write_results(score(answered, Rules()), folder, run=None, origin="answers", model=_MODEL, notes={})


def rescored(file: Path, to: Path) -> Path:
    """What ``dsb2 score`` does: reads a run, scores its answers, writes."""
    run = read_run(file)
    return write_results(score(from_run(run), Rules()), to, run=run, origin=str(file), model=_MODEL, notes={})


def read_lines(files: Sequence[Path]) -> int:
    """The least that reading samples takes."""
    found = 0
    for file in itertools.chain.from_iterable(f.parent.glob("*.json*") for f in files):
        with file.open("rb") as lines:
            found += len([json.loads(line) for line in lines] if file.suffix == ".jsonl" else json.loads(lines.read()))
    return found


def report(first: Path, second: Path) -> str:
    """The page of two runs and a baseline, with all intervals."""
    return render(build([read_run(first), read_run(second)], read_baseline(str(first)), how=Drawing(draws=DRAWS)))


def statistics(tasks: Sequence[Stored], metric: str, number: int) -> list[Statistics | None]:
    """So many rows of a metric."""
    found = next(rows_of(task)[metric] for task in tasks if task.spec.metric == metric)
    return [row for _, row in zip(range(number), itertools.cycle(found), strict=False)]


def plain_bootstrap(metric: metrics.Metric, drawn: Sequence[Statistics | None], draws: int) -> list[float]:
    """The same by a loop: draws with replacement, and the value of each."""
    chance = random.Random(0)
    return [metric.aggregate(chance.choices(drawn, k=len(drawn))) for _ in range(draws)]


def _bootstrap(tasks: Sequence[Stored], size: Size) -> list[Row]:
    found = []
    for name in ("accuracy", "wer"):
        metric, drawn = metrics.get(name), statistics(tasks, name, 4 * size.answers)
        ways = {
            "ours": lambda m=metric, d=drawn: bootstrap(m, d, draws=DRAWS),
            "loop": lambda m=metric, d=drawn: plain_bootstrap(m, d, DRAWS),
        }
        took = interleaved(ways, 1, time.process_time)
        what = f"bootstrap of {name}, {len(drawn)} rows, {DRAWS} draws"
        found.append(Row(what, 1e3 * took["ours"], 1e3 * took["loop"], "ms", "a loop in Python", Goal("ratio", 1.0)))
    return found
