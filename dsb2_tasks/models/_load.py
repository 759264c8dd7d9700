"""Finds a model, whatever its class, and says who it is; or says in one sentence why it cannot be had."""

from __future__ import annotations

import inspect
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dsb2_tasks.audio import ensure_torchaudio
from dsb2_tasks.models._args import ModelArgError
from dsb2_tasks.models._cache import cache_folder
from dsb2_tasks.models._fingerprint import fingerprint
from dsb2_tasks.models._peft import find_peft, load_peft
from dsb2_tasks.models.adapters import ADAPTERS, Adapter, UnknownFamily, find_adapter

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
QUANTIZATIONS = ("4bit", "8bit")
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
    quantization: str | None = None,
    peft: str | None = None,
    adapter: str | None = None,
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
        quantization: ``4bit`` or ``8bit``, by bitsandbytes; None for the weights as they are.
        peft: Folder or hub name of fine-tuned weights (LoRA and the like) to put into the model.
        adapter: ``module:Class`` of an adapter of the user's own.

    Raises:
        ModelUnavailable: Whatever the reason.
    """
    if revision is not None and (pretrained == TINY or Path(pretrained).is_dir()):
        raise ModelUnavailable(
            f"revision={revision!r}: pretrained={pretrained!r} does not come from the hub and has no versions; leave revision out"
        )
    ensure_torchaudio()  # transformers' audio parts import it, and a broken one would end the run
    import transformers

    source = pretrained
    if pretrained == TINY:
        from dsb2_tasks.samples.tiny_model import cached_tiny_model

        source = str(cached_tiny_model(cache_folder()))
    common: dict[str, Any] = {"revision": revision, "trust_remote_code": trust_remote_code}
    with _one_error(pretrained):
        with _explained(ValueError):  # of a type that transformers does not know either
            config = transformers.AutoConfig.from_pretrained(source, **common)
        family = find_adapter(config.model_type, adapter)
        # A folder without a processor is no model for us; a hub's may just not be fetched yet.
        with _explained(UnknownFamily, *((OSError,) if Path(source).is_dir() else ())):
            model_class = _model_class(config, family)
            hearing = family(family.load_processor(source, **common))
            template = hearing.chat_template
        options: dict[str, Any] = {
            "dtype": "float32" if dtype == "auto" and device.type == "cpu" else dtype,
            "device_map": device_map,
            "attn_implementation": attn_implementation,
        }
        if quantization is not None:
            options |= {"quantization_config": _quantization(quantization), "device_map": device_map or {"": str(device)}}
        model = model_class.from_pretrained(
            source, **{name: value for name, value in options.items() if value is not None}, **common
        )
        fine_tuned = None if peft is None else _fine_tune(model, peft)
        hearing.ready(model, source, **common)
        _end_turns(model, hearing.tokenizer)
        if options["device_map"] is None:
            model.to(device)
    model.eval()
    identity = {
        **_origin(source, config, revision),
        **({} if fine_tuned is None else {"peft": fine_tuned}),
        **({} if quantization is None else {"quantization": quantization}),
        "class": type(model).__name__,
        "dtype": str(model.dtype).removeprefix("torch."),
        "attention": getattr(model.config, "_attn_implementation", None),
        "adapter": hearing.name,
        "adapter_version": hearing.version,
        **({} if adapter is None else {"adapter_code": fingerprint(inspect.getfile(family))}),
        **hearing.identity,
        "chat_template": template,
        "transformers": version("transformers"),  # a repaired processor must not inherit the answers of the broken one
    }
    return Loaded(model, hearing, identity)


def pick_device(wanted: str | None) -> Any:
    """The ``torch.device`` for this process; a CPU, with a warning, where CUDA is asked for and absent.

    lm-eval names ``cuda:0`` to every process, so with several processes on a machine the local rank decides.

    Args:
        wanted: Device as typed, or None for the best there is.

    Raises:
        ModelArgError: There is no such kind of device.
    """
    import torch

    try:
        device = torch.device(wanted or "cuda")
    except RuntimeError:
        raise ModelArgError(f"device={wanted!r} is none that torch knows; give cpu, cuda, cuda:1 or mps") from None
    if device.type == "cuda":
        if torch.cuda.is_available():
            several = int(os.environ.get("WORLD_SIZE", "1")) > 1
            local = f"cuda:{os.environ.get('LOCAL_RANK', '0')}"
            return torch.device(local) if several or device.index is None else device
        if wanted is not None:
            log.info("device=%s: no CUDA device here; the model runs on the CPU", wanted)
        return torch.device("cpu")
    return device


@contextmanager
def _one_error(pretrained: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes one :class:`ModelUnavailable` without the library's own chain of errors."""
    try:
        yield
    except Exception as error:  # hub client and transformers raise a dozen unrelated types: offline, gated, gone, other format
        log.debug("pretrained=%r", pretrained, exc_info=True)
        reason = _reason(error)
        if os.environ.get("HF_HUB_OFFLINE") and isinstance(error, OSError):
            reason = f"{reason}. HF_HUB_OFFLINE is set, so only models fetched before can be found"
        raise ModelUnavailable(
            f"pretrained={pretrained!r} cannot be loaded: {reason}. Ways out: pretrained=<folder with a model>; "
            f"pretrained=<hub name>, with a connection or fetched once by 'hf download <hub name>'; pretrained={TINY}, a random "
            f"1 MB model made on the spot, to try things out."
        ) from None


