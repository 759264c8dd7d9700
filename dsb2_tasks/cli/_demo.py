"""``dsb2 demo``: a whole evaluation without anything to fetch."""

from __future__ import annotations

import importlib.metadata
import shlex
from pathlib import Path

import click

from dsb2_tasks.cli._doctor import unmet
from dsb2_tasks.cli._tasks import TaskName, choose, read_catalog

_RECOGNISER = ("dsb2-cascade", "asr=demo,llm=none,language=en,beam_size=1")
_RANDOM = ("hf-audio", "pretrained=tiny")


@click.command()
@click.option("--tasks", default="dsb2_speech", show_default=True, type=TaskName(groups=True), help="Task, group or tag.")
@click.option("--limit", default=1, show_default=True, type=click.IntRange(min=1), help="Documents of each task.")
@click.option("--output", default="dsb2-demo", show_default=True, type=click.Path(path_type=Path), help="Folder for the results.")
def demo(tasks: str, limit: int, output: Path) -> None:
    """Evaluate a small model on the embedded samples: no data and no model to fetch.

    The model is a speech recogniser (Whisper base) where "dsb2-tasks[demo]" is installed, and a random one of 1 MB otherwise.
    Numbers on samples are no results of the benchmark.

    \b
    Examples:
      dsb2 demo
      dsb2 demo --tasks dsb2_superb_asr_librispeech --limit 4
    """  # noqa: D301 (click reads the sign \\b, a backspace)
    choose([tasks], read_catalog())  # a wrong name is told before lm-eval is imported
    missing = _missing()
    if missing:
        click.echo(f"The demo recogniser is not installed ({'; '.join(missing)}), so a random model answers.", err=True)
    model, settings = _RANDOM if missing else _RECOGNISER
    arguments = ["--tasks", tasks, "--model", model, "--model_args", settings, "--data", "samples", "--limit", str(limit)]
    arguments += ["--output_path", str(output), "--log_samples"]
    click.echo(f"$ dsb2 run {shlex.join(arguments)}", err=True)
    from dsb2_tasks.cli import _harness

    _harness.evaluate(_harness.parser(), arguments)
    newest = max(output.rglob("results_*.json"), key=lambda path: path.stat().st_mtime)
    click.echo(
        f"Results and answers are in {newest.parent}. To look at them:\n  dsb2 report {shlex.quote(str(newest))} -o report.html"
    )


def _missing() -> list[str]:
    try:
        return unmet("demo")
    except importlib.metadata.PackageNotFoundError:
        return ["dsb2-tasks is run from a folder"]
