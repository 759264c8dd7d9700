"""What can be said of a task file without opening its data."""

from __future__ import annotations

import difflib
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import fields
from typing import Any

import yaml

from dsb2_tasks import catalog, hooks, metrics
from dsb2_tasks.metrics import MissingLibrary
from dsb2_tasks.spec import DOMAINS, SpecError, TaskSpec, read_spec
from dsb2_tasks.validation._code import HOOKS, check_functions, shadow
from dsb2_tasks.validation._lines import Source

TASK_CLASS, GROUP_CLASS = "dsb2_tasks.task.DSB2Task", "dsb2_tasks.group.DSB2Group"

#: Keys that lm-eval takes and a dsb2 task sets itself -> the key that says it.
_SET_BY_US = {
    **dict.fromkeys(("dataset_path", "dataset_name", "dataset_kwargs", "custom_dataset", "process_docs"), "dsb2.data"),
    **dict.fromkeys(("test_split", "training_split", "validation_split", "fewshot_split"), "dsb2.data"),
    **dict.fromkeys(("metric_list", "doc_to_choice"), "dsb2.metric and dsb2.options"),
    "filter_list": "process_results",
}
_OURS = ("class", "include", "dsb2", "dsb2_base", "dsb2_template")
_EXAMPLES = {
    "modality": "modality: speech (or music, or audio)",
    "domain": "domain: sound_event",
    "kind": "kind: choice",
    "metric": "metric: accuracy",
    "data": "data: [{path: ./clips}]",
    "path": "path: ./clips",
}
#: Kinds that look at ``options``.
_WITH_OPTIONS = ("choice", "labels", "slots", "entities", "tags", "events")


def read_config(source: Source) -> dict[str, Any] | None:
    """The merged mapping, None where the files cannot be read as one."""
    if source.faults:
        return None
    try:
        return catalog.load_config(source.path)
    except SpecError as error:
        source.add_error((), error)
        return None


def check_group(source: Source, config: dict[str, Any]) -> str:
    """Checks a group file and returns the group's name."""
    _check_name(source, config)
    _check_class(source, config, GROUP_CLASS)
    try:
        group = catalog.read_group(source.path, config)
    except SpecError as error:
        source.add_error(("dsb2_group",), error)
    else:
        if group.spec.suite in catalog.OWN_SUITES and not catalog.is_own(source.path):
            source.add("fault", ("dsb2_group", "suite"), f"suite {group.spec.suite!r} is an official one", "name your own suite")
    return str(config["task"])


def check_task(source: Source, config: dict[str, Any]) -> TaskSpec | None:
    """Checks everything about a task file but its data; returns its specification if data can be opened with it."""
    _check_name(source, config)
    _check_class(source, config, TASK_CLASS)
    _check_keys(source, config)
    block = config.get("dsb2")
    if not isinstance(block, dict):
        source.add("fault", ("dsb2",), "'dsb2' is no block of keys", "write its keys below it, indented by two blanks")
        return None
    for name in ("dsb2_template", "dsb2_base"):
        if not isinstance(config.get(name) or {}, dict):
            source.add("fault", (name,), f"'{name}' is no block of keys", "leave it out")
            return None
    _check_generation(source, config)
    kind = str(block.get("kind", (config.get("dsb2_template") or {}).get("kind")))
    whole = config
    if kind in hooks.KINDS and isinstance(config.get("generation_kwargs") or {}, dict):
        whole = catalog.complete(config, source.path)
    check_functions(source, whole, kind)
    try:
        spec = read_spec(whole, source.path)
    except SpecError as error:
        _tell_keys(source, error, kind)
        _check_metrics(source, whole, kind)
        return None
    _check_metrics(source, whole, kind)
    _check_meaning(source, spec)
    return None if source.faults else spec


def _check_name(source: Source, config: dict[str, Any]) -> None:
    name = config["task"]
    if not catalog.is_task_name(name):
        source.add(
            "fault",
            ("task",),
            f"task name {name!r:.80} cannot be named on a command line",
            "use letters, digits, '_', '-' and '.' alone",
        )


