"""What the benchmarks of the backends work on: Qwen2-Audio models of random weights in memory, clips, and requests."""

from __future__ import annotations

import hashlib
import io
import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from lm_eval.api.instance import Instance

from dsb2_tasks.audio import STORE, RawAudio, ensure_torchaudio, make_handle
from dsb2_tasks.models import _load
from dsb2_tasks.models.hf_audio import HFAudio

RATE = 16_000
#: Sizes of the language model and of the encoder: tests; benchmarks on a CPU; the published model of 8.4 billion numbers.
SIZES: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "tiny": (
        {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2},
        {"d_model": 32, "encoder_layers": 1, "encoder_attention_heads": 2, "encoder_ffn_dim": 64},
    ),
    "small": (
        {
            "hidden_size": 512,
            "intermediate_size": 1536,
            "num_hidden_layers": 8,
            "num_attention_heads": 8,
            "num_key_value_heads": 8,
        },
        {"d_model": 128, "encoder_layers": 2, "encoder_attention_heads": 4, "encoder_ffn_dim": 256},
    ),
    "real": (
        {
            "hidden_size": 4096,
            "intermediate_size": 11008,
            "num_hidden_layers": 32,
            "num_attention_heads": 32,
            "num_key_value_heads": 32,
        },
        {"d_model": 1280, "encoder_layers": 32, "encoder_attention_heads": 20, "encoder_ffn_dim": 5120},
    ),
}


def make_model(folder: Path, size: str, device: Any, dtype: Any) -> _load.Loaded:
    """A model of random weights on a device, with the processor of the tiny model; nothing of it is written to disk.

    Args:
        folder: Where the processor is written.
        size: One of :data:`SIZES`.
        device: ``torch.device``.
        dtype: ``torch.dtype`` of the weights.
    """
    import torch

    ensure_torchaudio()
    from transformers import AutoProcessor, Qwen2AudioConfig, Qwen2AudioForConditionalGeneration

    from dsb2_tasks.models.adapters import find_adapter
    from dsb2_tasks.samples.tiny_model import make_tiny_model

    processor = AutoProcessor.from_pretrained(make_tiny_model(folder))
    config = Qwen2AudioConfig.from_pretrained(folder)
    text, audio = SIZES[size]
    for part, changes in ((config.text_config, text), (config.audio_config, audio)):
        for name, value in changes.items():
            setattr(part, name, value)
        part.layer_types = None if not hasattr(part, "layer_types") else ["full_attention"] * part.num_hidden_layers
    before = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    torch.manual_seed(0)
    try:
        with torch.device(device):
            model = Qwen2AudioForConditionalGeneration(config).eval()
    finally:
        torch.set_default_dtype(before)
    model.generation_config.pad_token_id = processor.tokenizer.pad_token_id
    model.generation_config.eos_token_id = None  # every answer is as long as its cap, so that all ways do the same work
    return _load.Loaded(model, find_adapter("qwen2_audio")(processor), {"random": size, "dtype": str(dtype), "chat_template": ""})


def backend(loaded: _load.Loaded, device: Any, **arguments: Any) -> HFAudio:
    """``hf-audio`` with a model that is in memory already; nothing is kept."""
    load = _load.load
    _load.load = lambda *_, **__: loaded  # type: ignore[assignment]
    try:
        return HFAudio(device=str(device), resume=False, **arguments)
    finally:
        _load.load = load


class Clips:
    """An audio source in memory, of noise of the given lengths in seconds."""

    _numbers = itertools.count()

    def __init__(self, seconds: Sequence[float]) -> None:
        self.repo = f"bench/clips-{next(self._numbers)}"
        drawn = np.random.default_rng(0)
        self.files = [_flac(0.1 * drawn.standard_normal(round(s * RATE))) for s in seconds]
        STORE.register(self.repo, "local", "test", self)

    def read(self, row: int, column: str) -> RawAudio:
        """The file of one clip."""
        return RawAudio(self.files[row], f"{row}.flac")

    def handles(self) -> list[dict[str, Any]]:
        """Handles of all clips."""
        place = {"repo": self.repo, "revision": "local", "split": "test", "column": "audio"}
        return [make_handle(**place, row=i, sha256=hashlib.sha256(data).hexdigest()) for i, data in enumerate(self.files)]

    def requests(self, tokens: int) -> list[Instance]:
        """A question about every clip, answered with ``tokens`` tokens."""
        settings = {"until": [], "do_sample": False, "max_gen_toks": tokens}
        return [
            Instance("generate_until", {}, ("What is said?", dict(settings), {"audio": [handle]}), i, metadata=("bench", i, 1))
            for i, handle in enumerate(self.handles())
        ]


def lengths(number: int, longest: float = 28.0) -> list[float]:
    """Lengths of clips as data sets have them: most a few seconds, some up to ``longest``; drawn, the same every time."""
    drawn = np.random.default_rng(1).lognormal(mean=1.3, sigma=0.8, size=number)
    return [float(min(max(s, 0.5), longest)) for s in drawn]


def _flac(samples: np.ndarray) -> bytes:
    file = io.BytesIO()
    soundfile.write(file, samples, RATE, format="FLAC")
    return file.getvalue()
