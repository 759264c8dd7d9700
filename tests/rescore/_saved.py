"""Results of a task as ``dsb2 score`` writes them, made from answers to the embedded samples."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from dsb2_tasks.rescore import Rules, from_answers, score, write_results

QBE = "dsb2_superb_qbe_quesst14"
ANGLE = "dsb2_sound_position_prediction"

#: What strangers put in the place of a value.
BAD: dict[str, Any] = {
    "null": None,
    "list": [],
    "object": {},
    "text": "x",
    "huge": 10**400,
    "nan": float("nan"),
    "infinite": float("inf"),
    "negative": -1,
    "fraction": 1.5,
    "true": True,
    "surrogate": "\ud800",
    "nested": [[[]]],
    "path": "../../x",
    "list of null": [None],
}


def saved(folder: Path, answers: dict[str, list[str]], name: str = "results_x.json") -> Path:
    """The results file of answers to the samples of tasks, with its samples beside it."""
    lines = [{"task": task, "doc_id": i, "answer": a} for task, said in answers.items() for i, a in enumerate(said)]
    folder.mkdir(parents=True, exist_ok=True)
    source = folder / "answers.jsonl"
    source.write_text("".join(json.dumps(line) + "\n" for line in lines))
    scores = score(from_answers([source], "samples"), Rules())
    source.unlink()
    model = {"model": "answers", "model_args": {"name": "answers"}}
    return write_results(scores, folder / name, run=None, origin="test", model=model, notes={})


def samples_of(file: Path, task: str) -> Path:
    return file.with_name(f"samples_{task}_{file.stem.removeprefix('results_')}.jsonl")


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Places of all values in nested ones, of lists the first two."""
    yield at
    if isinstance(value, dict):
        for key in value:
            yield from paths(value[key], (*at, key))
    elif isinstance(value, list):
        for number in range(min(len(value), 2)):
            yield from paths(value[number], (*at, number))


def replaced(value: Any, at: tuple[Any, ...], by: Any) -> Any:
    """A copy with another value in one place."""
    if not at:
        return by
    made = copy.deepcopy(value)
    inner = made
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = by
    return made
