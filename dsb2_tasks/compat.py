"""The one place that knows how lm-eval hands things over, so that a new lm-eval version is met here and nowhere else.

lm-eval 0.4.12 and 0.4.13 pass ``(context, generation_kwargs, {"audio": ...})`` as ``Instance.args``; the 0.5 development
branch keeps the third part in ``Instance.additional_args``.  Both are read.  lm-eval itself is imported inside functions
only: backends and catalogue must start without its task scan.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lm_eval.tasks import TaskManager


@dataclass(frozen=True)
class Request:
    """One generation request as a backend sees it: text and handles, never a task.

    Attributes:
        prompt: The instruction, or lm-eval's chat string if ``--apply_chat_template`` is on.
        generation: Generation settings; a private copy, the original belongs to lm-eval's cache key.
        audio: Handles of the clips in order; empty for a text-only task.
        arguments: The full argument tuple, to be given to ``cache_hook.add_partial`` unchanged (a shorter tuple would
            make cache entries that never match, or that answer other clips).
        task: Name of the task that asks, for counts alone; "" if it is not known.
    """

    prompt: str
    generation: dict[str, Any]
    audio: tuple[dict[str, Any], ...]
    arguments: tuple[Any, ...]
    task: str = ""


class ForeignRequest(ValueError):
    """A request of another suite, with audio in another form."""


def read_request(instance: Any) -> Request:
    """Reads an ``lm_eval.api.instance.Instance`` of type ``generate_until``.

    Raises:
        ForeignRequest: The instance carries audio in a form that this suite did not make.
    """
    arguments = tuple(instance.args)
    context, generation = arguments[0], arguments[1]
    extra = arguments[2] if len(arguments) > 2 else getattr(instance, "additional_args", None)
    audio = (extra or {}).get("audio") or []
    if isinstance(audio, Mapping):
        audio = [audio]
    for handle in audio:
        if not isinstance(handle, Mapping) or "dsb2" not in handle:
            raise ForeignRequest(
                f"a request of {getattr(instance, 'task_name', None)!r} (document {getattr(instance, 'doc_id', None)!r}) carries "
                f"audio of type {type(handle).__name__}, not a dsb2 handle: this backend runs tasks of class DSB2Task"
            )
    task = str(getattr(instance, "task_name", None) or "")
    return Request(str(context), copy.deepcopy(dict(generation)), tuple(dict(h) for h in audio), arguments, task)


def task_manager(paths: Iterable[str | Path], metadata: dict[str, Any] | None = None) -> TaskManager:
    """An lm-eval task manager that scans only ``paths`` (milliseconds instead of the six seconds of the default scan)."""
    from lm_eval.tasks import TaskManager

    return TaskManager(include_path=[str(p) for p in paths], include_defaults=False, metadata=metadata)


def resolved_config(path: str | Path) -> dict[str, Any]:
    """A task file as lm-eval reads it, functions imported: runs whatever code the file names."""
    from lm_eval.tasks._yaml_loader import load_yaml

    return load_yaml(path)
