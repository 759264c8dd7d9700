"""Reading a baseline, whatever it was written as."""

from __future__ import annotations

import csv
import io
import math
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

from dsb2_tasks import metrics
from dsb2_tasks.baseline._baseline import Baseline, BaselineError, Entry
from dsb2_tasks.baseline._phase1 import read_phase1
from dsb2_tasks.metrics import Row
from dsb2_tasks.results import Run, as_number, beyond_best, printable, read_json, read_run
from dsb2_tasks.scoring import Measured, na_scale

FORMAT = "dsb2_baseline"
_COLUMNS = ("task", "metric", "value", "na_rate", "stderr", "version", "source", "keys", "rows")
_LARGEST = 256 * 2**20


def read_baseline(where: str) -> Baseline:
    """Reads a baseline; each file once, however many tasks ask.

    Args:
        where: A results file of lm-eval; a folder of a run (its logged samples make intervals paired); a small table, JSON or
            CSV, with the columns task, metric, value and, as far as known, na_rate, stderr, version, source; or
            ``phase1:NAME`` for a published system.

    Raises:
        BaselineError: It cannot be read, names an unknown metric, or holds what is no number.
        ResultsError: It is a results file and broken.
    """
    if where.startswith("phase1:"):
        return read_phase1(where)
    try:
        path = Path(where).expanduser()
        there = path.is_file() or path.is_dir()  # a pipe or a device would never end
    except (OSError, RuntimeError):  # longer than any name, nobody's home
        there = False
    if not there:
        raise BaselineError(
            f"baseline {where!r:.200}: there is no such file or folder; name a results file, a folder of a run, a JSON or CSV "
            f"table (task, metric, value, na_rate, source), or a published system such as 'phase1:ASR-ChatGPT'"
        )
    files = [file for file in path.rglob("*.json") if file.is_file()] if path.is_dir() else [path]
    return _read(path.resolve(), where, max((file.stat().st_mtime_ns for file in files), default=0))


@lru_cache(maxsize=8)
def _read(path: Path, where: str, _modified: int) -> Baseline:
    if path.is_dir():
        return _of_run(read_run(path), where)
    try:
        if path.stat().st_size > _LARGEST:
            raise BaselineError(f"{path}: {path.stat().st_size / 2**20:.0f} MB is more than any baseline has")
        raw = path.read_bytes()
    except OSError as error:
        raise BaselineError(f"{path}: cannot be read ({error.strerror or error})") from None
    if path.suffix.lower() == ".csv":
        return _of_table(path, where, path.stem, _csv(path, raw))
    try:
        content = read_json(raw)
    except (ValueError, RecursionError) as error:
        raise BaselineError(f"{path}: neither JSON nor a .csv table ({error})") from None
    if isinstance(content, dict) and isinstance(content.get("tasks"), list) and FORMAT in content:
        if content[FORMAT] != 1:
            raise BaselineError(f"{path}: {FORMAT}: format {content[FORMAT]!r} is not known; this version reads 1")
        return _of_table(path, where, printable(content.get("name") or path.stem), content["tasks"])
    if isinstance(content, list):
        return _of_table(path, where, path.stem, content)
    return _of_run(read_run(path), where)


def _csv(path: Path, raw: bytes) -> list[dict[str, Any]]:
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise BaselineError(f"{path}: is not UTF-8 ({error})") from None
    try:
        reader = csv.DictReader(io.StringIO(text, newline=None))
        columns, rows = list(reader.fieldnames or ()), list(reader)
    except csv.Error as error:
        raise BaselineError(f"{path}: is no CSV ({error})") from None
    if twice := [name for name in dict.fromkeys(columns) if name and columns.count(name) > 1]:  # spreadsheets leave empty ones
        raise BaselineError(f"{path}: column {twice[0]!r:.80} stands twice; leave one of them out")
    return [{key: value for key, value in row.items() if value not in (None, "")} for row in rows]


