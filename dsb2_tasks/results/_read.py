"""lm-eval's results file and its files of samples, read and checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dsb2_tasks.audio import read_failure
from dsb2_tasks.metrics import Row
from dsb2_tasks.results._run import Reading, Run, Sample, TaskResult
from dsb2_tasks.results._values import as_number, document_key
from dsb2_tasks.spec import TaskSpec

#: A results file of all 180 tasks is about 1 MB; this keeps a wrong file from filling the memory.
_LARGEST = 512 * 2**20
_FILTER = ",none"
#: Model arguments that name a model: those of lm-eval, and the one that scored answers from elsewhere carry.
_NAMES = frozenset(("pretrained", "peft", "delta", "model", "path", "engine", "name"))


class ResultsError(ValueError):
    """A results file cannot be read; the message names file, place and reason."""


def read_results(path: str | Path) -> Run:
    """Reads a results file.

    Args:
        path: A results file of lm-eval, or a folder that holds one somewhere below; the newest counts.

    Raises:
        ResultsError: There is none, it is broken, or it holds no task of this suite.
    """
    file = _results_file(Path(path).expanduser())
    raw = _read_json(file)
    if "results" not in raw or "configs" not in raw:
        raise ResultsError(f"{file}: no results file of lm-eval: it has no 'results' and 'configs'")
    results, configs = _mapping(raw, "results", file), _mapping(raw, "configs", file)
    tasks = {}
    for name, config in configs.items():
        metadata = config.get("metadata") if isinstance(config, dict) else None
        if isinstance(metadata, dict) and "dsb2" in metadata and name in results:
            tasks[name] = _task(name, metadata, _mapping(results, name, file), raw, file)
    if not tasks:
        raise ResultsError(f"{file}: holds no results of dsb2 tasks (it has {', '.join(list(results)[:5]) or 'none at all'})")
    config = _mapping(raw, "config", file) if "config" in raw else {}
    groups = _mapping(raw, "groups", file) if "groups" in raw else {}
    members = _mapping(raw, "group_subtasks", file) if "group_subtasks" in raw else {}
    name = _name(raw, config) or file.parent.name
    source = raw.get("model_source") or config.get("model") or ""
    return Run(
        path=file,
        name=name,
        model=f"{source}: {name}" if source and source != name else name,
        date=as_number(raw.get("date")),
        tasks=tasks,
        groups={
            group: {key.removesuffix(_FILTER): value for key, value in _mapping(groups, group, file).items()} for group in groups
        },
        members={group: tuple(map(str, names)) for group, names in members.items() if isinstance(names, list)},
        config=config,
        raw=raw,
    )


def _name(raw: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The model's name; where none was named lm-eval makes one up at random, and the backend's says more."""
    arguments = config.get("model_args")
    named = isinstance(arguments, dict) and not _NAMES.isdisjoint(arguments)
    return str((raw.get("model_name") if named else None) or config.get("model") or raw.get("model_name") or "")


def _results_file(path: Path) -> Path:
    if path.is_file():
        return path
    if not path.is_dir():
        raise ResultsError(f"{path}: there is no such file or folder")
    found = sorted(path.rglob("results_*.json"), key=lambda p: (p.stat().st_mtime_ns, p.name))
    if not found:
        raise ResultsError(f"{path}: no results_*.json in this folder; a run writes one with --output_path")
    return found[-1]


