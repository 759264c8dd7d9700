"""The check at the start: does audio reach the model at all?

Libraries have dropped audio in silence before - a renamed keyword is enough - and then every clip gets the same answer.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models.adapters import Adapter

_SECONDS = 1.0
_HERTZ = 440.0


class AudioNotHeard(RuntimeError):
    """The inputs of the model do not depend on the audio, so no answer would mean anything."""


def check_hearing(adapter: Adapter, model: Any) -> None:
    """Prepares silence and a tone with the same text, and compares.

    Raises:
        AudioNotHeard: The inputs hold no audio tokens, do not differ, or differ in parts that the model does not take.
    """
    n = int(_SECONDS * adapter.rate)
    tone = (0.3 * np.sin(2 * np.pi * _HERTZ / adapter.rate * np.arange(n))).astype(np.float32)
    chat = Chat((("user", "What do you hear?"),))
    quiet, loud = (adapter.inputs([adapter.messages(chat, [clip], "before")]) for clip in (np.zeros_like(tone), tone))
    if adapter.placeholders(loud) == 0:
        raise AudioNotHeard(_message(adapter, "the chat template leaves no place for audio in the text"))
    heard = [name for name in loud if name not in quiet or not _same(loud[name], quiet[name])]
    if not heard:
        raise AudioNotHeard(_message(adapter, f"silence and a tone give the same inputs ({', '.join(sorted(loud))})"))
    taken = inspect.signature(model.forward).parameters
    # A wrapper that hands everything on names not even the text.
    if "input_ids" in taken and not set(heard) & set(taken):
        raise AudioNotHeard(_message(adapter, f"{type(model).__name__}.forward does not take {', '.join(sorted(heard))}"))


def _same(a: Any, b: Any) -> bool:
    return np.array_equal(np.asarray(a), np.asarray(b))


def _message(adapter: Adapter, reason: str) -> str:
    accepted = ", ".join(inspect.signature(type(adapter.processor).__call__).parameters)
    return (
        f"the audio does not reach the model: {reason}. Adapter {adapter.name!r}, processor "
        f"{type(adapter.processor).__name__}({accepted}). The run stops, for its answers would not be about the audio."
    )
