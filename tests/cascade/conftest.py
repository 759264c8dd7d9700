"""Clips that the audio store knows."""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cascade_helpers import Echo, wav

from dsb2_tasks.audio import STORE, AudioError, RawAudio, make_handle
from dsb2_tasks.models import cascade
from dsb2_tasks.models.cascade import Cascade


class Memory:
    """An audio source that holds files in memory, by row."""

    def __init__(self) -> None:
        self.files: list[bytes] = []
        self.away = False

    def read(self, row: int, column: str) -> RawAudio:
        if self.away:
            raise AudioError(f"row {row} cannot be reached")
        return RawAudio(self.files[row], f"{row}.wav")


@pytest.fixture
def source() -> Memory:
    """Where the clips of a test lie."""
    return Memory()


@pytest.fixture
def clip(source: Memory) -> Callable[..., dict[str, Any]]:
    """Makes a clip known to the audio store and gives its handle; takes samples, or the bytes of a file."""
    repo = f"test/{uuid.uuid4().hex}"
    STORE.register(repo, "local", "test", source)

    def make(content: np.ndarray | bytes, rate: int = 16_000, **known: str) -> dict[str, Any]:
        data = content if isinstance(content, bytes) else wav(content, rate)
        source.files.append(data)
        return make_handle(
            repo=repo,
            revision="local",
            split="test",
            row=len(source.files) - 1,
            column="audio",
            sha256=hashlib.sha256(data).hexdigest(),
            **known,
        )

    return make


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Cascade]:
    """Makes a cascade around a given recogniser; all share one store."""

    def make(recognizer: Echo, **arguments: Any) -> Cascade:
        monkeypatch.setattr(cascade, "load_recognizer", lambda *_, **__: recognizer)
        if arguments.get("resume", True):
            arguments.setdefault("responses", str(tmp_path / "store"))
        return Cascade(**{"device": "cpu", **arguments})

    return make


@pytest.fixture
def one_thread() -> Iterator[None]:
    """For tiny models: they only lose time by sharing their work."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
