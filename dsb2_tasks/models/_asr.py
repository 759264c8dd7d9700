"""Speech recognisers behind one small interface: 16 kHz mono samples in, text out, always the same text for the same clip.

Two engines read Whisper models: faster-whisper (CTranslate2 files) and transformers.  Both decode by beam search at
temperature 0 and take every 30 s window for itself, so a transcript depends on the clip and on :attr:`Recognizer.identity` alone.
Whisper writes words over silence and noise; they are left as they are, for they are what the model answers.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.models._args import read_choice
from dsb2_tasks.models._asr_demo import demo_folder
from dsb2_tasks.models._fingerprint import fingerprint

RATE = 16_000
BACKENDS = ("auto", "faster-whisper", "transformers")
_WINDOW_SECONDS = 30
_CTRANSLATE2_TYPES = ("auto", "int8", "int8_float32", "int8_float16", "int8_bfloat16", "int16", "float16", "bfloat16", "float32")
_TORCH_TYPES = ("auto", "float16", "bfloat16", "float32")

Samples = NDArray[np.float32]


class RecognizerError(RuntimeError):
    """A recogniser cannot be had as asked for; the message names the argument and the fix."""


class Recognizer(Protocol):
    """What the cascade needs of a recogniser.

    Attributes:
        identity: Everything that a transcript hangs on but the clip, versions of the decoding libraries included; JSON-able,
            free of paths and devices.
    """

    identity: dict[str, Any]

    def transcribe(self, clips: Sequence[Samples]) -> list[str]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order."""
        ...


@dataclass(frozen=True)
class Weights:
    """A model that was found on this machine.

    Attributes:
        name: What a reader of the results sees: ``demo``, the hub name, or the folder's name.
        fingerprint: Commit of the hub, or a hash over the files' content: two models of one name never share a transcript.
        source: Folder, or hub name if its weights are still to be fetched by transformers.
        revision: Commit that goes with a hub name.
        ctranslate2: Whether the files are CTranslate2's.
    """

    name: str
    fingerprint: str
    source: str
    revision: str | None
    ctranslate2: bool


def load_recognizer(
    asr: str,
    *,
    cache: Path,
    backend: str = "auto",
    revision: str | None = None,
    language: str | None = None,
    beam_size: int = 5,
    compute_type: str = "auto",
    device: str = "cpu",
) -> Recognizer:
    """Loads a recogniser.

    Args:
        asr: ``demo``, a folder, or a name on the hub.
        cache: Folder for files that can be made again.
        backend: ``faster-whisper``, ``transformers``, or ``auto`` to go by the files.
        revision: Branch, tag or commit of a hub name.
        language: ISO 639-1 code; None lets the model hear for itself.
        beam_size: Beams; 1 is greedy.
        compute_type: Number type of the engine; ``auto`` is int8 (faster-whisper) or float32 (transformers) on a CPU and
            float16 elsewhere.
        device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        RecognizerError: The model cannot be found or its files do not fit the engine.
        ModelArgError: An argument has a value that this model does not know.
        DemoUnavailable: ``asr=demo`` and the demo packages are absent or not those that were pinned.
    """
    read_choice("asr_backend", backend, BACKENDS)
    weights = _find(asr, cache, revision)
    engine = backend if backend != "auto" else "faster-whisper" if weights.ctranslate2 else "transformers"
    if weights.ctranslate2 != (engine == "faster-whisper"):
        form = "CTranslate2 files" if weights.ctranslate2 else "no CTranslate2 files (model.bin beside config.json)"
        raise RecognizerError(f"asr={asr!r} holds {form}, which asr_backend={backend!r} does not read; leave asr_backend out")
    kind = FasterWhisper if engine == "faster-whisper" else TransformersWhisper
    return kind(weights, language=language, beam_size=beam_size, compute_type=compute_type, device=device)


def _find(asr: str, cache: Path, revision: str | None) -> Weights:
    if asr == "demo":
        folder = demo_folder(cache)
        return Weights("demo", fingerprint(folder), str(folder), None, True)
    folder = Path(asr).expanduser()
    if folder.is_dir():
        if not (folder / "config.json").is_file():
            raise RecognizerError(f"asr={asr!r}: the folder holds no config.json, so no Whisper model lies there")
        return Weights(folder.resolve().name, fingerprint(folder), str(folder), None, _is_ctranslate2(folder))
    return _find_on_hub(asr, revision)


