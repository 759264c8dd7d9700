"""A long run with failures all along: ``python -m tests.soak hf-audio|dsb2-api [--requests 20000]``.

Every question is asked once, through lm-eval, with the real data, audio, batching, store and scoring; only the model is a dummy.
One document in twenty fails: its clip is broken, or the server answers it with errors, broken connections and nonsense, which
ends well at a later try for most of them. What is printed at the end, as JSON: seconds, how requests ended, and anonymous memory
by quarters of the run.
"""

from __future__ import annotations

import argparse
import io
import json
import logging
import statistics
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from tests._server import FakeServer, Request, Response, chat_reply, error
from tests.perf._memory_probe import anonymous_mb

_EVERY = 20  # one document in so many fails
_CLIPS = 400
_RATE = 16_000
_TASK = """
task: soak
class: !function dsb2_tasks.task.DSB2Task
metadata: {version: 1}
dsb2:
  kind: choice
  metric: accuracy
  modality: audio
  domain: sound_event
  options: ["yes", "no"]
  data: [{path: ./clips}]
"""


def broken(whole: bytes, number: int) -> bytes:
    """A clip that no one can read, in one of five ways."""
    return [b"", b"RIFF", whole[:40], b"<html>not here</html>", whole[:44]][number % 5]


def fails(number: int) -> bool:
    """Whether something is wrong with a document."""
    return number % _EVERY == 7


def write_data(folder: Path, requests: int, *, break_clips: bool) -> None:
    """A task file, clips of half a second to three, and as many questions as wanted, each of them asked once."""
    (folder / "clips").mkdir(parents=True)
    (folder / "soak.yaml").write_text(_TASK)
    drawn = np.random.default_rng(0)
    for number in range(_CLIPS):
        file = io.BytesIO()
        length = int(drawn.uniform(0.5, 3) * _RATE)
        soundfile.write(file, 0.1 * drawn.standard_normal(length), _RATE, format="WAV")
        whole = file.getvalue()
        data = broken(whole, number // _EVERY) if break_clips and fails(number) else whole
        (folder / "clips" / f"{number}.wav").write_bytes(data)
    rows = (
        {"file_name": f"{number % _CLIPS}.wav", "instruction": f"Is number {number} in it? yes or no", "label": "yes"}
        for number in range(requests)
    )
    (folder / "clips" / "metadata.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


class FailingServer:
    """Says yes, but not at once to one question in twenty, and never to one in two hundred."""

    def __init__(self) -> None:
        self.server = FakeServer(self._answer)
        self.tries: Counter[int] = Counter()
        self._lock = threading.Lock()

    def _answer(self, request: Request) -> Response:
        self.server.requests.clear()  # it would keep every clip that was sent
        number = int(request.body.split(b"Is number ")[1].split(b" ")[0])
        with self._lock:
            self.tries[number] += 1
            tries = self.tries[number]
        if number % (_EVERY * 10) == 7:
            return error(400, "this clip is not to my taste")
        if fails(number) and tries == 1:
            return [
                error(500, "the server stumbled"),
                error(429, "too many at once", headers={"Retry-After": "0"}),
                Response(drop=True),
                Response(body="{" * 50),
                Response(body=b'{"choices": [', drop=True),
            ][number // _EVERY % 5]
        return chat_reply("yes")


class Memory(threading.Thread):
    """Anonymous memory while questions are answered, by how many are."""

    def __init__(self, answered: Callable[[], int]) -> None:
        super().__init__(daemon=True)
        self._answered, self._ended = answered, threading.Event()
        self.seen: list[tuple[int, float]] = []

    def run(self) -> None:
        while not self._ended.wait(0.1):
            self.seen.append((self._answered(), anonymous_mb()))

    def quarters(self, requests: int) -> list[float]:
        """Mean of every quarter in MB."""
        parts: list[list[float]] = [[], [], [], []]
        for answered, size in self.seen:
            if 0 < answered < requests:
                parts[answered * 4 // requests].append(size)
        return [statistics.fmean(part) for part in parts]

    def stop(self) -> None:
        self._ended.set()
        self.join()


def _yes(tokenizer: Any) -> Callable[..., Any]:
    """Stands for the work of a model: whatever the inputs, "yes"."""
    import torch

    answer = tokenizer("yes", add_special_tokens=False, return_tensors="pt")["input_ids"]

    def generate(input_ids: Any, **_: Any) -> Any:
        return torch.cat([input_ids, answer.expand(len(input_ids), -1)], dim=1)

    return generate


@contextmanager
def model(name: str, folder: Path) -> Iterator[tuple[Any, Counter[int] | None]]:
    """The backend, and how often which question was sent to a server."""
    store = str(folder / "responses")
    if name == "hf-audio":
        from dsb2_tasks.models.hf_audio import HFAudio

        lm = HFAudio(pretrained="tiny", batch_size=8, max_new_tokens=4, device="cpu", responses=store)
        lm._model.generate = _yes(lm._adapter.processor.tokenizer)
        yield lm, None
        return
    from dsb2_tasks.models.api import APIModel

    failing = FailingServer()
    with failing.server as server:
        yield APIModel(base_url=server.url, model="dummy", concurrency=8, responses=store), failing.tries


def soak(name: str, requests: int, folder: Path) -> dict[str, Any]:
    """Asks everything, then everything again.

    Returns:
        ``seconds`` of the first time, ``quarters`` of it (MB), ``results`` of the task and whether they were the ``same_again``,
        ``counts`` of the backend, its ``effort`` and ``effort_again``, ``statuses`` of the logged answers, and ``most_tries``,
        how often a question was sent to the server at most.
    """
    from lm_eval import simple_evaluate

    from dsb2_tasks import compat

    logging.disable(logging.WARNING)
    write_data(folder, requests, break_clips=name == "hf-audio")
    with model(name, folder) as (lm, tries):
        memory = Memory(lambda: lm.effort["answers_asked"])

        def evaluate() -> Any:
            metadata = {"data": "hub"}
            manager = compat.task_manager([folder], metadata)
            return simple_evaluate(
                model=lm, tasks=["soak"], task_manager=manager, metadata=metadata, log_samples=True, verbosity="ERROR"
            )

        memory.start()
        started = time.monotonic()
        first = evaluate()
        seconds = time.monotonic() - started
        memory.stop()
        effort, counts = lm.effort, lm.counts
        second = evaluate()
        return {
            "seconds": round(seconds, 1),
            "quarters": [round(size, 1) for size in memory.quarters(requests)],
            "results": {key: value for key, value in first["results"]["soak"].items() if isinstance(value, float)},
            "same_again": first["results"]["soak"] == second["results"]["soak"],
            "counts": counts,
            "effort": effort,
            "effort_again": lm.effort,
            "statuses": Counter(str(sample.get("unparsed_rate", "")) for sample in first["samples"]["soak"]),
            "most_tries": max(tries.values()) if tries else None,
        }


def main() -> None:
    """Prints what one soak found."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=str(__doc__).splitlines()[0])
    parser.add_argument("model", choices=("hf-audio", "dsb2-api"))
    parser.add_argument("--requests", type=int, default=20_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(json.dumps(soak(given.model, given.requests, Path(folder)), indent=2, default=str))


if __name__ == "__main__":
    main()
