"""``python -m tests.perf`` measures everything it names, and names what it could not measure."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.perf import __main__ as command
from tests.perf import _growing
from tests.perf._size import Size
from tests.perf._table import Goal, Row, show

#: Beginnings of what rows are about; those of start and memory stand in tests of their own.
WHATS = {
    "harness": ["memory, 30 tasks", "harness"],
    "decode": [
        *(f"decode {name}, 1 thread" for name in ("wav", "flac", "mp3", "ogg")),
        "decode all four four times, two",
        "decode all four four times, 2",
    ],
    "batching": ["padding", "batches by length", "batches of 8", "decoding beside"],
    "scoring": ["scoring", "re-scoring", "report", "bootstrap of accuracy", "bootstrap of wer"],
    "growth": [f"growth, {w}" for w in ("run", "memory", "decoding", "scoring", "re-scoring", "report", "bootstrap")],
}


@pytest.mark.slow
def test_every_row_is_there_with_numbers(repository: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.perf", "--tiny", "--json", "--only", *WHATS],
        cwd=repository,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout)
    assert found["failed"] == []
    rows: list[dict[str, Any]] = found["rows"]
    expected = [what for own in WHATS.values() for what in own]
    for row in rows:
        assert any(row["what"].startswith(what) for what in expected), row
        assert math.isfinite(row["ours"]) and row["alternative"], row
        if row["theirs"] is None:  # an alternative that is not installed is told, never left out
            assert "not installed" in row["note"], row
        else:
            assert math.isfinite(row["theirs"]), row
    assert [what for what in expected if not any(row["what"].startswith(what) for row in rows)] == []
    # What does not hang on the clock is asserted.
    by_what = {row["what"]: row for row in rows}
    assert by_what["padding, 798 samples in batches of 8"]["met"]
    assert (
        by_what["memory, 30 tasks x 100 documents"]["ours"] < 30
    )  # MB; half of it is the copy that lm-eval makes of all samples
    assert by_what["harness, of one request"]["met"]  # a third of lm-eval's own, on the processor


def test_a_benchmark_that_fails_is_named_and_the_others_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Fine:
        @staticmethod
        def rows(size: Size) -> list[Row]:
            return [Row("this", 1.0, 2.0, "s", "that", Goal("ratio", 0.4))]

    class Broken:
        @staticmethod
        def rows(size: Size) -> list[Row]:
            raise RuntimeError("no clock here")

    monkeypatch.setattr(command, "BENCHMARKS", {"broken": "broken", "fine": "fine"})
    monkeypatch.setattr(command.importlib, "import_module", lambda name: Broken if name.endswith("broken") else Fine)
    monkeypatch.setattr(command.logging, "disable", lambda level: None)
    monkeypatch.setattr(sys, "argv", ["tests.perf"])
    assert command.main() == 1
    printed = capsys.readouterr()
    assert "RuntimeError: no clock here" in printed.err and "did not run: broken" in printed.err
    assert "this" in printed.out and "ratio <= 0.4" in printed.out and "NO" in printed.out
    monkeypatch.setattr(sys, "argv", ["tests.perf", "--only", "fine"])
    assert command.main() == 0  # whatever the numbers are


@pytest.mark.parametrize(
    ("goal", "theirs", "met"),
    [
        (None, 1.0, None),
        (Goal("ours", 3), None, True),
        (Goal("ours", 2), 1.0, False),
        (Goal("ratio", 2), 1.5, True),
        (Goal("ratio", 2), 1.4, False),
        (Goal("ratio", 2), None, None),
        (Goal("more", 1), 2.0, True),
        (Goal("more", 1), 1.9, False),
        (Goal("more", 1), None, None),
    ],
)
def test_goals(goal: Goal | None, theirs: float | None, met: bool | None) -> None:
    row = Row("w", 3.0, theirs, "s", "other", goal, "why")
    assert row.met is met
    line = show([row]).splitlines()[-1]
    assert ("NO" in line, " yes " in line) == (met is False, met is True) and line.endswith("why")
    assert json.loads(json.dumps(row.as_json()))["met"] is met


@pytest.mark.parametrize("power", [0.5, 1.0, 2.0])
def test_the_exponent_is_the_power_of_growth(power: float) -> None:
    assert _growing.exponent([3.0 * n**power for n in (1, 2, 4)]) == pytest.approx(power)
