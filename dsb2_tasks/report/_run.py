"""What is said about a run: which model, on what, under which settings, and the command that repeats it."""

from __future__ import annotations

import json
import math
import os
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from dsb2_tasks.catalog import OWN_SUITES, TASKS_PATH
from dsb2_tasks.results import Run, as_number
from dsb2_tasks.results._submission import without_secrets

#: Keys of a task's ``metadata`` that a run writes itself; the rest was given with ``--metadata``.
_OWN_METADATA = frozenset({"version", "config_source", "dsb2", "dsb2_run", "dsb2_judge"})
#: What lm-eval sets when nothing is said, so that the command need not say it.
_DEFAULT_SEEDS = {"random_seed": 0, "numpy_seed": 1234, "torch_seed": 1234, "fewshot_seed": 1234}


@dataclass(frozen=True)
class RunInfo:
    """One run, described.

    Attributes:
        name: Distinct among the runs of a report.
        model: Backend and model, and what it heard in place of the clips if not these.
        date: ISO date and time in UTC; empty if not known.
        data: Where documents came from.
        on_samples: Whether that is the embedded sample data.
        limit: Why the documents are not all there; None if they are.
        tasks: Number of tasks.
        documents: Number of answered documents.
        audio_events: What the audio policy did, with counts; None if the model did not say.
        failures: What could not be asked, with counts; None if the model did not say.
        commands: Command lines that repeat the run: of the run itself, and of a scoring after it.
        versions: Program to version.
        settings: Settings by name, flat.
    """

    name: str
    model: str
    date: str
    data: str
    on_samples: bool
    limit: str | None
    tasks: int
    documents: int
    audio_events: dict[str, int] | None
    failures: dict[str, int] | None
    commands: tuple[str, ...]
    versions: dict[str, str]
    settings: dict[str, str]


def describe(runs: Sequence[Run]) -> tuple[RunInfo, ...]:
    """Describes runs, and tells those of one name apart by a number."""
    twice = {name for name, count in Counter(run.name for run in runs).items() if count > 1}
    seen: Counter[str] = Counter()
    made = []
    for run in runs:
        seen[run.name] += 1
        made.append(_describe(run, f"{run.name} ({seen[run.name]})" if run.name in twice else run.name))
    return tuple(made)


def _describe(run: Run, name: str) -> RunInfo:
    model = _mapping(run.config.get("dsb2_model"))
    heard = model.get("audio", "real")
    answered = sum(task.documents for task in run.tasks.values())
    total = sum(task.total for task in run.tasks.values())
    return RunInfo(
        name=name,
        model=run.model if heard == "real" else f"{run.model}, audio={heard}",
        date=_date(run.date),
        data=", ".join(sorted(run.data)),
        on_samples=any(task.version.endswith("-samples") for task in run.tasks.values()) or "samples" in run.data,
        limit=f"{answered} of {total} documents" if answered < total else None,
        tasks=len(run.tasks),
        documents=answered,
        audio_events=_counts(model.get("audio_events")),
        failures=_counts(model.get("failures")),
        commands=commands(run),
        versions=_versions(run),
        settings=_settings(run),
    )


def commands(run: Run) -> tuple[str, ...]:
    """The commands that repeat a run, from what the results file tells, without keys and the folder of its output."""
    scored = _scored(run)
    if not scored:
        return (_lm_eval(run),)
    words = ["dsb2", "score"]
    elsewhere = run.config.get("model") == "answers"
    if elsewhere:
        words += ["--answers", str(scored.get("of")), "--data", *sorted(run.data)[:1], "--name", run.name]
    else:
        words.append(str(scored.get("of")))
    words += [word for name in ("rule", "baseline") if scored.get(name) for word in (f"--{name}", str(scored[name]))]
    words += ["--force"] if scored.get("forced") else []
    return (shlex.join(words),) if elsewhere else (_lm_eval(run), shlex.join(words))


def _scored(run: Run) -> Mapping[str, Any]:
    """By which rules ``dsb2 score`` counted the answers; empty for numbers of the run itself."""
    return _mapping(run.raw.get("dsb2_score"))


def _settings(run: Run) -> dict[str, str]:
    told = {**run.config, "dsb2_score": _scored(run)}
    return dict(_flat(without_secrets({key: value for key, value in told.items() if value not in (None, {}, [])})))


