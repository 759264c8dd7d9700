"""What is no answer: thinking blocks, special tokens, characters that no text holds."""

from __future__ import annotations

import re

_THINK = re.compile(r"<(/?)(?:think(?:ing)?|thoughts?|reasoning)>|\[(/?)think\]|◁(/?)think▷", re.IGNORECASE)
#: The channels of a decoder that thinks in one and answers in another.
_CHANNEL = re.compile(r"<\|channel\|>\s*+(\w+)[^<]{0,100}+<\|message\|>")
#: Characters, some 100,000 tokens of a list.
_LONGEST = 400_000
_ANSWER = re.compile(r"<(/?)answer>", re.IGNORECASE)
_BOX = re.compile(r"\\boxed\{([^{}]{0,200}+(?:\{[^{}]{0,200}+\}[^{}]{0,200}+){0,3})\}")
_LATEX_TEXT = re.compile(r"\\(?:text\w{0,2}|math\w{2})\b")
_SPECIAL = re.compile(r"<\|[^<>|]*+\|>")
# A lone surrogate cannot be encoded (opencc and sacrebleu refuse it); a control character is no part of an answer.
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u200b\u2060\ufeff]")


def clean(text: str) -> str:
    r"""Removes what a model says to itself or to its decoder.

    ``<think>…</think>`` goes (an unclosed block to the end, an unopened one from the beginning; also ``<thought>``,
    ``<reasoning>``, ``[THINK]``, ``◁think▷`` and all channels but the final one), then ``<|…|>`` tokens.  Of a text that marks
    its ``<answer>…</answer>`` that alone is left, the last one.
    Lone surrogates become U+FFFD, control and zero-width characters a blank, line ends ``\n``.

    Args:
        text: A model's answer as it came.

    Returns:
        The answer without them, stripped.
    """
    text = _without_thinking(_CHANNEL.sub(lambda channel: "</think>" if channel[1] == "final" else "<think>", text))
    text = _marked_answer(_SPECIAL.sub(" ", text))
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    if not text.isascii():
        text = _SURROGATE.sub("\ufffd", text)
    return _CONTROL.sub(" ", text).strip()


def beginning(answer: str) -> str:
    """A cleaned answer as far as lists and times are looked for in it: longer than any clip's is none."""
    return clean(answer)[:_LONGEST]


def _without_thinking(text: str) -> str:
    kept: list[str] = []
    begin, depth = 0, 0
    for tag in _THINK.finditer(text):
        if tag[1] or tag[2] or tag[3]:
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


def _marked_answer(text: str) -> str:
    tags = list(_ANSWER.finditer(text))
    opened = [at for at, tag in enumerate(tags) if not tag[1]]
    if not opened:
        return text
    closing = tags[opened[-1] + 1 : opened[-1] + 2]
    marked = text[tags[opened[-1]].end() : closing[0].start() if closing else len(text)]
    return marked if marked.strip() else text


def boxed(text: str) -> str | None:
    r"""What stands in the last ``\boxed{…}`` of a text, without ``\text``; None if there is none."""
    box = _BOX.match(text, max(text.rfind("\\boxed{"), 0))
    return _LATEX_TEXT.sub(" ", box[1]) if box else None
