"""Scores 45,000 stored answers over all 180 tasks in a process of its own; prints one JSON line.

What is timed is what scoring saved answers costs: reading each answer by its task's kind, counting it for every metric, and
the corpus values with their standard errors.  Documents are those of the embedded samples, again and again; answers differ.
The other benchmarks of scoring take their answers from here.
"""

from __future__ import annotations

import json
import random
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog, hooks, metrics
from dsb2_tasks.metrics import Row
from dsb2_tasks.sources import Docs, open_rows
from dsb2_tasks.spec import OFFICIAL_SUITE, TaskSpec

ANSWERS = 45_000


def peak_mb() -> float:
    """Highest resident memory of this process; ru_maxrss would also tell that of the process that started it."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) / 1024


TALK = """the speaker in this recording seems to talk about something that is hard to hear because of noise but it sounds like
a person who is walking along a street between 3 and 5 seconds while music plays and then at 7.25 there are two dogs or maybe one
which bark not loudly so I would say that the overall impression is rather calm although yes it may be of another kind"""
WORDS = TALK.split()


def answer(right: str, wrong: str, chance: random.Random) -> str:
    """An answer such as models give: right or wrong, bare or wrapped, a refusal, or talk."""
    text = right if chance.random() < 0.5 else wrong
    words = text.split(" ")
    if len(words) > 3 and chance.random() < 0.7:  # a transcript is seldom right to the word
        words[chance.randrange(len(words))] = chance.choice(WORDS)
        text = " ".join(words)
    form = chance.randrange(8)
    if form == 0:
        return "I'm sorry, but I cannot process audio files." if chance.random() < 0.5 else ""
    if form == 1:
        return " ".join(chance.choices(WORDS, k=chance.randint(10, 120)))
    if form == 2:
        return f"<think>{' '.join(chance.choices(WORDS, k=100))}</think>\n{text}"
    if form == 3:
        return f"The answer is: {text}. {' '.join(chance.choices(WORDS, k=20))}"
    if form == 4:
        return json.dumps({"answer": text}, ensure_ascii=False)
    return text


@dataclass(frozen=True)
class Stored:
    """Answers to one task.

    Attributes:
        entry: The task.
        spec: Its specification, with the options settled.
        docs: Its documents.
        answers: Number of a document and what was said of it.
    """

    entry: catalog.TaskEntry
    spec: TaskSpec
    docs: list[dict[str, Any]]
    answers: list[tuple[int, str]]


def stored(per_task: int, *, every: int = 1, seed: int = 0, clips: bool = False) -> list[Stored]:
    """So many answers to every task of the suite, or to every so manieth; documents carry their clips only if wanted."""
    chance = random.Random(seed)
    known = catalog.read_catalog([catalog.yaml_root()])
    found = []
    for name in known.tasks_of(OFFICIAL_SUITE, None)[::every]:
        entry = known.tasks[name]
        opened = Docs(name, entry.spec, [open_rows(source, "samples", entry.path.parent, name) for source in entry.spec.data])
        docs = [opened[index] if clips else opened.text(index) for index in range(len(opened))]
        spec = hooks.close_options(entry.spec, docs)
        right = [hooks.KINDS[spec.kind].reference_answer(doc, spec) for doc in docs]
        numbers = [number % len(docs) for number in range(per_task)]
        said = [(number, answer(right[number], chance.choice(right), chance)) for number in numbers]
        found.append(Stored(entry, spec, docs, said))
    return found


def rows_of(task: Stored) -> dict[str, list[Row | None]]:
    """Statistics of every answer by metric."""
    kind = hooks.KINDS[task.spec.kind]
    rows: dict[str, list[Row | None]] = defaultdict(list)
    for number, text in task.answers:
        scored = kind.score(text, task.docs[number], task.spec)
        for metric, row in scored.statistics.items():
            rows[metric].append(row)
        if kind.na:
            counted = scored.statistics[task.spec.metric]
            rows[f"{task.spec.metric}_scaled"].append((float(counted is None), *(counted or ())))
    return rows


def count(tasks: Sequence[Stored]) -> tuple[int, dict[str, float]]:
    """Scores everything: how many corpus values there are, and the seconds that each kind took."""
    seconds: dict[str, float] = defaultdict(float)
    values = 0
    for task in tasks:
        begin = time.perf_counter()
        for metric, found in rows_of(task).items():
            metrics.get(metric).aggregate(found)
            metrics.get(metric).stderr(found)
            values += 1
        seconds[task.spec.kind] += time.perf_counter() - begin
    return values, seconds


def main() -> None:
    tasks = stored(ANSWERS // 180)
    start, processor = time.perf_counter(), time.process_time()
    values, seconds = count(tasks)
    print(
        json.dumps(
            {
                "answers": sum(len(task.answers) for task in tasks),
                "tasks": len(tasks),
                "values": values,
                "seconds": time.perf_counter() - start,
                "processor": time.process_time() - processor,
                "peak_mb": peak_mb(),
                "by_kind": dict(sorted(seconds.items(), key=lambda item: -item[1])),
            }
        )
    )


if __name__ == "__main__":
    main()
