"""Several clips as one."""

from __future__ import annotations

import numpy as np
import pytest

from dsb2_tasks.audio import join


def test_clips_in_order_with_silence_between() -> None:
    joined = join([np.full(3, 0.5, np.float32), np.full(2, -0.25, np.float32)], rate=8, gap_seconds=0.5)
    assert joined.tolist() == [0.5, 0.5, 0.5, 0, 0, 0, 0, -0.25, -0.25]
    assert joined.dtype == np.float32


def test_channels_are_kept() -> None:
    joined = join([np.ones((2, 3)), np.full((2, 1), 2.0), np.full((2, 1), 3.0)], rate=2)
    assert joined.tolist() == [[1, 1, 1, 0, 2, 0, 3]] * 2


def test_one_clip_is_left_as_it_is() -> None:
    assert join([np.arange(4.0)], rate=16_000).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("clips", "message"),
    [([], "no clips"), ([np.ones(3), np.ones((2, 3))], "different channels"), ([np.ones((1, 3)), np.ones((2, 3))], "different")],
)
def test_what_cannot_be_joined(clips: list[np.ndarray], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        join(clips, rate=8)
