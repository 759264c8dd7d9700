"""Many tasks with many documents each: ``python -m tests.perf._suite_probe ours|plain TASKS DOCUMENTS``.

``ours`` are tasks of the suite whose embedded samples stand there again and again, each time as another row; ``plain`` are as
many of lm-eval's own tasks with the same questions and labels and no audio.  The same model, which costs nothing, answers both,
and the samples are logged.  Prints one JSON line: anonymous memory that the evaluation added, seconds of the processor that it
took after the tasks were loaded, and how large the clips' files are together.
"""

from __future__ import annotations

import json
import logging
import math
import sys
import tempfile
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from dsb2_tasks import catalog, compat, task
from dsb2_tasks.audio import AudioSource, RawAudio
from dsb2_tasks.sources import Docs, Rows, open_rows
from dsb2_tasks.spec import OFFICIAL_SUITE, DataSource
from tests.perf._memory_probe import Peak, anonymous_mb


@dataclass(frozen=True)
class Again:
    """Clips of a data set whose rows stand there again and again."""

    audio: AudioSource
    length: int
    sizes: ClassVar[list[int]] = []  # bytes of every file that was read

    def read(self, row: int, column: str) -> RawAudio:
        """The file of one clip."""
        raw = self.audio.read(row % self.length, column)
        self.sizes.append(len(raw.data))
        return raw


def repeated(rows: Rows, times: int) -> Rows:
    """Rows again and again."""
    columns = {name: column * times for name, column in rows.columns.items()}
    return replace(rows, columns=columns, audio=Again(rows.audio, len(rows)), length=len(rows) * times)


def chosen(number: int) -> list[catalog.TaskEntry]:
    """So many tasks of the 180, evenly over all domains."""
    known = catalog.read_catalog([catalog.yaml_root()])
    names = known.tasks_of(OFFICIAL_SUITE, None)
    return [known.tasks[names[i * len(names) // number]] for i in range(number)]


def opened_again(documents: int) -> Any:
    """``open_rows`` with at least so many rows of every data set."""

    def again(source: DataSource, data: str, base: Path, owner: str) -> Rows:
        rows = open_rows(source, data, base, owner)
        return repeated(rows, math.ceil(documents / len(rows)))

    return again


def plain(entry: catalog.TaskEntry, documents: int) -> dict[str, Any]:
    """The same questions as a task of lm-eval's own, without audio."""
    import datasets

    parts = [open_rows(source, "samples", entry.path.parent, entry.name) for source in entry.spec.data]
    docs = Docs(entry.name, entry.spec, parts)
    texts = [docs.text(number % len(docs)) for number in range(documents)]
    fields = {name: [text[name] for text in texts] for name in ("dsb2_prompt", "dsb2_label")}
    return {
        "task": entry.name,
        "custom_dataset": lambda **_: {"test": datasets.Dataset.from_dict(fields)},
        "test_split": "test",
        "output_type": "generate_until",
        "doc_to_text": "{{dsb2_prompt}}",
        "doc_to_target": "{{dsb2_label | join(', ')}}",
        "generation_kwargs": {"until": [], "do_sample": False, "max_gen_toks": 64},
        "metric_list": [{"metric": "exact_match", "aggregation": "mean", "higher_is_better": True}],
    }


def measure(mode: str, tasks: int, documents: int) -> dict[str, float]:
    """Loads, evaluates, and writes the samples."""
    import lm_eval.evaluator as evaluator
    from lm_eval.api.model import LM
    from lm_eval.loggers import EvaluationTracker

    logging.disable(logging.WARNING)

    class Dummy(LM):
        """Answers with the label."""

        MULTIMODAL = True

        def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
            return [", ".join(request.doc["dsb2_label"]) or "none" for request in requests]

        def loglikelihood(self, requests: list[Any], disable_tqdm: bool = False) -> list[Any]:
            raise NotImplementedError

        loglikelihood_rolling = loglikelihood

    entries = chosen(tasks)
    manager = compat.task_manager([catalog.yaml_root()], {"data": "samples"})
    if mode == "ours":
        task.open_rows = opened_again(documents)  # type: ignore[attr-defined]
        loaded = manager.load([entry.name for entry in entries])
    else:
        loaded = manager.load([plain(entry, documents) for entry in entries])
    Again.sizes.clear()
    before, began = anonymous_mb(), time.process_time()
    peak = Peak()
    peak.start()
    results = evaluator.evaluate(Dummy(), loaded, limit=documents, log_samples=True, bootstrap_iters=0, verbosity="ERROR")
    with tempfile.TemporaryDirectory() as folder:
        tracker = EvaluationTracker(output_path=folder)
        tracker.general_config_tracker.model_name_sanitized, tracker.date_id = "dummy", "now"
        for name, samples in results["samples"].items():
            tracker.save_results_samples(task_name=name, samples=samples)
    seconds, after = time.process_time() - began, anonymous_mb()
    peak.running = False
    peak.join()
    requests = sum(len(samples) for samples in results["samples"].values())
    audio = sum(Again.sizes) / 2**20
    return {"requests": requests, "growth": after - before, "peak": peak.value - before, "seconds": seconds, "audio_mb": audio}


if __name__ == "__main__":
    mode, tasks, documents = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    measure(mode, min(tasks, 12), 2)  # loads what is loaded once
    print(json.dumps(measure(mode, tasks, documents)))
