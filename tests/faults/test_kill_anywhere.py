"""A run that is killed at any point and started again: nothing is asked twice, and the results are those of a run in one go."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from _fault_runs import TASKS, Child, MadeUp, Place, evaluate, go_on, run, steps

from dsb2_tasks.models import _responses, stored_answers
from dsb2_tasks.results import ResultsError, read_run

KILLS = 20


def check_left(place: Place, whole: Place) -> None:
    """What stands in the output folder after a kill is right, or is refused with a reason."""
    try:
        read = read_run(place.out)
        rows = {task: len(result.samples()) for task, result in read.tasks.items()}
    except ResultsError as error:
        assert str(place.out) in str(error)
        return
    assert {task: result.values for task, result in read.tasks.items()} == {
        task: result.values for task, result in read_run(whole.out).tasks.items()
    }
    assert all(count in (0, read.tasks[task].documents) for task, count in rows.items())


@pytest.fixture(scope="module")
def seconds(whole: Place, tmp_path_factory: pytest.TempPathFactory) -> float:
    """How long a run takes here and now."""
    start = time.monotonic()
    assert run(Place(tmp_path_factory.mktemp("timed")), pause=0.01).wait() == 0
    return time.monotonic() - start


@pytest.mark.slow
def test_killed_at_random(whole: Place, seconds: float, tmp_path: Path) -> None:
    killed = 0
    for seed in range(10 * KILLS):  # a run may be over before it can be killed
        draw, place = random.Random(seed), Place(tmp_path / f"seed{seed}")
        for _ in range(draw.randint(1, 2)):
            kept, before = place.stored(), len(place.all_asked())
            child = run(place, pause=0.01, batch=1 + seed % 3)
            time.sleep(draw.uniform(0, seconds))
            child.kill()
            killed += child.wait() == -signal.SIGKILL
            assert kept.items() <= place.stored().items(), f"seed {seed}: an answer was lost"
            assert kept.keys().isdisjoint(place.all_asked()[before:]), f"seed {seed}: an answer was asked for twice"
            check_left(place, whole)
        go_on(place, whole, batch=1 + seed % 3)
        if killed >= KILLS:
            return
    pytest.fail(f"only {killed} of {10 * KILLS} runs could be killed")


def test_killed_at_every_step_on_its_files(whole: Place, tmp_path: Path) -> None:
    def killed_at(step: int | None) -> tuple[Place, list[str]]:
        place = Place(tmp_path / f"step{step}")
        place.root.mkdir()
        return place, steps(lambda: evaluate(place, MadeUp(place)), step, [place.out, place.responses], place.root)

    _, all_steps = killed_at(None)
    assert sum("results_" in step for step in all_steps) == 1 and sum("samples_" in step for step in all_steps) == len(TASKS)
    for step in range(len(all_steps)):
        place, taken = killed_at(step)
        assert len(taken) == step
        check_left(place, whole)
        go_on(place, whole)


@pytest.mark.parametrize("call", [0, 1, 4], ids=["header", "first batch", "later batch"])
@pytest.mark.parametrize("share", [0.01, 0.5, 0.99], ids=lambda share: f"{share:.0%}")
def test_killed_while_a_record_is_written(whole: Place, place: Place, call: int, share: float) -> None:
    def child() -> None:
        write, left = _responses._write, call

        def killed(file: Any, content: bytes) -> None:
            nonlocal left
            if left == 0:
                write(file, content[: int(share * len(content))])
                os.kill(os.getpid(), signal.SIGKILL)
            left -= 1
            write(file, content)

        with mock.patch.object(_responses, "_write", killed):
            evaluate(place, MadeUp(place))

    place.root.mkdir(parents=True, exist_ok=True)
    assert Child(child, place.root / "said.txt").wait() == -signal.SIGKILL
    answered = max(0, 2 * (call - 1))
    assert answered <= len(place.stored()) <= answered + 2
    go_on(place, whole)
    text = b"".join(file.read_bytes() for file in place.responses.rglob("*.jsonl"))
    assert text.count(b"\n") == len(whole.stored()) + 1 and text.endswith(b"\n"), "one line an answer, and the header"


def test_batches_leave_no_trace(whole: Place, place: Place) -> None:
    """Runs of other batch sizes may be compared, as is done above."""
    assert run(place, batch=5).wait() == 0
    assert place.results() == whole.results() and place.samples() == whole.samples()


def test_half_a_character_costs_no_samples(whole: Place) -> None:
    """Servers escape in JSON, so an answer may end within a character; lm-eval cannot write that, and lost the task's samples."""
    said = [sample["resps"][0][0] for samples in whole.samples().values() for sample in samples]
    assert any("\ufffd" in text for text in said) and any("\ud83d" in text for text in whole.stored().values())
    found = stored_answers(next(whole.responses.iterdir()))
    assert Counter(answer.delivered for answer in found.answers.values()) == Counter(said)
