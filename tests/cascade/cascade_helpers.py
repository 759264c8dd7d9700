"""A tiny random Whisper in transformers' form, made from nothing; clips; requests."""

from __future__ import annotations

import io
import string
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from lm_eval.api.instance import Instance

from dsb2_tasks.audio import ensure_torchaudio

LANGUAGES = ("en", "fr")


def _tokenizer(folder: Path) -> dict[str, int]:
    from transformers import WhisperTokenizer

    vocabulary = {character: number for number, character in enumerate(string.ascii_letters)}
    tokenizer = WhisperTokenizer(vocab=vocabulary, merges=[])
    special = ["<|startoftranscript|>", *(f"<|{code}|>" for code in LANGUAGES), "<|translate|>", "<|transcribe|>"]
    special += ["<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    tokenizer.add_special_tokens({"additional_special_tokens": special})
    tokenizer.add_tokens([f"<|{step * 0.02:.2f}|>" for step in range(1501)])
    tokenizer.save_pretrained(folder)
    return tokenizer.get_vocab()


def make_whisper(folder: Path, *, multilingual: bool = True, seed: int = 0) -> Path:
    """Writes a random Whisper of some 100 kB whose tokenizer knows single letters only."""
    ensure_torchaudio()
    import torch
    from transformers import GenerationConfig, WhisperConfig, WhisperFeatureExtractor, WhisperForConditionalGeneration

    ids = _tokenizer(folder)
    end, start, plain = ids["<|endoftext|>"], ids["<|startoftranscript|>"], ids["<|notimestamps|>"]
    torch.manual_seed(seed)
    model = WhisperForConditionalGeneration(
        WhisperConfig(
            vocab_size=len(ids),
            num_mel_bins=80,
            encoder_layers=1,
            decoder_layers=1,
            encoder_attention_heads=2,
            decoder_attention_heads=2,
            encoder_ffn_dim=32,
            decoder_ffn_dim=32,
            d_model=16,
            max_target_positions=24,
            init_std=0.5,
            pad_token_id=end,
            bos_token_id=end,
            eos_token_id=end,
            decoder_start_token_id=start,
        )
    )
    with torch.no_grad():  # letters win over special tokens, so that different clips read differently
        model.model.decoder.embed_tokens.weight[: len(string.ascii_letters)] *= 4
    model.generation_config = GenerationConfig(
        max_length=24,
        pad_token_id=end,
        bos_token_id=end,
        eos_token_id=end,
        decoder_start_token_id=start,
        no_timestamps_token_id=plain,
        prev_sot_token_id=ids["<|startofprev|>"],
        max_initial_timestamp_index=50,
        suppress_tokens=[],
        begin_suppress_tokens=[],
        is_multilingual=multilingual,
        **(
            {
                "lang_to_id": {f"<|{code}|>": ids[f"<|{code}|>"] for code in LANGUAGES},
                "task_to_id": {"transcribe": ids["<|transcribe|>"], "translate": ids["<|translate|>"]},
            }
            if multilingual
            else {}
        ),
    )
    model.save_pretrained(folder)
    WhisperFeatureExtractor(feature_size=80).save_pretrained(folder)
    return folder


def noise(seconds: float, seed: int = 0) -> np.ndarray:
    """White noise at 16 kHz."""
    return (0.1 * np.random.default_rng(seed).standard_normal(round(seconds * 16_000))).astype(np.float32)


def wav(samples: np.ndarray, rate: int = 16_000) -> bytes:
    """A 16 bit wav file."""
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format="WAV", subtype="PCM_16")
    return out.getvalue()


def request(*handles: dict[str, Any], prompt: str = "Transcribe.", **generation: Any) -> Instance:
    """A request as lm-eval makes it."""
    settings = {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 100, **generation}
    arguments = (prompt, settings, {"audio": list(handles)}) if handles else (prompt, settings)
    return Instance("generate_until", {}, arguments, 0, ("task", 0, 1))
