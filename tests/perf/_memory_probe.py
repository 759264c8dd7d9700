"""One measured evaluation in a process of its own: ``python -m tests.perf._memory_probe ours|vanilla DATA``; prints JSON.

What is measured is anonymous memory (RssAnon): what a process really holds, without pages of mapped files that the
kernel can drop.  Imports are done before the first reading, and a child fills the cache of datasets, so that only data and
requests count.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
import time
from pathlib import Path
from typing import Any


def anonymous_mb() -> float:
    """Anonymous resident memory of this process in MB."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("RssAnon"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no RssAnon in /proc/self/status")


class Peak(threading.Thread):
    """Reads anonymous memory every 5 ms and keeps the highest value."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.value, self.running = 0.0, True

    def run(self) -> None:
        while self.running:
            self.value = max(self.value, anonymous_mb())
            time.sleep(0.005)


def main(mode: str, data: Path) -> None:
    import datasets
    import lm_eval.evaluator
    import numpy as np
    import soundfile  # noqa: F401
    import torch  # noqa: F401
    from lm_eval.api.model import LM
    from lm_eval.tasks import TaskManager

    import dsb2_tasks.task  # noqa: F401
    from dsb2_tasks import compat
    from dsb2_tasks.audio import AudioPolicy, prepare

    logging.disable(logging.WARNING)
    datasets.disable_progress_bars()

    class Dummy(LM):
        """Hears every clip as a backend does, one at a time, and answers with its length."""

        MULTIMODAL = True

        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            answers = []
            for request in requests:
                if mode == "ours":
                    (clip,) = prepare(compat.read_request(request).audio[0], AudioPolicy())
                    answers.append(str(clip.samples.size))
                else:
                    samples = request.args[2]["audio"][0].get_all_samples().data
                    answers.append(str(int(np.prod(samples.shape))))
            return answers

        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    manager = TaskManager(include_path=[str(data / mode)], include_defaults=False)
    if (child := os.fork()) == 0:
        manager.load(["memory"])
        os._exit(0)
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("the task could not be loaded")
    before = anonymous_mb()
    peak = Peak()
    peak.start()
    results = lm_eval.evaluator.simple_evaluate(
        model=Dummy(), tasks=["memory"], task_manager=manager, log_samples=True, bootstrap_iters=0, verbosity=None
    )
    json.dumps(results["samples"], default=str)
    after = anonymous_mb()
    peak.running = False
    peak.join()
    answers = {s["resps"][0][0] for s in results["samples"]["memory"]}
    print(
        json.dumps(
            {
                "growth": after - before,
                "peak": peak.value - before,
                "n": len(results["samples"]["memory"]),
                "answers": sorted(answers),
            }
        )
    )


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
