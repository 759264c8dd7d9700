"""Controls: the same tasks without the audio."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from _requests import RATE, Listening, Shelf, request, tone

from dsb2_tasks.audio import read_failure
from dsb2_tasks.models._canary import AudioNotHeard
from dsb2_tasks.models._control import unheard
from dsb2_tasks.models.adapters import Adapter
from dsb2_tasks.models.hf_audio import HFAudio

Load = Callable[..., HFAudio]
Patch = pytest.MonkeyPatch


def given(lm: HFAudio, monkeypatch: Patch) -> list[list[np.ndarray]]:
    """Clips of every conversation, as the adapter gets them."""
    seen: list[list[np.ndarray]] = []
    messages = lm._adapter.messages

    def noting(chat: Any, clips: Any, position: Any) -> Any:
        seen.append(list(clips))
        return messages(chat, clips, position)

    monkeypatch.setattr(lm._adapter, "messages", noting)
    return seen


@pytest.mark.parametrize("control", ["none", "silence", "noise"])
def test_answers_are_the_same_whatever_the_clip_says(load: Load, shelf: Shelf, control: str, monkeypatch: Patch) -> None:
    one, two = shelf.put(tone(300, 1.5)), shelf.put(tone(900, 1.5))
    lm = load(audio=control)
    seen = given(lm, monkeypatch)
    answers = lm.generate_until([request("What is said?", one), request("What is said?", two), request("Same?", one, two)])
    real = load().generate_until([request("What is said?", one), request("What is said?", two)])
    assert real[0] != real[1]
    lengths = [len(clips) for clips in seen]
    if control == "none":
        assert sorted(lengths) == [0, 0, 0] and answers[0] == answers[1]
        assert answers[0] == load(resume=False).generate_until([request("What is said?")])[0]
        return
    assert sorted(lengths) == [1, 1, 2]
    clips = [clip for clips in seen for clip in clips]
    assert all(clip.shape == (round(1.5 * RATE),) and clip.dtype == np.float32 for clip in clips)
    if control == "silence":
        assert answers[0] == answers[1] and not any(clip.any() for clip in clips)
    else:
        levels = [20 * np.log10(np.sqrt(np.mean(np.square(clip, dtype=np.float64)))) for clip in clips]
        assert levels == pytest.approx([-20] * 4, abs=0.2)


def test_noise_is_white_and_drawn_anew_for_every_clip_but_the_same_in_every_run() -> None:
    clip = np.zeros(RATE, np.float32)
    one, again, other = (unheard(clip, "noise", seed) for seed in ("a 0", "a 0", "b 0"))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    power = np.abs(np.fft.rfft(one)) ** 2
    halves = power[: len(power) // 2].mean(), power[len(power) // 2 :].mean()
    assert halves[0] == pytest.approx(halves[1], rel=0.1)
    assert unheard(np.zeros((2, 8), np.float32), "noise", "a").shape == (2, 8)
    assert unheard(clip, "real", "a") is clip


def test_controls_share_no_answer_and_are_named_in_the_results(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    one = request("What is said?", shelf.put(tone(300, 1)))
    for control in ("real", "none", "silence", "noise"):
        lm = load(audio=control)
        ear = Listening(lm, monkeypatch)
        lm.generate_until([one])
        assert ear.asked == 1, control
        assert lm.get_model_info()["dsb2_model"]["audio"] == control


def test_a_deaf_model_can_be_asked_as_a_control(load: Load, shelf: Shelf, monkeypatch: Patch) -> None:
    one = request("What is said?", shelf.put(tone(300, 1)))
    monkeypatch.setattr("dsb2_tasks.models.hf_audio.check_hearing", lambda *_: (_ for _ in ()).throw(AudioNotHeard("deaf")))
    with pytest.raises(AudioNotHeard):
        load().generate_until([one])
    assert read_failure(load(audio="silence").generate_until([one])[0]) is None


def test_without_clips_no_file_is_read(load: Load, shelf: Shelf) -> None:
    lm = load(audio="none")
    handle = shelf.put(b"broken")
    assert read_failure(lm.generate_until([request("What is said?", handle)])[0]) is None
    assert shelf.read_rows == []


def test_a_family_that_needs_clips_cannot_go_without(load: Load, monkeypatch: Patch) -> None:
    monkeypatch.setattr(Adapter, "min_clips", 1)
    with pytest.raises(ValueError, match=r"audio=none: .* take audio=silence or noise"):
        load(audio="none")
    with pytest.raises(ValueError, match="did you mean 'silence'"):
        load(audio="silent")
