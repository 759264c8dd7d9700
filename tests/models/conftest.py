"""The tiny model and a shelf of clips."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from _requests import Shelf

from dsb2_tasks.models.hf_audio import HFAudio
from dsb2_tasks.samples.tiny_model import make_tiny_model


@pytest.fixture
def shelf() -> Shelf:
    return Shelf()


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


@pytest.fixture
def load(tiny: Path, tmp_path: Path) -> Callable[..., HFAudio]:
    """``load(**model_args)``: the tiny model with a store of this test."""

    def make(**arguments: Any) -> HFAudio:
        place = {} if arguments.get("resume") is False else {"responses": str(tmp_path / "responses")}
        return HFAudio(**{"pretrained": str(tiny), "device": "cpu", **place, **arguments})

    return make
