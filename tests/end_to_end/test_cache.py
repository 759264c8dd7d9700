"""Two clips under one instruction never share an answer, whichever cache is on."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

TASKS = ("dsb2_speaker_counting_libritts_clean", "dsb2_chord_classification_guitar_piano")


def arguments(cache: Path, model_args: str) -> list[str]:
    model = ["--model", "hf-audio", "--model_args", f"pretrained=tiny,{model_args}", "--metadata", '{"data": "samples"}']
    return ["--tasks", ",".join(TASKS), *model, "--log_samples", "--use_cache", str(cache)]


def answers(run: object) -> dict[tuple[str, int], str]:
    return {(task, s["doc_id"]): s["resps"][0][0] for task in TASKS for s in run.samples(task)}


@pytest.mark.long  # in one process by default: tests/models/test_hf_audio.py, tests/models/test_responses.py
def test_host_cache_and_response_store(lm_eval: Callable, tmp_path: Path) -> None:
    plain = lm_eval(*arguments(tmp_path / "a", "resume=false"))
    first = answers(plain)
    prompts: dict[str, set[str]] = {}
    for task in TASKS:
        for sample in plain.samples(task):
            prompts.setdefault(sample["doc"]["dsb2_prompt"], set()).add(sample["resps"][0][0])
    assert any(len(said) > 1 for said in prompts.values()), "the tiny model must tell clips apart, or nothing is tested"

    from_host = lm_eval(*arguments(tmp_path / "a", "resume=false"))
    assert answers(from_host) == first
    assert from_host.results["config"]["dsb2_model"]["time"]["answers_asked"] == 0

    other = lm_eval(*arguments(tmp_path / "a", "resume=false,system_instruction=Be short."), check=False)
    assert other.status != 0 and "--use_cache" in other.printed and "another model" in other.printed
