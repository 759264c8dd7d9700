"""Whole runs of lm-eval in processes of their own: real store, real scoring, real files; only the model is made up.

They can be killed at any point.  What the model was asked stands in a file that outlives them.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import io
import json
import logging
import os
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from _nursery import Nursery

from dsb2_tasks import catalog, compat, plugin
from dsb2_tasks.models._base import AudioLM, Question
from dsb2_tasks.models._ranks import Ranks
from dsb2_tasks.models._responses import Answer, ResponseStore

TASKS = ("dsb2_superb_qbe_quesst14", "dsb2_superb_asr_librispeech", "dsb2_sound_position_prediction")
#: What the model says, drawn by question: some of it can be read, some not.
_SAYINGS = ("Yes.", "no", "yes", "No, 90 degrees", "I would rather not say: 120", "", "\u4f60\u597d \ud83d hello world")
#: What may differ between two runs of the same: clocks, and how much of it was found in the store.
CLOCKS = {"date", "start_time", "end_time", "total_evaluation_time_seconds", "time"}
#: Python's names of what is done with files.
_STEPS = ("open", "os.mkdir", "os.rename", "os.remove", "os.truncate")
IDENTITY = {"name": "made-up", "version": 1}


@dataclass(frozen=True)
class Place:
    """Where a run keeps what it keeps; a run that goes on is one of the same place."""

    root: Path

    @property
    def responses(self) -> Path:
        """The response stores."""
        return self.root / "responses"

    @property
    def out(self) -> Path:
        """``--output_path``."""
        return self.root / "out"

    @property
    def log(self) -> Path:
        """What the model was asked: a response key a line, a # where a process began to ask."""
        return self.root / "asked.log"

    def asked(self) -> list[list[str]]:
        """Response keys that the model was asked for, by process; one that was killed before it asked has no part."""
        text = self.log.read_text() if self.log.exists() else ""
        return [part.split() for part in text.split("#")[1:]]

    def all_asked(self) -> list[str]:
        """Response keys that the model was asked for, in order."""
        return [key for part in self.asked() for key in part]

    def stored(self) -> dict[str, str]:
        """Texts by response key of all whole lines in the store, read without the product."""
        found: dict[str, str] = {}
        for file in sorted(self.responses.rglob("responses*.jsonl")):
            for line in file.read_bytes().split(b"\n")[:-1]:
                with contextlib.suppress(ValueError):
                    record = json.loads(line)
                    if isinstance(record, dict) and "key" in record:
                        found.setdefault(record["key"], record["text"])
        return found

    def results(self) -> Any:
        """The newest results file, without what may differ."""
        return without_clocks(json.loads(sorted(self.out.rglob("results_*.json"))[-1].read_text()))

    def samples(self) -> dict[str, list[Any]]:
        """The samples beside the newest results file, by task."""
        results = sorted(self.out.rglob("results_*.json"))[-1]
        files = {task: results.with_name(f"samples_{task}_{results.stem.removeprefix('results_')}.jsonl") for task in TASKS}
        return {task: [json.loads(line) for line in file.read_text().splitlines()] for task, file in files.items()}


def without_clocks(value: Any) -> Any:
    """A copy of nested values without :data:`CLOCKS`."""
    if isinstance(value, dict):
        return {k: without_clocks(v) for k, v in value.items() if k not in CLOCKS}
    return [without_clocks(v) for v in value] if isinstance(value, list) else value


