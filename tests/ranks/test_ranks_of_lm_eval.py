"""Whole runs of several processes: they end with what one process ends with."""

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
from _launch import environment, process_of_rank, torchrun

pytestmark = pytest.mark.slow

TURNS, MATCH, TEXT, VOCAL = (
    f"dsb2_{name}" for name in ("superb_sd_libri2mix", "superb_qbe_quesst14", "superb_asr_librispeech", "vocal_sound_recognition")
)
#: Sets of documents: five and two, one document, and more tasks than one that leave ranks without any.
RUNS = [{VOCAL: [0, 1, 2, 3, 4], TEXT: [0, 2]}, {MATCH: [2]}, {TEXT: [1], VOCAL: [3], TURNS: [0, 1, 3]}]


def evaluated(out: Path, launch: list[str]) -> list[dict[str, Any]]:
    out.mkdir()
    script = str(Path(__file__).with_name("_evaluate.py"))
    command = [*launch, script, str(out), json.dumps(RUNS)]
    done = subprocess.run(command, env=environment(out), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return [json.loads((out / f"{number}.json").read_text()) for number in range(len(RUNS))]


def settled(result: dict[str, Any]) -> dict[str, Any]:
    """Without what may differ: the time it took, and answers that lm-eval asked a rank for once more to fill it up."""
    result = json.loads(json.dumps(result))
    result["config"]["dsb2_model"].pop("time")
    for samples in result["samples"].values():
        for sample in samples:
            (answers,) = sample["resps"]
            sample["resps"] = [list(dict.fromkeys(answers))]
    return result


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    return evaluated(tmp_path_factory.mktemp("alone") / "out", [sys.executable])


def test_results_and_samples_are_those_of_one_process(alone: list[dict[str, Any]], tmp_path: Path) -> None:
    ranks = 3
    together = evaluated(tmp_path / "out", torchrun(ranks))
    for number, (one, several) in enumerate(zip(alone, together, strict=True)):
        assert settled(several) == settled(one), number
    # Without the order of one process this holds for a lucky order only: standard errors are bootstrapped from it.
    assert [s["doc_id"] for s in together[0]["samples"][VOCAL]] == [0, 1, 2, 3, 4]
    first = together[0]["config"]["dsb2_model"]
    assert first["answers"] == 7 and first["time"]["ranks"] == ranks

    sent = [json.loads((tmp_path / "out" / f"sent-{rank}.json").read_text()) for rank in range(ranks)]
    assert all(sizes for sizes in sent)
    assert max(map(max, sent)) < 40_000, "text and handles are sent, never audio"


SAMPLES = {VOCAL: [0, 1, 2, 3, 4], TURNS: [0, 1, 2, 3], TEXT: [0, 1, 2, 3], MATCH: [1]}
TOTAL = sum(map(len, SAMPLES.values()))


def command(out: Path) -> list[str]:
    model = ["--model", "hf-audio", "--model_args", "pretrained=tiny", "--metadata", '{"data": "samples"}']
    chosen = ["--tasks", ",".join(SAMPLES), "--samples", json.dumps(SAMPLES)]
    return ["-m", "lm_eval", *chosen, *model, "--log_samples", "--output_path", str(out)]


def run(out: Path, cache: Path, launch: list[str]) -> str:
    done = subprocess.run(launch, env=environment(cache), capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-6000:]
    return done.stderr


def stored(cache: Path) -> dict[str, str]:
    """Answers in the stores below a cache folder: response key to the file's name."""
    found = {}
    for file in cache.rglob("responses*.jsonl"):
        for line in file.read_bytes().split(b"\n")[1:-1]:
            found[json.loads(line)["key"]] = file.name
    return found


def written(out: Path) -> dict[str, Any]:
    """The one results file of a run, and its samples."""
    (file,) = out.rglob("results_*.json")
    samples = {task: next(iter(out.rglob(f"samples_{task}_*.jsonl"))).read_text().splitlines() for task in SAMPLES}
    return {**json.loads(file.read_text()), "samples": {task: list(map(json.loads, lines)) for task, lines in samples.items()}}


@pytest.fixture(scope="module")
def resumed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a run of two ranks, one of them killed, and then of one process wrote."""
    folder = tmp_path_factory.mktemp("resumed")
    cache, never, out = folder / "cache", folder / "never", folder / "out"
    launcher = subprocess.Popen(
        torchrun(2, *command(never)), env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    while launcher.poll() is None and len(set(stored(cache).values())) < 2:
        time.sleep(0.01)
    victim = process_of_rank(launcher.pid, 1)
    assert victim is not None, "the run was over before a rank could be killed"
    os.kill(victim, signal.SIGKILL)
    assert launcher.wait(timeout=120) != 0, "torchrun ends the other rank too"
    before = stored(cache)
    assert set(before.values()) == {"responses-rank0.jsonl", "responses-rank1.jsonl"} and len(before) < TOTAL
    assert not list(never.rglob("results_*.json"))

    log = run(out, cache, [sys.executable, *command(out)])
    assert f"{len(before)} of {TOTAL} answers found" in log and len(stored(cache)) == TOTAL
    result = written(out)
    spent = result["config"]["dsb2_model"]["time"]
    assert spent["answers_from_store"] == len(before) and spent["answers_asked"] == TOTAL - len(before)
    return result


@pytest.mark.long  # in forked processes by default: tests/faults/test_ranks_lost.py
def test_a_run_that_lost_a_rank_ends_as_one_of_two_ranks_that_did_not(resumed: dict[str, Any], tmp_path: Path) -> None:
    run(tmp_path / "out", tmp_path / "cache", torchrun(2, *command(tmp_path / "out")))
    whole = written(tmp_path / "out")
    for part in ("results", "samples", "n-samples", "configs", "versions", "higher_is_better"):
        assert settled(whole)[part] == settled(resumed)[part], part
    assert settled(whole)["config"]["dsb2_model"] == settled(resumed)["config"]["dsb2_model"]
    assert set(stored(tmp_path / "cache").values()) == {"responses-rank0.jsonl", "responses-rank1.jsonl"}
