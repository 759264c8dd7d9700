"""What differs between families of audio models; found by the ``model_type`` of their config, imported when needed."""

from __future__ import annotations

import importlib
import logging
from typing import Any

from dsb2_tasks.models.adapters.generic import Adapter

__all__ = ["ADAPTERS", "Adapter", "find_adapter"]

log = logging.getLogger(__name__)

_GENERIC = "dsb2_tasks.models.adapters.generic:Adapter"

#: Families that were tried: model type -> where the adapter is.
ADAPTERS = {"qwen2_audio": _GENERIC}


def find_adapter(model_type: str, processor: Any) -> Adapter:
    """The adapter of a family; the generic one, with a warning, for a family that nobody has tried yet.

    Args:
        model_type: ``model_type`` of the model's config.
        processor: The model's processor.
    """
    if model_type not in ADAPTERS:
        log.warning(
            "model type %r has not been tried with dsb2-tasks (tried: %s); the generic adapter is used. The check at the start "
            "tells whether the audio reaches the model.",
            model_type,
            ", ".join(sorted(ADAPTERS)),
        )
    module, _, name = ADAPTERS.get(model_type, _GENERIC).partition(":")
    return getattr(importlib.import_module(module), name)(processor)
