"""What is no answer: thinking blocks, special tokens, characters that no text holds."""

from __future__ import annotations

import re

_THINK = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_SPECIAL = re.compile(r"<\|[^<>|]*+\|>")
# A lone surrogate cannot be encoded (opencc and sacrebleu refuse it); a control character is no part of an answer.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff]")


def clean(text: str) -> str:
    r"""Removes what a model says to itself or to its decoder.

    ``<think>…</think>`` goes (an unclosed block to the end, an unopened one from the beginning), then ``<|…|>`` tokens.
    Lone surrogates become U+FFFD, control and zero-width characters a blank, line ends ``\n``.

    Args:
        text: A model's answer as it came.

    Returns:
        The answer without them, stripped.
    """
    if "<" in text:
        text = _SPECIAL.sub(" ", _without_thinking(text))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    return _CONTROL.sub(" ", text).strip()


def _without_thinking(text: str) -> str:
    kept: list[str] = []
    begin, depth = 0, 0
    for tag in _THINK.finditer(text):
        if tag[1]:
            if depth == 0:
                kept.clear()
            depth = max(depth - 1, 0)
            begin = tag.end()
        else:
            if depth == 0:
                kept.append(text[begin : tag.start()])
            depth += 1
    if depth == 0:
        kept.append(text[begin:])
    return " ".join(kept)
