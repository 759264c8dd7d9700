"""No audio in memory before its batch: 200 clips of 30 seconds, measured against lm-eval's own way in the same run."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.perf._remembering import RATE, probe, write_clips

CLIPS, SECONDS = 200, 30


@pytest.mark.slow
def test_memory_growth(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_clips(tmp_path, CLIPS, SECONDS)
    own = {"HF_DATASETS_CACHE": str(tmp_path / "cache")}
    ours, vanilla = (probe("_memory_probe", mode, str(tmp_path), environment=own) for mode in ("ours", "vanilla"))
    with capsys.disabled():
        print(f"\nanonymous memory, {CLIPS} clips x {SECONDS} s, growth (peak) in MB:")
        for name, found in (("dsb2-tasks", ours), ("lm-eval decode=True", vanilla)):
            shown = found.get("failed") or f"{found['growth']:.1f} ({found['peak']:.1f})"
            print(f"  {name}: {shown}")
        if "failed" not in vanilla:
            print(f"  ratio of peaks: {ours['peak'] / vanilla['peak']:.3f}")
    assert "failed" not in ours, ours
    assert ours["n"] == CLIPS and ours["answers"] == [str(SECONDS * RATE)]
    assert ours["growth"] <= 50 and ours["peak"] <= 50, ours
    if "failed" in vanilla:  # the comparison needs torchcodec and ffmpeg; anything else is our fault
        assert "torchcodec" in vanilla["failed"], vanilla
    else:
        assert vanilla["peak"] > ours["peak"]
