"""Fits a clip to a model: channels, then rate, then length; everything that is changed gets a name."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dsb2_tasks.audio._collect import MAX_SAMPLES
from dsb2_tasks.audio._decode import MAX_RATE, decode_piece
from dsb2_tasks.audio._errors import AudioError
from dsb2_tasks.audio._handle import CHANNELS, place
from dsb2_tasks.audio._resample import ratio, resample
from dsb2_tasks.audio._store import STORE, AudioStore

log = logging.getLogger(__name__)

_LONG = ("truncate", "chunk", "error")
_MIN_POLICY_RATE = 4_000
#: Below this share of the channels' level the mix has lost the signal. Channels without relation to each other keep
#: 1/sqrt(channels), which is 0.125 for the 64 that are read at most.
_CANCELLING = 0.1
#: Decoded beyond the limit, so that the filter sees the same neighbours at the cut as in the whole clip.
_MARGIN_SECONDS = 0.1
#: A drift over the clip that is worth telling.
_DRIFT_SECONDS = 1e-3
_QUIET_SECONDS, _SEARCH_SECONDS = 0.02, 1.0


@dataclass(frozen=True)
class AudioPolicy:
    """What a model takes.

    Attributes:
        rate: Sampling rate in Hz.
        channels: ``mono``, or ``keep`` for a model that hears channels; those of a clip are kept only if its handle
            says ``keep`` too.
        min_seconds: Shorter clips (and windows) get zeros appended.
        max_seconds: Longest piece in seconds; None for no limit.
        long_audio: What becomes of a longer clip: ``truncate`` keeps its beginning, ``chunk`` makes windows of it,
            ``error`` raises :class:`AudioError`.
    """

    rate: int = 16_000
    channels: str = "mono"
    min_seconds: float = 0.1
    max_seconds: float | None = None
    long_audio: str = "truncate"

    def __post_init__(self) -> None:
        if not _MIN_POLICY_RATE <= self.rate <= MAX_RATE:
            raise ValueError(f"rate={self.rate!r} Hz lies outside {_MIN_POLICY_RATE} to {MAX_RATE}")
        if self.channels not in CHANNELS:
            raise ValueError(f"channels={self.channels!r} is not one of {', '.join(CHANNELS)}")
        if self.long_audio not in _LONG:
            raise ValueError(f"long_audio={self.long_audio!r} is not one of {', '.join(_LONG)}")
        if not 0 <= self.min_seconds < math.inf:
            raise ValueError(f"min_seconds={self.min_seconds!r} is not a length")
        if self.max_seconds is not None and not max(self.min_seconds, 0.1) <= self.max_seconds < math.inf:
            raise ValueError(f"max_seconds={self.max_seconds!r} must be at least 0.1 and min_seconds={self.min_seconds!r}")


@dataclass(frozen=True, eq=False)
class Clip:
    """Audio as a model gets it.

    Attributes:
        samples: float32, (n,) for mono, (channels, n) where channels are kept.
        rate: Hz.
        seconds: Length of the whole clip before the policy.
        start: Where this piece begins, in seconds of the whole clip; above 0 only for windows of a long one.
        events: What was changed: ``nonfinite`` (NaN or infinite samples set to 0), ``mixed_down`` (channels averaged),
            ``spatial_mixdown`` (the same, in a task that asks about space), ``cancelling`` (the mix has lost most of
            its energy), ``resampled``, ``rate_rounded`` (an odd rate was rounded, timing is off by more than 1 ms),
            ``truncated``, ``chunked``, ``padded``.
    """

    samples: np.ndarray
    rate: int
    seconds: float
    events: tuple[str, ...] = ()
    start: float = 0.0


def prepare(handle: Mapping[str, Any], policy: AudioPolicy, store: AudioStore = STORE) -> list[Clip]:
    """Reads a clip and fits it to a policy.

    Returns:
        One clip; several, in order, where ``long_audio="chunk"`` makes windows: each at most ``max_seconds`` long, cut
        at the quietest place within the last second before that limit.

    Raises:
        AudioError: The clip cannot be read or decoded, or is too long under ``long_audio="error"``.
        AudioSetupError: torchaudio is needed and not installed.
    """
    limit = None if policy.max_seconds is None else round(policy.max_seconds * policy.rate)
    whole = limit is None or policy.long_audio == "chunk"
    piece = decode_piece(store.read(handle), seconds=None if whole else policy.max_seconds + _MARGIN_SECONDS)  # type: ignore[operator]
    events = ["nonfinite"] if piece.nonfinite else []
    samples = piece.samples
    if not handle["channels"] == policy.channels == "keep":
        samples = _mix(samples, handle, events)
    if samples.size * policy.rate > MAX_SAMPLES * piece.rate:
        raise AudioError(
            f"{place(handle)} lasts {piece.seconds:.1f} s: at {policy.rate} Hz more than the {MAX_SAMPLES} samples that are "
            f"prepared at once; split it, or keep its beginning (max_seconds with long_audio=truncate)"
        )
    if piece.rate != policy.rate:
        events.append("resampled")
        drift = samples.shape[-1] * abs(ratio(piece.rate, policy.rate) / policy.rate - 1 / piece.rate)
        if drift > _DRIFT_SECONDS:
            events.append("rate_rounded")
        samples = resample(samples, piece.rate, policy.rate)
    windows = [samples]
    if limit is not None and samples.shape[-1] > limit:
        if policy.long_audio == "error":
            raise AudioError(
                f"{place(handle)} lasts {piece.seconds:.1f} s, the limit is {policy.max_seconds} s (long_audio=error; "
                f"others are truncate and chunk)"
            )
        if policy.long_audio == "truncate":
            events.append("truncated")
            windows = [samples[..., :limit]]
        else:
            events.append("chunked")
            windows = _windows(samples, limit, policy.rate)
    lengths = [window.shape[-1] for window in windows]
    starts = [sum(lengths[:k]) / policy.rate for k in range(len(windows))]
    return [_padded(window, policy, piece.seconds, events, start) for window, start in zip(windows, starts, strict=True)]


def _mix(samples: np.ndarray, handle: Mapping[str, Any], events: list[str]) -> np.ndarray:
    """Mean of the channels, (channels, n) to (n,)."""
    channels = len(samples)
    if channels == 1:
        return samples[0]
    # numpy's mean over the short axis takes thirty times as long, and a matrix product starts BLAS threads, which on a
    # machine that is busy with the model takes longer still.
    mono = samples[0] + samples[1]
    for channel in samples[2:]:
        mono += channel
    mono /= channels
    events.append("mixed_down")
    if handle["channels"] == "keep":
        events.append("spatial_mixdown")
    level = np.linalg.norm(samples.ravel(order="K")) / math.sqrt(channels)
    if level > 0 and np.linalg.norm(mono) < _CANCELLING * level:
        events.append("cancelling")
        _warn_cancelling(handle["repo"])
    return mono


@lru_cache(maxsize=1024)
def _warn_cancelling(repo: str) -> None:
    """Once per data set; each clip is counted."""
    log.warning("%s has clips whose channels cancel: their mono mix is nearly silent (counted as 'cancelling')", repo)


def _windows(samples: np.ndarray, limit: int, rate: int) -> list[np.ndarray]:
    """Cuts at the quietest 20 ms before each limit, so that words stay whole where they can."""
    step = max(1, round(_QUIET_SECONDS * rate))
    search = min(round(_SEARCH_SECONDS * rate), limit // 4) // step * step
    windows, start = [], 0
    while samples.shape[-1] - start > limit:
        end = start + limit
        if search:
            tail = samples[..., end - search : end].reshape(-1, search // step, step)
            quietest = int(np.argmin(np.square(tail).sum(axis=(0, 2))))
            end += quietest * step + step // 2 - search
        windows.append(samples[..., start:end])
        start = end
    return [*windows, samples[..., start:]]


def _padded(samples: np.ndarray, policy: AudioPolicy, seconds: float, events: list[str], start: float) -> Clip:
    missing = math.ceil(policy.min_seconds * policy.rate) - samples.shape[-1]
    if missing > 0:
        samples = np.pad(samples, [(0, 0)] * (samples.ndim - 1) + [(0, missing)])
        events = [*events, "padded"]
    return Clip(np.ascontiguousarray(samples, dtype=np.float32), policy.rate, seconds, tuple(events), start)
