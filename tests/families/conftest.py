"""Tiny models of all families, made once a session, and a shelf of clips."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dsb2_tasks.audio import ensure_torchaudio

sys.path.append(str(Path(__file__).resolve().parent.parent / "models"))  # requests and clips are those of the backend's tests
ensure_torchaudio()  # before _tiny imports transformers

from _requests import Shelf  # noqa: E402
from _tiny import BUILDERS, NEEDS  # noqa: E402

from dsb2_tasks.models.hf_audio import HFAudio  # noqa: E402


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``folder(family)``: where its tiny model lies; made when first asked for."""
    made: dict[str, Path] = {}

    def find(family: str) -> Path:
        if family in NEEDS:
            pytest.importorskip(NEEDS[family], reason=f"{family} needs {NEEDS[family]}")
        if family not in made:
            made[family] = tmp_path_factory.mktemp(family)
            BUILDERS[family](made[family])
        return made[family]

    return find


@pytest.fixture
def load(folder: Callable[[str], Path], tmp_path: Path) -> Callable[..., HFAudio]:
    """``load(family, **model_args)``: a backend with its tiny model and a store of this test."""

    def make(family: str, **arguments: Any) -> HFAudio:
        place = {} if arguments.get("resume") is False else {"responses": str(tmp_path / "responses")}
        return HFAudio(**{"pretrained": str(folder(family)), "device": "cpu", **place, **arguments})

    return make
