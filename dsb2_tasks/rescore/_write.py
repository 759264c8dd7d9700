"""Scores as files in lm-eval's form, which everything reads that reads a run."""

from __future__ import annotations

import copy
import fcntl
import hashlib
import json
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from dsb2_tasks import __version__
from dsb2_tasks.metrics import Row
from dsb2_tasks.models import unwritable
from dsb2_tasks.rescore._answered import Answered, AnswersError, Document
from dsb2_tasks.rescore._score import Scores, leaves
from dsb2_tasks.results import Run, as_json_whole, samples_file

#: Beginning of the names of files that are not whole yet.
_DRAFT = ".dsb2-draft-"


def check_target(to: Path, run: Run | None) -> None:
    """Refuses a place where results cannot be written, before a judge is paid for them; makes nothing.

    Args:
        to: A folder, or the name of a ``.json`` file.
        run: The run that is scored, which is not to be written over.

    Raises:
        AnswersError: It is no such place.
    """
    named = to.suffix == ".json"
    if named and run is not None and samples_file(to.resolve(), "") == samples_file(run.path.resolve(), ""):
        raise AnswersError(f"{to}: is the file that is scored, or its samples would be those that are scored; name another")
    if reason := unwritable(to.parent if named else to):
        raise AnswersError(f"{to}: cannot be written ({reason}); name another file or folder with -o")


def write_results(
    scores: Scores, to: Path, *, run: Run | None, origin: str, model: Mapping[str, Any], notes: Mapping[str, Any]
) -> Path:
    """Writes results and samples.  Wherever it is stopped, a results file that is there has the samples that are its own.

    Args:
        scores: What came out.
        to: A folder, for files named by date as lm-eval names them; or the name of a ``.json`` file.
        run: The run that the answers are of, whose settings are kept; None for answers from elsewhere.
        origin: What was scored, for the record.
        model: lm-eval's ``config`` of the model, where there is no run.
        notes: By which rules, for the record.

    Returns:
        The results file.

    Raises:
        AnswersError: It cannot be written.
    """
    check_target(to, run)
    stamp = datetime.now().isoformat().replace(":", "-")
    file = to if to.suffix == ".json" else to / f"results_{stamp}.json"
    content = _results(scores, run, model)
    content["date"] = time.time()
    content["dsb2_score"] = {"dsb2_tasks": __version__, "of": origin, **notes}
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        _write(file, _texts(scores, file, content))
    except OSError as error:
        raise AnswersError(
            f"{file}: cannot be written ({error.strerror or error}); make room there or name another place with -o, and score "
            f"again: no model is asked for it"
        ) from None
    return file


def _texts(scores: Scores, file: Path, content: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for task in scores.answered:
        lines = _samples(task, scores.rows[task.task])
        yield samples_file(file, task.task), "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
    yield file, json.dumps(as_json_whole(content), indent=2, ensure_ascii=False, allow_nan=False)


def _write(results: Path, texts: Iterable[tuple[Path, str]]) -> None:
    """Writes files, the results last: they take their names, in the order given, when all are written.

    Older results of the name are taken away before their samples are: were this process killed then, there are none.
    """
    drafts: dict[Path, Path] = {}
    with _alone(results.parent) as alone:
        if alone:
            for left in results.parent.glob(f"{_DRAFT}*"):  # by a process that was killed
                left.unlink()
        try:
            for file, text in texts:
                draft = file.with_name(f"{_DRAFT}{os.getpid()}-{len(drafts)}")
                drafts[draft] = file
                draft.write_text(text, encoding="utf-8", errors="surrogatepass")
            results.unlink(missing_ok=True)
            for draft, file in drafts.items():
                draft.replace(file)
        finally:
            for draft in drafts:
                draft.unlink(missing_ok=True)


@contextmanager
def _alone(folder: Path) -> Iterator[bool]:
    """Waits until no other process writes results into a folder; False where that cannot be known."""
    opened = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
    except OSError:  # some network file systems have no locks for folders
        yield False
    else:
        yield True
    finally:
        os.close(opened)


def _results(scores: Scores, run: Run | None, model: Mapping[str, Any]) -> dict[str, Any]:
    content: dict[str, Any] = copy.deepcopy(run.raw) if run is not None else _bare(model)
    chosen = {task.task for task in scores.answered}
    if run is not None:  # tasks that were not scored again are not carried along under new rules
        for part in ("results", "configs", "versions", "n-shot", "higher_is_better", "n-samples", "task_hashes"):
            content[part] = {name: value for name, value in content[part].items() if name in chosen or name in scores.members}
    content["results"] = scores.results
    content["groups"] = {name: scores.results[name] for name in scores.members}
    content["group_subtasks"] = scores.members
    for task in scores.answered:
        config = content["configs"].setdefault(task.task, task.config or {"task": task.task, "metadata": {}})
        metadata = config["metadata"]
        block = task.spec.model_dump(mode="json", exclude_defaults=True)
        if "options" in scores.told[task.task]:
            block["options"] = "labels"
        metadata |= {"dsb2": {**block, "read_from": task.data}, "dsb2_run": scores.told[task.task]}
        content["versions"][task.task] = task.version
        content["n-shot"].setdefault(task.task, 0)
        content["higher_is_better"][task.task] = scores.directions[task.task]
        content["n-samples"][task.task] = {"original": task.total, "effective": len(task.documents)}
    for name in scores.members:
        if run is None or name in content["higher_is_better"]:  # lm-eval has none for a group of groups of groups
            below = set(leaves(name, scores.members))
            inside = [member for member in scores.directions if member in below]
            content["higher_is_better"][name] = {k: v for member in inside for k, v in scores.directions[member].items()}
        content["versions"].setdefault(name, scores.answered[0].version)
    if not scores.members:
        del content["groups"]
    return content


def _bare(model: Mapping[str, Any]) -> dict[str, Any]:
    """A results file of lm-eval without a run."""
    return {
        "results": {},
        "groups": {},
        "group_subtasks": {},
        "configs": {},
        "versions": {},
        "n-shot": {},
        "higher_is_better": {},
        "n-samples": {},
        "config": dict(model),
        "model_source": model["model"],
        "model_name": model["model_args"]["name"],
    }


def _samples(task: Answered, rows: Mapping[str, list[Row | None]]) -> list[dict[str, Any]]:
    names = [name for metric in rows for name in (metric, f"{metric}_stderr")]
    found = []
    for number, document in enumerate(task.documents):
        record = document.record or _record(document)
        kept = {key: value for key, value in record.items() if key not in record["metrics"]}
        counted = {
            name: value
            for metric, column in rows.items()
            for name, value in ((metric, column[number]), (f"{metric}_stderr", None))
        }
        found.append({**kept, "metrics": names, **counted})
    return found


def _record(document: Document) -> dict[str, Any]:
    """A logged sample as lm-eval writes it."""
    doc, target = dict(document.doc), ", ".join(document.doc["dsb2_label"])
    return {
        "doc_id": document.doc_id,
        "doc": doc,
        "target": target,
        "arguments": {"gen_args_0": {"arg_0": doc["dsb2_prompt"], "arg_1": {}, "arg_2": {"audio": doc["audio"]}}},
        "resps": [[document.answer]],
        "filtered_resps": [document.answer],
        "filter": "none",
        "metrics": [],
        "doc_hash": _hash(json.dumps(doc, indent=2, ensure_ascii=False, default=str)),
        "prompt_hash": _hash(doc["dsb2_prompt"]),
        "target_hash": _hash(target),
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()