def _read_json(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST:
            raise ResultsError(f"{file}: {file.stat().st_size / 2**20:.0f} MB is more than any results file has")
        raw = json.loads(file.read_bytes())
    except OSError as error:
        raise ResultsError(f"{file}: cannot be read ({error.strerror or error})") from None
    except (ValueError, RecursionError) as error:
        raise ResultsError(f"{file}: no valid JSON ({error})") from None
    if not isinstance(raw, dict):
        raise ResultsError(f"{file}: no results file of lm-eval: an object is needed, found a {type(raw).__name__}")
    return raw


def _mapping(outer: Mapping[str, Any], key: str, file: Path) -> dict[str, Any]:
    inner = outer[key]
    if not isinstance(inner, dict):
        raise ResultsError(f"{file}: {key}: an object is needed, found a {type(inner).__name__}")
    return inner


def _task(name: str, metadata: dict[str, Any], numbers: dict[str, Any], raw: dict[str, Any], file: Path) -> TaskResult:
    block = dict(metadata["dsb2"]) if isinstance(metadata["dsb2"], dict) else {}
    data = str(block.pop("read_from", "hub"))
    try:
        spec = TaskSpec.model_validate(block)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ResultsError(f"{file}: configs.{name}.metadata.dsb2.{place}: {first['msg']}") from None
    told = metadata.get("dsb2_run")
    told = told if isinstance(told, dict) else {}
    if spec.options == "labels" and isinstance(told.get("options"), list):
        spec = spec.model_copy(update={"options": tuple(map(str, told["options"]))})
    directions = (raw.get("higher_is_better") or {}).get(name) or {}
    counts = (raw.get("n-samples") or {}).get(name) or {}
    values = {}
    for key, value in numbers.items():
        metric = key.removesuffix(_FILTER)
        if metric == key or metric.endswith("_stderr"):
            continue
        stderr = as_number(numbers.get(f"{metric}_stderr{_FILTER}"))
        values[metric] = Reading(as_number(value), stderr, bool(directions.get(metric, True)))
    statuses = told.get("statuses")
    date = file.stem.removeprefix("results_")
    return TaskResult(
        task=name,
        version=str((raw.get("versions") or {}).get(name, metadata.get("version", "0"))),
        data=data,
        spec=spec,
        documents=_count(counts.get("effective")),
        total=_count(counts.get("original")),
        values=values,
        statuses={str(k): _count(v) for k, v in statuses.items()} if isinstance(statuses, dict) else {},
        left_out=str(told["left_out"]) if told.get("left_out") is not None else None,
        baseline=told["baseline"] if isinstance(told.get("baseline"), dict) else None,
        load=partial(_samples, file.with_name(f"samples_{name}_{date}.jsonl")),
    )


def _count(value: Any) -> int:
    number = as_number(value)
    return int(number) if math.isfinite(number) else 0


def _samples(file: Path) -> list[Sample]:
    if not file.is_file():
        return []
    samples = []
    with file.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            try:
                samples.append(_sample(json.loads(line)))
            except (ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
                reason = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
                raise ResultsError(f"{file}: line {number} is no logged sample ({reason})") from None
    return sorted(samples, key=lambda sample: sample.doc_id)


def _sample(record: dict[str, Any]) -> Sample:
    doc = record["doc"]
    answer = record["filtered_resps"][0]
    names = [metric for metric in record["metrics"] if not metric.endswith("_stderr")]
    rows = {metric: _row(record[metric]) for metric in names}
    first = next(iter(record["arguments"].values()))
    if not isinstance(answer, str) or not isinstance(doc, dict):
        raise TypeError("the document is no object, or the answer no text")
    return Sample(
        doc_id=int(record["doc_id"]),
        doc_hash=str(record["doc_hash"]),
        key=document_key(doc),
        prompt=str(first["arg_0"]),
        target=str(record["target"]),
        answer=answer,
        status=_status(answer, rows),
        audio=tuple(handle for handle in doc.get("audio") or () if isinstance(handle, dict)),
        rows=rows,
        doc=doc,
    )


def _row(value: Any) -> Row | None:
    if value is None:
        return None
    if not isinstance(value, list):
        raise TypeError(f"a row of statistics is needed, found {value!r}")
    return tuple(value)


def _status(answer: str, rows: Mapping[str, Row | None]) -> str:
    failed = read_failure(answer)
    if failed is not None:
        return failed[0]
    for rate in ("na_rate", "unparsed_rate"):
        row = rows.get(rate)
        if row is not None and len(row) > 1:
            return str(row[1])
    return "ok"
