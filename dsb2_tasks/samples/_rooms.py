"""What happens to a sound on its way: noise at a stated level, rooms, effects, processing, direction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import signal

from dsb2_tasks.samples._signal import RATE, Rng, Sound, band, fitted, length, noise, rms, scaled, times

#: Reverberation time in seconds and share of reverberant energy of the rooms.
ROOMS = {"small": (0.35, 0.5), "medium": (0.8, 0.6), "large": (1.8, 0.75)}


def add_noise(x: Sound, disturbance: Sound, snr: float) -> Sound:
    """Adds a disturbance, repeated as needed, at a signal-to-noise ratio in decibels over the whole clip."""
    tiled = np.resize(disturbance, len(x))
    return x + tiled * (rms(x) / rms(tiled) * 10 ** (-snr / 20))


def room_response(rng: Rng, seconds: float) -> Sound:
    """Decaying noise: the late response of a room, 60 dB down after ``seconds``, of unit energy."""
    h = noise(rng, seconds, 100, 7000, order=1) * 10 ** (-3 * times(seconds) / seconds)
    return h / np.sqrt(np.sum(h**2))


def in_room(rng: Rng, x: Sound, room: str) -> Sound:
    """A sound in one of the ``ROOMS``, with its tail."""
    seconds, wet = ROOMS[room]
    late = signal.fftconvolve(x, room_response(rng, seconds))
    dry = fitted(x, len(late) / RATE)
    return scaled(np.sqrt(1 - wet) * dry + np.sqrt(wet) * late)


def at_distance(rng: Rng, x: Sound, metres: float) -> Sound:
    """A source in a room: the direct sound falls with distance and comes later, the reverberation stays."""
    late = signal.fftconvolve(x, room_response(rng, 0.5))
    out = 0.12 * late
    first = length(metres / 343)
    direct = x[: len(out) - first] / max(metres, 0.2)
    out[first : first + len(direct)] += 0.4 * direct
    return out


def telephone(x: Sound) -> Sound:
    """The band of a telephone line, slightly overdriven."""
    return np.tanh(2 * band(x, 300, 3300)) / 2


def replayed(rng: Rng, x: Sound) -> Sound:
    """Played by a small loudspeaker and recorded again."""
    return add_noise(in_room(rng, np.tanh(3 * band(x, 450, 4500)), "small"), noise(rng, 1.0, 50, 400), 18)


def denoised(x: Sound, floor: float = 0.08) -> Sound:
    """Spectral subtraction with its musical noise: the sound of a simple enhancement system."""
    _, _, spectrum = signal.stft(x, RATE, nperseg=512)
    power = np.abs(spectrum) ** 2
    background = np.percentile(power, 30, axis=1, keepdims=True)
    gain = np.sqrt(np.maximum(1 - 3 * background / np.maximum(power, 1e-12), floor**2))
    return fitted(signal.istft(spectrum * gain, RATE, nperseg=512)[1], len(x) / RATE)


def chorus(x: Sound) -> Sound:
    delay = length(0.015) + length(0.006) * np.sin(2 * np.pi * 1.2 * np.arange(len(x)) / RATE)
    return x + np.interp(np.arange(len(x)) - delay, np.arange(len(x)), x)


def echo(x: Sound) -> Sound:
    out = x.copy()
    for number in range(1, 4):
        shift = length(0.27 * number)
        out[shift:] += 0.55**number * x[: len(x) - shift]
    return out


def compressed(x: Sound) -> Sound:
    level = np.sqrt(signal.lfilter([0.002], [1, -0.998], x**2))
    return x / np.maximum(level, 0.01) ** 0.85


EFFECTS: dict[str, Callable[[Rng, Sound], Sound]] = {
    "chorus": lambda rng, x: chorus(x),
    "delay": lambda rng, x: echo(x),
    "distortion": lambda rng, x: band(np.tanh(15 * x), 60, 5000, 2),
    "dynamic range compression": lambda rng, x: compressed(x),
    "reverb": lambda rng, x: fitted(in_room(rng, x, "large"), len(x) / RATE),
    "none": lambda rng, x: x,
}


def binaural(x: Sound, azimuth: float) -> Sound:
    """Two ears: a far source at an azimuth in degrees, 0 ahead, positive to the left.

    Returns:
        ``(2, n)``, left ear first, with time and level difference of a rigid sphere of 8.75 cm.
    """
    side = np.sin(np.deg2rad(azimuth))
    angle = np.arcsin(side)
    shift = 0.0875 / 343 * (angle + side) * RATE / 2
    n = np.arange(len(x))
    ears = []
    for sign in (1, -1):
        gain = 10 ** (sign * side * 5 / 20)
        ear = np.interp(n + sign * shift, n, x) * gain
        if sign * side < 0:
            ear = ear * (1 + side * sign * 0.5) + band(ear, 20, 1500, 1) * (-side * sign * 0.5)
        ears.append(ear)
    return np.stack(ears)


def ambisonic(x: Sound, azimuth: float, elevation: float = 0.0) -> Sound:
    """First-order ambisonics, ``(4, n)`` in the order W, Y, Z, X (ACN, SN3D); angles in degrees, azimuth positive to the left."""
    a, e = np.deg2rad(azimuth), np.deg2rad(elevation)
    return np.stack([x, x * np.sin(a) * np.cos(e), x * np.sin(e), x * np.cos(a) * np.cos(e)])
