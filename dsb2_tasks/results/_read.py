"""lm-eval's results file, read and checked."""

from __future__ import annotations

import logging
import re
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from dsb2_tasks.results._check import beyond_best, is_name, is_number, known_metric
from dsb2_tasks.results._logged import read_samples, samples_file
from dsb2_tasks.results._run import Reading, ResultsError, Run, TaskResult
from dsb2_tasks.results._values import as_number, printable, read_json
from dsb2_tasks.spec import TaskSpec

log = logging.getLogger(__name__)

#: A results file of all 180 tasks is about 1 MB; this keeps a wrong file from filling the memory.
_LARGEST = 512 * 2**20
_FILTER = ",none"
#: Names that lm-eval gives, which sort by date.
_DATED = re.compile(r"results_\d{4}-\d\d-\d\dT.*")
#: Nanoseconds by which clocks of two machines may differ.
_CLOCKS = 60 * 10**9
#: Parts of the file that are objects by task; missing ones are empty.
_BY_TASK = ("groups", "group_subtasks", "versions", "n-shot", "higher_is_better", "n-samples", "task_hashes")
#: Model arguments that name a model: those of lm-eval, and the one that scored answers from elsewhere carry.
_NAMES = frozenset(("pretrained", "peft", "delta", "model", "path", "engine", "name"))


def read_results(path: str | Path) -> Run:
    """Reads a results file.

    Args:
        path: A results file of lm-eval, or a folder that holds one somewhere below; the newest counts.

    Raises:
        ResultsError: There is none, it is broken, or it holds no task of this suite.
    """
    file = _results_file(path)
    raw = _read_json(file)
    if "results" not in raw or "configs" not in raw:
        raise ResultsError(f"{file}: no results file of lm-eval: it has no 'results' and 'configs'")
    results, configs = _mapping(raw, "results", file), _mapping(raw, "configs", file)
    present = [part for part in _BY_TASK if raw.get(part) is not None]
    raw |= {part: _mapping(raw, part, file) if part in present else {} for part in _BY_TASK}
    tasks = {}
    for name, config in configs.items():
        metadata = config.get("metadata") if isinstance(config, dict) else None
        if isinstance(metadata, dict) and "dsb2" in metadata and name in results:
            tasks[name] = _task(name, metadata, _mapping(results, name, file), raw, file)
    if not tasks:
        raise ResultsError(f"{file}: holds no results of dsb2 tasks (it has {', '.join(list(results)[:5]) or 'none at all'})")
    config = _mapping(raw, "config", file) if raw.get("config") is not None else {}
    groups = raw["groups"]
    name = printable(_name(raw, config) or file.parent.name)
    source = printable(raw.get("model_source") or config.get("model") or "")
    return Run(
        path=file,
        name=name,
        model=f"{source}: {name}" if source and source != name else name,
        date=as_number(raw.get("date")),
        tasks=tasks,
        groups={
            group: {key.removesuffix(_FILTER): value for key, value in _mapping(groups, group, file).items()} for group in groups
        },
        members={group: _members(raw, group, file) for group in raw["group_subtasks"] if group not in tasks},
        config=config,
        raw=raw,
    )


def _name(raw: Mapping[str, Any], config: Mapping[str, Any]) -> str:
    """The model's name, and what it heard; where none was named lm-eval makes one up at random, and the backend's says more."""
    arguments = config.get("model_args")
    named = isinstance(arguments, dict) and not _NAMES.isdisjoint(arguments)
    name = str((raw.get("model_name") if named else None) or config.get("model") or raw.get("model_name") or "")
    heard = arguments.get("audio", "real") if isinstance(arguments, dict) else "real"
    return name if heard == "real" else f"{name}, audio={heard}"  # a control is not taken for the model itself


def _results_file(named: str | Path) -> Path:
    try:
        path = Path(named).expanduser()
        if path.is_file():
            return path
        there = path.is_dir()
    except (OSError, RuntimeError):  # longer than any name, nobody's home
        there = False
    if not there:
        raise ResultsError(f"{str(named)[:200]}: there is no such file or folder")
    found = {file: file.stat().st_mtime_ns for file in path.rglob("results_*.json") if file.is_file()}
    if not found:
        raise ResultsError(f"{path}: no results_*.json in this folder; a run writes one with --output_path")
    newest = max(found, key=lambda file: (found[file], file.name))
    by_name = max((file for file in found if _DATED.fullmatch(file.name)), key=lambda file: file.name, default=newest)
    if len(found) > 1 and found[newest] > time.time_ns() + _CLOCKS:
        log.warning("%s is read, the newest of %d: it is dated in the future; if another is meant, name it", newest, len(found))
    elif _DATED.fullmatch(newest.name) and by_name.name != newest.name:
        log.warning("%s is read, the last written, though %s has a later date; if that is meant, name it", newest, by_name)
    elif len({file.parent for file in found}) > 1:  # of several models, as a rule
        log.warning(
            "%s is read, the newest of %d in several folders of %s; if another is meant, name it", newest, len(found), path
        )
    return newest


