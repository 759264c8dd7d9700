"""Functions that a task file names: found without running a stranger's code, or imported as lm-eval does if allowed."""

from __future__ import annotations

import ast
import difflib
import importlib.util
from pathlib import Path
from typing import Any

from dsb2_tasks import catalog, compat, hooks
from dsb2_tasks.validation._lines import Source

#: Keys that hold functions -> the packaged function; ``process_results`` has one for each kind.
HOOKS = {"doc_to_text": "instruction", "doc_to_audio": "audio", "doc_to_target": "target", "process_results": None}
_PACKAGE = "dsb2_tasks.hooks"
#: Larger modules are not searched for a function.
_MAX_MODULE = 1 << 20


def is_packaged(reference: Any) -> bool:
    """Whether a function is one of this package's own hooks."""
    module, _, name = str(reference).rpartition(".")
    return module == _PACKAGE and name in hooks.__all__ and name[0].islower() and name != "close_options"


def check_functions(source: Source, config: dict[str, Any], kind: str) -> None:
    """Checks that every function exists and reads what the task states."""
    for key in HOOKS:
        reference = config.get(key)
        if reference is None or (key == "doc_to_target" and not isinstance(reference, str)):
            continue
        module, _, name = str(reference).rpartition(".")
        if hidden := shadow(source.path, reference):
            source.add("fault", (key,), f"{key}: lm-eval would run {hidden}, not the package's function", "rename that folder")
        if module == "dsb2_tasks" or module.startswith("dsb2_tasks."):
            if not is_packaged(reference):
                near = difflib.get_close_matches(name, [*hooks.KINDS, "instruction", "audio", "target"], n=1)
                fix = (
                    f"did you mean '{_PACKAGE}.{near[0]}'?"
                    if near
                    else f"functions for task files are {_PACKAGE}.{', '.join(hooks.KINDS)}"
                )
                source.add("fault", (key,), f"{key}: there is no function {name!r} in {_PACKAGE} for task files", fix)
            elif key == "process_results" and name != kind and kind in hooks.KINDS:
                cause = f"process_results reads answers of kind {name!r}, and dsb2.kind is {kind!r}"
                source.add("fault", [(key,), ("dsb2", "kind")], cause, f"include the template _{kind}.yaml, or none")
            elif HOOKS[key] not in (None, name):
                source.add(
                    "fault", (key,), f"{key}: {reference!r} does another job", f"write '{_PACKAGE}.{HOOKS[key]}', or leave it out"
                )
        elif not source.trusted:
            _search(source, key, str(reference))


def shadow(path: Path, reference: Any) -> Path | None:
    """A file beside the task file that lm-eval would run in place of this package's function."""
    module = str(reference).rpartition(".")[0]
    here = path.parent / f"{module.replace('.', '/')}.py"
    package = Path(hooks.__file__).resolve().parents[1]
    return here if module.startswith("dsb2_tasks") and here.is_file() and package not in here.resolve().parents else None


def _search(source: Source, key: str, reference: str) -> None:
    """Looks for a stranger's function without running anything of it."""
    module, _, name = reference.rpartition(".")
    here = source.path.parent / f"{module.replace('.', '/')}.py"
    if not module:
        source.add("fault", (key,), f"{key}: {reference!r} names no module", f"write '!function module.{reference}'")
    elif here.is_file() and here.resolve().is_relative_to(source.path.parent.resolve()):
        if here.stat().st_size > _MAX_MODULE:
            source.add("note", (key,), f"{key}: {reference} is not run, and {here.name} is too large to be searched")
            return
        try:
            names = _names(ast.parse(here.read_bytes()))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OSError) as error:
            source.add("fault", (key,), f"{key}: {here} cannot be read as Python: {error}", "correct it")
            return
        if name in names:
            source.add(
                "note", (key,), f"{key}: {reference} is not run, so answers are not scored", "use --allow-code if you trust it"
            )
        else:
            near = difflib.get_close_matches(name, names, n=1)
            fix = f"did you mean {near[0]!r}?" if near else f"{here.name} has {', '.join(sorted(names)) or 'none'}"
            source.add("fault", (key,), f"{key}: {here} has no function {name!r}", fix)
    elif _is_installed(module.split(".")[0]):
        source.add(
            "note", (key,), f"{key}: {reference} is not run, so answers are not scored", "use --allow-code if you trust it"
        )
    else:
        fix = f"put {here.name} beside the task file, or use one of {_PACKAGE}.{', '.join(hooks.KINDS)}"
        source.add("fault", (key,), f"{key}: there is no module {module!r}, installed or beside the task file", fix)


def _is_installed(package: str) -> bool:
    try:
        return package.isidentifier() and importlib.util.find_spec(package) is not None
    except ValueError:  # it is there and does not say where from, as __main__
        return True


def _names(tree: ast.Module) -> set[str]:
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names.update(alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Assign):
            names.update(target.id for target in node.targets if isinstance(target, ast.Name))
    return names


def functions(source: Source, config: dict[str, Any]) -> dict[str, Any]:
    """The task's functions by key; without leave to run code only the package's own.

    A function that cannot be imported is among the findings.
    """
    found: dict[str, Any] = {}
    strangers = [key for key in HOOKS if isinstance(config.get(key), str) and not is_packaged(config[key])]
    for key in HOOKS:
        if is_packaged(config.get(key)):
            found[key] = getattr(hooks, str(config[key]).rpartition(".")[2])
    if strangers and source.trusted:
        try:
            resolved = catalog.complete(compat.resolved_config(source.path), source.path)
        except Exception as error:  # whatever a stranger's module raises when it is imported
            source.add("fault", (strangers[0],), f"{strangers[0]}: {type(error).__name__}: {error}", "correct the module")
        else:
            found |= {key: resolved[key] for key in strangers}
    return found
