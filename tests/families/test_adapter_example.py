"""The adapter that the guide shows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from _requests import Shelf, by_one, request, tone

from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models.hf_audio import HFAudio


def test_the_example(load: Callable[..., HFAudio], shelf: Shelf, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(repository / "examples/adapter")
    lm = load("qwen2_audio", adapter="my_adapter:MyAdapter", batch_size=4)
    a, b, c = (shelf.put(tone(300 + 200 * i, seconds)) for i, seconds in enumerate([1.0, 3.1, 0.4]))
    requests = [
        request("What is said?", a),
        request("Longer?", a, b),
        request("Longer?", b, a),
        request("Say yes."),
        request("", c),
    ]
    answers = lm.generate_until(requests)
    assert by_one(load("qwen2_audio", adapter="my_adapter:MyAdapter", resume=False), requests) == answers
    assert len(set(answers)) == len(answers)
    assert lm.identity["adapter"] == "qwen2-audio-base" and lm.identity["chat_template"].endswith("<|audio_eos|>{text}")
    prompt = lm._adapter.inputs([lm._adapter.messages(Chat((("user", "Which sounds longer?"),)), [tone(300, 0.2)], "after")])[
        "input_ids"
    ][0]
    assert lm._adapter.tokenizer.decode(prompt) == "Which sounds longer?<|audio_bos|>" + "<|AUDIO|>" * 5 + "<|audio_eos|>"
