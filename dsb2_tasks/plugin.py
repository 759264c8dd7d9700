"""What this package adds to lm-eval: its models to the registry, its YAML folder to every default task scan.

lm-eval up to 0.4.13 knows no plugins.  The start-up hook (``dsb2_tasks/_autoload``) calls :func:`register_models` and
:func:`add_tasks` right after lm-eval's own modules are imported; :func:`activate` does the same for programs that run
without the hook.  Where a later lm-eval finds us by its entry points, both leave its work alone.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import inspect
import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from dsb2_tasks import catalog

log = logging.getLogger(__name__)

_HF_AUDIO = "dsb2_tasks.models.hf_audio:HFAudio"

#: Name for ``--model`` -> where the class is; it is imported only when the model is asked for.
MODELS = {
    "hf-audio": _HF_AUDIO,
    "dsb2-audio": _HF_AUDIO,  # stays ours should lm-eval take the first name one day
    "dsb2-cascade": "dsb2_tasks.models.cascade:Cascade",
    "dsb2-api": "dsb2_tasks.models.api:APIModel",
}

#: Versions of lm-eval that this package runs with, as in pyproject.toml: 0.5 opens data later and scores by classes of its own.
LM_EVAL = ">=0.4.12,<0.5"

_MARK = "_dsb2_tasks"


class UnsupportedVersion(ImportError):
    """The lm-eval that is installed is none of :data:`LM_EVAL`."""


def activate() -> None:
    """Makes lm-eval know our tasks and models in this process; harmless when it does already.

    Raises:
        ImportError: lm-eval is not installed, or in another version than :data:`LM_EVAL`.
    """
    register_models(importlib.import_module("lm_eval.models"))
    add_tasks(importlib.import_module("lm_eval.tasks.manager"))


def register_models(models_module: ModuleType) -> None:
    """Registers :data:`MODELS` lazily.

    Args:
        models_module: ``lm_eval.models``, completely imported: it fills the registry with the built-in models only while
            the registry is empty, so ours must come after them.
    """
    from lm_eval.api.registry import model_registry

    for name, target in MODELS.items():
        if name not in model_registry:
            model_registry.register(name, target=target)


def add_tasks(manager_module: ModuleType) -> None:
    """Lets every ``TaskManager`` that scans lm-eval's own tasks scan ours too.

    Our folders come before those of ``--include_path``, so a user's task of the same name wins.

    Args:
        manager_module: ``lm_eval.tasks.manager``.

    Raises:
        UnsupportedVersion: Our tasks would fail in the middle of lm-eval, which is left as it is.
    """
    _check_version()
    manager = manager_module.TaskManager
    init = manager.__init__
    if getattr(init, _MARK, False):
        return
    _share_log()
    signature = inspect.signature(init)
    if not {"include_path", "include_defaults"} <= set(signature.parameters):
        log.warning(
            "this version of lm-eval scans for tasks in a way that dsb2-tasks does not know; its tasks are not added. "
            f"Install lm-eval{LM_EVAL}."
        )
        return

    @functools.wraps(init)
    def with_our_tasks(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        if bound.arguments["include_defaults"]:
            given = _as_list(bound.arguments["include_path"])
            bound.arguments["include_path"] = merge_paths(_not_found_by(manager_module), given)
            catalog.included[:] = map(_real, given)  # for groups that take their members from there
            # lm-eval drops a task file that it cannot read without a word; for ours the reason is logged.
            catalog.read_catalog([*catalog.search_paths()[1:], *catalog.included])
        init(*bound.args, **bound.kwargs)

    setattr(with_our_tasks, _MARK, True)
    manager.__init__ = with_our_tasks


def _check_version() -> None:
    from packaging.specifiers import SpecifierSet

    try:
        version = importlib.metadata.version("lm-eval")
    except importlib.metadata.PackageNotFoundError:  # run from a folder: nobody knows
        return
    if not SpecifierSet(LM_EVAL).contains(version, prereleases=True):
        raise UnsupportedVersion(
            f"lm-eval {version} is installed, and dsb2-tasks needs {LM_EVAL}: pip install 'lm-eval{LM_EVAL}'"
        )


def merge_paths(ours: Iterable[Path], given: Sequence[str | Path]) -> list[str | Path]:
    """Our folders, then the user's, leaving out what would be scanned twice.

    lm-eval warns about every task that it meets a second time, so a folder inside another one of the list is left out,
    and of equal folders the last one stays (later folders win).

    Args:
        ours: Folders of this package and of ``DSB2_TASKS_PATH``.
        given: The user's ``--include_path``; kept as spelled.

    Returns:
        The folders to scan, in order.
    """
    paths: list[str | Path] = [*ours, *given]
    real = [_real(path) for path in paths]
    return [
        path
        for i, path in enumerate(paths)
        if real[i] not in real[i + 1 :] and not any(other in real[i].parents for other in real)
    ]


class _ToHost(logging.Handler):
    """Hands our records to lm-eval's logger, which alone knows where the run's messages go and how loud they are."""

    def emit(self, record: logging.LogRecord) -> None:
        """Gives on what the host's level lets through; before lm-eval has set its logger up, records go Python's usual way."""
        host, last = logging.getLogger("lm_eval"), logging.lastResort
        if not host.propagate:
            if host.isEnabledFor(record.levelno):
                host.handle(record)
        elif last is not None and not logging.getLogger().handlers and record.levelno >= last.level:
            last.handle(record)


def _share_log() -> None:
    """Shows our messages among lm-eval's own, unless the program has set our logger up itself."""
    ours = logging.getLogger("dsb2_tasks")
    if not ours.handlers and ours.level == logging.NOTSET:
        ours.addHandler(_ToHost())
        ours.setLevel(logging.INFO)


def _as_list(include_path: Any) -> list[str | Path]:
    if not include_path:
        return []
    return list(include_path) if isinstance(include_path, (list, tuple)) else [include_path]


def _not_found_by(manager_module: ModuleType) -> list[Path]:
    """Our folders without those that the host's own plugin discovery scans anyway."""
    discover = getattr(manager_module, "discover_plugin_task_paths", None)
    found = [_real(path) for path in discover()] if discover else []
    return [path for path in catalog.search_paths() if not any(f == _real(path) or f in _real(path).parents for f in found)]


def _real(path: str | Path) -> Path:
    return Path(path).resolve()
