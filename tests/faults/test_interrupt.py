"""Ctrl-C, once and twice, in ``dsb2 run`` and ``lm_eval``: a prompt end, a message that says what is kept, and a whole store."""

from __future__ import annotations

import importlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from _fault_runs import TASKS, Child, Place, nursery, read_tasks

from dsb2_tasks.cli import main
from dsb2_tasks.models._generator import Generator
from dsb2_tasks.models._preparing import Preparer
from dsb2_tasks.models.hf_audio import HFAudio
from dsb2_tasks.samples.tiny_model import make_tiny_model

pytestmark = pytest.mark.slow

TOTAL = 12
#: What a loaded machine may take to end; far less than a worker of these tests is busy for.
END_SECONDS, BUSY_SECONDS = 60, 600


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny model, once loaded where children come from, so that they find imported what that takes."""
    folder = make_tiny_model(tmp_path_factory.mktemp("tiny"))

    def load() -> None:
        for module in ("lm_eval.__main__", "dsb2_tasks.cli._manager", "dsb2_tasks.cli._run"):
            importlib.import_module(module)
        HFAudio(str(folder), device="cpu", resume=False)

    nursery().call(load)
    return folder


def slow_model() -> Any:
    """Half a second for each batch."""
    generate = Generator.generate
    return mock.patch.object(Generator, "generate", lambda *given: (time.sleep(0.5), generate(*given))[1])


def stuck_decoder() -> Any:
    """A decoder that does not come back from the fifth clip on, as from a disk in a network that is gone."""
    prepare, calls = Preparer.prepare, iter(range(TOTAL))
    return mock.patch.object(
        Preparer, "prepare", lambda *given: (time.sleep(BUSY_SECONDS if next(calls) > 3 else 0), prepare(*given))[1]
    )


def start(program: str, place: Place, tiny: Path, fault: Callable[[], Any] = mock.MagicMock) -> Child:
    """A command as typed, in a process group of its own that ends as a process does: when its threads let it."""
    model = f"pretrained={tiny},device=cpu,responses={place.responses},max_new_tokens=4,batch_size=1,prefetch=1"
    arguments = ["run", "--tasks", ",".join(TASKS), "--model", "hf-audio", "--model_args", model, "--metadata", "data=samples"]
    arguments += ["--log_samples", "--output_path", str(place.out)]

    def process() -> None:
        os.setpgid(0, 0)
        signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in a shell's background, which tests may be, ignore it
        with fault(), mock.patch("lm_eval.evaluator.add_env_info"):
            status: Any = 0
            try:
                if program == "dsb2":
                    main(arguments)
                else:
                    from lm_eval.__main__ import cli_evaluate

                    sys.argv = ["lm_eval", *arguments]
                    # lm-eval's own 15 000 tasks are not asked for here.
                    with mock.patch("lm_eval.tasks.TaskManager", lambda *_, **__: read_tasks()):
                        cli_evaluate()
            except SystemExit as end:
                status = end.code
            except KeyboardInterrupt:
                traceback.print_exc()
                status = 130
            threading._shutdown()  # what Python waits for at its end
        sys.exit(status)

    return Child(process, place.root / "said.txt")


def interrupt(child: Child, place: Place, times: int) -> int:
    """Ctrl-C after two answers; the exit status."""
    deadline = time.monotonic() + 120
    while len(place.stored()) < 2 and time.monotonic() < deadline:
        time.sleep(0.01)
    for _ in range(times):
        os.killpg(child.pid, signal.SIGINT)
        time.sleep(0.3)  # the second comes while the first one still waits for workers
    return child.wait(END_SECONDS)


def whole_lines(place: Place) -> bool:
    lines = [line for file in place.responses.rglob("responses*.jsonl") for line in file.read_bytes().split(b"\n")]
    return lines[-1] == b"" and all(json.loads(line) for line in lines[:-1])


@pytest.mark.parametrize(
    ("program", "fault", "times"),
    [("dsb2", slow_model, 1), ("dsb2", stuck_decoder, 1), ("dsb2", stuck_decoder, 2), ("lm_eval", slow_model, 1)],
    ids=["dsb2", "dsb2 decoding", "dsb2 twice", "lm_eval"],
)
def test_ctrl_c(program: str, fault: Any, times: int, tiny: Path, place: Place) -> None:
    child = start(program, place, tiny, fault)
    assert interrupt(child, place, times) == 130, child.said()
    kept = place.stored()
    assert 2 <= len(kept) < TOTAL and whole_lines(place)
    note = f"{len(kept)} of {TOTAL} requests were answered; the same command goes on with the others"
    said = child.said().splitlines()
    if program == "dsb2":
        assert said[-1] == f"Error: interrupted: {note}" and "Traceback" not in child.said()
    else:
        assert said[-2:] == ["KeyboardInterrupt", note], "below lm-eval's traceback"
    assert not list(place.out.rglob("*.json*"))

    again = start(program, place, tiny)
    assert again.wait() == 0, again.said()
    (file,) = place.out.rglob("results_*.json")
    info = json.loads(file.read_text())["config"]["dsb2_model"]
    assert info["time"]["answers_from_store"] == len(kept) and info["time"]["answers_asked"] == TOTAL - len(kept)
    assert len(place.stored()) == info["answers"] == TOTAL and kept.items() <= place.stored().items()
