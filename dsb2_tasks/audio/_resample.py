"""The one place where sampling rates change: torchaudio's windowed-sinc interpolation.

torchaudio's default filter loses 1.8 dB at 7 kHz and lets 8.1 kHz through at -7 dB on the way from 44.1 to 16 kHz.  The
settings here are those that its documentation gives for ``kaiser_best``: flat to 0.9 of the new Nyquist frequency,
100 dB down from 1.01 of it on.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from dsb2_tasks.audio._torchaudio import ensure_torchaudio

if TYPE_CHECKING:
    import torch

QUALITY = {
    "lowpass_filter_width": 64,
    "rolloff": 0.9475937167399596,
    "resampling_method": "sinc_interp_kaiser",
    "beta": 14.769656459379492,
}
#: The filter has about (larger term of the ratio) squared taps: 44100 to 16000 is 441/160, but 44099 to 16000 would take
#: 700 million.  Ratios with larger terms are replaced by the nearest one within, at most 1/4000 off.
MAX_TERM = 2000
#: Outputs computed by one step of a convolution; below, oneDNN is up to ten times slower.
_OUTPUTS = 32
#: Samples in and out of what is convolved at once: of hours of audio only the result takes memory.
_AT_ONCE = 1 << 21
#: Convolutions that share the outputs of a step; more of them skip more taps that are zero, and cost more each.
_PIECES = 5
#: Taps below this share of the largest are left out: they change no float32.
_NOTHING = 1e-7


def ratio(old: int, new: int) -> Fraction:
    """New rate over old rate, as it is really applied."""
    exact = Fraction(new, old)
    if exact > 1:
        return 1 / (1 / exact).limit_denominator(MAX_TERM)
    return exact.limit_denominator(MAX_TERM)


def resample(samples: np.ndarray, old: int, new: int) -> np.ndarray:
    """Resamples along the last axis.

    Args:
        samples: float32 of shape (..., n) at ``old`` Hz.
        old: Sampling rate in Hz.
        new: Wanted sampling rate in Hz.

    Returns:
        float32 of shape (..., round(n * new / old)).

    Raises:
        AudioSetupError: torchaudio is needed and not installed.
    """
    if old == new:
        return samples
    length = round(samples.shape[-1] * new / old)
    steps = ratio(old, new)
    result = samples if steps == 1 else _convolve(samples, steps)
    missing = length - result.shape[-1]
    if missing > 0:  # only where the ratio was replaced
        result = np.pad(result, [(0, 0)] * (result.ndim - 1) + [(0, missing)])
    return result[..., :length]


def _convolve(samples: np.ndarray, steps: Fraction) -> np.ndarray:
    ensure_torchaudio()
    import torch

    filters, width, stride = _filter(steps.denominator, steps.numerator)
    length = samples.shape[-1]
    flat = samples.reshape(-1, 1, length)
    taps = max(first + kernel.shape[-1] for first, kernel in filters)
    number = length // stride + 1
    result = np.empty((len(flat), number, sum(len(kernel) for _, kernel in filters)), np.float32)
    at_once = max(1, _AT_ONCE // (len(flat) * (stride + result.shape[-1])))
    with torch.inference_mode():
        for begin in range(0, number, at_once):
            count = min(at_once, number - begin)
            start = begin * stride - width
            end = start + (count - 1) * stride + taps
            # numpy pads and collects: torch would start threads for either, which on a busy machine takes longer than the work.
            around = ((0, 0), (0, 0), (max(0, -start), max(0, end - length)))
            padded = torch.from_numpy(np.pad(flat[..., max(0, start) : end], around))
            done = 0
            for first, kernel in filters:
                seen = padded[..., first : first + (count - 1) * stride + kernel.shape[-1]]
                part = torch.nn.functional.conv1d(seen, kernel, stride=stride)
                result[:, begin : begin + count, done : done + len(kernel)] = part.numpy().transpose(0, 2, 1)
                done += len(kernel)
    return result.reshape(*samples.shape[:-1], -1)


@lru_cache(maxsize=8)
def _filter(old: int, new: int) -> tuple[list[tuple[int, torch.Tensor]], int, int]:
    """The filter bank of torchaudio for a reduced ratio, repeated so that one step makes enough outputs, and cut into pieces.

    torchaudio gives all outputs of a step the same taps, of which each uses some; neighbours use nearly the same ones.

    Returns:
        Pieces in the order of their outputs, as the number of the first tap and filters of shape (outputs, 1, taps); zeros to
        put before the signal; inputs per step.
    """
    import torch

    transform = ensure_torchaudio().transforms.Resample(old, new, **QUALITY)
    kernel = transform.kernel  # (new, 1, 2 * width + old): output i of each step is the i-th row's product
    repeats = max(1, _OUTPUTS // new)
    bank = torch.zeros(repeats, new, 1, kernel.shape[-1] + (repeats - 1) * old)
    for i in range(repeats):
        bank[i, ..., i * old : i * old + kernel.shape[-1]] = kernel
    pieces = []
    for piece in bank.flatten(0, 1).split(max(_OUTPUTS, math.ceil(repeats * new / _PIECES))):
        used = (piece.abs().amax(dim=(0, 1)) > _NOTHING * kernel.abs().max()).nonzero()
        first, end = int(used[0]), int(used[-1]) + 1
        pieces.append((first, piece[..., first:end].contiguous()))
    return pieces, transform.width, old * repeats
