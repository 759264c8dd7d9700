"""The folder for files that can be made again: response stores, tiny models, pieces put together."""

from __future__ import annotations

import os
from pathlib import Path

from dsb2_tasks.models._args import ModelArgError, read_flag


def cache_folder() -> Path:
    """``DSB2_CACHE`` if set, else ``~/.cache/dsb2``; not made here."""
    given = os.environ.get("DSB2_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "dsb2"


def store_folder(resume: object, responses: object) -> Path | None:
    """Where the model arguments ``resume`` and ``responses`` put response stores; None for nowhere.

    Raises:
        ModelArgError: One of them has a wrong value, or they contradict each other.
    """
    if not read_flag("resume", resume):
        if responses is not None:
            raise ModelArgError(f"responses={responses!r} with resume=false: without resuming nothing is stored; leave one out")
        return None
    return cache_folder() / "responses" if responses is None else Path(str(responses)).expanduser()
