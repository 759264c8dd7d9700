"""Makes the report of this folder: two simulated systems and a simulated baseline on the sample data.

A simulated system gives the right answer with some probability, else that of another document, or none that can be used.
Nothing here was answered by a model; the report shows what a report looks like.

    python make.py
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

from dsb2_tasks import catalog, hooks
from dsb2_tasks.sources import Docs, open_rows

HERE = Path(__file__).resolve().parent
SYSTEMS = {"simulated-baseline": 0.4, "simulated-a": 0.6, "simulated-b": 0.8}


def answers(right: float, seed: str) -> list[dict[str, object]]:
    known = catalog.read_catalog([catalog.yaml_root()])
    lines: list[dict[str, object]] = []
    for task in known.members("dsb2"):
        entry = known.tasks[task]
        docs = Docs(task, entry.spec, [open_rows(source, "samples", entry.path.parent, task) for source in entry.spec.data])
        texts = [docs.text(i) for i in range(len(docs))]
        spec = hooks.close_options(entry.spec, texts)
        references = [hooks.KINDS[spec.kind].reference_answer(doc, spec) for doc in texts]
        draw = random.Random(f"{seed} {task}")
        for number, reference in enumerate(references):
            wrong = draw.choice(references) if draw.random() < 0.6 else "I am not able to tell."
            lines.append({"task": task, "doc_id": number, "answer": reference if draw.random() < right else wrong})
    return lines


def dsb2(*arguments: object, folder: str) -> None:
    """Runs in the folder, so that no path of this machine gets into the results."""
    subprocess.run(
        [sys.executable, "-m", "dsb2_tasks.cli", *map(str, arguments)], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for name, right in SYSTEMS.items():
            lines = "".join(f"{json.dumps(line)}\n" for line in answers(right, name))
            Path(folder, f"{name}.jsonl").write_text(lines, encoding="utf-8")
            dsb2("score", "--answers", f"{name}.jsonl", "--data", "samples", "--name", name, "-o", name, folder=folder)
        baseline, *runs = SYSTEMS
        common = (*runs, "--baseline", baseline, "--title", "Gallery: simulated systems on sample data")
        dsb2("report", *common, "--samples", 1, "--audio-mb", 0.4, "-o", HERE / "report.html", folder=folder)
        dsb2("report", *common, "--plot", "radar", "-o", HERE / "radar.svg", folder=folder)
        dsb2("report", *common, "-o", HERE / "report.md", folder=folder)


if __name__ == "__main__":
    main()
