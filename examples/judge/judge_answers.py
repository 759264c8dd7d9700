"""Has a judge read saved answers, and shows what it says beside the deterministic reading.

python judge_answers.py ANSWERS.jsonl JUDGE [--data samples] [--contract authors] [--store FOLDER]
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from dsb2_tasks import hooks, metrics, rescore
from dsb2_tasks.judge import CHOICE_KINDS, EXTRACT_KINDS, agreement, coverage, item_for, judged_rows, open_judge


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("answers", type=Path)
    parser.add_argument("judge", help="openai:MODEL@http://host/v1, or lm-eval:BACKEND:ARGS")
    parser.add_argument("--data", default="samples")
    parser.add_argument("--contract", default="default")
    parser.add_argument("--store", type=Path, default=Path("verdicts"))
    given = parser.parse_args(arguments)
    judge = open_judge(given.judge, store=given.store, contract=given.contract)
    tasks = [t for t in rescore.from_answers([given.answers], given.data) if t.spec.kind in (*CHOICE_KINDS, *EXTRACT_KINDS)]
    items = [item_for(task.spec, document.doc, document.answer) for task in tasks for document in task.documents]
    needed = judge.estimate(items)
    print(f"{needed.calls} calls, {needed.cached} known; about {needed.prompt_tokens} tokens of prompts")
    verdicts = judge.verdicts(items)
    left = iter(verdicts)
    for task in tasks:
        told = [(document, next(left)) for document in task.documents]
        rows = [judged_rows(task.spec, document.doc, verdict).statistics for document, verdict in told]
        values = {name: metrics.get(name).aggregate([row[name] for row in rows]) for name in rows[0]}
        print(task.task, ", ".join(f"{name} {value:.4g}" for name, value in values.items()))
        if task.spec.metric == "accuracy":
            score = hooks.KINDS[task.spec.kind].score
            found = agreement((score(d.answer, d.doc, task.spec).statistics["accuracy"] == (1.0,), v) for d, v in told)
            print(f"  matcher and judge agree on {found.observed:.0%} of {found.counted} answers, kappa {found.kappa:.2f}")
    usable = coverage(verdicts)
    print(f"usable verdicts: {usable.usable} of {usable.total}; {judge.usage.requests} requests were made")


if __name__ == "__main__":
    main()
