"""Gemma 3n and Gemma 4."""

from __future__ import annotations

from dsb2_tasks.models.adapters._audio_only import AudioOnly


class Gemma3n(AudioOnly):
    """Gemma 3n: each clip is 188 tokens, whatever its length."""

    name = "gemma3n"
    processor_class = "Gemma3nProcessor"

    @property
    def window_seconds(self) -> float:
        """30 s: its feature extractor cuts there, in silence, and names no limit."""
        return 30.0


class Gemma4(Gemma3n):
    """Gemma 4: 25 tokens a second."""

    name = "gemma4"
    processor_class = "Gemma4Processor"