def _check_class(source: Source, config: dict[str, Any], wanted: str) -> None:
    line = f"class: !function {wanted}"
    found = config.get("class")
    if hidden := shadow(source.path, found):
        source.add("fault", ("class",), f"class: lm-eval would run {hidden}, not the package's class", "rename that folder")
    if found is None:
        source.add(
            "fault", ("class",), "key 'class' is missing, so lm-eval would not read this file with dsb2-tasks", f"add {line!r}"
        )
    elif _tag(source, "class") != "!function":
        source.add("fault", ("class",), f"class {found!r} is a text and no function", f"write {line!r}")
    elif found != wanted:
        level, fix = ("note", "") if source.trusted else ("fault", f"write {line!r}, or use --allow-code")
        source.add(level, ("class",), f"class {found!r} is not {wanted}: how it reads this file is not checked", fix)  # type: ignore[arg-type]


def _tag(source: Source, key: str) -> str | None:
    for _, node in source.files:
        for name, value in node.value:
            if name.value == key:
                return str(value.tag)
    return None


def _check_keys(source: Source, config: dict[str, Any]) -> None:
    from lm_eval.config.task import TaskConfig

    known = [*_OURS, *(f.name for f in fields(TaskConfig))]
    for _, node in source.own():
        for name, value in node.value:
            key = str(name.value)
            if key in _SET_BY_US:
                source.add("fault", (key,), f"{key} is not read in a dsb2 task", f"leave it out and use {_SET_BY_US[key]}")
            elif key not in known:
                inside = key in TaskSpec.model_fields
                source.add("fault", (key,), f"unknown key {key!r}", "indent it below 'dsb2:'" if inside else _near(key, known))
            if isinstance(value, yaml.ScalarNode) and value.tag == "!function" and key not in ("class", *HOOKS):
                source.add("fault", (key,), f"{key} takes no function", f"functions stand in class, {', '.join(HOOKS)}")
    metadata = config.get("metadata")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("version"), int | str | float):
        source.add(
            "warning",
            ("metadata",),
            "no metadata.version, so results do not say of which version they are",
            "add 'metadata: {version: 1}'",
        )


