"""Qwen2.5-Omni and Qwen3-Omni: the thinker hears and writes; the talker, which speaks, is not loaded."""

from __future__ import annotations

from typing import Any

import numpy as np

from dsb2_tasks.models.adapters._audio_only import AudioOnly
from dsb2_tasks.models.adapters.generic import Samples


class Qwen25Omni(AudioOnly):
    """Qwen2.5-Omni.

    The whole model's ``generate`` would take the token cap for the talker's and leave the thinker at 1024 tokens.
    """

    name = "qwen2.5-omni"
    model_class = "Qwen2_5OmniThinkerForConditionalGeneration"
    processor_class = "Qwen2_5OmniProcessor"


class Qwen3Omni(AudioOnly):
    """Qwen3-Omni."""

    name = "qwen3-omni"
    model_class = "Qwen3OmniMoeThinkerForConditionalGeneration"
    processor_class = "Qwen3OmniMoeProcessor"

    def audio_block(self, samples: Samples) -> dict[str, Any]:
        """One clip with silence behind it: 13 to 23 ms to whole frames, and more up to a second, a window of the encoder.

        Without it, what is heard hangs on the batch.  Alone, the last frames of a clip are made with its own reflection, a part
        of a frame is dropped, and the encoder's convolutions end with a clip that is shorter than their window; beside a longer
        clip there are zeros in all three places.  Behind silence both are the same.
        """
        frame = self._extractor.hop_length
        silence = max(self._extractor.n_fft // 2, 2 * self.processor.n_window * frame - len(samples))
        silence += -(len(samples) + silence) % frame
        return super().audio_block(np.pad(samples, (0, silence)))

    @property
    def window_seconds(self) -> None:
        """None: its processor does not cut, whatever length its feature extractor names."""
        return None
