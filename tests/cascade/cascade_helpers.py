"""A recogniser that only says what it was given, tiny random models in transformers' form, clips, requests."""

from __future__ import annotations

import io
import string
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import soundfile
from lm_eval.api.instance import Instance

from dsb2_tasks.audio import ensure_torchaudio

LANGUAGES = ("en", "fr")


class Echo:
    """Says how long a clip is and which language it was told; may break down after some clips."""

    name = "echo"
    languages = frozenset({"en", "fr"})
    least_batch = 1

    def __init__(self, name: str = "echo", patience: int = 1000) -> None:
        self.identity = {"engine": name}
        self.heard: list[float] = []
        self.batches: list[int] = []
        self._patience = patience

    def transcribe(self, clips: Sequence[np.ndarray], language: str | None) -> list[str]:
        if len(self.heard) + len(clips) > self._patience:
            raise RuntimeError("out of patience")
        self.heard += [len(clip) / 16_000 for clip in clips]
        self.batches.append(len(clips))
        told = f" of {language}" if language else ""
        return [f"{len(clip) / 16_000:.1f} seconds{told}" if clip.any() else "" for clip in clips]


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


def make_llama(folder: Path, *, template: bool = True, context: int = 2048, seed: int = 0) -> Path:
    """Writes a random Llama of some 100 kB over the 256 bytes."""
    ensure_torchaudio()
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    raw = Tokenizer(models.BPE(vocab={"<end>": 0, **{byte: i for i, byte in enumerate(alphabet, 1)}}, merges=[]))
    raw.pre_tokenizer, raw.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=raw, eos_token="<end>", pad_token="<end>")
    if template:
        turns = "{% for m in messages %}[{{ m['role'] }}]{{ m['content'] }}{% endfor %}"
        tokenizer.chat_template = turns + "{% if add_generation_prompt %}[assistant]{% endif %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(seed)
    LlamaForCausalLM(
        LlamaConfig(
            vocab_size=257,
            hidden_size=16,
            intermediate_size=32,
            num_hidden_layers=1,
            num_attention_heads=2,
            max_position_embeddings=context,
            eos_token_id=0,
            pad_token_id=0,
        )
    ).save_pretrained(folder)
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
