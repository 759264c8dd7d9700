"""Whisper by two engines, faster-whisper (CTranslate2 files) and transformers.

Both decode by beam search at temperature 0 and take every 30 s window for itself, so the same clip always gives the same text.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dsb2_tasks.models._args import read_choice
from dsb2_tasks.models._asr import RATE, RecognizerError, Samples, Weights

_WINDOW_SECONDS = 30
_CTRANSLATE2_TYPES = ("auto", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32")
_TORCH_TYPES = ("auto", "float16", "bfloat16", "float32")


def _versions(*packages: str) -> dict[str, str]:
    return {package: version(package) for package in packages}


class FasterWhisper:
    """Whisper by CTranslate2.  Takes one clip at a time and walks through long ones window by window."""

    least_batch = 1

    def __init__(self, weights: Weights, *, beam_size: int, compute_type: str, device: str) -> None:
        """Loads the model; see :func:`dsb2_tasks.models._asr.load_recognizer`."""
        try:
            versions = _versions("faster-whisper", "ctranslate2")
        except PackageNotFoundError as error:
            raise RecognizerError(
                f'asr={weights.name!r} needs package {error.name}; run: pip install faster-whisper  (part of "dsb2-tasks[demo]")'
            ) from None
        from faster_whisper import WhisperModel

        read_choice("compute_type", compute_type, _CTRANSLATE2_TYPES)
        kind, _, index = device.partition(":")
        if compute_type == "auto":
            compute_type = "int8" if kind == "cpu" else "float16"
        try:
            self._model = WhisperModel(weights.source, device=kind, device_index=int(index or 0), compute_type=compute_type)
        except (RuntimeError, ValueError) as error:  # no such device, type unknown to it, files of another program
            raise RecognizerError(
                f"asr={weights.name!r} on device={device!r} with compute_type={compute_type!r}: {error}"
            ) from None
        self.name = weights.name
        self.languages: Collection[str] | None = frozenset(self._model.supported_languages)
        self._beams = beam_size
        self.identity = {
            "engine": "faster-whisper",
            "model": weights.fingerprint,
            "beam_size": beam_size,
            "compute_type": compute_type,
            **versions,
        }

    def transcribe(self, clips: Sequence[Samples], language: str | None) -> list[str]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order."""
        return [self._one(clip, language) for clip in clips]

    def _one(self, clip: Samples, language: str | None) -> str:
        segments, _ = self._model.transcribe(
            clip,
            language=language,
            beam_size=self._beams,
            temperature=0.0,  # a single one: no fallback to sampling
            condition_on_previous_text=False,
            vad_filter=False,
        )
        return "".join(segment.text for segment in segments).strip()


class TransformersWhisper:
    """Whisper by transformers.  Clips of one window go in batches, longer ones one by one through its long-form decoding."""

    least_batch = 1

    def __init__(self, weights: Weights, *, beam_size: int, compute_type: str, device: str) -> None:
        """Loads the model; see :func:`dsb2_tasks.models._asr.load_recognizer`."""
        try:
            versions = _versions("transformers")
        except PackageNotFoundError as error:
            raise RecognizerError(f'asr={weights.name!r} needs package {error.name}; run: pip install "dsb2-tasks[hf]"') from None
        from dsb2_tasks.audio import ensure_torchaudio

        ensure_torchaudio()  # transformers' processors import it, and a broken one would end the run
        import torch
        from transformers import AutoConfig, AutoModelForSpeechSeq2Seq, WhisperProcessor

        read_choice("compute_type", compute_type, _TORCH_TYPES)
        if compute_type == "auto":
            compute_type = "float32" if device == "cpu" else "float16"
        place: dict[str, Any] = {"revision": weights.revision}
        try:
            kind = AutoConfig.from_pretrained(weights.source, **place).model_type
            if kind != "whisper":
                raise RecognizerError(f"asr={weights.name!r} is a model of type {kind!r}; this cascade reads Whisper models")
            self._processor = WhisperProcessor.from_pretrained(weights.source, **place)
            model = AutoModelForSpeechSeq2Seq.from_pretrained(weights.source, dtype=getattr(torch, compute_type), **place)
        except (OSError, ValueError) as error:  # what transformers raises for files that are missing or not its own
            raise RecognizerError(f"asr={weights.name!r} cannot be loaded by transformers: {error}") from None
        self._model = model.to(device).eval()
        self.name = weights.name
        generation = self._model.generation_config
        self._multilingual = bool(getattr(generation, "is_multilingual", False))
        codes = (token.strip("<|>") for token in generation.lang_to_id) if self._multilingual else ("en",)
        self.languages: Collection[str] | None = frozenset(codes)
        self._options = {"num_beams": beam_size, "do_sample": False, "temperature": 0.0, "condition_on_prev_tokens": False}
        self.identity = {
            "engine": "transformers",
            "model": weights.fingerprint,
            "beam_size": beam_size,
            "compute_type": compute_type,
            **versions,
        }

    def transcribe(self, clips: Sequence[Samples], language: str | None) -> list[str]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order."""
        short = [i for i, clip in enumerate(clips) if len(clip) <= _WINDOW_SECONDS * RATE]
        texts = [""] * len(clips)
        if short:
            for i, text in zip(short, self._generate([clips[i] for i in short], language, long=False), strict=True):
                texts[i] = text
        for i in sorted(set(range(len(clips))) - set(short)):
            texts[i] = self._generate([clips[i]], language, long=True)[0]
        return texts

    def _generate(self, clips: list[Samples], language: str | None, *, long: bool) -> list[str]:
        import torch

        # A model of one language takes no such arguments.
        told = {"task": "transcribe", "language": language} if self._multilingual else {}
        form = {"truncation": False, "padding": "longest"} if long else {}
        inputs = self._processor(audio=clips, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True, **form)
        with torch.inference_mode():
            tokens = self._model.generate(
                inputs["input_features"].to(self._model.device, self._model.dtype),
                attention_mask=inputs["attention_mask"].to(self._model.device),
                return_timestamps=long,  # long-form decoding moves on by them
                **self._options,
                **told,
            )
        return [text.strip() for text in self._processor.batch_decode(tokens, skip_special_tokens=True)]
