"""Every family with a model of random weights: the whole way of a real one, from clips to counted answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from _requests import RATE, Shelf, by_one, request, tone
from lm_eval.api.instance import Instance

from dsb2_tasks.audio import read_failure
from dsb2_tasks.models import _load
from dsb2_tasks.models._canary import AudioNotHeard, check_hearing
from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models.adapters import ADAPTERS, Adapter, find_adapter
from dsb2_tasks.models.hf_audio import HFAudio

Load = Callable[..., HFAudio]


@dataclass(frozen=True)
class Family:
    """What is particular about a family.

    Attributes:
        adapter: Name of its adapter.
        model: Class of the loaded model.
        window: Longest clip in seconds; None for any length.
        alone: Whether each request makes a batch of its own.
        clips: Most clips a request; 0 for any number.
        text: Whether it can be asked without a clip.
    """

    adapter: str
    model: str
    window: float | None
    alone: bool = False
    clips: int = 0
    text: bool = True


FAMILIES = {
    "qwen2_audio": Family("generic", "Qwen2AudioForConditionalGeneration", 30),
    "audioflamingo3": Family("audio-flamingo", "AudioFlamingo3ForConditionalGeneration", 600),
    "granite_speech": Family("granite-speech", "GraniteSpeechForConditionalGeneration", None, alone=True),
    "voxtral": Family("voxtral", "VoxtralForConditionalGeneration", 2400),
    "qwen2_5_omni": Family("qwen2.5-omni", "Qwen2_5OmniThinkerForConditionalGeneration", 30),
    "qwen3_omni": Family("qwen3-omni", "Qwen3OmniMoeThinkerForConditionalGeneration", None),
    "phi4_multimodal": Family("phi4-multimodal", "Phi4MultimodalForCausalLM", None, alone=True),
    "gemma4": Family("gemma4", "Gemma4ForConditionalGeneration", 30),
    "whisper": Family("transcriber", "WhisperForConditionalGeneration", 30, clips=1, text=False),
}
ALL = pytest.mark.parametrize("name", FAMILIES)
SEVERAL = pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.clips != 1])
TOGETHER = pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if not family.alone])
CHAT = Chat((("user", "Which sounds longer?"),))


def questions(shelf: Shelf, name: str) -> list[Instance]:
    """Requests with no, one and two clips of very different lengths, as far as the family takes them."""
    clips = [shelf.put(tone(200 + 90 * i, seconds)) for i, seconds in enumerate([0.3, 2.1, 1.0, 5.3, 1.0003, 0.7])]
    made = [request("What is said?", clip) for clip in clips]
    if FAMILIES[name].clips != 1:
        made += [request("Which sounds longer?", clips[2], clips[3]), request("Which sounds longer?", clips[3], clips[2])]
    if FAMILIES[name].text:
        made.insert(2, request("How many seconds are in a minute?"))
    return made


def logits(loaded: Any, *requests: list[np.ndarray]) -> torch.Tensor:
    """Scores of the first new token, one row a request."""
    inputs = loaded.adapter.inputs([loaded.adapter.messages(CHAT, clips, "before") for clips in requests])
    start = {}
    if loaded.model.config.is_encoder_decoder:
        start = {"decoder_input_ids": torch.full((len(requests), 1), loaded.model.config.decoder_start_token_id)}
    with torch.inference_mode():
        return loaded.model(**inputs, **start).logits[:, -1]


# ---------------------------------------------------------------- what it is


@ALL
def test_who_it_is(load: Load, name: str) -> None:
    family = FAMILIES[name]
    lm = load(name, resume=False)
    assert (lm.identity["adapter"], lm.identity["class"]) == (family.adapter, family.model)
    adapter = lm._adapter
    assert (adapter.rate, adapter.window_seconds, adapter.alone) == (RATE, family.window, family.alone)
    assert json.loads(json.dumps(lm.get_model_info()))["dsb2_model"]["adapter"] == family.adapter


@pytest.mark.parametrize("model_type", ADAPTERS)
def test_every_family_is_found_and_has_a_class_of_transformers(model_type: str) -> None:
    from transformers import CONFIG_MAPPING

    adapter = find_adapter(model_type)
    assert issubclass(adapter, Adapter)
    assert isinstance(_load._model_class(CONFIG_MAPPING[model_type](), adapter), type)


def test_naming_the_families_imports_no_model_library() -> None:
    source = (
        "import dsb2_tasks.models.adapters, sys; print([m for m in ('torch', 'transformers', 'soundfile') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", source], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


# ---------------------------------------------------------------- hearing


@ALL
def test_another_clip_is_another_answer(load: Load, shelf: Shelf, name: str) -> None:
    a, b = shelf.put(tone(300, 1.2)), shelf.put(tone(900, 2.5))
    lm = load(name, resume=False, batch_size=2)
    first, second = lm.generate_until([request("What is said?", a), request("What is said?", b)])
    assert lm.generate_until([request("What is said?", b), request("What is said?", a)]) == [second, first]
    assert first != second


@SEVERAL
def test_order_and_number_of_clips_are_heard(folder: Callable[[str], Path], name: str) -> None:
    loaded = _load.load(str(folder(name)), device=torch.device("cpu"))
    a, b = tone(300, 1.2), tone(900, 2.5)
    heard = [logits(loaded, clips)[0] for clips in ([a], [b], [a, b], [b, a], [a, a], [])]
    for i, one in enumerate(heard):
        for other in heard[:i]:
            assert (one - other).abs().max() > 0.01


@ALL
def test_the_check_at_the_start_knows_a_deaf_adapter(load: Load, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lm = load(name, resume=False)
    check_hearing(lm._adapter, lm._model)
    make = type(lm._adapter).messages
    silent = lambda self, chat, clips, position: make(self, chat, [np.zeros_like(clip) for clip in clips], position)  # noqa: E731
    monkeypatch.setattr(type(lm._adapter), "messages", silent)
    with pytest.raises(AudioNotHeard, match="silence and a tone give the same inputs"):
        check_hearing(lm._adapter, lm._model)


@SEVERAL
@pytest.mark.parametrize("position", ["before", "after"])
def test_place_of_the_clips(load: Load, name: str, position: str) -> None:
    adapter = load(name, resume=False)._adapter
    inputs = adapter.inputs([adapter.messages(CHAT, [tone(300, 1)], position)])
    ids = inputs["input_ids"][0].tolist()
    places = [i for i, token in enumerate(ids) if token == adapter.audio_token_id]
    assert len(places) == adapter.placeholders(inputs) > 0
    before, after = adapter.tokenizer.decode(ids[: places[0]]), adapter.tokenizer.decode(ids[places[-1] + 1 :])
    assert ("Which sounds longer?" in after) == (position == "before")
    assert ("Which sounds longer?" in before) == (position == "after")


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.window == 30])
def test_nothing_within_the_window_is_cut_in_silence(load: Load, name: str) -> None:
    """The backend cuts at the window and says so; a processor that cut earlier would not."""
    adapter = load(name, resume=False)._adapter
    long = tone(300, 30)
    inputs = [adapter.inputs([adapter.messages(CHAT, [clip], "before")]) for clip in (long, long[: -RATE // 2])]
    assert not all(np.array_equal(inputs[0][key], inputs[1][key]) for key in inputs[0])


def test_audio_flamingo_joins_the_clips_of_a_turn(load: Load) -> None:
    adapter = load("audioflamingo3", resume=False)._adapter
    a, b = tone(300, 1.2), tone(900, 2.5)
    (turn,) = adapter.messages(CHAT, [a, b], "before")
    (heard,) = [block["audio"] for block in turn["content"] if block["type"] == "audio"]
    assert np.array_equal(heard, np.concatenate([a, np.zeros(RATE // 2, np.float32), b]))
    assert adapter.joins


# ---------------------------------------------------------------- batches


@TOGETHER
def test_a_clip_is_heard_alike_alone_and_beside_others(folder: Callable[[str], Path], name: str) -> None:
    """Lengths that are no whole number of frames, below and above a second, beside a longer clip."""
    loaded = _load.load(str(folder(name)), device=torch.device("cpu"))
    clips = [[tone(300 + 70 * i, seconds)] for i, seconds in enumerate([0.1, 0.33333, 1.00031, 1.017, 2.9999, 6.2])]
    together = logits(loaded, *clips)
    for clip, row in zip(clips, together, strict=True):
        assert torch.allclose(logits(loaded, clip)[0], row, atol=1e-3)


@ALL
def test_greedy_answers_do_not_depend_on_the_batch(load: Load, shelf: Shelf, name: str) -> None:
    requests = questions(shelf, name)
    together = load(name, resume=False, batch_size=4).generate_until(requests)
    assert load(name, resume=False, batch_size=4).generate_until(requests[::-1])[::-1] == together
    assert by_one(load(name, resume=False, batch_size=1), requests) == together
    assert len(set(together)) > len(together) // 2


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.text])
def test_text_without_a_clip(load: Load, name: str) -> None:
    lm = load(name, resume=False)
    asked = ["How many seconds are in a minute?", "Say yes."]
    answers = lm.generate_until([request(text) for text in asked])
    assert len(set(answers)) == 2 and not any(map(read_failure, answers))


# ---------------------------------------------------------------- the store, counts, failures


@ALL
def test_a_run_goes_on_from_the_store(load: Load, shelf: Shelf, name: str) -> None:
    requests = questions(shelf, name)
    whole = load(name, resume=False, batch_size=4)
    expected = whole.generate_until(requests)
    load(name, batch_size=4).generate_until(requests[:3])
    rest = load(name, batch_size=4)
    assert rest.generate_until(requests) == expected
    assert rest.effort["answers_asked"] == len(requests) - 3
    assert rest.counts == whole.counts
    joined = sum(len(asked.args) == 3 and len(asked.args[2]["audio"]) > 1 for asked in requests) if rest._adapter.joins else 0
    assert rest.counts["audio_events"].get("joined", 0) == joined


@ALL
def test_answers_at_the_token_cap_are_counted(load: Load, shelf: Shelf, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    requests = questions(shelf, name)
    lm = load(name, resume=False, batch_size=4, max_new_tokens=5)
    outputs: list[list[int]] = []
    new_tokens = lm._adapter.new_tokens

    def noted(output: Any, inputs: Any) -> Any:
        tokens = new_tokens(output, inputs)
        outputs.extend(tokens.tolist())
        return tokens

    monkeypatch.setattr(lm._adapter, "new_tokens", noted)
    lm.generate_until(requests)
    end = lm._model.generation_config.eos_token_id
    assert len(outputs) == len(requests)
    assert lm.counts["answers_at_token_cap"] == sum(end not in tokens for tokens in outputs) > 0


def test_a_recogniser_is_asked_about_one_clip_only(load: Load, shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    a, b = shelf.put(tone(300, 1)), shelf.put(tone(400, 1))
    lm = load("whisper", resume=False)
    assert lm.identity["instruction"] == "not heard" and lm.get_model_info()["dsb2_model"]["instruction"] == "not heard"
    assert caplog.text.count("does not hear the instruction") == 1
    asked = [request("What is said?", a), request("How loud is it?", a), request("Same?", a, b), request("Say yes.")]
    one, other, two, none = lm.generate_until(asked)
    assert one == other != ""
    assert read_failure(two) == ("model_error", "2 clips; the model takes 1 a turn")
    assert read_failure(none) == ("model_error", "0 clips; the model needs 1 a turn")


def test_a_recogniser_keeps_its_bounds(load: Load, shelf: Shelf) -> None:
    """A cap above what its decoder holds would be an error, and any temperature would make it sample."""
    lm = load("whisper", resume=False)
    asked = request("What is said?", shelf.put(tone(300, 1)), max_gen_toks=4000)
    answers = {lm.generate_until([asked])[0] for _ in range(4)}
    assert len(answers) == 1
