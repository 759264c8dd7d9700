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


class UnknownFamily(ValueError):
    """A model does not fit the adapter it was given; one sentence that says in what."""


class Adapter:
    """Turns conversations and clips into a model's inputs, and its output tokens into text.

    A family that needs something else overrides one of the methods and is entered in
    :data:`dsb2_tasks.models.adapters.ADAPTERS`, or named by the model argument ``adapter=module:Class``.

    Attributes:
        name: For the results file.
        version: Goes up whenever the same request gives another prompt or other features: it is part of the response key.
        model_class: Name of the class of transformers to load the model with; None for the Auto class that holds it.
        min_clips: Fewest clips one turn must carry.
        max_clips: Most clips one turn can carry; None for any number.
        alone: Whether each request is asked alone, for padding it to the length of another would change what is heard.
        joins: Whether several clips of a turn are heard as one, with silence between them.
        channels: ``mono``, or ``keep`` for a family that hears several channels.
    """

    name: ClassVar[str] = "generic"
    version: ClassVar[int] = 1
    model_class: ClassVar[str | None] = None
    min_clips: ClassVar[int] = 0
    max_clips: ClassVar[int | None] = None
    alone: ClassVar[bool] = False
    joins: ClassVar[bool] = False
    channels: ClassVar[Literal["mono", "keep"]] = "mono"

    def __init__(self, processor: Any) -> None:
        """Takes the processor of a loaded model.

        Raises:
            UnknownFamily: It has no part for audio.
        """
        self.processor = processor
        self._extractor: Any = getattr(processor, "feature_extractor", None) or getattr(processor, "audio_processor", None)
        if self._extractor is None:
            raise UnknownFamily(f"its processor ({type(processor).__name__}) has no audio feature extractor")
        if not getattr(processor, "chat_template", None):  # some processors lose theirs when they are saved
            processor.chat_template = getattr(self.tokenizer, "chat_template", None)

    @classmethod
    def load_processor(cls, source: str, **common: Any) -> Any:
        """The processor that comes with a model.

        Args:
            source: Hub name or folder.
            **common: Keywords of every ``from_pretrained``: revision, whether remote code may run.
        """
        from transformers import AutoProcessor

        return AutoProcessor.from_pretrained(source, **common)

    def ready(self, model: Any, source: str, **common: Any) -> None:
        """Whatever is still to be done to the loaded model before it is asked.

        Args:
            model: The model, with its weights.
            source: Hub name or folder that it came from.
            **common: As for :meth:`load_processor`.
        """

    @property
    def identity(self) -> dict[str, Any]:
        """What else the answers hang on, JSON-able, for the results file and the response key."""
        return {}

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
            UnknownFamily: Neither processor nor tokenizer has one.
        """
        template = self.processor.chat_template
        if not template:
            raise UnknownFamily("it has no chat template, neither in its processor nor in its tokenizer")
        return template if isinstance(template, str) else str(template)

    def audio_block(self, samples: Samples) -> dict[str, Any]:
        """One clip as a block of a chat turn."""
        return {"type": "audio", "audio": samples}

    def messages(self, chat: Chat, clips: Sequence[Samples], position: Position) -> list[dict[str, Any]]:
        """A conversation with its clips, in order, before or after the text of the last user turn."""
        last = last_user(chat)
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

    @property
    def audio_token_id(self) -> int | None:
        """The token that stands for audio in the text; None if the processor does not say which one that is."""
        token = getattr(self.processor, "audio_token_id", None)
        if token is None and (text := getattr(self.processor, "audio_token", None)) is not None:
            token = self.tokenizer.convert_tokens_to_ids(text)
        return token

    def placeholders(self, inputs: Any) -> int | None:
        """Number of audio tokens in the first row of inputs; None if it is not known which token that is."""
        token = self.audio_token_id
        return None if token is None else int((inputs["input_ids"][0] == token).sum())

    def new_tokens(self, output: Any, inputs: Any) -> Any:
        """What ``generate`` added: tensor of shape (rows, new tokens)."""
        return output[:, inputs["input_ids"].shape[1] :]

    def text(self, tokens: Any) -> str:
        """The answer that one row of tokens spells."""
        return self.tokenizer.decode(tokens, skip_special_tokens=True)


def last_user(chat: Chat) -> int:
    """Position of the turn that carries the clips."""
    return max(i for i, (role, _) in enumerate(chat.turns) if role == "user")
