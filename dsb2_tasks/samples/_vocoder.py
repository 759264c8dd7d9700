"""Speech taken apart into vocal tract and source, and put together with another source: singing and fake voices."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import signal
from scipy.linalg import solve_toeplitz

from dsb2_tasks.samples._signal import RATE, Sound, chain, hertz, hump, length, scaled
from dsb2_tasks.samples._speech import Voice, say

_HOP, _FRAME, _ORDER = 220, 660, 24


def _frames(x: Sound) -> tuple[list[Sound], list[float], list[bool]]:
    """Filter, gain and voicing of each 10 ms frame."""
    window = np.hanning(_FRAME)
    padded = np.pad(x, _FRAME // 2)
    filters, gains, voiced = [], [], []
    for start in range(0, len(padded) - _FRAME, _HOP):
        frame = padded[start : start + _FRAME] * window
        r = np.correlate(frame, frame, "full")[_FRAME - 1 :]
        lags = r[: _ORDER + 1].copy()
        lags[0] = lags[0] * 1.0001 + 1e-7
        a = solve_toeplitz(lags[:-1], lags[1:])
        filters.append(np.concatenate([[1.0], -a]))
        gains.append(float(np.sqrt(max(lags[0] - a @ lags[1:], 0.0) / np.sum(window**2))))
        voiced.append(bool(np.max(r[RATE // 400 : RATE // 65]) > 0.35 * lags[0]))
    return filters, gains, voiced


def resynthesised(x: Sound, frequency: Sound | float, seconds: float | None = None, breath: float = 0.02) -> Sound:
    """Speaks a recording again with another pitch and length.

    Args:
        x: Speech.
        frequency: Pitch in hertz, constant or one value a sample of the output.
        seconds: Length of the output; that of the input by default.
        breath: Share of noise in voiced frames; 1 whispers.

    Returns:
        The new voice.
    """
    filters, gains, voiced = _frames(x)
    total = len(x) if seconds is None else length(seconds)
    curve = np.broadcast_to(np.asarray(frequency, float), (total,))
    phase = np.cumsum(curve) / RATE
    pulses = np.zeros(total + _FRAME)
    ticks = np.flatnonzero(np.diff(np.floor(phase), prepend=0.0) > 0)
    pulses[ticks] = np.sqrt(RATE / curve[ticks])
    hiss = np.random.default_rng(1).standard_normal(total + _FRAME)
    window = np.hanning(2 * _HOP + 1)[:-1]
    out = np.zeros(total + 4 * _FRAME)
    steps = total // _HOP + 1
    for step in range(steps):
        which = min(int(step / steps * len(filters)), len(filters) - 1)
        at = step * _HOP
        source = (1 - breath) * pulses[at : at + 2 * _HOP] + breath * hiss[at : at + 2 * _HOP]
        if not voiced[which]:
            source = hiss[at : at + 2 * _HOP]
        source = np.pad(source * window[: len(source)], (0, 2 * _HOP))
        y = signal.lfilter([gains[which]], filters[which], source)
        out[at : at + len(y)] += y
    return scaled(out[_HOP : _HOP + total])


def vibrato(midi: float, seconds: float, rate: float = 5.5, depth: float = 0.5, start: float = 0.25) -> Sound:
    """Frequency curve of a sung note; depth in semitones, growing from ``start`` of the note on."""
    t = np.arange(length(seconds)) / RATE
    swell = np.clip((t / seconds - start) / 0.2, 0, 1)
    return hertz(midi) * 2 ** (depth * swell * np.sin(2 * np.pi * rate * t) / 12)


def sing(line: Sequence[tuple[str, float, float]], voice: Voice, depth: float = 0.3) -> tuple[Sound, list[tuple[float, float]]]:
    """Sings syllables given as (text, MIDI pitch, seconds), one after another.

    Returns:
        The song and the span of each note in seconds.
    """
    notes = []
    for text, midi, seconds in line:
        note = resynthesised(say(text, voice), vibrato(midi, seconds, depth=depth), seconds)
        notes.append(note * hump(seconds, 0.015, 0.04))
    return chain(notes, lead=0.1, tail=0.15)


def fake(x: Sound, frequency: float) -> Sound:
    """The buzzing, flat copy of a voice by a cheap vocoder."""
    return resynthesised(x, frequency, breath=0.0)
