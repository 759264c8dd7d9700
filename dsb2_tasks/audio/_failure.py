"""The answer text that stands for "the model could not be asked", told apart from anything a model says.

lm-eval knows only answers, so a failure of the tool travels as one.  It begins with a word joiner (U+2060, invisible,
kept by ``str.strip`` and by JSON) and a bracketed name.  :func:`clean_answer` takes the joiner out of what models write,
so that no model can leave the denominator by claiming a broken clip.
"""

from __future__ import annotations

import re

FAILURE_KINDS = ("audio_error", "model_error")
_JOINER = "\u2060"
_MARK = re.compile(rf"{_JOINER}\[\[dsb2:({'|'.join(FAILURE_KINDS)})\]\] (.*)", re.DOTALL)
_FAKE = re.compile(rf"{_JOINER}+(?=\[\[dsb2:)")


def failure(kind: str, reason: str) -> str:
    """The answer that records a failure of the tool.

    Args:
        kind: ``audio_error`` (no audio to ask about) or ``model_error`` (the model raised).
        reason: Why; put on one line.
    """
    if kind not in FAILURE_KINDS:
        raise ValueError(f"kind of failure {kind!r} is not one of {', '.join(FAILURE_KINDS)}")
    return f"{_JOINER}[[dsb2:{kind}]] {' '.join(reason.split())}"


def read_failure(text: str) -> tuple[str, str] | None:
    """Kind and reason of a recorded failure; None for an answer of a model."""
    found = _MARK.fullmatch(text)
    return (found[1], found[2]) if found else None


def clean_answer(text: str) -> str:
    """A model's text with every imitation of a failure mark made harmless; all other text is left as it is."""
    return _FAKE.sub("", text)