def _find_on_hub(asr: str, revision: str | None) -> Weights:
    from huggingface_hub import snapshot_download

    try:
        # All that either engine reads but weights of transformers, which come in several forms and are left to it.
        folder = Path(snapshot_download(asr, revision=revision, allow_patterns=["*.json", "*.txt", "model.bin"]))
    except Exception as error:  # the hub client raises a dozen unrelated types: offline, gated, gone, no valid name
        cause = next(iter(str(error).strip().splitlines()), "")
        raise RecognizerError(
            f"asr={asr!r} is neither 'demo' nor a folder, and the hub does not give it: {type(error).__name__}: {cause}\n"
            f"Ways out: a connection, or fetch it once by 'hf download {asr}'; asr=<folder> with a Whisper model; "
            f'asr=demo after pip install "dsb2-tasks[demo]"'
        ) from None
    commit = folder.name
    if _is_ctranslate2(folder):
        return Weights(asr, commit, str(folder), None, True)
    return Weights(asr, commit, asr, commit, False)


def _is_ctranslate2(folder: Path) -> bool:
    """CTranslate2 keeps all weights in one ``model.bin``; its config.json has no ``model_type``."""
    config = folder / "config.json"
    return (folder / "model.bin").is_file() and config.is_file() and "model_type" not in json.loads(config.read_text("utf-8"))


def _versions(*packages: str) -> dict[str, str]:
    return {package: version(package) for package in packages}


class FasterWhisper:
    """Whisper by CTranslate2.  Takes one clip at a time and walks through long ones window by window."""

    def __init__(self, weights: Weights, *, language: str | None, beam_size: int, compute_type: str, device: str) -> None:
        """Loads the model; see :func:`load_recognizer`."""
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
        if language is not None:
            read_choice("language", language, self._model.supported_languages)
        self._language, self._beams = language, beam_size
        self.identity = {
            "engine": "faster-whisper",
            "model": weights.fingerprint,
            "language": language,
            "beam_size": beam_size,
            "compute_type": compute_type,
            **versions,
        }

    def transcribe(self, clips: Sequence[Samples]) -> list[str]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order."""
        return [self._one(clip) for clip in clips]

    def _one(self, clip: Samples) -> str:
        segments, _ = self._model.transcribe(
            clip,
            language=self._language,
            beam_size=self._beams,
            temperature=0.0,  # a single one: no fallback to sampling
            condition_on_previous_text=False,
            vad_filter=False,
        )
        return "".join(segment.text for segment in segments).strip()


class TransformersWhisper:
    """Whisper by transformers.  Clips of one window go in batches, longer ones one by one through its long-form decoding."""

    def __init__(self, weights: Weights, *, language: str | None, beam_size: int, compute_type: str, device: str) -> None:
        """Loads the model; see :func:`load_recognizer`."""
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
        self._options = self._decoding(language, beam_size)
        self.identity = {
            "engine": "transformers",
            "model": weights.fingerprint,
            "language": language,
            "beam_size": beam_size,
            "compute_type": compute_type,
            **versions,
        }

    def _decoding(self, language: str | None, beam_size: int) -> dict[str, Any]:
        options = {"num_beams": beam_size, "do_sample": False, "temperature": 0.0, "condition_on_prev_tokens": False}
        if getattr(self._model.generation_config, "is_multilingual", False):
            if language is not None:
                known = self._model.generation_config.lang_to_id
                read_choice("language", language, (token.strip("<|>") for token in known))
            return {**options, "task": "transcribe", "language": language}
        if language is not None:
            read_choice("language", language, ["en"])  # a model of one language takes no language argument
        return options

    def transcribe(self, clips: Sequence[Samples]) -> list[str]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order."""
        short = [i for i, clip in enumerate(clips) if len(clip) <= _WINDOW_SECONDS * RATE]
        texts = [""] * len(clips)
        if short:
            for i, text in zip(short, self._generate([clips[i] for i in short], long=False), strict=True):
                texts[i] = text
        for i in sorted(set(range(len(clips))) - set(short)):
            texts[i] = self._generate([clips[i]], long=True)[0]
        return texts

    def _generate(self, clips: list[Samples], *, long: bool) -> list[str]:
        import torch

        form = {"truncation": False, "padding": "longest"} if long else {}
        inputs = self._processor(audio=clips, sampling_rate=RATE, return_tensors="pt", return_attention_mask=True, **form)
        with torch.inference_mode():
            tokens = self._model.generate(
                inputs["input_features"].to(self._model.device, self._model.dtype),
                attention_mask=inputs["attention_mask"].to(self._model.device),
                return_timestamps=long,  # long-form decoding moves on by them
                **self._options,
            )
        return [text.strip() for text in self._processor.batch_decode(tokens, skip_special_tokens=True)]
