"""Finds a model, whatever its class, and says who it is; or says in one sentence why it cannot be had."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from dsb2_tasks.audio import ensure_torchaudio
from dsb2_tasks.models._cache import cache_folder
from dsb2_tasks.models._fingerprint import fingerprint
from dsb2_tasks.models.adapters import Adapter, find_adapter

log = logging.getLogger(__name__)

#: Classes of transformers that hold all audio models with text output, in the order in which they are tried.
AUTO_CLASSES = (
    "AutoModelForMultimodalLM",
    "AutoModelForSeq2SeqLM",
    "AutoModelForSpeechSeq2Seq",
    "AutoModelForImageTextToText",
    "AutoModelForCausalLM",
)
DTYPES = ("auto", "float32", "float16", "bfloat16")
TINY = "tiny"


class ModelUnavailable(RuntimeError):
    """The model cannot be loaded; the message names it, the reason and the ways out."""


@dataclass(frozen=True)
class Loaded:
    """A model that is ready to answer.

    Attributes:
        model: In evaluation mode, on its device.
        adapter: How its inputs are made.
        identity: Everything about the model that its answers hang on; JSON-able, free of paths and devices.
    """

    model: Any
    adapter: Adapter
    identity: dict[str, Any]


def load(
    pretrained: str,
    *,
    device: Any,
    revision: str | None = None,
    dtype: str = "auto",
    device_map: str | None = None,
    attn_implementation: str | None = None,
    trust_remote_code: bool = False,
) -> Loaded:
    """Loads model and processor.

    Args:
        pretrained: Hub name, folder, or ``tiny``.
        device: ``torch.device`` to put the model on, if there is no ``device_map``.
        revision: Branch, tag or commit of a hub name.
        dtype: Number type; ``auto`` is float32 on a CPU, and elsewhere the one that the weights are stored in.
        device_map: As in transformers; for models larger than a device.
        attn_implementation: As in transformers.
        trust_remote_code: Whether code that comes with the model may run.

    Raises:
        ModelUnavailable: Whatever the reason.
    """
    ensure_torchaudio()  # transformers' audio parts import it, and a broken one would end the run
    import transformers

    source = pretrained
    if pretrained == TINY:
        from dsb2_tasks.samples.tiny_model import cached_tiny_model

        source = str(cached_tiny_model(cache_folder()))
    common: dict[str, Any] = {"revision": revision, "trust_remote_code": trust_remote_code}
    with _one_error(pretrained):
        config = transformers.AutoConfig.from_pretrained(source, **common)
        auto_class = _auto_class(config)
        processor = transformers.AutoProcessor.from_pretrained(source, **common)
        adapter = find_adapter(config.model_type, processor)
        template = adapter.chat_template
        model = auto_class.from_pretrained(
            source,
            dtype="float32" if dtype == "auto" and device.type == "cpu" else dtype,
            **({"device_map": device_map} if device_map else {}),
            **({"attn_implementation": attn_implementation} if attn_implementation else {}),
            **common,
        )
        if not device_map:
            model.to(device)
    model.eval()
    identity = {
        **_origin(source, config, revision),
        "class": type(model).__name__,
        "dtype": str(model.dtype).removeprefix("torch."),
        "attention": getattr(model.config, "_attn_implementation", None),
        "adapter": adapter.name,
        "adapter_version": adapter.version,
        "chat_template": template,
        "transformers": version("transformers"),  # a repaired processor must not inherit the answers of the broken one
    }
    return Loaded(model, adapter, identity)


def pick_device(wanted: str | None) -> Any:
    """The ``torch.device`` for this process; a CPU, with a warning, where CUDA is asked for and absent.

    lm-eval names ``cuda:0`` to every process, so with several processes on a machine the local rank decides.

    Args:
        wanted: Device as typed, or None for the best there is.
    """
    import torch

    if wanted is None or wanted.startswith("cuda"):
        if torch.cuda.is_available():
            several = int(os.environ.get("WORLD_SIZE", "1")) > 1
            local = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
            return torch.device(local if several or wanted in (None, "cuda") else wanted)
        if wanted is not None:
            log.info("device=%s: no CUDA device here; the model runs on the CPU", wanted)
        return torch.device("cpu")
    return torch.device(wanted)


@contextmanager
def _one_error(pretrained: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes one :class:`ModelUnavailable` without the library's own chain of errors."""
    try:
        yield
    except Exception as error:  # hub client and transformers raise a dozen unrelated types: offline, gated, gone, other format
        log.debug("pretrained=%r", pretrained, exc_info=True)
        reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)
        if os.environ.get("HF_HUB_OFFLINE"):
            reason = f"{reason.rstrip('.')}. HF_HUB_OFFLINE is set, so only models fetched before can be found"
        raise ModelUnavailable(
            f"pretrained={pretrained!r} cannot be loaded: {reason.rstrip('.')}. Ways out: pretrained=<folder with a model>; "
            f"pretrained=<hub name>, with a connection or fetched once by 'hf download <hub name>'; pretrained={TINY}, a random "
            f"1 MB model made on the spot, to try things out."
        ) from None


def _auto_class(config: Any) -> Any:
    """The first of :data:`AUTO_CLASSES` that holds this config's model."""
    import transformers

    remote = getattr(config, "auto_map", None) or {}  # classes that come with the model, by the name of their auto class
    for name in AUTO_CLASSES:
        auto_class = getattr(transformers, name)
        if name in remote or type(config) in auto_class._model_mapping:
            return auto_class
    raise ValueError(f"models of type {config.model_type!r} belong to none of {', '.join(AUTO_CLASSES)}")


def _origin(source: str, config: Any, revision: str | None) -> dict[str, Any]:
    """Whose weights these are: the content of a folder, wherever it lies; name and commit of a hub model."""
    if Path(source).is_dir():
        return {"content": fingerprint(source)}
    return {"name": source, "commit": getattr(config, "_commit_hash", None) or revision}
