"""Controls: the same tasks without the audio, to see how much of a score comes from the text alone."""

from __future__ import annotations

import numpy as np

from dsb2_tasks.models.adapters.generic import Samples

#: ``real`` clips; ``none``: no clips at all; ``silence`` or ``noise`` of the same length in place of each clip.
CONTROLS = ("real", "none", "silence", "noise")
#: Root mean square of the noise: -20 dB below full scale.
NOISE_RMS = 0.1


def unheard(samples: Samples, control: str, seed: str) -> Samples:
    """What is heard in place of a clip.

    Args:
        samples: The clip, float32 of shape (n,) or (channels, n).
        control: ``real``, ``silence`` or ``noise``.
        seed: What the noise is drawn from; the same seed and length give the same noise.
    """
    if control == "silence":
        return np.zeros_like(samples)
    if control == "noise":
        drawn = np.random.default_rng(list(seed.encode())).normal(scale=NOISE_RMS, size=samples.shape)
        return np.clip(drawn, -1, 1).astype(np.float32)
    return samples
