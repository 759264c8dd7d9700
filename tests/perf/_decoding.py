"""From the bytes of a file at 44.1 kHz in stereo to mono at 16 kHz, beside what others do with the same file."""

from __future__ import annotations

import hashlib
import importlib.util
import io
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
import torch

from dsb2_tasks.audio import STORE, AudioPolicy, RawAudio, ensure_torchaudio, make_handle, prepare
from dsb2_tasks.audio._resample import QUALITY
from tests.perf._size import Size
from tests.perf._table import Goal, Row, interleaved

OLD, NEW = 44_100, 16_000
_FORMATS = {
    "wav": {"format": "WAV", "subtype": "PCM_16"},
    "flac": {"format": "FLAC"},
    "mp3": {"format": "MP3"},
    "ogg": {"format": "OGG"},
}
FLOOR = "floor: soundfile.read, mean, the same torchaudio resampler"
_FASTEST = "the same with the mean as one addition"
#: Both libraries read by it: the part of the time that nobody but libsndfile can shorten, most of it of ogg.
_READ = "soundfile.read alone"
_LIBROSA, _TRANSFORMERS = "librosa.load(sr=16000), soxr_hq", "transformers' load_audio, a file"
#: Ours may take so much of the time of each; soxr has to be beaten by 1.3.  Seen on two shared cores: wav 0.64, mp3 0.70, flac
#: 0.75 to 0.78, ogg 0.78 to 0.80: libsndfile alone takes 0.63 of librosa's time there.  FFmpeg, with which transformers reads,
#: is faster at ogg, but no part of every installation: the same clip would then sound different on another machine.
_GOALS = {FLOOR: Goal("ratio", 1.15), _FASTEST: None, _LIBROSA: Goal("ratio", 1 / 1.3), _TRANSFORMERS: None}
_NOTES = {_FASTEST: "ours also checks sha256 and finite samples, and measures the mix"}


def music(seconds: float) -> np.ndarray:
    """Two channels of tones and noise."""
    t = np.arange(round(seconds * OLD)) / OLD
    noise = 0.05 * np.random.default_rng(0).standard_normal((len(t), 2))
    return noise + np.stack([0.2 * np.sin(2 * np.pi * 440 * t), 0.3 * np.sin(2 * np.pi * 220 * t)], axis=1)


def encoded(samples: np.ndarray, name: str) -> bytes:
    """A file of one of the formats."""
    file = io.BytesIO()
    soundfile.write(file, samples, OLD, **_FORMATS[name])
    return file.getvalue()


class Files:
    """An audio source in memory."""

    def __init__(self, files: Sequence[bytes]) -> None:
        self._files = files
        STORE.register("bench/files", "local", "test", self)

    def read(self, row: int, column: str) -> RawAudio:
        """The file of one clip."""
        return RawAudio(self._files[row], str(row))

    def handles(self) -> list[dict[str, Any]]:
        """Handles of all files."""
        place = {"repo": "bench/files", "revision": "local", "split": "test", "column": "audio"}
        return [make_handle(**place, row=i, sha256=hashlib.sha256(data).hexdigest()) for i, data in enumerate(self._files)]


def rows(size: Size) -> list[Row]:
    """Each format with one thread; all of them with two threads of torch, and with two decoders side by side."""
    threads = torch.get_num_threads()
    try:
        with tempfile.TemporaryDirectory() as folder:
            found = []
            clips = {name: encoded(music(size.clip), name) for name in _FORMATS}
            ways = {
                name: decoders(data, handle, Path(folder) / f"clip.{name}")
                for (name, data), handle in zip(clips.items(), Files(list(clips.values())).handles(), strict=True)
            }
            torch.set_num_threads(1)
            for name, own in ways.items():
                took = interleaved(own, 3 * size.rounds, time.process_time)  # milliseconds, which neighbours soon spoil
                found += _rows(f"decode {name}, 1 thread", took, size, "on the processor")
            # Four clips are soon shared out badly between two decoders; the long ones first, four times.
            pairs = {"two decoders": partial(_side_by_side, 2), "2 threads of torch": partial(_side_by_side, 1)}
            for what, run in pairs.items():
                torch.set_num_threads(2 if "torch" in what else 1)
                every = {way: partial(run, [own[way] for own in reversed(ways.values())] * 4) for way in ways["wav"]}
                found += _rows(f"decode all four four times, {what}", interleaved(every, size.rounds), size, "on the clock")
            return found
    finally:
        torch.set_num_threads(threads)


def _side_by_side(number: int, ways: Sequence[Callable[[], Any]]) -> None:
    """Calls all, so many at a time, as the preparers of a backend do."""
    with ThreadPoolExecutor(number) as pool:
        for done in [pool.submit(way) for way in ways]:
            done.result()


def _rows(what: str, took: Mapping[str, float], size: Size, clock: str) -> list[Row]:
    ours = 1e3 * took["ours"]
    found = []
    for name, goal in _GOALS.items():
        alone = f"; {_READ}: {1e3 * took[_READ]:.3g} ms" if name == _LIBROSA else ""
        note = _NOTES.get(name, f"{size.clip:g} s, {clock}{alone}") if name in took else "librosa is not installed"
        found.append(Row(what, ours, 1e3 * took[name] if name in took else None, "ms", name, goal, note))
    return found


def decoders(data: bytes, handle: Mapping[str, Any], file: Path) -> dict[str, Callable[[], Any]]:
    """Every way to decode a file at hand, and its handle for ours."""
    file.write_bytes(data)
    resampler = ensure_torchaudio().transforms.Resample(OLD, NEW, **QUALITY)
    from transformers.audio_utils import load_audio

    def read() -> np.ndarray:
        samples: np.ndarray = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)[0]
        return samples

    def floor() -> np.ndarray:
        return np.asarray(resampler(torch.from_numpy(read().mean(axis=1))))

    def fastest() -> np.ndarray:
        samples = read()
        return np.asarray(resampler(torch.from_numpy((samples[:, 0] + samples[:, 1]) / 2)))

    def ours() -> np.ndarray:
        return prepare(handle, AudioPolicy(rate=NEW))[0].samples

    ways: dict[str, Callable[[], Any]] = {"ours": ours, FLOOR: floor, _FASTEST: fastest, _READ: read}
    if importlib.util.find_spec("librosa"):
        import librosa

        ways[_LIBROSA] = lambda: librosa.load(io.BytesIO(data), sr=NEW)[0]
    ways[_TRANSFORMERS] = lambda: load_audio(str(file), sampling_rate=NEW)
    np.testing.assert_allclose(ours(), floor()[: len(ours())], atol=2e-5)  # the same work is compared
    return ways
