"""Several clips as one, for a model that takes a single clip."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


def join(clips: Sequence[np.ndarray], rate: int, gap_seconds: float = 0.5) -> np.ndarray:
    """Puts clips one behind the other with silence between them.

    Args:
        clips: Samples of shape (n,) each, or (channels, n) each with the same number of channels; all at ``rate``.
        rate: Hz.
        gap_seconds: Silence between two clips; none before the first and after the last.

    Returns:
        Samples of the clips' type, of shape (total,) or (channels, total).

    Raises:
        ValueError: There is no clip, or the clips differ in channels.
    """
    if not clips:
        raise ValueError("there are no clips to join")
    shapes = {clip.shape[:-1] for clip in clips}
    if len(shapes) > 1:
        raise ValueError(f"clips of different channels cannot be joined: {sorted(clip.shape for clip in clips)}")
    gap = np.zeros((*clips[0].shape[:-1], round(gap_seconds * rate)), dtype=clips[0].dtype)
    return np.concatenate([part for clip in clips for part in (gap, clip)][1:], axis=-1)
