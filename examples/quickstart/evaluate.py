"""Evaluate a model from Python and use its numbers: ``python examples/quickstart/evaluate.py --help``.

By default a random model of 1 MB answers the embedded samples, so that it runs anywhere; such numbers mean nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from lm_eval import simple_evaluate
from lm_eval.loggers import EvaluationTracker
from lm_eval.tasks import TaskManager

from dsb2_tasks.catalog import yaml_root
from dsb2_tasks.plugin import activate
from dsb2_tasks.results import read_run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pretrained", default="tiny", help="hub name or folder of an audio language model")
    parser.add_argument("--tasks", nargs="+", default=["dsb2_spatial_audio"])
    parser.add_argument("--data", default="samples", help="samples, hub, or a folder")
    parser.add_argument("--limit", type=int, help="documents of each task")
    parser.add_argument("--output", type=Path, default=Path("results/quickstart"))
    options = parser.parse_args()

    activate()  # not needed where the start-up hook works; harmless then
    tracker = EvaluationTracker(output_path=str(options.output))
    metadata = {"data": options.data}
    results = simple_evaluate(
        model="hf-audio",
        model_args={"pretrained": options.pretrained},
        tasks=options.tasks,
        # Our files alone: lm-eval's own 14,000 take seconds to read.
        task_manager=TaskManager(include_path=str(yaml_root()), include_defaults=False, metadata=metadata),
        metadata=metadata,
        limit=options.limit,
        log_samples=True,
        evaluation_tracker=tracker,
    )
    samples = results.pop("samples")
    tracker.save_results_aggregated(results=results, samples=samples)
    for task in samples:
        tracker.save_results_samples(task_name=task, samples=samples[task])

    run = read_run(options.output)
    for name, task in run.tasks.items():
        number = task.values[task.score]
        print(
            f"{name}: {task.score} {number.value:.4g} ± {number.stderr:.2g}, {task.documents} documents read as {task.statuses}"
        )
    print(f"\nfiles: {run.path.parent}    a page: dsb2 report {options.output} -o report.html")


if __name__ == "__main__":
    main()
