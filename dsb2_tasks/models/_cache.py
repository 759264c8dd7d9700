"""The folder for files that can be made again: response stores, tiny models, pieces put together."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``DSB2_CACHE`` if set, else ``~/.cache/dsb2``; not made here."""
    given = os.environ.get("DSB2_CACHE")
    return Path(given).expanduser() if given else Path.home() / ".cache" / "dsb2"
