"""Audio Flamingo 3 and its sibling for music: one clip a conversation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dsb2_tasks.audio import join
from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models.adapters.generic import Adapter, Position, Samples


class AudioFlamingo(Adapter):
    """Several clips are joined, with half a second of silence between them: the processor takes one a conversation."""

    name = "audio-flamingo"
    joins = True

    @property
    def window_seconds(self) -> float:
        """What the processor keeps: it cuts a long clip into windows of its feature extractor's length itself."""
        return float(self.processor.max_audio_len)

    def messages(self, chat: Chat, clips: Sequence[Samples], position: Position) -> list[dict[str, Any]]:
        """A conversation with one clip at most."""
        return super().messages(chat, [join(clips, self.rate)] if len(clips) > 1 else clips, position)
