"""Voxtral: mistral-common writes the prompt, and takes audio as base64 text."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import soundfile

from dsb2_tasks.models.adapters.generic import Adapter, Samples


class Voxtral(Adapter):
    """Voxtral with a tokenizer of mistral-common (``pip install mistral-common``)."""

    name = "voxtral"

    @property
    def window_seconds(self) -> float:
        """40 min, as its authors say: its processor makes 30-second windows of a long clip itself."""
        return 2400.0

    @property
    def chat_template(self) -> str:
        """The library that stands for a template; the version of the prompt's format is a part of the tokenizer."""
        return f"mistral-common {version('mistral-common')}"

    def audio_block(self, samples: Samples) -> dict[str, Any]:
        """One clip as a wav file in base64."""
        file = io.BytesIO()
        soundfile.write(file, samples, self.rate, format="WAV", subtype="FLOAT")
        return {"type": "audio", "base64": base64.b64encode(file.getvalue()).decode("ascii")}

    def inputs(self, conversations: Sequence[list[dict[str, Any]]], *, reply_begun: bool = False) -> Any:
        """As the generic adapter; the tokenizer pads on the left by itself."""
        return self.processor.apply_chat_template(list(conversations), continue_final_message=reply_begun, return_tensors="pt")
