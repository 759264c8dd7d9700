"""Phi-4-multimodal: a language model with a LoRA for speech in a sub-folder."""

from __future__ import annotations

import logging
from typing import Any

from dsb2_tasks.models._peft import find_peft, has_peft, load_peft
from dsb2_tasks.models.adapters._audio_only import AudioOnly

log = logging.getLogger(__name__)

_LORA = "speech-lora"


class Phi4Multimodal(AudioOnly):
    """Phi-4-multimodal in the form of transformers (the first form, with code of its own, has another ``model_type``).

    The convolutions of its encoder reach from a clip's end into the silence that fills it up.
    """

    name = "phi4-multimodal"
    alone = True
    processor_class = "Phi4MultimodalProcessor"

    def ready(self, model: Any, source: str, **common: Any) -> None:
        """Switches the LoRA for speech on, unless ``peft=`` has put another in its place.

        Without either the base model answers, which hardly follows the audio: that is said in the log.
        """
        if has_peft(model):
            return
        folder = find_peft(source, f"{_LORA}/", common.get("revision"))
        if folder is None:
            log.warning("%s has no LoRA for speech (%s); unless it is merged, name one by peft=<folder>", source, _LORA)
        else:
            load_peft(model, folder)
