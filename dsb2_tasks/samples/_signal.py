"""Building blocks of every synthetic sound: tones, filtered noise, envelopes, placing parts on a time line."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy import signal

#: Rate at which everything is made; the encoder resamples.  It is espeak-ng's own.
RATE = 22050

Sound = NDArray[np.float64]
Rng = np.random.Generator


def length(seconds: float) -> int:
    """Number of samples of a duration."""
    return round(seconds * RATE)


def silence(seconds: float) -> Sound:
    return np.zeros(length(seconds))


def times(seconds: float) -> Sound:
    """Time of each sample in seconds."""
    return np.arange(length(seconds)) / RATE


def hertz(midi: float) -> float:
    """Frequency of a MIDI pitch (69 = A4 = 440 Hz)."""
    return 440.0 * 2.0 ** ((midi - 69) / 12)


def oscillate(frequency: float | Sound, seconds: float, harmonics: Sequence[float] = (1.0,)) -> Sound:
    """Sum of harmonics of a constant or moving frequency; harmonics above 10 kHz are left out."""
    curve = np.broadcast_to(np.asarray(frequency, float), (length(seconds),))
    phase = 2 * np.pi * np.cumsum(curve) / RATE
    out = np.zeros(len(curve))
    for number, level in enumerate(harmonics, start=1):
        out += level * np.sin(number * phase) * (number * curve < 10_000)
    return out


def glide(seconds: float, *points: float) -> Sound:
    """Curve through equally spaced points, e.g. a frequency that falls from 900 to 300."""
    return np.interp(np.linspace(0, 1, length(seconds)), np.linspace(0, 1, len(points)), points)


def noise(rng: Rng, seconds: float, low: float = 20, high: float = 10_000, order: int = 2) -> Sound:
    """Band-limited noise of unit power."""
    sos = signal.butter(order, [low, min(high, 0.49 * RATE)], "bandpass", fs=RATE, output="sos")
    out = signal.sosfilt(sos, rng.standard_normal(length(seconds) + 500))[500:]
    return out / max(rms(out), 1e-9)


def band(x: Sound, low: float, high: float, order: int = 4) -> Sound:
    """Band-pass filter."""
    return signal.sosfilt(signal.butter(order, [low, min(high, 0.49 * RATE)], "bandpass", fs=RATE, output="sos"), x)


def resonate(x: Sound, formants: Sequence[tuple[float, float]]) -> Sound:
    """Cascade of two-pole resonators given as (frequency, bandwidth): a vocal tract or a body."""
    for frequency, width in formants:
        radius = np.exp(-np.pi * width / RATE)
        a = [1, -2 * radius * np.cos(2 * np.pi * frequency / RATE), radius**2]
        x = signal.lfilter([sum(a)], a, x)
    return x


def decay(seconds: float, half: float, attack: float = 0.003) -> Sound:
    """Envelope of a struck thing: quick attack, level halves every ``half`` seconds."""
    t = times(seconds)
    return np.minimum(t / attack, 1) * 0.5 ** (t / half)


def hump(seconds: float, attack: float = 0.02, release: float = 0.05) -> Sound:
    """Envelope of a held thing: raised-cosine flanks around a flat top."""
    t = times(seconds)
    rise = np.clip(t / max(attack, 1e-4), 0, 1)
    fall = np.clip((seconds - t) / max(release, 1e-4), 0, 1)
    return (0.5 - 0.5 * np.cos(np.pi * rise)) * (0.5 - 0.5 * np.cos(np.pi * fall))


def rms(x: Sound) -> float:
    return float(np.sqrt(np.mean(np.square(x)))) if x.size else 0.0


def scaled(x: Sound, peak: float = 0.6) -> Sound:
    """Scales to a peak."""
    top = float(np.max(np.abs(x))) if x.size else 0.0
    return x * (peak / top) if top > 0 else x


def fitted(x: Sound, seconds: float) -> Sound:
    """Cuts or pads with silence to a duration."""
    n = length(seconds)
    return x[:n] if len(x) >= n else np.concatenate([x, np.zeros(n - len(x))])


def placed(seconds: float, parts: Sequence[tuple[float, Sound]]) -> Sound:
    """Silence of a duration with sounds added at their start times."""
    out = silence(seconds)
    for start, x in parts:
        first = length(start)
        part = x[: max(len(out) - first, 0)]
        out[first : first + len(part)] += part
    return out


def chain(
    parts: Sequence[Sound], gap: float = 0.0, lead: float = 0.0, tail: float = 0.0
) -> tuple[Sound, list[tuple[float, float]]]:
    """Sounds one after another.

    Args:
        parts: The sounds.
        gap: Silence between two of them in seconds.
        lead: Silence before the first.
        tail: Silence after the last.

    Returns:
        The signal, and start and end of each part in seconds.
    """
    spans, pieces, at = [], [silence(lead)], length(lead)
    for number, part in enumerate(parts):
        if number:
            pieces.append(silence(gap))
            at += length(gap)
        spans.append((at / RATE, (at + len(part)) / RATE))
        pieces.append(part)
        at += len(part)
    return np.concatenate([*pieces, silence(tail)]), spans


def repeated(make: Sequence[Sound] | Sound, starts: Sequence[float], seconds: float) -> Sound:
    """One sound, or several in turn, at each start time."""
    several = [make] if isinstance(make, np.ndarray) else list(make)
    return placed(seconds, [(start, several[i % len(several)]) for i, start in enumerate(starts)])


def jittered(rng: Rng, first: float, step: float, until: float, spread: float = 0.1) -> list[float]:
    """Roughly even times: a step apart, each moved by up to ``spread`` of a step."""
    return [float(max(t + rng.uniform(-spread, spread) * step, 0)) for t in np.arange(first, until, step).tolist()]
