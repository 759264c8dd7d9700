"""An undisturbed run, which those that were disturbed are compared with."""

from __future__ import annotations

from pathlib import Path

import pytest
from _fault_runs import TASKS, Place, run


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Where a run lies that nothing befell."""
    place = Place(tmp_path_factory.mktemp("whole"))
    child = run(place)
    assert child.wait() == 0, child.said()
    assert len(place.stored()) == sum(map(len, place.samples().values())) == 4 * len(TASKS)
    return place


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Where the run of this test keeps what it keeps."""
    return Place(tmp_path)
