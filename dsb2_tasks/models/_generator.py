"""One batch through a model of transformers: conversations to inputs, inputs to texts."""

from __future__ import annotations

import copy
import threading
from collections.abc import Sequence
from typing import Any

from dsb2_tasks.models._base import Question
from dsb2_tasks.models._generation import Generation, cut
from dsb2_tasks.models._preparing import Output
from dsb2_tasks.models.adapters import Adapter
from dsb2_tasks.models.adapters.generic import Position, Samples

_NO_MEMORY = ("out of memory", "can't allocate memory", "not enough memory", "alloc_failed")


class Generator:
    """A loaded model and its adapter; :meth:`encode` may run in another thread than :meth:`generate`."""

    def __init__(self, model: Any, adapter: Adapter, position: Position) -> None:
        """Takes them.

        Args:
            model: In evaluation mode, on its device.
            adapter: Of the model's family.
            position: Where the clips stand in a turn.
        """
        self.model, self.adapter, self._position = model, adapter, position
        # A tokenizer of the fast kind fails if it is changed (padding is set) while another thread uses it.
        self._lock = threading.Lock()

    def encode(self, questions: Sequence[Question], clips: Sequence[Sequence[Samples]]) -> Any:
        """Model inputs of a batch whose questions share generation settings, on the CPU, in the model's number type."""
        conversations = [
            self.adapter.messages(question.chat, parts, self._position) for question, parts in zip(questions, clips, strict=True)
        ]
        with self._lock:
            inputs = self.adapter.inputs(conversations, reply_begun=questions[0].chat.reply_begun)
        inputs = inputs.to(dtype=self.model.dtype)  # floating point parts alone change their type
        if self.model.device.type == "cuda":
            for name, value in inputs.items():
                # From pinned memory the copy to the GPU need not be waited for.
                inputs[name] = value.pin_memory() if hasattr(value, "pin_memory") else value
        return inputs

    def generate(self, inputs: Any, generation: Generation) -> list[Output]:
        """Answers to a batch, in order; ``inputs`` stay as they are."""
        import torch

        here = copy.copy(inputs).to(self.model.device, non_blocking=True)
        with torch.inference_mode():
            output = self.model.generate(**here, **self._options(generation))
        rows = self.adapter.new_tokens(output, here).tolist()
        with self._lock:
            return [self._read(tokens, generation) for tokens in rows]

    def _options(self, generation: Generation) -> dict[str, Any]:
        """Keywords of ``generate``."""
        options: dict[str, Any] = {
            "max_new_tokens": generation.max_new_tokens,
            "do_sample": generation.sampling,
            "pad_token_id": self._pad_token,
        }
        if not generation.sampling:
            # A model may come with sampling settings of its own, about which transformers would warn at every batch.
            options |= {"temperature": 1.0, "top_p": 1.0, "top_k": 50}
        if generation.until:
            options |= {"stop_strings": list(generation.until), "tokenizer": self.adapter.tokenizer}
        return {**options, **generation.options}

    @property
    def _ends(self) -> list[int]:
        ends = self.model.generation_config.eos_token_id
        return [ends] if isinstance(ends, int) else list(ends or [])

    @property
    def _pad_token(self) -> int | None:
        pad = self.adapter.tokenizer.pad_token_id
        return pad if pad is not None else next(iter(self._ends), None)

    def _read(self, tokens: list[int], generation: Generation) -> Output:
        """Text of one row: up to its end token, the rest is padding."""
        ends = [tokens.index(end) for end in self._ends if end in tokens]
        whole = self.adapter.text(tokens[: min(ends, default=len(tokens))])
        text = cut(whole, generation.until)
        filled = len(tokens) >= generation.max_new_tokens and tokens[-1] != self._pad_token
        return Output(text, capped=not ends and filled and text == whole)


def out_of_memory(error: Exception) -> bool:
    """Whether an allocator gave up: a GPU's or a CPU's of PyTorch, which has a class for the first alone, or NumPy's."""
    text = str(error).lower()
    return isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and any(said in text for said in _NO_MEMORY))
