"""Real recordings through the example task, the demo recogniser and lm-eval."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import jiwer
import pytest
from cascade_helpers import make_llama

from dsb2_tasks import catalog, compat
from dsb2_tasks.models._asr import RecognizerError
from dsb2_tasks.models._cascade_demo import DemoUnavailable
from dsb2_tasks.models.cascade import Cascade
from dsb2_tasks.spec import SpecError

TASK = "my_spoken_sentences"


@pytest.fixture(scope="session")
def example(repository: Path) -> Path:
    return repository / "examples" / "community_task"


@pytest.fixture(scope="session")
def maker(example: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location("community_task_make_clips", example / "make_clips.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def folder(example: Path, maker: ModuleType, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example as a user has it after following its README, outside of the repository."""
    folder = tmp_path_factory.mktemp("community")
    try:
        assert maker.make_clips(folder / "clips") == 19
    except FileNotFoundError as error:
        pytest.skip(str(error))
    shutil.copy(example / "spoken_sentences.yaml", folder)
    return folder


@pytest.fixture(scope="session")
def evaluate(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., dict[str, Any]]:
    """Runs the example with the demo recogniser; all runs share their stores."""
    from lm_eval.evaluator import simple_evaluate

    cache = tmp_path_factory.mktemp("cache")

    def run(**arguments: Any) -> dict[str, Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DSB2_CACHE", str(cache))
            try:
                model = Cascade("demo", device="cpu", **arguments)
            except (DemoUnavailable, RecognizerError) as error:
                pytest.skip(str(error))
            found = simple_evaluate(model, tasks=[TASK], task_manager=compat.task_manager([folder]), log_samples=True)
        assert found is not None
        return found

    return run


@pytest.fixture(scope="session")
def run(evaluate: Callable) -> dict[str, Any]:
    return evaluate()


def _words(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.lower()).split())


@pytest.mark.slow
def test_word_error_rate_on_real_speech(run: dict[str, Any]) -> None:
    row = run["results"][TASK]
    assert 0 < row["wer,none"] <= 0.25
    assert row["audio_error_rate,none"] == 0
    assert run["n-samples"][TASK] == {"original": 19, "effective": 19}
    assert run["config"]["dsb2_model"]["asr"] == "demo" and run["config"]["dsb2_model"]["answers"] == 19


@pytest.mark.slow
def test_the_answers_are_the_words_by_another_count(run: dict[str, Any]) -> None:
    """The same bound without this suite's normaliser and counting."""
    samples = run["samples"][TASK]
    references = [_words(sample["doc"]["label"]) for sample in samples]
    answers = [_words(sample["resps"][0][0]) for sample in samples]
    assert jiwer.wer(references, answers) <= 0.25
    phrases = [
        (r, a) for r, a in zip(references, answers, strict=True) if re.fullmatch(r"(front|rear|side) (left|right|center)", r)
    ]
    assert len(phrases) == 8 and sum(r == a for r, a in phrases) >= 6


@pytest.mark.slow
def test_a_language_model_behind_it_changes_no_transcript(run: dict[str, Any], evaluate: Callable, tmp_path: Path) -> None:
    cascade = evaluate(llm="hf", pretrained=str(make_llama(tmp_path)), dtype="float32")
    assert cascade["results"][TASK] == run["results"][TASK]
    time = cascade["config"]["dsb2_model"]["time"]
    assert (time["transcripts_from_store"], time["transcripts_made"], time["answers_asked"]) == (19, 0, 19)


def test_the_example_stands_in_the_catalogue_and_in_no_official_mean(folder: Path) -> None:
    known = catalog.read_catalog([catalog.yaml_root(), folder])
    assert known.faults == [] and known.tasks[TASK].spec.suite == "my-suite"
    assert TASK not in known.members("dsb2")


def test_a_mistyped_key_of_the_example_is_named_with_the_right_one(folder: Path, tmp_path: Path) -> None:
    text = (folder / "spoken_sentences.yaml").read_text().replace("  prompt:", "  promt:")
    (tmp_path / "task.yaml").write_text(text)
    with pytest.raises(SpecError, match=r"task\.yaml: dsb2\.promt: unknown key; did you mean 'prompt'"):
        catalog.read_spec(catalog.complete(catalog.load_config(tmp_path / "task.yaml"), tmp_path / "task.yaml"), "task.yaml")


def test_missing_recordings_name_the_package(maker: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="apt-get install pocketsphinx-testdata"):
        maker.make_clips(tmp_path / "clips", sphinx=tmp_path / "nowhere")
