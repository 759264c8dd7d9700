"""What differs between families of audio models; found by the ``model_type`` of their config, imported when needed."""

from __future__ import annotations

import importlib
import logging

from dsb2_tasks.models.adapters.generic import Adapter, UnknownFamily

__all__ = ["ADAPTERS", "Adapter", "UnknownFamily", "find_adapter"]

log = logging.getLogger(__name__)

_HERE = "dsb2_tasks.models.adapters"
_GENERIC = f"{_HERE}.generic:Adapter"

#: Families that were tried: model type -> where the adapter is.
ADAPTERS = {
    "audioflamingo3": f"{_HERE}.audio_flamingo:AudioFlamingo",
    "gemma3n": f"{_HERE}.gemma:Gemma3n",
    "gemma4": f"{_HERE}.gemma:Gemma4",
    "granite_speech": f"{_HERE}.granite:GraniteSpeech",
    "musicflamingo": f"{_HERE}.audio_flamingo:AudioFlamingo",
    "phi4_multimodal": f"{_HERE}.phi4:Phi4Multimodal",
    "qwen2_5_omni": f"{_HERE}.omni:Qwen25Omni",
    "qwen2_5_omni_thinker": f"{_HERE}.omni:Qwen25Omni",
    "qwen2_audio": _GENERIC,
    "qwen3_omni_moe": f"{_HERE}.omni:Qwen3Omni",
    "qwen3_omni_moe_thinker": f"{_HERE}.omni:Qwen3Omni",
    "voxtral": f"{_HERE}.voxtral:Voxtral",
    "whisper": f"{_HERE}.transcriber:Transcriber",
}


def find_adapter(model_type: str, wanted: str | None = None) -> type[Adapter]:
    """The adapter of a family; the generic one, with a warning, for a family that nobody has tried yet.

    Args:
        model_type: ``model_type`` of the model's config.
        wanted: ``module:Class`` of an adapter to use instead; its module is imported here and nowhere else.

    Raises:
        ValueError: ``wanted`` names no adapter; the message says why.
    """
    if wanted is not None:
        return _import_wanted(wanted)
    if model_type not in ADAPTERS:
        log.warning(
            "model type %r has not been tried with dsb2-tasks (tried: %s); the generic adapter is used. The check at the start "
            "tells whether the audio reaches the model.",
            model_type,
            ", ".join(sorted(ADAPTERS)),
        )
    module, _, name = ADAPTERS.get(model_type, _GENERIC).partition(":")
    return getattr(importlib.import_module(module), name)


def _import_wanted(wanted: str) -> type[Adapter]:
    module, _, name = wanted.partition(":")
    if not module or not name:
        raise ValueError(f"adapter={wanted!r} is not of the form module:Class")
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ImportError as error:
        raise ValueError(
            f"adapter={wanted!r} cannot be imported ({error}); its folder must be on the path of Python, "
            f"for example by PYTHONPATH=<folder with {module.partition('.')[0]}.py>"
        ) from error
    if not (isinstance(found, type) and issubclass(found, Adapter)):
        raise ValueError(f"adapter={wanted!r} is no subclass of dsb2_tasks.models.adapters.Adapter in {module}")
    return found