def _of_run(run: Run, where: str) -> Baseline:
    entries = {}
    for name, result in run.tasks.items():
        value, plain = result.values.get(result.score), result.values.get(result.spec.metric)
        if value is None or plain is None:  # --predict_only
            continue
        entries[name] = Entry(
            metric=result.spec.metric,
            measured=Measured(value.value, plain.value, result.na_rate or 0.0, value.stderr),
            version=result.version,
            source=f"run of {run.model}",
            load=partial(_rows_of, result),
        )
    return Baseline(run.name, where, entries)


def _rows_of(result: Any) -> tuple[tuple[str, ...], tuple[Row | None, ...]]:
    return tuple(sample.key for sample in result.samples()), tuple(result.rows(result.score))


def _of_table(path: Path, where: str, name: str, rows: list[Any]) -> Baseline:
    entries: dict[str, Entry] = {}
    for number, row in enumerate(rows, 1):
        place = f"{path}: entry {number}"
        if not isinstance(row, dict) or (unknown := sorted(set(map(str, row)) - set(_COLUMNS))):
            detail = f"unknown columns {', '.join(map(repr, unknown))}" if isinstance(row, dict) else f"{row!r} is no object"
            raise BaselineError(f"{place}: {detail}; known are {', '.join(_COLUMNS)}")
        task, entry = _entry(row, place)
        if task in entries:
            raise BaselineError(f"{place}: task {task!r} stands there twice")
        entries[task] = entry
    if not entries:
        raise BaselineError(f"{path}: holds no task; columns: {', '.join(_COLUMNS)}")
    return Baseline(name, where, entries)


def _entry(row: dict[str, Any], place: str) -> tuple[str, Entry]:
    if missing := [key for key in ("task", "metric", "value") if key not in row]:
        raise BaselineError(f"{place}: {', '.join(missing)}: missing")
    task = row["task"]
    if not isinstance(task, str):
        raise BaselineError(f"{place}: task: a name is needed, found {task!r}")
    try:
        metric = metrics.get(str(row["metric"]))
    except metrics.UnknownMetric as error:
        raise BaselineError(f"{place} ({task}): {error}") from None
    na = _number(row.get("na_rate", 0), "na_rate", f"{place} ({task})")
    if not 0 <= na <= 1:
        raise BaselineError(f"{place} ({task}): na_rate: {na} is no share between 0 and 1 (a percentage?)")
    plain = _number(row["value"], "value", f"{place} ({task})", undefined=na == 1)
    stderr = _number(row.get("stderr"), "stderr", f"{place} ({task})", undefined=True)
    if beyond_best(metric, plain):
        raise BaselineError(
            f"{place} ({task}): value: {plain:g} is beyond the best {metric.name} there is, {metric.best:g} (a percentage?)"
        )
    if stderr < 0:
        raise BaselineError(f"{place} ({task}): stderr: {stderr:g} is below 0")
    if metric.name.endswith("_scaled"):
        value, base = plain, metric.name.removesuffix("_scaled")
    else:
        value, base = na_scale(plain, na, metric.higher_is_better), metric.name
        if metric.correlation:  # as in the scaled metric: a correlation below 0 counts as none
            value = max(value, 0.0)
    keys, kept = row.get("keys") or (), row.get("rows") or ()
    if not isinstance(keys, list | tuple) or not isinstance(kept, list | tuple) or len(keys) != len(kept):
        raise BaselineError(f"{place} ({task}): keys and rows: two lists of one length are needed")
    if not all(item is None or isinstance(item, list) for item in kept):
        raise BaselineError(f"{place} ({task}): rows: a list of numbers or null is needed for each document")
    samples = (tuple(map(str, keys)), tuple(None if item is None else tuple(item) for item in kept))
    version = None if row.get("version") is None else str(row["version"])
    return task, Entry(base, Measured(value, plain, na, stderr), version, str(row.get("source") or place), lambda: samples)


def _number(value: Any, key: str, place: str, *, undefined: bool = False) -> float:
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            raise BaselineError(f"{place}: {key}: {value!r} is no number") from None
    number = as_number(value)
    if math.isnan(number) and not undefined:
        raise BaselineError(f"{place}: {key}: {value!r} is no number")
    return number