def _read_json(file: Path) -> dict[str, Any]:
    try:
        if file.stat().st_size > _LARGEST:
            raise ResultsError(f"{file}: {file.stat().st_size / 2**20:.0f} MB is more than any results file has")
        raw = read_json(file.read_bytes())
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


def _members(raw: Mapping[str, Any], group: str, file: Path) -> tuple[str, ...]:
    names = raw["group_subtasks"][group]
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ResultsError(f"{file}: group_subtasks.{group}: a list of names is needed, found {names!r}")
    return tuple(names)


def _task(name: str, metadata: dict[str, Any], numbers: dict[str, Any], raw: dict[str, Any], file: Path) -> TaskResult:
    if not is_name(name):
        raise ResultsError(f"{file}: configs: {name!r} is no name of a task: it is part of the names of files")
    block = dict(metadata["dsb2"]) if isinstance(metadata["dsb2"], dict) else {}
    data = str(block.pop("read_from", "hub"))
    try:
        spec = TaskSpec.model_validate(block)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ResultsError(f"{file}: configs.{name}.metadata.dsb2.{place}: {first['msg']}") from None
    if known_metric(spec.metric) is None:
        raise ResultsError(f"{file}: configs.{name}.metadata.dsb2.metric: there is no metric {spec.metric!r}")
    told = metadata.get("dsb2_run")
    told = told if isinstance(told, dict) else {}
    if spec.options == "labels" and isinstance(told.get("options"), list):
        spec = spec.model_copy(update={"options": tuple(map(str, told["options"]))})
    directions = _mapping(raw["higher_is_better"], name, file) if name in raw["higher_is_better"] else {}
    counts = _mapping(raw["n-samples"], name, file) if name in raw["n-samples"] else {}
    documents, total = (_count(counts.get(key, 0), f"{file}: n-samples.{name}.{key}") for key in ("effective", "original"))
    values = {}
    for key in numbers:
        metric = key.removesuffix(_FILTER)
        if metric != key and not metric.endswith("_stderr"):
            values[metric] = _reading(metric, numbers, directions, f"{file}: results.{name}")
    statuses = told["statuses"] if isinstance(told.get("statuses"), dict) else {}
    return TaskResult(
        task=name,
        version=str(raw["versions"].get(name, metadata.get("version", "0"))),
        data=data,
        spec=spec,
        documents=documents,
        total=total,
        values=values,
        statuses={k: _count(v, f"{file}: {name}: statuses.{k}") for k, v in statuses.items()},
        left_out=str(told["left_out"]) if told.get("left_out") is not None else None,
        baseline=told["baseline"] if isinstance(told.get("baseline"), dict) else None,
        load=partial(read_samples, samples_file(file, name), documents),
    )


def _reading(metric: str, numbers: Mapping[str, Any], directions: Mapping[str, Any], place: str) -> Reading:
    value, stderr = numbers[f"{metric}{_FILTER}"], numbers.get(f"{metric}_stderr{_FILTER}")
    if not is_number(value):
        raise ResultsError(f"{place}.{metric}: a number or 'N/A' is needed, found {value!r}")
    if stderr is not None and (not is_number(stderr) or as_number(stderr) < 0):
        raise ResultsError(f"{place}.{metric}_stderr: a number of 0 or more, or 'N/A', is needed, found {stderr!r}")
    known = known_metric(metric)
    if known is not None and beyond_best(known, as_number(value)):
        raise ResultsError(f"{place}.{metric}: {value!r} is beyond the best there is ({known.best:g})")
    # Of a metric of this project the direction is known; a file that leaves it out, or says otherwise, does not turn a loss.
    higher = bool(directions.get(metric, True)) if known is None else known.higher_is_better
    return Reading(as_number(value), as_number(stderr), higher)


def _count(value: Any, place: str) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ResultsError(f"{place}: a number of documents is needed, found {value!r}")
    return value