class MadeUp(AudioLM):
    """A model whose answers follow from the question; it keeps the real response store."""

    name = "made-up"

    def __init__(self, place: Place, *, pause: float = 0.0, batch: int = 2, store: bool = True, rank: int = 0) -> None:
        import torch

        super().__init__(
            identity=IDENTITY,
            preprocessing={"rate": 16_000},
            ranks=Ranks(cpu=True),
            device=torch.device("cpu"),
            store=ResponseStore(place.responses, IDENTITY, rank=rank) if store else None,
        )
        self._place, self._pause, self._batch = place, pause, batch

    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer]]]:
        log = os.open(self._place.log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(log, b"#\n")
        for start in range(0, len(questions), self._batch):
            batch = questions[start : start + self._batch]
            os.write(log, "".join(f"{question.key}\n" for question in batch).encode())  # outlives a kill
            time.sleep(self._pause)
            yield [(start + i, Answer(saying(question.key), ("resampled",))) for i, question in enumerate(batch)]
        os.close(log)

    def get_model_info(self) -> dict[str, Any]:
        return {"dsb2_model": {**self.identity, **self.counts, "time": self.time}}


class Named(MadeUp):
    """The model as ``--model made-up --model_args place=FOLDER``."""

    def __init__(self, place: str, resume: bool = True, responses: str | None = None, **_: Any) -> None:
        super().__init__(Place(Path(place)))


def saying(key: str) -> str:
    """What the made-up model says to a question."""
    return _SAYINGS[hashlib.sha256(key.encode()).digest()[0] % len(_SAYINGS)]


@functools.cache
def read_tasks() -> Any:
    """The task files, read once for all children."""
    import torch

    torch.set_num_threads(1)
    plugin.activate()
    return compat.task_manager([catalog.yaml_root()], {"data": "samples"})


@functools.cache
def nursery() -> Nursery:
    """Where children come from: a run was made there, so they find everything imported and filled, and start in milliseconds."""
    return Nursery(_warm_up)


def _warm_up() -> None:
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stderr(io.StringIO()):
        evaluate(place := Place(Path(folder)), MadeUp(place))
    gc.freeze()  # children would copy what they look through


def evaluate(place: Place, lm: MadeUp) -> None:
    """A run as the command makes it."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker

    tracker = EvaluationTracker(output_path=str(place.out))
    # These ask pip and a dozen programs about the machine.
    with mock.patch("lm_eval.evaluator.add_env_info"), mock.patch("lm_eval.evaluator.get_git_commit_hash", lambda: None):
        results = simple_evaluate(
            model=lm,
            tasks=list(TASKS),
            task_manager=read_tasks(),
            evaluation_tracker=tracker,
            log_samples=True,
            metadata={"data": "samples"},
            verbosity="ERROR",
        )
    if results is None:  # of a rank above 0
        return
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in results["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])


class Child:
    """A process that runs a function and ends."""

    def __init__(self, function: Callable[[], object], errors: Path) -> None:
        def child() -> None:
            with errors.open("w", buffering=1) as said:
                os.dup2(said.fileno(), 1)
                os.dup2(said.fileno(), 2)
                sys.stdout = sys.stderr = said
                logging.basicConfig(stream=said, level=logging.WARNING, format="%(message)s", force=True)
                status = 70
                try:
                    function()
                    status = 0
                except SystemExit as end:
                    status = int(end.code or 0)
                except BaseException:
                    traceback.print_exc()
                os._exit(status)

        self.errors = errors
        self.pid = nursery().fork(child)

    def kill(self, number: int = signal.SIGKILL) -> None:
        """Sends a signal; harmless where the child has ended but was not waited for."""
        os.kill(self.pid, number)

    def wait(self, timeout_s: float = 120) -> int:
        """Exit status, negative for the number of a signal."""
        status = nursery().wait(self.pid, timeout_s)
        if status is None:
            self.kill()
            nursery().wait(self.pid, timeout_s)
            raise AssertionError(f"the child did not end within {timeout_s} s; it said: {self.said()}")
        return status

    def said(self) -> str:
        """What it logged and printed."""
        return self.errors.read_text()


def run(place: Place, **model: Any) -> Child:
    """Begins a run, or goes on with one, in a child."""
    place.root.mkdir(parents=True, exist_ok=True)
    return Child(lambda: evaluate(place, MadeUp(place, **model)), place.root / "said.txt")


def go_on(place: Place, whole: Place, **model: Any) -> None:
    """The last run of a place: it asks only for what was not kept, and ends as if nothing had been."""
    kept, before = place.stored(), len(place.all_asked())
    child = run(place, **model)
    assert child.wait() == 0, child.said()
    asked = place.all_asked()[before:]
    assert Counter(asked) == Counter(whole.stored().keys() - kept.keys()), "an answer was lost, or asked for twice"
    assert place.stored() == whole.stored() == {key: saying(key) for key in whole.stored()}
    assert place.results() == whole.results()
    assert place.samples() == whole.samples()


def steps(function: Callable[[], object], last: int | None, below: Sequence[Path], folder: Path) -> list[str]:
    """The steps of a function on files, taken in a child that is killed before its step number ``last``.

    Args:
        function: What is run.
        last: Counted from 0; None to let it end.
        below: What counts: steps on files whose paths begin so.
        folder: For notes of this.
    """
    noted, said = folder / "steps.txt", folder / "said.txt"
    noted.unlink(missing_ok=True)

    def child() -> None:
        log = os.open(noted, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        taken = 0

        def step(event: str, arguments: tuple[Any, ...]) -> None:
            nonlocal taken
            if event in _STEPS and any(str(argument).startswith(tuple(map(str, below))) for argument in arguments):
                if taken == last:
                    os.kill(os.getpid(), signal.SIGKILL)
                taken += 1
                os.write(log, f"{event} {arguments[0]}\n".encode())

        sys.addaudithook(step)
        function()

    status = Child(child, said).wait()
    assert status == (0 if last is None else -signal.SIGKILL), said.read_text()
    return noted.read_text().splitlines()
