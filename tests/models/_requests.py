"""Clips in memory, requests as lm-eval makes them, and an ear at the model."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import _shelf
import numpy as np
import pytest
import soundfile
from lm_eval.api.instance import Instance

from dsb2_tasks.models.hf_audio import HFAudio

RATE = 16_000
GREEDY = {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 12}


def tone(hertz: float, seconds: float) -> np.ndarray:
    """A tone with a little noise, so that no two clips are alike."""
    noise = np.random.default_rng(int(hertz)).normal(size=int(seconds * RATE))
    return (0.3 * np.sin(2 * np.pi * hertz / RATE * np.arange(len(noise))) + 0.01 * noise).astype(np.float32)


def wav(samples: np.ndarray) -> bytes:
    """Samples as a 16 kHz wav file."""
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="WAV", subtype="FLOAT")
    return file.getvalue()


class Shelf(_shelf.Shelf):
    """A shelf that takes samples too."""

    def put(self, clip: np.ndarray | bytes, kind: str | None = "transcript") -> dict[str, Any]:
        """Puts a clip on the shelf and returns its handle, as of a task of this output kind."""
        return super().put(clip if isinstance(clip, bytes) else wav(clip), kind=kind)


def request(prompt: str, *audio: dict[str, Any], task: str = "task", **generation: Any) -> Instance:
    """A request in lm-eval's form; ``generation`` replaces single settings of a greedy one."""
    settings = {name: value for name, value in {**GREEDY, **generation}.items() if value is not None}
    arguments: tuple[Any, ...] = (prompt, settings, {"audio": list(audio)}) if audio else (prompt, settings)
    return Instance(request_type="generate_until", doc={}, arguments=arguments, idx=0, metadata=(task, 0, 1))


class Listening:
    """Notes what reaches ``generate`` of a model, and may fail on purpose."""

    def __init__(self, lm: HFAudio, monkeypatch: pytest.MonkeyPatch, fail: Callable[[int, int], Exception | None] | None = None):
        self.rows: list[int] = []
        self.keywords: list[dict[str, Any]] = []
        self._generate = lm._model.generate
        self._fail = fail
        monkeypatch.setattr(lm._model, "generate", self)

    def __call__(self, **inputs: Any) -> Any:
        rows = len(inputs["input_ids"])
        error = self._fail(len(self.rows), rows) if self._fail else None
        self.rows.append(rows)
        self.keywords.append(inputs)
        if error is not None:
            raise error
        return self._generate(**inputs)

    @property
    def asked(self) -> int:
        """Rows that the model was asked about."""
        return sum(self.rows)


def mixed(shelf: Shelf) -> list[Instance]:
    """Requests with no, one and two clips of very different lengths."""
    clips = [shelf.put(tone(200 + 90 * i, s)) for i, s in enumerate([0.2, 19.0, 1.0, 4.0, 31.5, 0.7, 2.5, 9.0, 0.3, 12.0])]
    return [
        *(request("What is said?", clip) for clip in clips[:6]),
        request("Which one is longer, the first or the second?", clips[6], clips[7]),
        request("Same speaker?", clips[8], clips[0]),
        request("Answer without a clip: how many seconds are in a minute?"),
        request("Give the tempo and the key of the music, please, and then the instrument.", clips[9]),
        request("And these?", clips[1], clips[2]),
        request("What is said?", clips[7]),
    ]


def by_one(lm: HFAudio, requests: Iterable[Instance]) -> list[str]:
    """Answers, asked for in calls of their own."""
    return [lm.generate_until([one], disable_tqdm=True)[0] for one in requests]
