"""A run that did not finish, scored from its response store as far as it came."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _runs import Run
from click.testing import CliRunner

from dsb2_tasks.cli import main
from dsb2_tasks.results import read_run

TASK = "dsb2_how_far_are_you_3dspeaker"


@pytest.mark.slow
def test_the_store_gives_the_numbers_of_the_run(lm_eval: Callable[..., Run], tmp_path: Path) -> None:
    def dsb2(*arguments: str, code: int = 0) -> str:
        done = CliRunner().invoke(main, ["score", *arguments])
        assert done.exit_code == code, done.output
        return done.output

    run = lm_eval(
        "--tasks",
        TASK,
        "--model",
        "hf-audio",
        "--model_args",
        "pretrained=tiny",
        "--metadata",
        '{"data": "samples"}',
        "--log_samples",
    )
    store = str(run.folder / "cache" / "responses")
    dsb2(store, "--tasks", TASK, "--data", "samples", "-o", str(tmp_path / "o.json"))
    first, again = read_run(run.folder).tasks[TASK], read_run(tmp_path / "o.json").tasks[TASK]
    assert again.values == first.values and again.rows(again.score) == first.rows(first.score)
    assert (again.documents, again.total) == (first.documents, first.total)

    # Half of the answers are gone: the rest is scored, and said to be less.
    (file,) = Path(store).rglob("responses-rank0.jsonl")
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(b"".join(lines[: 1 + (len(lines) - 1) // 2]))
    dsb2(store, "--tasks", TASK, "--data", "samples", "-o", str(tmp_path / "half.json"))
    half = read_run(tmp_path / "half.json").tasks[TASK]
    assert 0 < half.documents < half.total == first.total
    assert "none to these tasks" in dsb2(store, "--tasks", "dsb2_superb_qbe_quesst14", "--data", "samples", "-o", "x", code=1)
