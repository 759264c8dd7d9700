"""A killed run loses nothing: what was answered is not asked again, and the results come out the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from _runs import environment

TASKS = ",".join(
    f"dsb2_superb_{name}" for name in ("sd_libri2mix", "qbe_quesst14", "asr_librispeech", "st_covost2", "sf_audiosnips")
)
#: What may differ between two runs: clocks, the machine's state, paths of this test.
CLOCKS = {
    "date",
    "start_time",
    "end_time",
    "total_evaluation_time_seconds",
    "pretty_env_info",
    "git_hash",
    "evaluation_time",
    "time",
}


def command(out: Path) -> list[str]:
    model = ["--model", "hf-audio", "--model_args", "pretrained=tiny", "--batch_size", "1"]
    return [
        sys.executable,
        "-m",
        "lm_eval",
        "--tasks",
        TASKS,
        *model,
        "--metadata",
        '{"data": "samples"}',
        "--log_samples",
        "--output_path",
        str(out),
    ]


def stored(cache: Path) -> list[dict[str, Any]]:
    """All answers in the response stores below a cache folder."""
    records = []
    for file in cache.rglob("responses*.jsonl"):
        for line in file.read_text().splitlines():
            try:
                records.append(json.loads(line))
            except ValueError:
                continue  # the line that the kill cut short
    return [r for r in records if "answer" in r or "text" in r]


def without_clocks(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: without_clocks(v) for k, v in value.items() if k not in CLOCKS}
    return [without_clocks(v) for v in value] if isinstance(value, list) else value


def results(out: Path) -> Any:
    (file,) = out.rglob("results_*.json")
    return without_clocks(json.loads(file.read_text()))


def samples(out: Path) -> dict[str, list[Any]]:
    files = {f.name.rsplit("_", 1)[0]: f for f in out.rglob("samples_*.jsonl")}
    return {name: [json.loads(line) for line in file.read_text().splitlines()] for name, file in sorted(files.items())}


@pytest.mark.slow
def test_killed_run_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    subprocess.run(command(whole), env=environment(DSB2_CACHE=str(tmp_path / "c1")), check=True, capture_output=True, timeout=600)
    answers = stored(tmp_path / "c1")
    assert len(answers) >= 20

    cache = tmp_path / "c2"
    process = subprocess.Popen(
        command(killed), env=environment(DSB2_CACHE=str(cache)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and len(stored(cache)) < len(answers) // 3:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    before = len(stored(cache))
    assert 0 < before < len(answers), "the run was over before it could be killed"
    assert not list(killed.rglob("results_*.json"))

    done = subprocess.run(
        command(killed), env=environment(DSB2_CACHE=str(cache)), check=True, capture_output=True, text=True, timeout=600
    )
    assert len(stored(cache)) == len(answers), "an answer was lost or asked for twice"
    assert f"{before} of {len(answers)} answers found" in done.stderr, "the log says how many answers were found"
    (file,) = killed.rglob("results_*.json")
    assert json.loads(file.read_text())["config"]["dsb2_model"]["time"]["answers_asked"] == len(answers) - before
    assert results(killed) == results(whole)
    assert samples(killed) == samples(whole)
