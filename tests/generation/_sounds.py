"""Signals and files for the tests."""

from __future__ import annotations

import base64
import importlib.util
import io
from typing import Any

import numpy as np
import pytest
import soundfile

from dsb2_tasks.audio import STORE, decode

LIBRARIES = ("pesq", "pystoi", "pyworld")
#: Not by importing: pyworld up to 0.3.5 fails beside new setuptools, which the product deals with.
needs_libraries = pytest.mark.skipif(
    any(importlib.util.find_spec(library) is None for library in LIBRARIES),
    reason=f"extra generation: {', '.join(LIBRARIES)} are not all installed",
)
NAMES = (
    "dsb2_superb_se_voicebank_demand",
    "dsb2_superb_ss_libri2mix",
    "dsb2_song_separation_singset",
    "dsb2_singing_voice_synthesis_ace_opencpop",
    "dsb2_emotional_voice_conversion_esd",
)
SE, SS, _, SVS, EVC = NAMES


def speechlike(seed: int, seconds: float = 1.5, rate: int = 16000) -> np.ndarray:
    """Harmonics of a gliding pitch with a syllable rhythm, a little noise."""
    rng = np.random.default_rng(seed)
    t = np.arange(round(seconds * rate)) / rate
    phase = 2 * np.pi * np.cumsum(120 + 15 * seed + 30 * np.sin(2 * np.pi * 1.3 * t + seed)) / rate
    voice = sum(np.sin(k * phase + k) / k for k in range(1, 12)) * (0.1 + np.sin(2 * np.pi * 2.5 * t + seed) ** 2)
    return 0.1 * voice + 0.002 * rng.standard_normal(len(t))


def clip(handle: dict[str, Any]) -> tuple[np.ndarray, int]:
    """Samples (channels, n) and rate of a clip of the data."""
    return decode(STORE.read(handle))


def wav(samples: np.ndarray, rate: int, kind: str = "WAV", subtype: str | None = "FLOAT") -> bytes:
    """File bytes of samples (n,) or (channels, n)."""
    file = io.BytesIO()
    soundfile.write(file, np.asarray(samples).T, rate, format=kind, subtype=subtype)
    return file.getvalue()


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def as_answer(handles: list[dict[str, Any]]) -> str:
    """Clips of the data given back, one a line."""
    return "\n".join(b64(wav(*clip(handle))) for handle in handles)
