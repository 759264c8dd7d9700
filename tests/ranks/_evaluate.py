"""One process of a run: evaluates several sets of documents with one model, and notes what it had to send to rank 0.

torchrun --standalone --nproc_per_node N _evaluate.py OUT RUNS     RUNS: JSON, one mapping of task to documents a run
"""

from __future__ import annotations

import json
import pickle
import sys
from pathlib import Path
from typing import Any

import torch


def evaluate(out: Path, runs: list[dict[str, list[int]]]) -> None:
    """Writes ``OUT/<number>.json`` with results and samples of each run, and ``OUT/sent-<rank>.json``."""
    from lm_eval.evaluator import simple_evaluate

    from dsb2_tasks import catalog, compat
    from dsb2_tasks.models._ranks import Ranks
    from dsb2_tasks.models.hf_audio import HFAudio

    torch.set_num_threads(1)
    sent: list[int] = []
    gather = Ranks.gather_object

    def noting(self: Ranks, obj: Any, dst: int = 0) -> Any:
        sent.append(len(pickle.dumps(obj)))
        return gather(self, obj, dst)

    Ranks.gather_object = noting  # type: ignore[method-assign]
    lm = HFAudio(pretrained="tiny", device="cpu", responses=str(out / "responses"))
    manager = compat.task_manager([catalog.yaml_root()], {"data": "samples"})
    for number, samples in enumerate(runs):
        tasks = list(samples)
        result = simple_evaluate(lm, tasks=tasks, samples=samples, task_manager=manager, log_samples=True, bootstrap_iters=100)
        assert (result is None) == (lm.rank > 0)
        if result is not None:
            kept = {name: result[name] for name in ("results", "samples", "n-samples", "groups", "config") if name in result}
            (out / f"{number}.json").write_text(json.dumps(kept, default=str))
    (out / f"sent-{lm.rank}.json").write_text(json.dumps(sent))


if __name__ == "__main__":
    evaluate(Path(sys.argv[1]), json.loads(sys.argv[2]))
