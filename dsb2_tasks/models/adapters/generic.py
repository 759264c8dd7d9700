"""The adapter for every family whose processor does as transformers says: a chat template with audio blocks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.models._chat import Chat

Samples = NDArray[np.float32]
Position = Literal["before", "after"]

_RATE = 16_000  # of every family of transformers 5 whose feature extractor names none


class Adapter:
    """Turns conversations and clips into a model's inputs, and its output tokens into text.

    A family that needs something else overrides one of the methods and is entered in
    :data:`dsb2_tasks.models.adapters.ADAPTERS`.

    Attributes:
        name: For the results file.
        version: Goes up whenever the same request gives another prompt or other features: it is part of the response key.
        max_clips: Most clips one turn can carry; None for any number.
        channels: ``mono``, or ``keep`` for a family that hears several channels.
    """

    name: ClassVar[str] = "generic"
    version: ClassVar[int] = 1
    max_clips: ClassVar[int | None] = None
    channels: ClassVar[Literal["mono", "keep"]] = "mono"

    def __init__(self, processor: Any) -> None:
        """Takes the processor of a loaded model.

        Raises:
            ValueError: It has no part for audio.
        """
        self.processor = processor
        self._extractor = getattr(processor, "feature_extractor", None) or getattr(processor, "audio_processor", None)
        if self._extractor is None:
            raise ValueError(f"its processor ({type(processor).__name__}) has no audio feature extractor, so it hears nothing")

    @property
    def rate(self) -> int:
        """Sampling rate that the model hears at, in Hz."""
        return int(getattr(self._extractor, "sampling_rate", None) or _RATE)

    @property
    def window_seconds(self) -> float | None:
        """Longest clip that the feature extractor keeps whole; None if it names no limit."""
        seconds = getattr(self._extractor, "chunk_length", None)
        return float(seconds) if seconds else None

    @property
    def tokenizer(self) -> Any:
        """The processor's tokenizer."""
        return self.processor.tokenizer

    @property
    def chat_template(self) -> str:
        """The template in use, as text.

        Raises:
            ValueError: Neither processor nor tokenizer has one.
        """
        template = getattr(self.processor, "chat_template", None) or getattr(self.tokenizer, "chat_template", None)
        if not template:
            raise ValueError("it has no chat template, neither in its processor nor in its tokenizer")
        return template if isinstance(template, str) else str(template)

    def audio_block(self, samples: Samples) -> dict[str, Any]:
        """One clip as a block of a chat turn."""
        return {"type": "audio", "audio": samples}

    def messages(self, chat: Chat, clips: Sequence[Samples], position: Position) -> list[dict[str, Any]]:
        """A conversation with its clips, in order, before or after the text of the last user turn."""
        last = max(i for i, (role, _) in enumerate(chat.turns) if role == "user")
        messages = []
        for i, (role, text) in enumerate(chat.turns):
            blocks = [{"type": "text", "text": text}]
            if i == last:
                audio = [self.audio_block(clip) for clip in clips]
                blocks = [*audio, *blocks] if position == "before" else [*blocks, *audio]
            messages.append({"role": role, "content": blocks})
        return messages

    def inputs(self, conversations: Sequence[list[dict[str, Any]]], *, reply_begun: bool = False) -> Any:
        """Model inputs of a batch, padded on the left: token ids, masks and audio features, as PyTorch tensors on the CPU.

        Args:
            conversations: From :meth:`messages`.
            reply_begun: Whether their last turn is to be gone on with.
        """
        return self.processor.apply_chat_template(
            list(conversations),
            add_generation_prompt=not reply_begun,
            continue_final_message=reply_begun,
            tokenize=True,
            return_dict=True,
            return_tensors="pt",
            # Nested: a flat padding=True would reach the feature extractor as well.
            processor_kwargs={"text_kwargs": {"padding": True, "padding_side": "left"}},
        )

    def placeholders(self, inputs: Any) -> int | None:
        """Number of audio tokens in the first row of inputs; None if the processor does not say which token that is."""
        token = getattr(self.processor, "audio_token_id", None)
        return None if token is None else int((inputs["input_ids"][0] == token).sum())

    def new_tokens(self, output: Any, inputs: Any) -> Any:
        """What ``generate`` added: tensor of shape (rows, new tokens)."""
        return output[:, inputs["input_ids"].shape[1] :]

    def text(self, tokens: Any) -> str:
        """The answer that one row of tokens spells."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True)
