"""A model that knows the references and errs at random: runs over the whole suite with results worth comparing."""

from __future__ import annotations

import logging
import random
from collections.abc import Collection
from pathlib import Path
from typing import Any

from lm_eval.api.model import LM

from dsb2_tasks import catalog, compat, hooks


class Oracle(LM):
    """Answers with the reference of the document, or, with a given chance, with that of another one."""

    MULTIMODAL = True

    def __init__(self, chance: float, seed: int, silent: Collection[str] = ()) -> None:
        super().__init__()
        self._chance, self._random, self._silent = chance, random.Random(seed), silent
        self.asked = 0

    def generate_until(self, requests: list[Any], disable_tqdm: bool = False) -> list[str]:
        known = catalog.read_catalog([catalog.yaml_root()]).tasks
        by_task: dict[str, list[str]] = {}
        specs = {}
        for request in requests:
            name = request.task_name
            if name not in specs:
                docs = [r.doc for r in requests if r.task_name == name]
                specs[name] = hooks.close_options(known[name].spec, docs)
            spec = specs[name]
            by_task.setdefault(name, []).append(hooks.KINDS[spec.kind].reference_answer(request.doc, spec))
        answers, places = [], dict.fromkeys(by_task, 0)
        for request in requests:
            name = request.task_name
            own = by_task[name][places[name]]
            places[name] += 1
            self.asked += 1
            if name in self._silent:
                answers.append("I would rather not say.")
            else:
                answers.append(self._random.choice(by_task[name]) if self._random.random() < self._chance else own)
        return answers

    def loglikelihood(self, requests: Any) -> Any:
        raise NotImplementedError

    def loglikelihood_rolling(self, requests: Any) -> Any:
        raise NotImplementedError


def evaluate(lm: LM, tasks: list[str], folder: Path, *, predict_only: bool = False, **metadata: Any) -> dict[str, Any]:
    """A run as the command makes it, with its files in ``folder``; what lm-eval returned."""
    from lm_eval import simple_evaluate
    from lm_eval.loggers import EvaluationTracker

    logging.getLogger("lm_eval").setLevel(logging.ERROR)
    settings = {"data": "samples", **metadata}
    tracker = EvaluationTracker(output_path=str(folder))
    results = simple_evaluate(
        model=lm,
        tasks=tasks,
        task_manager=compat.task_manager([catalog.yaml_root()], settings),
        evaluation_tracker=tracker,
        log_samples=True,
        predict_only=predict_only,
        metadata=settings,
        verbosity="ERROR",
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for name in results["configs"]:
        tracker.save_results_samples(task_name=name, samples=samples[name])
    return results
