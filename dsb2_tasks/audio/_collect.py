"""Decoded blocks put together, under a bound that holds while they come.

A small file can hold days of silence, and what its header says of that is a claim: what counts is what is there.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from dsb2_tasks.audio._errors import AudioError

#: Most samples (frames times channels) of one piece of audio: 2 GiB of float32, 9.3 h of mono at 16 kHz, 1.7 h of stereo at
#: 44.1 kHz.  Holds for what is decoded and for what that is resampled to.
MAX_SAMPLES = 1 << 29


def collect(blocks: Iterable[np.ndarray], channels: int, name: str) -> np.ndarray:
    """Puts blocks one behind the other, in little more memory than the whole takes.

    Args:
        blocks: float32 of shape (n, channels) each.
        channels: Of every block.
        name: Name of the clip for messages.

    Returns:
        float32 of shape (channels, n).

    Raises:
        AudioError: There are more than ``MAX_SAMPLES``.
    """
    whole, got = np.empty((0, channels), np.float32), 0
    for block in blocks:
        end = got + len(block)
        if end * channels > MAX_SAMPLES:
            raise AudioError(
                f"{name} holds more than the {MAX_SAMPLES} samples (frames times channels) that are decoded at once; split it"
            )
        if not got:
            whole = block  # of most clips the only one: not copied
        else:
            if end > len(whole):
                whole = whole if whole.flags.owndata else whole.copy()
                # Grown for each of many small blocks it would be copied as often.
                whole.resize((end * 5 // 4, channels), refcheck=False)
            whole[got:end] = block
        got = end
    return whole[:got].T