def _lm_eval(run: Run) -> str:
    config = without_secrets(run.config)
    arguments = _mapping(config.get("model_args")) or config.get("model_args")
    words = ["lm_eval", "--tasks", ",".join(_asked_for(run)), "--model", str(config.get("model") or run.name)]
    if arguments:
        words += ["--model_args", _pairs(arguments)]
    if metadata := _metadata(run, arguments):
        words += ["--metadata", json.dumps(metadata, default=str)]  # lm-eval 0.4.12 takes nothing else
    for key in ("limit", "batch_size", "device", "gen_kwargs"):
        value = config.get(key)
        if value not in (None, "", {}, []):
            text = _pairs(value) if isinstance(value, Mapping) else f"{value:g}" if isinstance(value, float) else str(value)
            words += [f"--{key}", text]
    seeds = {key: config.get(key, default) for key, default in _DEFAULT_SEEDS.items()}
    if seeds != _DEFAULT_SEEDS:
        words += ["--seed", ",".join(str(seed) for seed in seeds.values())]
    if run.raw.get("system_instruction"):
        words += ["--system_instruction", str(run.raw["system_instruction"])]
    if run.raw.get("chat_template"):
        words.append("--apply_chat_template")
    command = shlex.join([*words, "--output_path", "results", "--log_samples"])  # lm-eval logs no samples without a folder
    return f"{TASKS_PATH}={shlex.quote(os.pathsep.join(folders))} {command}" if (folders := _folders(run)) else command


def _folders(run: Run) -> list[str]:
    """Folders of the task files that are not the package's own; lm_eval has to be told of them."""
    configs = _mapping(run.raw.get("configs"))
    others = [task.task for task in run.tasks.values() if task.spec.suite not in OWN_SUITES]
    files = [_mapping(_mapping(configs.get(name)).get("metadata")).get("config_source") for name in others]
    return sorted({str(Path(file).parent) for file in files if file and isinstance(file, str)})


def _asked_for(run: Run) -> list[str]:
    """The groups and tasks that were named: those that no other group holds."""
    below = {member for members in run.members.values() for member in members}
    return [name for name in [*run.members, *run.tasks] if name not in below]


def _metadata(run: Run, arguments: Any) -> dict[str, Any]:
    configs = _mapping(run.raw.get("configs"))
    first = _mapping(_mapping(configs.get(next(iter(run.tasks)))).get("metadata"))
    given = set(_mapping(arguments))  # lm-eval puts the arguments of the model there too
    return {key: value for key, value in first.items() if key not in _OWN_METADATA and key not in given}


def _pairs(values: Any) -> str:
    """``a=1,b=2`` where that says it all, else JSON."""
    if not isinstance(values, Mapping):
        return str(values)
    plain = all(isinstance(v, str | int | float) and not set(str(v)) & set(",={}\"'") for v in values.values())
    return ",".join(f"{key}={value}" for key, value in values.items()) if plain else json.dumps(values, default=str)


def _versions(run: Run) -> dict[str, str]:
    model = _mapping(run.config.get("dsb2_model"))
    tasks = Counter(task.version for task in run.tasks.values())
    found = {
        "lm-eval": run.raw.get("lm_eval_version"),
        "transformers": run.raw.get("transformers_version"),
        "dsb2-tasks": _scored(run).get("dsb2_tasks") or model.get("dsb2_tasks"),
        "commit": run.raw.get("git_hash"),
        "task versions": ", ".join(f"{version} ({n} task{'' if n == 1 else 's'})" for version, n in sorted(tasks.items())),
    }
    return {name: str(value) for name, value in found.items() if value}


def _flat(values: Mapping[str, Any], above: str = "") -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    for key, value in values.items():
        name = f"{above}{key}"
        if isinstance(value, Mapping) and value:
            rows += _flat(value, f"{name}.")
        else:
            rows.append((name, value if isinstance(value, str) else json.dumps(value, default=str)))
    return rows


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _counts(value: Any) -> dict[str, int] | None:
    if not isinstance(value, Mapping):
        return None
    numbers = {str(key): as_number(count) for key, count in value.items()}
    return {key: int(count) for key, count in numbers.items() if math.isfinite(count)}


def _date(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M UTC")
    except (ValueError, OverflowError, OSError):  # nan, or a number that is no time
        return ""
