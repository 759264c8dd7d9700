"""No audio in memory before its batch: 200 clips of 30 seconds, measured against lm-eval's own way in the same run."""

from __future__ import annotations

import pytest

from tests.perf import _remembering
from tests.perf._size import SIZES
from tests.perf._table import show


@pytest.mark.slow
def test_memory_growth(capsys: pytest.CaptureFixture[str]) -> None:
    rows = _remembering.rows(SIZES["default"])
    with capsys.disabled():
        print(f"\n{show(rows)}")
    assert [row.what for row in rows] == [f"memory, 200 clips of 30 s, {what}" for what in ("growth", "peak")]
    assert all(row.met for row in rows)
    assert all(row.theirs > row.ours if row.theirs is not None else "torchcodec" in row.note for row in rows)
