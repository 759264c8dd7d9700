"""A folder with one good task of somebody else, to be broken in many ways."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _pets import GOOD, write_clips


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder with ``my_pets.yaml`` and its clips."""
    write_clips(tmp_path / "clips", ["dog", "cat", "dog", "cat"])
    (tmp_path / "my_pets.yaml").write_text(GOOD, encoding="utf-8")
    return tmp_path


@pytest.fixture
def broken(folder: Path) -> Callable[..., Path]:
    """Changes the good file and returns its path."""

    def change(*pairs: tuple[str, str]) -> Path:
        path = folder / "my_pets.yaml"
        text = path.read_text(encoding="utf-8")
        for old, new in pairs:
            assert old in text
            text = text.replace(old, new, 1)
        path.write_text(text, encoding="utf-8")
        return path

    return change
