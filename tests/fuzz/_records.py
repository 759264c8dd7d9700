"""Target ``records``: what a run wrote, after somebody edited it: response stores, results, logged samples, submissions.

The first line of an input says which file the rest is: ``store``, ``results``, ``samples`` or ``submission``; those beside it
are whole.
"""

from __future__ import annotations

import json
import random
import shutil
import tempfile
from pathlib import Path
from typing import Any

from dsb2_tasks.models._responses import Answer, Asked, ResponseStore, StoreError
from dsb2_tasks.models._stored import stored_answers
from dsb2_tasks.results import ResultsError, make_submission, read_run, samples_file

from ._target import SEEDS, Target, changed_json, read_words, same_twice, spliced

#: The model of the stores among the seeds.
MODEL = {"class": "Tiny", "name": "tiny", "revision": None}
TASK = "dsb2_superb_qbe_quesst14"
_FOLDER = tempfile.TemporaryDirectory(prefix="dsb2-fuzz-")
_NEW = "f" * 64


def whole(part: str) -> bytes:
    """A file as a run wrote it."""
    return (SEEDS / "records" / f"whole-{part}").read_bytes().partition(b"\n")[2]


def check(data: bytes) -> None:
    """A file is read, or refused in words that name it; what was readable in a store stays so when the run goes on."""
    part, _, content = data.partition(b"\n")
    folder = Path(_FOLDER.name)
    if part == b"store":
        _check_store(folder, content)
    elif part in (b"results", b"samples"):
        results = folder / "results_x.json"
        results.write_bytes(content if part == b"results" else whole("results"))
        samples_file(results, TASK).write_bytes(content if part == b"samples" else whole("samples"))
        _check_run(results)
    elif part == b"submission":
        (folder / "submission.json").write_bytes(content)
        _check_run(folder / "submission.json")


def _check_store(folder: Path, content: bytes) -> None:
    shutil.rmtree(root := folder / "store", ignore_errors=True)
    (at := ResponseStore(root, MODEL).folder).mkdir(parents=True)
    (at / "responses-rank0.jsonl").write_bytes(content)
    before = _stored(at)
    store = same_twice(lambda: ResponseStore(root, MODEL).__dict__["_answers"])
    assert all(isinstance(answer.text, str) and answer.windows >= 1 for answer in store.values())
    goes_on = ResponseStore(root, MODEL)
    goes_on.add([(_NEW, Answer("new"))], {_NEW: Asked(_NEW, {})})
    goes_on.close()
    after = ResponseStore(root, MODEL)
    assert all(after.get(key) == answer for key, answer in {_NEW: Answer("new"), **store}.items() if key != _NEW)
    assert len(after) == len({*store, _NEW}) and (after.get(_NEW) is not None)
    if before is not None:
        stored_answers(at) if _NEW not in before else None


def _stored(at: Path) -> dict[str, Answer] | None:
    """Answers by question; None for a store that is refused."""
    try:
        found = same_twice(lambda: stored_answers(at))
    except StoreError as error:
        assert str(at) in str(error) and len(str(error)) < 10_000
        return None
    assert found.unnamed >= 0 and all(isinstance(answer, Answer) for answer in found.answers.values())
    return dict(found.answers)


def _check_run(file: Path) -> None:
    run = _told(file, lambda: same_twice(lambda: read_run(file)))
    if run is None:
        return
    for result in run.tasks.values():
        assert all(isinstance(x.value, float) and isinstance(x.stderr, float) for x in result.values.values())
        assert result.documents >= 0 and all(count >= 0 for count in result.statuses.values())
        samples = _told(file, result.samples)
        for sample in samples or ():
            assert isinstance(sample.key, str) and isinstance(sample.status, str) and sample.doc_id >= 0
            json.dumps(sample.rows)
        if samples is None:
            return
    text = make_submission(run)
    made = file.with_name("made.json")
    made.write_text(text)
    again = read_run(made)
    for name, result in run.tasks.items():
        assert repr(sorted(again.tasks[name].values.items())) == repr(sorted(result.values.items()))
        assert [sample.key for sample in again.tasks[name].samples()] == [sample.key for sample in result.samples()]
        for metric in {metric for sample in result.samples() for metric in sample.rows}:
            assert again.tasks[name].rows(metric) == result.rows(metric)  # a row that a sample lacks is one that is not counted


def _told(file: Path, read: Any) -> Any:
    """What a reading gives; None where it is refused in words that name a file."""
    try:
        return read()
    except ResultsError as error:
        assert str(file.parent) in str(error) and len(str(error)) < 10_000, str(error)[:500]
        return None


def _mutate(data: bytes, rnd: random.Random) -> bytes:
    """One value of one line changed, or lines doubled, dropped or in another order."""
    part, _, content = data.partition(b"\n")
    lines = content.split(b"\n") if part in (b"store", b"samples") else [content]
    how, at = rnd.randrange(8), rnd.randrange(len(lines))
    if how == 0:
        lines.insert(at, rnd.choice(lines))
    elif how == 1 and len(lines) > 1:
        del lines[at]
    elif how == 2:
        lines[at] = spliced(lines[at], _WORDS, rnd)
    else:
        lines[at] = changed_json(lines[at], _WORDS, rnd)
    return b"\n".join([part, *lines])


_WORDS = read_words("records")

RECORDS = Target("records", check, _WORDS, _mutate, most=32_768)
