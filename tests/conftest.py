"""For all tests: nothing is fetched, nothing is written to the user's cache, and the user's settings do not reach in."""

from __future__ import annotations

import logging
import os
import sys
from collections import Counter
from pathlib import Path

import pytest

# Before anything imports huggingface_hub, which reads its settings at import.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["HF_DATASETS_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Tiny models gain nothing from threads, and tests run side by side (pytest -n 2).
os.environ.setdefault("OMP_NUM_THREADS", "1")
for _name in ("DSB2_TASKS_PATH", "DSB2_NO_AUTOLOAD", "DSB2_BASELINE", "DSB2_GENERATION_DIR"):
    os.environ.pop(_name, None)

REPOSITORY = Path(__file__).resolve().parent.parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Files of slow tests come first: at the end of a run on several processes none waits long for the last one."""
    slow = Counter(item.path for item in items if item.get_closest_marker("slow"))
    items.sort(key=lambda item: -slow[item.path])


@pytest.fixture(scope="session")
def repository() -> Path:
    """Root of the checkout that is tested."""
    return REPOSITORY


@pytest.fixture(autouse=True)
def _own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Response stores and tiny models of tests live in a folder of the test session."""
    cache = tmp_path_factory.getbasetemp() / "dsb2-cache"
    monkeypatch.setenv("DSB2_CACHE", str(cache))


@pytest.fixture(autouse=True)
def _log_of_the_host_not_set_up() -> None:
    """lm-eval's logger as it is before a run: once set up it is handed our records, and a later test would see them twice."""
    host = logging.getLogger("lm_eval")
    host.handlers.clear()
    host.propagate = True
    host.setLevel(logging.NOTSET)
    if "lm_eval.utils" in sys.modules:
        sys.modules["lm_eval.utils"].__dict__["_LOGGING_CONFIGURED"] = False  # since 0.4.12
