"""Answers out of the logged samples of a run."""

from __future__ import annotations

import json
import logging
from collections.abc import Container
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog
from dsb2_tasks.rescore._answered import Answered, AnswersError, Document, check_document, hook_of
from dsb2_tasks.results import Run, TaskResult, samples_file

log = logging.getLogger(__name__)


def from_run(run: Run, only: Container[str] | None = None) -> list[Answered]:
    """The answers of a run, to be read by the task files of today; a task that is no longer known is read by those of the run.

    Args:
        run: The run; it must have logged its samples.
        only: Names of the tasks that are meant; all by default.

    Raises:
        AnswersError: The run logged no samples.
        ResultsError: They cannot be read.
    """
    known = catalog.read_catalog().tasks
    found = []
    for name, result in run.tasks.items():
        if only is not None and name not in only:
            continue
        samples = result.samples()
        if not samples:
            raise AnswersError(
                f"{run.path}: no samples of {name} beside it (samples_{name}_*.jsonl); only a run with --log_samples, or the "
                f"response store of a run, can be scored again"
            )
        entry = known.get(name)
        spec, version = result.spec, result.version
        if entry is not None:
            spec, version = entry.spec, _version(entry.version, result)
            if spec.options == "labels" and isinstance(result.spec.options, tuple):
                spec = spec.model_copy(update={"options": result.spec.options})  # they follow from the whole split
        if version != result.version:
            log.warning("%s: made with version %s of the task, scored by version %s", name, result.version, version)
        records = _records(run.path, name)
        for sample in samples:
            check_document(sample.doc, spec, f"{samples_file(run.path, name)}: document {sample.doc_id}")
        found.append(
            Answered(
                task=name,
                spec=spec,
                version=version,
                data=result.data,
                documents=[Document(s.doc_id, s.doc, s.answer, records[s.doc_id]) for s in samples],
                total=result.total,
                hook=None if entry is None else hook_of(entry),
                config=run.raw["configs"][name],
            )
        )
    if not found:
        raise AnswersError(f"{run.path}: holds none of the tasks that were named; it has {', '.join(list(run.tasks)[:5])}")
    return found


def _version(today: str, result: TaskResult) -> str:
    return f"{today}-samples" if result.version.endswith("-samples") else today


def _records(results: Path, task: str) -> dict[int, dict[str, Any]]:
    """The samples as they were written, by document number; their form was checked by whoever read them as samples."""
    file = samples_file(results, task)
    if not file.is_file():
        raise AnswersError(f"{results}: a submission holds statistics and no answers, so it cannot be scored again")
    with file.open("rb") as lines:
        return {record["doc_id"]: record for record in map(json.loads, lines)}
