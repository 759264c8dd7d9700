"""What can be said of a task once its data are open: columns, labels, prompts, clips, and what the right answer scores."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dsb2_tasks import hooks, metrics
from dsb2_tasks.audio import STORE, AudioError
from dsb2_tasks.hooks import LabelError, Scored
from dsb2_tasks.metrics import MissingLibrary
from dsb2_tasks.sources import DataError, Docs, Rows, open_rows
from dsb2_tasks.spec import DataSource, SpecError, TaskSpec
from dsb2_tasks.validation._code import functions
from dsb2_tasks.validation._finding import Outcome
from dsb2_tasks.validation._lines import Source

#: Rows whose clips are read, and whose answers are scored; those of generated audio take seconds each.
_CLIPS, _SCORED, _SCORED_WAVEFORM = 3, 20, 3
#: Answers that no task asks for.
_NONSENSE = ("", "qwxzv")
#: Decibels of a perfect clip are bounded, not exact.
_NEAR = {"si_sdri": 10.0}
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*")


class HubUnreachable(Exception):
    """The hub does not answer, which says nothing about the task."""


def check_rows(source: Source, outcome: Outcome, spec: TaskSpec, config: dict[str, Any], data: str | None) -> None:
    """Opens the data of a task and tries it out.

    Args:
        source: The file; findings are added to it.
        outcome: What is learnt about rows, prompt and scores is written into it.
        spec: Its specification.
        config: Its mapping, complete.
        data: ``hub``, ``samples`` or a folder; None for the hub where it can be reached.

    Raises:
        HubUnreachable: ``data`` is None and the hub does not answer.
    """
    paths_are_fine = all([_is_inside(source, part, i) for i, part in enumerate(spec.data)])
    parts = [_open(source, part, i, config["task"], data) for i, part in enumerate(spec.data)] if paths_are_fine else []
    opened = [part for part in parts if part is not None]
    if not opened or len(opened) < len(spec.data):
        return
    try:
        docs = Docs(str(config["task"]), spec, opened)
        spec = hooks.close_options(spec, [docs.text(i) for i in range(len(docs))])
    except DataError as error:
        source.add_error(_key_in(error), error, "name a column that is there, or correct the data")
        return
    except SpecError as error:
        source.add_error(("dsb2", "options"), error)
        return
    outcome.rows, outcome.prompt = len(docs), str(docs.text(0)["dsb2_prompt"])
    good = _check_labels(source, docs, spec)
    _check_prompts(source, docs, spec)
    if _check_clips(source, docs, spec) and good:
        _check_scores(source, outcome, docs, spec, config, good)


def _key_in(error: Exception) -> tuple[str, ...]:
    named = re.search(r"see (dsb2[.\w]*)", str(error))
    return tuple(named.group(1).split(".")) if named else ("dsb2", "data")


def _is_inside(source: Source, part: DataSource, number: int) -> bool:
    """Whether a data set is named in a way that a stranger may have us open."""
    key = ("dsb2", "data", number, "path")
    if not part.is_local:
        if not _HUB_NAME.fullmatch(part.path) or ".." in part.path:
            cause = f"data set {part.path!r} is neither a hub name as 'org/name' nor a folder that begins with './'"
            source.add("fault", key, cause, f"write './{part.path}' if it is a folder beside this file")
            return False
        return True
    home = source.path.parent.resolve()
    try:
        folder = (home / Path(part.path).expanduser()).resolve()
        folder.is_dir()
    except (OSError, ValueError, RuntimeError) as error:  # a name that no folder can have, links in a circle, nobody's home
        source.add(
            "fault", key, f"data set {part.path[:100]!r} is no folder ({error})", "write './' and the folder beside this file"
        )
        return False
    if source.trusted:
        return True
    outside = (
        next((p for p in _links(folder) if not p.resolve().is_relative_to(home)), None) if folder.is_relative_to(home) else folder
    )
    if outside is not None:
        cause = f"data set {part.path!r}: {outside} leads out of the task's folder, so it is not opened"
        source.add("fault", key, cause, "put the data beside the task file, or use --allow-code if you trust it")
    return outside is None


def _links(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_symlink()] if folder.is_dir() else []


def _open(source: Source, part: DataSource, number: int, task: str, data: str | None) -> Rows | None:
    try:
        return open_rows(part, data or "hub", source.path.parent, str(task))
    except DataError as error:
        if data is None and not part.is_local and isinstance(error.__context__, ConnectionError):
            raise HubUnreachable(part.path) from error
        source.add_error(("dsb2", "data", number, "path"), error)
        return None


def _check_labels(source: Source, docs: Docs, spec: TaskSpec) -> list[int]:
    """Rows whose label has the shape that the task states."""
    kind = hooks.KINDS[spec.kind]
    good, bad = [], []
    for index in range(len(docs)):
        try:
            kind.read_label(docs.text(index), spec)
            good.append(index)
        except LabelError as error:
            bad.append(f"{docs.place(index)}: {error}")
        except (SpecError, MissingLibrary):
            return []  # told with the file
    if bad:
        keys = [("dsb2", "options"), ("dsb2", "label"), ("dsb2", "kind")]
        cause = f"{len(bad)} of {len(docs)} labels have another shape than the task states: {' | '.join(bad[:3])}"
        source.add("fault", keys, cause, "correct the data, or dsb2.kind, dsb2.options or dsb2.label")
    return good


def _check_prompts(source: Source, docs: Docs, spec: TaskSpec) -> None:
    empty = [docs.place(index) for index in range(len(docs)) if not docs.text(index)["dsb2_prompt"].strip()]
    if empty:
        keys = [("dsb2", "prompt"), ("dsb2", "instruction")]
        source.add(
            "fault",
            keys,
            f"{len(empty)} of {len(docs)} prompts are empty; first: {empty[0]}",
            "give dsb2.prompt, or correct the data",
        )


def _check_clips(source: Source, docs: Docs, spec: TaskSpec) -> bool:
    bad = []
    for index in range(min(_CLIPS, len(docs))):
        doc = docs[index]
        for handle in [*doc["audio"], *doc.get("dsb2_reference", ())]:
            try:
                STORE.info(handle)
            except AudioError as error:
                bad.append(f"{docs.place(index)}: {error}")
    if bad:
        keys = [("dsb2", "audio"), ("dsb2", "data")]
        source.add("fault", keys, f"clips of the first rows cannot be read: {' | '.join(bad[:3])}", "correct the data")
    return not bad


def _check_scores(
    source: Source, outcome: Outcome, docs: Docs, spec: TaskSpec, config: dict[str, Any], good: Sequence[int]
) -> None:
    """The reference answers must get the best value of every metric, and nonsense must not crash or do better."""
    found = functions(source, config)
    if "process_results" not in found:
        return  # noted as not run
    kind = hooks.KINDS[spec.kind]
    tried = [docs[i] for i in good[: _SCORED_WAVEFORM if spec.reference_audio else _SCORED]]
    custom = found["process_results"] is not getattr(hooks, spec.kind)
    try:
        for key in ("doc_to_text", "doc_to_target"):
            if key in found and not isinstance(shown := found[key](tried[0]), str):
                source.add("fault", (key,), f"{key}: gives {type(shown).__name__} for the first row", "a text is needed")
        right = [kind.reference_answer(doc, spec) for doc in tried]
        best = _values(found["process_results"], tried, right, spec)
        silly = {answer: _values(found["process_results"], tried, [answer] * len(tried), spec) for answer in _NONSENSE}
    except Exception as error:  # a stranger's function may raise anything, and one of ours must be told like any fault
        cause = f"scoring raises {type(error).__name__}: {error}"
        source.add(
            "fault", [("process_results",), ("dsb2", "metric")], cause, "correct the function" if custom else "see --debug"
        )
        return
    outcome.scores = best
    keys = [("process_results",), ("dsb2", "metric")] if custom else [("dsb2", "metric"), ("dsb2", "kind")]
    for name, value in best.items():
        metric = metrics.get(name)
        sign = 1 if metric.higher_is_better else -1
        if math.isnan(value):
            source.add("note", keys, f"{name} is not defined for the first {len(tried)} rows, even for the right answers")
            continue
        if abs(value - metric.best) > _NEAR.get(name, 1e-6):
            cause = f"the right answers of the first {len(tried)} rows get {name} {value:.4g}, and the best is {metric.best:g}"
            source.add("fault", keys, cause, f"labels and metric do not fit; the first answer is {right[0][:80]!r}")
        better = {answer: values[name] for answer, values in silly.items() if sign * (values[name] - value) > 1e-9}
        equal = [answer for answer, values in silly.items() if name == spec.metric and values[name] == value]
        for answer, other in better.items():
            cause = f"the answer {answer!r} gets {name} {other:.4g}, better than the right answers ({value:.4g})"
            source.add("fault", keys, cause, "labels and metric do not fit")
        if equal:
            cause = f"the answer {equal[0]!r} gets {name} {value:.4g} in the first {len(tried)} rows, as the right answers do"
            source.add("warning", keys, cause, "see whether the labels are what is asked for")


def _values(score: Any, docs: Sequence[dict[str, Any]], answers: Sequence[str], spec: TaskSpec) -> dict[str, float]:
    scored = [score(answer, doc, spec) for answer, doc in zip(answers, docs, strict=True)]
    for one in scored:
        if not isinstance(one, Scored):
            raise TypeError(f"gives {type(one).__name__}, dsb2_tasks.hooks.Scored is needed")
    names = hooks.KINDS[spec.kind].metrics(spec)
    return {name: float(metrics.get(name).aggregate([one.statistics[name] for one in scored])) for name in names}
