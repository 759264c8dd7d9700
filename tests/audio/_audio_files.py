"""Clips, files and stores that the tests of this folder make."""

from __future__ import annotations

import hashlib
import io
from typing import Any

import numpy as np
import soundfile

from dsb2_tasks.audio import AudioStore, RawAudio, make_handle


def tone(rate: int, seconds: float = 1.0, *, channels: int = 1, hertz: float = 440.0, level: float = 0.5) -> np.ndarray:
    """A sine of shape (n, channels)."""
    wave = level * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)
    return np.repeat(wave[:, None], channels, axis=1).astype(np.float32)


def noise(frames: int, channels: int = 1, level: float = 0.1, seed: int = 0) -> np.ndarray:
    return (level * np.random.default_rng(seed).standard_normal((frames, channels))).astype(np.float32)


def encode(samples: np.ndarray, rate: int, form: str = "WAV", **options: Any) -> bytes:
    """A file of shape (n, channels) samples as bytes."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=form, **options)
    return buffer.getvalue()


def pitch(samples: np.ndarray, rate: int) -> float:
    """Frequency of the strongest partial in Hz, of mono samples."""
    size = 1 << 18
    spectrum = np.abs(np.fft.rfft(samples * np.hanning(len(samples)), size))
    return float(np.argmax(spectrum)) * rate / size


def rms(samples: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(samples, dtype=np.float64))))


class MemorySource:
    """Clips in memory, one a row; counts its reads."""

    def __init__(self, *files: bytes) -> None:
        self.files = list(files)
        self.reads = 0

    def read(self, row: int, column: str) -> RawAudio:
        self.reads += 1
        return RawAudio(self.files[row], f"{column}{row}.wav")


class Shelf:
    """A store of its own with one data set, and handles into it."""

    def __init__(self) -> None:
        self.store = AudioStore()
        self.source = MemorySource()
        self.store.register("Org/Set", "main", "test", self.source)

    def put(self, data: bytes, channels: str = "mono") -> dict[str, Any]:
        self.source.files.append(data)
        return make_handle(
            repo="Org/Set",
            revision="main",
            split="test",
            row=len(self.source.files) - 1,
            column="audio",
            sha256=hashlib.sha256(data).hexdigest(),
            channels=channels,
        )