def _reason(error: Exception) -> str:
    """The first line of an error, in which libraries say the most, without its full stop."""
    reason = next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__).rstrip(".")
    if "trust_remote_code" in str(error) and "trust_remote_code" not in reason:
        reason += "; trust_remote_code=true lets it run"
    return reason


@contextmanager
def _explained(*kinds: type[Exception]) -> Iterator[None]:
    """A model that fits no class or adapter here: says what was tried, and how to add what is missing."""
    try:
        yield
    except kinds as error:
        raise ValueError(
            f"{_reason(error)}. Tried were the classes {', '.join(AUTO_CLASSES)}, the adapters of {', '.join(sorted(ADAPTERS))}, "
            f"and for other types of model the generic adapter. An adapter of your own is a class of some thirty lines, named by "
            f"adapter=<module>:<Class>: see examples/adapter/README.md"
        ) from error


def _model_class(config: Any, family: type[Adapter]) -> Any:
    """The class that the adapter names, or else the first of :data:`AUTO_CLASSES` that holds this config's model."""
    import transformers

    if family.model_class is not None:
        return getattr(transformers, family.model_class)
    remote = getattr(config, "auto_map", None) or {}  # classes that come with the model, by the name of their auto class
    for name in AUTO_CLASSES:
        auto_class = getattr(transformers, name)
        if name in remote or type(config) in auto_class._model_mapping:
            return auto_class
    raise UnknownFamily(f"transformers has no class that makes text from audio for models of type {config.model_type!r}")


def _quantization(bits: str) -> Any:
    """Settings for bitsandbytes: numbers of 4 bits in the form nf4, or of 8 bits."""
    if find_spec("bitsandbytes") is None:
        raise ValueError(f"quantization={bits} needs the library bitsandbytes; run: pip install bitsandbytes")
    import torch
    from transformers import BitsAndBytesConfig

    if bits == "8bit":
        return BitsAndBytesConfig(load_in_8bit=True)
    return BitsAndBytesConfig(load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)


def _fine_tune(model: Any, peft: str) -> str:
    """Puts fine-tuned weights into a model and returns their fingerprint."""
    folder = find_peft(peft)
    if folder is None:
        raise ValueError(f"peft={peft!r} holds no adapter_config.json, so no fine-tuned weights")
    load_peft(model, folder)
    return fingerprint(folder)


def _end_turns(model: Any, tokenizer: Any) -> None:
    """Lets the tokenizer's end token end an answer, too.

    The generation settings of a model that is a part of a larger one (the thinker of Qwen-Omni) may not name it, and the model
    would go on with turns of its own making.
    """
    ends = model.generation_config.eos_token_id
    ends = [ends] if isinstance(ends, int) else list(ends or [])
    if tokenizer.eos_token_id is not None and tokenizer.eos_token_id not in ends:
        model.generation_config.eos_token_id = [*ends, tokenizer.eos_token_id]


def _origin(source: str, config: Any, revision: str | None) -> dict[str, Any]:
    """Whose weights these are: the content of a folder, wherever it lies; name and commit of a hub model."""
    if Path(source).is_dir():
        return {"content": fingerprint(source)}
    return {"name": source, "commit": getattr(config, "_commit_hash", None) or revision}
