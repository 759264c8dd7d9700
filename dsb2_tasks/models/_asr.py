"""Speech recognisers behind one small interface: 16 kHz mono samples in, text out.

Whisper models are read by two engines, see :mod:`dsb2_tasks.models._asr_whisper`, and a server is asked by
:mod:`dsb2_tasks.models._asr_api`.  A transcript depends on the clip, on :attr:`Recognizer.identity` and on the language told.
Whisper writes words over silence and noise; they are left as they are, for they are what the model answers.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.models._args import ModelArgError, read_choice, refuse_secrets
from dsb2_tasks.models._cascade_demo import ASR, demo_folder
from dsb2_tasks.models._fingerprint import fingerprint
from dsb2_tasks.models._tally import Failure

RATE = 16_000
_BEAMS = 5
_FORMS = "demo, a folder, a hub name such as openai/whisper-large-v3, faster-whisper:SIZE, or api:MODEL@http://host/v1"
#: What a mistyped name may have meant.
_KNOWN = {
    "demo": "demo",
    **{
        name: f"openai/whisper-{size}"
        for size in ("tiny", "base", "small", "medium", "large-v2", "large-v3", "large-v3-turbo")
        for name in (size, f"whisper-{size}", f"openai/whisper-{size}")
    },
}

Samples = NDArray[np.float32]


class RecognizerError(RuntimeError):
    """A recogniser cannot be had as asked for; the message names the argument and the fix."""


class Recognizer(Protocol):
    """What the cascade needs of a recogniser.

    Attributes:
        identity: Everything that a transcript hangs on but the clip and the language, versions of the decoding libraries
            included; JSON-able, free of paths and devices.
        name: What a reader of the results sees.
        languages: ISO 639-1 codes that it can be told; None if that is not known.
        least_batch: Clips that it is worth giving it at a time, at least.
    """

    identity: dict[str, Any]
    name: str
    languages: Collection[str] | None
    least_batch: int

    def transcribe(self, clips: Sequence[Samples], language: str | None) -> Sequence[str | Failure]:
        """Transcribes clips of shape (n,), float32 at 16 kHz; one text a clip, in order.

        Args:
            clips: The clips.
            language: Of all of them; None lets the recogniser hear for itself.
        """
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
    revision: str | None = None,
    beam_size: int | None = None,
    compute_type: str | None = None,
    key_env: str | None = None,
    device: str = "cpu",
) -> Recognizer:
    """Loads a recogniser.

    Args:
        asr: ``demo``; a folder; a name on the hub; ``faster-whisper:`` with a size, folder or hub name; or
            ``api:MODEL@http://host/v1``.
        cache: Folder for files that can be made again.
        revision: Branch, tag or commit of a hub name.
        beam_size: Beams of Whisper, 5 by default; 1 is greedy.
        compute_type: Number type of Whisper; by default int8 (faster-whisper) or float32 (transformers) on a CPU and float16
            elsewhere.
        key_env: Environment variable with the key of an API.
        device: ``cpu``, ``cuda`` or ``cuda:N``.

    Raises:
        RecognizerError: The model cannot be found or its files do not fit the engine.
        ModelArgError: An argument has a value that this model does not know, or does not go with this recogniser.
        DemoUnavailable: ``asr=demo`` and the demo packages are absent or not those that were pinned.
    """
    kind, colon, rest = asr.partition(":")
    if colon and kind == "api":
        _refuse(asr, "a server settles that itself", asr_revision=revision, beam_size=beam_size, compute_type=compute_type)
        from dsb2_tasks.models._asr_api import ApiRecognizer

        model, _, url = rest.partition("@")
        if not (model and url):
            raise ModelArgError(f"asr={asr!r}: a server is named as api:MODEL@http://host/v1")
        refuse_secrets("asr", url, "asr_key_env")
        return ApiRecognizer(model, url, key_env=key_env)
    _refuse(asr, "only asr=api:... asks a server for which a key may be needed", asr_key_env=key_env)
    prefixed = colon and kind == "faster-whisper"
    weights = _find_ctranslate2(asr, rest, revision) if prefixed else _find(asr, cache, revision)
    from dsb2_tasks.models import _asr_whisper

    engine = _asr_whisper.FasterWhisper if weights.ctranslate2 else _asr_whisper.TransformersWhisper
    return engine(weights, beam_size=beam_size or _BEAMS, compute_type=compute_type or "auto", device=device)


def _refuse(asr: str, why: str, **given: object) -> None:
    for name, value in given.items():
        if value is not None:
            raise ModelArgError(f"{name}={value!r} does not go with asr={asr!r}: {why}; leave it out")


def _find(asr: str, cache: Path, revision: str | None) -> Weights:
    if asr == "demo":
        _refuse(asr, "its weights come with a package and are pinned", asr_revision=revision)
        folder = demo_folder(ASR, cache)
        return Weights("demo", fingerprint(folder), str(folder), None, True)
    folder = Path(asr).expanduser()
    if folder.is_dir():
        return _find_in_folder(asr, folder, revision)
    if "/" not in asr or ":" in asr:
        raise RecognizerError(f"asr={asr!r} is no folder and no hub name{_suggestion(asr)}; it may be {_FORMS}")
    from huggingface_hub import snapshot_download

    try:
        # All that either engine reads but weights of transformers, which come in several forms and are left to it.
        folder = Path(snapshot_download(asr, revision=revision, allow_patterns=["*.json", "*.txt", "model.bin"]))
    except Exception as error:  # the hub client raises a dozen unrelated types: offline, gated, gone, no valid name
        raise _not_on_hub(asr, asr, error) from None
    commit = folder.name
    if _is_ctranslate2(folder):
        return Weights(asr, commit, str(folder), None, True)
    return Weights(asr, commit, asr, commit, False)


def _find_in_folder(asr: str, folder: Path, revision: str | None) -> Weights:
    _refuse(asr, "a folder has no revisions", asr_revision=revision)
    if not (folder / "config.json").is_file():
        raise RecognizerError(f"asr={asr!r}: the folder holds no config.json, so no Whisper model lies there")
    return Weights(folder.resolve().name, fingerprint(folder), str(folder), None, _is_ctranslate2(folder))


def _find_ctranslate2(asr: str, name: str, revision: str | None) -> Weights:
    """What stands behind ``faster-whisper:``."""
    folder = Path(name).expanduser()
    if name and folder.is_dir():
        weights = _find_in_folder(asr, folder, revision)
    else:
        try:
            from faster_whisper import available_models, download_model
        except ImportError:
            raise RecognizerError(f"asr={asr!r} needs package faster-whisper; run: pip install faster-whisper") from None
        if "/" not in name:
            read_choice("asr=faster-whisper", name, available_models())
        try:
            folder = Path(download_model(name, revision=revision))
        except Exception as error:  # as above
            raise _not_on_hub(asr, name if "/" in name else f"Systran/faster-whisper-{name}", error) from None
        weights = Weights(name, folder.name, str(folder), None, _is_ctranslate2(folder))
    if not weights.ctranslate2:
        raise RecognizerError(
            f"asr={asr!r} holds no CTranslate2 files (model.bin beside config.json), which faster-whisper needs; for files of "
            f"transformers give asr={name}"
        )
    return weights


def _not_on_hub(asr: str, name: str, error: Exception) -> RecognizerError:
    cause = next(iter(str(error).strip().splitlines()), "")
    return RecognizerError(
        f"asr={asr!r} is no folder, and the hub does not give it{_suggestion(asr)}: {type(error).__name__}: {cause}\n"
        f"Ways out: a connection, or fetch it once by 'hf download {name}'; asr=<folder> with a Whisper model; "
        f'asr=demo after pip install "dsb2-tasks[demo]"'
    )


def _suggestion(asr: str) -> str:
    prefix, colon, rest = asr.partition(":")
    near = difflib.get_close_matches(prefix, ("faster-whisper", "api") if colon else _KNOWN, n=1)
    meant = asr if not near else f"{near[0]}:{rest}" if colon else _KNOWN[near[0]]
    return f" (did you mean {meant!r}?)" if meant != asr else ""


def _is_ctranslate2(folder: Path) -> bool:
    """CTranslate2 keeps all weights in one ``model.bin``; its config.json has no ``model_type``."""
    config = folder / "config.json"
    return (folder / "model.bin").is_file() and config.is_file() and "model_type" not in json.loads(config.read_text("utf-8"))
