"""Every output kind through lm-eval and both models: tiny random ones, and the demo ones on some."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from cascade_helpers import make_llama, make_whisper

from dsb2_tasks import catalog, compat, spec
from dsb2_tasks.audio import read_failure
from dsb2_tasks.models._asr import RecognizerError
from dsb2_tasks.models._cascade_demo import DemoUnavailable
from dsb2_tasks.models.cascade import Cascade

KNOWN = catalog.read_catalog([catalog.yaml_root()])
SCRIPT = Path(__file__).parents[2] / "examples" / "cascade" / "demo.sh"
TASKS = re.findall(r"^    (dsb2_\w+)", SCRIPT.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture
def evaluate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    def run(model: Cascade, tasks: list[str], limit: int, **generation: Any) -> dict[str, Any]:
        from lm_eval.evaluator import simple_evaluate

        manager = compat.task_manager([catalog.yaml_root()], metadata={"data": "samples"})
        found = simple_evaluate(model, tasks=tasks, task_manager=manager, limit=limit, gen_kwargs=generation or None)
        assert found is not None
        return found

    return run


def test_the_script_has_a_task_of_each_kind() -> None:
    assert sorted(KNOWN.tasks[task].spec.kind for task in TASKS) == sorted(set(get_args(spec.Kind)) - {"waveform"})


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_every_kind_with_tiny_models(evaluate: Callable, tmp_path: Path) -> None:
    whisper, llama = make_whisper(tmp_path / "whisper"), make_llama(tmp_path / "llama")
    model = Cascade(
        str(whisper),
        llm="hf",
        pretrained=str(llama),
        dtype="float32",
        device="cpu",
        beam_size=1,
        responses=str(tmp_path / "store"),
    )
    found = evaluate(model, TASKS, limit=2, max_gen_toks=6)
    counts = found["config"]["dsb2_model"]
    assert counts["failures"] == {} and counts["answers"] == 2 * len(TASKS)
    for task in TASKS:
        answers = [sample["resps"][0][0] for sample in found["samples"][task]]
        assert len(answers) == 2 and not any(map(read_failure, answers))
        assert found["results"][task]["audio_error_rate,none"] == 0
    # A letter a token: what the tiny recogniser says is letters; what the tiny language model says ends after six bytes.
    transcripts = [sample["resps"][0][0] for sample in found["samples"]["dsb2_superb_asr_librispeech"]]
    assert all(len(text) > 6 and text.isalpha() for text in transcripts)


@pytest.mark.slow
def test_some_kinds_with_the_demo_models(evaluate: Callable, tmp_path: Path) -> None:
    try:
        model = Cascade("demo", llm="demo", device="cpu", beam_size=1, batch_size=8, responses=str(tmp_path / "store"))
    except (DemoUnavailable, RecognizerError) as error:
        pytest.skip(str(error))
    tasks = ["dsb2_superb_asr_librispeech", "dsb2_superb_st_covost2", "dsb2_accent_classification_accentdb"]
    found = evaluate(model, tasks, limit=1, max_gen_toks=24)
    assert found["results"]["dsb2_superb_asr_librispeech"]["wer,none"] <= 0.5
    assert found["config"]["dsb2_model"]["failures"] == {}
    answers = [sample["resps"][0][0] for task in tasks[1:] for sample in found["samples"][task]]
    assert all(re.search(r"[a-z]{3,} [a-z]{2,}", answer) for answer in answers), "no sentences"