def _near(name: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {near[0]!r}?" if near else "leave it out"


def _check_generation(source: Source, config: dict[str, Any]) -> None:
    settings = config.get("generation_kwargs") or {}
    if not isinstance(settings, dict):
        source.add(
            "fault",
            ("generation_kwargs",),
            "generation_kwargs is no block of keys",
            "write 'generation_kwargs: {max_gen_toks: 512}'",
        )
        return
    if not isinstance(settings.get("until", []), list | str):
        source.add("fault", ("generation_kwargs", "until"), "generation_kwargs.until is no list of texts", "write 'until: []'")
    tokens = settings.get("max_gen_toks", 1)
    if not isinstance(tokens, int) or tokens < 1:
        source.add(
            "fault", ("generation_kwargs", "max_gen_toks"), f"max_gen_toks {tokens!r} is no whole number above 0", "correct it"
        )


def _tell_keys(source: Source, error: SpecError, kind: str) -> None:
    for fault in error.faults:
        if fault.key == ("metric",) and fault.cause == "key is missing" and kind not in hooks.KINDS:
            continue  # the template of the right kind brings one
        fix = fault.fix
        if fault.cause == "key is missing":
            fix = f"add, for example, {_EXAMPLES.get(str(fault.key[-1]), str(fault.key[-1]) + ': ...')!r}"
        named = [("dsb2", word) for word in re.findall(r"\w+", fault.cause) if word in TaskSpec.model_fields]
        keys = [("dsb2", *fault.key)] if fault.key else [*named, ("dsb2",)]
        name = ".".join(("dsb2", *map(str, fault.key)))
        source.add("fault", keys, f"{name}: {fault.cause}", fix or "correct the value")


def _check_metrics(source: Source, config: dict[str, Any], kind: str) -> None:
    """Metrics are checked one by one, as all may be wrong, and also where other keys are."""
    if kind not in hooks.KINDS:
        return
    rows = hooks.KINDS[kind].rows
    block = {**(config.get("dsb2_template") or {}), **config["dsb2"]}
    secondary = block.get("secondary")
    named: list[tuple[tuple[str | int, ...], Any]] = [(("dsb2", "metric"), block.get("metric"))]
    named += [(("dsb2", "secondary", i), name) for i, name in enumerate(secondary if isinstance(secondary, list) else ())]
    for key, name in named:
        if isinstance(name, str) and name not in rows:
            cause = f"kind {kind!r} cannot count {name!r}" if name in metrics.names() else f"unknown metric {name!r}"
            near = difflib.get_close_matches(name, rows, n=1)
            known = f"kind {kind!r} counts {', '.join(sorted(rows))}"
            source.add(
                "fault", key, f"{'.'.join(map(str, key))}: {cause}", f"did you mean {near[0]!r}? {known}" if near else known
            )


def _check_meaning(source: Source, spec: TaskSpec) -> None:
    if spec.suite in catalog.OWN_SUITES and not catalog.is_own(source.path):
        source.add("fault", ("dsb2", "suite"), f"dsb2.suite: {spec.suite!r} is an official suite", "give yours another name")
    if spec.domain not in DOMAINS and spec.suite not in catalog.OWN_SUITES:
        near = difflib.get_close_matches(spec.domain, DOMAINS, n=1, cutoff=0.75)
        known = f"the domains are {', '.join(DOMAINS)}"
        cause = f"dsb2.domain: {spec.domain!r} is none of the 17 domains"
        if near:
            source.add(
                "fault",
                ("dsb2", "domain"),
                cause,
                f"did you mean {near[0]!r}? A name of your own must not be so near to one of them",
            )
        else:
            source.add("warning", ("dsb2", "domain"), f"{cause}, so the task gets a table of its own in reports", known)
    for key, language in [(("dsb2", "language"), spec.language)] + [
        (("dsb2", "data", i, "language"), part.language) for i, part in enumerate(spec.data)
    ]:
        if language is not None and not re.fullmatch(r"[a-z]{2,3}([-_]\w+)?", language):
            source.add("fault", key, f"dsb2.language: {language!r} is no ISO 639-1 code", "write two letters, as 'en'")  # type: ignore[arg-type]
    if told := set(spec.label_columns) & ({spec.instruction} if spec.prompt is None else set()) | set(spec.label_columns) & set(
        spec.context
    ):
        source.add(
            "fault", ("dsb2", "label"), f"dsb2.label: {sorted(told)} is shown to the model too", "leave it out of dsb2.context"
        )
    if spec.options is not None and spec.kind not in _WITH_OPTIONS:
        source.add(
            "fault", ("dsb2", "options"), f"dsb2.options: kind {spec.kind!r} has none", "leave them out, or correct dsb2.kind"
        )
    if spec.number is not None and spec.kind != "number":
        source.add("fault", ("dsb2", "number"), f"dsb2.number: kind {spec.kind!r} has none", "leave it out, or correct dsb2.kind")
    options = spec.options if isinstance(spec.options, tuple) else ()
    wordings = Counter(name.casefold() for name in [*options, *(alias for names in spec.aliases.values() for alias in names)])
    if twice := [name for name, count in wordings.items() if count > 1]:
        keys = [("dsb2", "aliases"), ("dsb2", "options")]
        source.add(
            "fault", keys, f"wordings of more than one option, or given twice: {', '.join(map(repr, twice))}", "leave one out"
        )
    _check_needs(source, spec)


def _check_needs(source: Source, spec: TaskSpec) -> None:
    """What a kind asks of the task file, whatever the label."""
    if spec.options == "labels":
        return  # known with the data
    label = {"dsb2_label": ["?"], "dsb2_prompt": "", "dsb2_language": spec.language, "audio": []}
    try:
        hooks.KINDS[spec.kind].read_label(label, spec)
    except hooks.LabelError:
        pass  # of course: it is no label of the data
    except SpecError as error:
        key = re.match(r"dsb2((?:\.\w+)+)", str(error))
        source.add_error(("dsb2", *(key.group(1)[1:].split(".") if key else ())), error)
    except MissingLibrary as error:
        source.add("note", ("dsb2", "metric"), f"answers are not scored: {error}")
