"""``dsb2 run`` asks the model its first question well before ``lm_eval`` does; exact numbers: ``bench_start.py``."""

from __future__ import annotations

import bench_start
import pytest


@pytest.mark.slow
def test_time_to_the_first_request(capsys: pytest.CaptureFixture[str]) -> None:
    pairs = bench_start.pairs(2, "dsb2_spatial_audio")
    with capsys.disabled():
        print("\n" + "\n".join(f"  first request: {bench_start.line(*pair)}" for pair in pairs))
    # About a third; the processor's time is the one that neighbours on a busy machine do not change much.
    assert min(ours.processor / theirs.processor for theirs, ours in pairs) < 0.45
