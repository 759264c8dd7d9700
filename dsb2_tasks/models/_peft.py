"""Fine-tuned weights beside a model's own (LoRA and the like), by the library peft."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any


def find_peft(source: str, prefix: str = "", revision: str | None = None) -> Path | None:
    """The folder with fine-tuned weights, fetched from the hub if need be.

    Args:
        source: Folder, or hub name.
        prefix: Sub-folder that holds the weights, with a slash at its end; empty for the top.
        revision: Branch, tag or commit of a hub name.

    Returns:
        None if there are none.
    """
    folder = Path(source)
    if not folder.is_dir():
        from huggingface_hub import snapshot_download

        folder = Path(snapshot_download(source, revision=revision, allow_patterns=[f"{prefix}adapter_*"]))
    folder = folder / prefix
    return folder if (folder / "adapter_config.json").is_file() else None


def load_peft(model: Any, folder: Path) -> None:
    """Puts fine-tuned weights into a model, where they work from then on.

    Args:
        model: Model of transformers; its class stays as it is.
        folder: From :func:`find_peft`.

    Raises:
        ValueError: peft is not installed, the model has such weights already, or the weights are another model's.
    """
    if find_spec("peft") is None:
        raise ValueError(f"the weights in {folder.name} need the library peft; run: pip install peft")
    if has_peft(model):
        raise ValueError("it comes with fine-tuned weights of its own, and two kinds at once are not supported")
    from peft import PeftConfig, PeftModel, load_peft_weights, set_peft_model_state_dict

    config = PeftConfig.from_pretrained(str(folder))
    if config.is_prompt_learning:
        raise ValueError(f"the weights in {folder.name} are a learned prompt ({config.peft_type.value}), not layers of a model")
    config.inference_mode = True
    tuned = PeftModel(model, config, adapter_name=_NAME)  # changes the layers of the model itself
    report: Any = set_peft_model_state_dict(tuned, load_peft_weights(str(folder)), adapter_name=_NAME)
    foreign = sorted(report.unexpected_keys) + sorted(key for key in report.missing_keys if f".{_NAME}." in key)
    if foreign:
        raise ValueError(
            f"the weights in {folder.name} are another model's, or of another version of transformers: "
            f"{len(foreign)} do not fit, the first is {foreign[0]}"
        )


def has_peft(model: Any) -> bool:
    """Whether a model has fine-tuned weights beside its own."""
    return bool(getattr(model, "peft_config", None))


_NAME = "fine_tuned"
