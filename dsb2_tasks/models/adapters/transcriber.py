"""Whisper and its like: they write down speech and take no instruction."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models.adapters.generic import Adapter, Position, Samples

log = logging.getLogger(__name__)


class Transcriber(Adapter):
    """A speech recogniser: every answer is a transcript of the clip, whatever was asked."""

    name = "transcriber"
    min_clips = 1
    max_clips = 1

    @property
    def chat_template(self) -> str:
        """Empty: no text reaches the model."""
        return ""

    @property
    def identity(self) -> dict[str, Any]:
        """Says in the results that the instruction was not heard."""
        return {"instruction": "not heard"}

    def ready(self, model: Any, source: str, **common: Any) -> None:
        """Puts a limit on the token cap, and keeps greedy answers greedy."""
        log.warning(
            "%s is a speech recogniser: it does not hear the instruction, so every answer is a transcript of the clip, "
            "and tasks other than speech recognition are not answered",
            type(model).__name__,
        )
        generate, longest = model.generate, getattr(model.config, "max_target_positions", None)

        def bounded(**options: Any) -> Any:
            if not options.get("do_sample"):
                # Whisper takes any temperature above 0 for a wish to sample.
                options = {name: value for name, value in options.items() if name not in ("temperature", "top_p", "top_k")}
            if longest:  # its decoder begins with a few tokens of its own, and an error would be the answer to a higher cap
                options["max_new_tokens"] = min(options["max_new_tokens"], longest - _BEGINNING)
            return generate(**options)

        model.generate = bounded

    def messages(self, chat: Chat, clips: Sequence[Samples], position: Position) -> list[dict[str, Any]]:
        """The clip alone.

        Raises:
            ValueError: There is not exactly one.
        """
        if len(clips) != 1:
            raise ValueError(f"{len(clips)} clips: a speech recogniser takes one")
        return [{"role": "user", "content": [{"type": "audio", "audio": clips[0]}]}]

    def inputs(self, conversations: Sequence[list[dict[str, Any]]], *, reply_begun: bool = False) -> Any:
        """Audio features of a batch."""
        clips = [messages[0]["content"][0]["audio"] for messages in conversations]
        return self._extractor(clips, sampling_rate=self.rate, return_tensors="pt", return_attention_mask=True)

    def placeholders(self, inputs: Any) -> None:
        """None: there is no text that audio could have a place in."""

    def new_tokens(self, output: Any, inputs: Any) -> Any:
        """All that the decoder wrote."""
        return output


_BEGINNING = 4  # start, language, task, no time stamps
