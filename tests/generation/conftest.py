"""What the tests of generated audio share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import pytest

from dsb2_tasks import catalog, compat


@lru_cache(maxsize=8)
def _load(name: str) -> Any:
    return compat.task_manager([catalog.yaml_root()], {"data": "samples"}).load([name])["tasks"][name]


@pytest.fixture
def task() -> Callable[[str], Any]:
    """A task by name, on its samples."""
    return _load
