"""A run in one file: everything that is needed to trust its numbers, to compare with them, and to count them again.

A submission is a results file of lm-eval, so that :func:`read_run` reads its numbers, without what says more about a machine
than about a result (environment, times, paths, keys), and with one further entry::

    "dsb2_submission": {
      "format": 1,
      "dsb2_tasks": "0.1.0",                   # version of parsers and metrics that wrote the submission
      "results_sha256": "...",                 # of the results file that it was made from
      "tasks": {
        "dsb2_superb_asr_librispeech": {
          "samples_sha256": "...",             # of the file of logged samples; null if there was none
          "keys": ["0f3a...", ...],            # one a document: dsb2_tasks.results.document_key
          "statuses": ["ok", ...],             # how each answer was read
          "rows": {"wer": [[1, 7], null, ...]} # for each metric one row of statistics a document, null where not counted
        }
      }
    }

Settings, model identity, task versions, pinned data revisions, the rules and judge of a re-scoring (``dsb2_score``), numbers of
documents and counts of statuses stand where lm-eval and this project write them.  Prompts, answers and clips are not in it.
The same run gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from dsb2_tasks import __version__
from dsb2_tasks.results._check import fault_in_rows
from dsb2_tasks.results._logged import samples_file
from dsb2_tasks.results._read import read_results
from dsb2_tasks.results._run import ResultsError, Run, Sample, TaskResult
from dsb2_tasks.results._values import as_json_whole

KEY = "dsb2_submission"
FORMAT = 1
_KEPT = (
    *("results", "groups", "group_subtasks", "versions", "higher_is_better", "n-shot", "n-samples", "task_hashes", "date"),
    *("lm_eval_version", "transformers_version", "git_hash", "model_source", "model_name", "system_instruction"),
    *("system_instruction_sha", "chat_template_sha", "fewshot_as_multiturn", "dsb2_score"),
)
_SECRET = re.compile(r"(^|_)(api_?key|key|token|secret|password|authorization)$", re.IGNORECASE)


def make_submission(run: Run) -> str:
    """The submission of a run, as text for a file.

    Raises:
        ResultsError: A file of logged samples is broken, or the results file is gone.
    """
    configs = run.raw.get("configs") or {}
    whole = {key: run.raw[key] for key in _KEPT if key in run.raw}
    whole["config"] = without_secrets(
        {key: _timeless(value) if key == "dsb2_model" else value for key, value in run.config.items()}
    )
    whole["configs"] = {task: _config(configs[task]) for task in run.tasks if task in configs}
    whole[KEY] = {
        "format": FORMAT,
        "dsb2_tasks": __version__,
        "results_sha256": _sha256(run.path),
        "tasks": {name: _task(run, result) for name, result in run.tasks.items()},
    }
    return json.dumps(as_json_whole(whole), sort_keys=True, separators=(",", ":"), allow_nan=False) + "\n"


def without_secrets(value: Any) -> Any:
    """A copy in which what is called a key, a token or a password has no value."""
    if isinstance(value, Mapping):
        return {k: "***" if _SECRET.search(str(k)) and v else without_secrets(v) for k, v in value.items()}
    return [without_secrets(item) for item in value] if isinstance(value, list | tuple) else value


def read_run(path: str | Path) -> Run:
    """Reads the results of a run.

    Args:
        path: A results file of lm-eval, a submission, or a folder that holds a results file somewhere below; the newest counts.
            The samples of a submission have rows, keys and statuses, and no texts.

    Raises:
        ResultsError: There is none, it is broken, or it holds no task of this suite.
    """
    run = read_results(path)
    return _with_rows(run) if KEY in run.raw else run


def _with_rows(run: Run) -> Run:
    """A run that was read from a submission, with the rows that stand in it."""
    block = run.raw[KEY]
    if not isinstance(block, dict):
        raise ResultsError(f"{run.path}: {KEY}: an object is needed, found a {type(block).__name__}")
    if block.get("format") != FORMAT:
        raise ResultsError(f"{run.path}: {KEY}.format: {block.get('format')!r} is not known; this version reads {FORMAT}")
    told = block.get("tasks")
    if not isinstance(told, dict):
        raise ResultsError(f"{run.path}: {KEY}.tasks: an object is needed, found a {type(told).__name__}")
    tasks = {}
    for name, result in run.tasks.items():
        samples = _samples(told[name], f"{run.path}: {KEY}.tasks.{name}") if name in told else []
        tasks[name] = replace(result, load=lambda kept=samples: kept)  # type: ignore[misc]  # bound now
    return replace(run, tasks=tasks)


def _task(run: Run, result: TaskResult) -> dict[str, Any]:
    samples = result.samples()
    names = dict.fromkeys(name for sample in samples for name in sample.rows)
    file = samples_file(run.path, result.task)
    return {
        "samples_sha256": _sha256(file) if file.is_file() else None,
        "keys": [sample.key for sample in samples],
        "statuses": [sample.status for sample in samples],
        "rows": {name: [sample.rows.get(name) for sample in samples] for name in names},
    }


def _config(config: Any) -> dict[str, Any]:
    """Of a task's configuration what fixes its result; paths of the machine are left out."""
    metadata = config.get("metadata") if isinstance(config, Mapping) else None
    kept = {key: metadata[key] for key in ("version", "dsb2", "dsb2_run") if isinstance(metadata, Mapping) and key in metadata}
    names = ("task", "generation_kwargs", "num_fewshot", "repeats")
    return {**{name: config[name] for name in names if name in config}, "metadata": kept}


def _timeless(model: Any) -> Any:
    return {key: value for key, value in model.items() if key != "time"} if isinstance(model, Mapping) else model


def _sha256(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise ResultsError(f"{file}: cannot be read ({error.strerror or error})") from None


def _samples(block: Any, place: str) -> list[Sample]:
    if not isinstance(block, dict):
        raise ResultsError(f"{place}: an object is needed, found a {type(block).__name__}")
    keys, statuses, rows = block.get("keys"), block.get("statuses"), block.get("rows")
    if not isinstance(keys, list) or not isinstance(statuses, list) or not isinstance(rows, dict):
        raise ResultsError(f"{place}: 'keys' and 'statuses' must be lists and 'rows' an object")
    for name, own in {"statuses": statuses, **rows}.items():
        if not isinstance(own, list) or len(own) != len(keys):
            raise ResultsError(f"{place}: {name}: a list as long as 'keys' ({len(keys)}) is needed")
        if name != "statuses" and not all(row is None or isinstance(row, list) for row in own):
            raise ResultsError(f"{place}: rows.{name}: each row must be a list or null")
    if fault := fault_in_rows(rows):
        raise ResultsError(f"{place}: rows.{fault[0]}[{fault[1]}]: {fault[2]}")
    return [
        Sample(
            doc_id=i,
            doc_hash="",
            key=str(key),
            prompt="",
            target="",
            answer="",
            status=str(statuses[i]),
            audio=(),
            rows={name: None if own[i] is None else tuple(own[i]) for name, own in rows.items()},
            doc={},
        )
        for i, key in enumerate(keys)
    ]
