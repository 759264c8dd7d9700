"""The two engines: what they read, what they refuse, and that a transcript does not hang on the company it is in."""

from __future__ import annotations

import importlib.util
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cascade_helpers import make_whisper, noise

from dsb2_tasks.models._args import ModelArgError
from dsb2_tasks.models._asr import Recognizer, RecognizerError, load_recognizer
from dsb2_tasks.models._asr_demo import DemoUnavailable

needs_transformers = pytest.mark.skipif(importlib.util.find_spec("transformers") is None, reason="transformers is not installed")
pytestmark = needs_transformers


@pytest.fixture(scope="session")
def whisper(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_whisper(tmp_path_factory.mktemp("whisper"))


@pytest.fixture
def load(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Recognizer]:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    return lambda asr, **arguments: load_recognizer(str(asr), cache=tmp_path / "cache", **arguments)


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Recognizer:
    try:
        return load_recognizer("demo", cache=tmp_path_factory.mktemp("demo"), beam_size=1, language="en")
    except (DemoUnavailable, RecognizerError) as error:
        pytest.skip(str(error))


CLIPS = [noise(1, 1), noise(4, 2), noise(0.1, 3), np.zeros(16_000, np.float32), noise(31, 4)]


@pytest.mark.parametrize("beam_size", [1, 2])
def test_transformers_batch_and_single_agree(load: Callable, whisper: Path, beam_size: int) -> None:
    recognizer = load(whisper, beam_size=beam_size)
    together = recognizer.transcribe(CLIPS)
    assert together == [recognizer.transcribe([clip])[0] for clip in CLIPS]
    assert len(set(together)) >= 3 and all(together)


def test_a_clip_longer_than_the_window_is_heard_to_its_end(load: Callable, whisper: Path) -> None:
    recognizer = load(whisper, beam_size=1)
    start, tone = noise(30, 1), np.sin(np.arange(160_000) * 0.2).astype(np.float32)
    texts = recognizer.transcribe([np.concatenate([start, end]) for end in (tone, 0 * tone)])
    assert texts[0] != texts[1]


@pytest.mark.parametrize(
    ("one", "other"),
    [({"beam_size": 1}, {"beam_size": 4}), ({"language": "en", "beam_size": 1}, {"language": "fr", "beam_size": 1})],
)
def test_settings_reach_the_model(load: Callable, whisper: Path, one: dict[str, Any], other: dict[str, Any]) -> None:
    assert load(whisper, **one).transcribe(CLIPS[:3]) != load(whisper, **other).transcribe(CLIPS[:3])


def test_demo_identity_names_the_settings(load: Callable, demo: Recognizer) -> None:
    settings = [{}, {"beam_size": 1}, {"language": "en"}, {"compute_type": "float32"}]
    assert len({str(load("demo", **given).identity) for given in settings}) == 4


def test_identity_names_the_content_and_the_settings(load: Callable, whisper: Path, tmp_path: Path) -> None:
    copy = shutil.copytree(whisper, tmp_path / "elsewhere")
    retrained = make_whisper(tmp_path / "retrained", seed=1)
    base = load(whisper, beam_size=1).identity
    assert load(copy, beam_size=1).identity == base
    others = [load(retrained, beam_size=1), load(whisper, beam_size=2), load(whisper, beam_size=1, language="fr")]
    assert len({str(r.identity) for r in others} | {str(base)}) == 4
    assert str(tmp_path) not in str(base)


@pytest.mark.parametrize("multilingual", [True, False])
def test_a_language_that_the_model_lacks_is_refused(load: Callable, tmp_path: Path, multilingual: bool) -> None:
    folder = make_whisper(tmp_path / "model", multilingual=multilingual)
    assert load(folder, language="en", beam_size=1).transcribe([noise(1)])[0]
    with pytest.raises(ModelArgError, match="language='german'"):
        load(folder, language="german")


def test_wrong_number_type_is_refused(load: Callable, whisper: Path) -> None:
    with pytest.raises(ModelArgError, match="compute_type='int8'"):
        load(whisper, compute_type="int8")


def test_a_model_that_is_no_whisper_is_refused(load: Callable, tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    with pytest.raises(RecognizerError, match="type 'bert'"):
        load(tmp_path)


def test_a_folder_without_a_model_is_refused(load: Callable, tmp_path: Path) -> None:
    with pytest.raises(RecognizerError, match=r"no config\.json"):
        load(tmp_path)


def test_a_name_that_is_nowhere_is_one_error_with_the_ways_out(load: Callable) -> None:
    with pytest.raises(RecognizerError) as caught:
        load("nobody/whisper-none")
    assert "nobody/whisper-none" in str(caught.value) and "asr=<folder>" in str(caught.value)
    assert caught.value.__suppress_context__


def test_files_of_the_other_engine_are_refused(load: Callable, whisper: Path) -> None:
    with pytest.raises(RecognizerError, match="no CTranslate2 files"):
        load(whisper, backend="faster-whisper")


def test_demo_files_are_not_for_transformers(load: Callable, demo: Recognizer) -> None:
    with pytest.raises(RecognizerError, match="holds CTranslate2 files"):
        load("demo", backend="transformers")


def test_demo_language_and_number_type_are_checked(load: Callable, demo: Recognizer) -> None:
    with pytest.raises(ModelArgError, match="language='german'"):
        load("demo", language="german")
    with pytest.raises(ModelArgError, match="compute_type='int9': did you mean"):
        load("demo", compute_type="int9")


@pytest.mark.parametrize(
    "clip",
    [
        pytest.param(np.zeros(1_600, np.float32), id="shortest"),
        pytest.param(np.zeros(48_000, np.float32), id="silence"),
        pytest.param(noise(2), id="noise"),
        pytest.param(np.sin(np.arange(32_000) * 0.17).astype(np.float32), id="tone"),
        pytest.param(np.ones(16_000, np.float32), id="constant"),
    ],
)
def test_demo_survives_what_is_no_speech(demo: Recognizer, clip: Any) -> None:
    (text,) = demo.transcribe([clip])
    assert isinstance(text, str) and demo.transcribe([clip]) == [text]
