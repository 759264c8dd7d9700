"""Finding and loading: unknown models, adapters of one's own, fine-tuned and quantized weights, several devices."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from _requests import RATE, tone

from dsb2_tasks.models import _load, _peft
from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models._fingerprint import fingerprint
from dsb2_tasks.models.adapters import ADAPTERS, find_adapter
from dsb2_tasks.models.adapters.gemma import Gemma3n

Folder = Callable[[str], Path]
CPU = torch.device("cpu")
CHAT = Chat((("user", "Which sounds longer?"),))


@pytest.fixture
def tiny(folder: Folder) -> str:
    return str(folder("qwen2_audio"))


def score(loaded: _load.Loaded, seconds: float = 1.0) -> torch.Tensor:
    inputs = loaded.adapter.inputs([loaded.adapter.messages(CHAT, [tone(300, seconds)], "before")])
    with torch.inference_mode():
        return loaded.model(**inputs.to(loaded.model.device)).logits[0, -1]


# ---------------------------------------------------------------- models that are not known


def refused(*arguments: Any, **keywords: Any) -> str:
    with pytest.raises(_load.ModelUnavailable) as raised:
        _load.load(*arguments, device=CPU, **keywords)
    assert raised.value.__cause__ is None and "\n" not in str(raised.value)
    return str(raised.value)


def test_a_type_that_transformers_does_not_know(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "hears_everything"}))
    message = refused(str(tmp_path))
    assert "hears_everything" in message and "adapter=<module>:<Class>" in message and "examples/adapter" in message


def test_a_model_that_makes_no_text(tmp_path: Path) -> None:
    transformers.Wav2Vec2Config().save_pretrained(tmp_path)
    message = refused(str(tmp_path))
    assert "no class that makes text from audio for models of type 'wav2vec2'" in message
    assert all(name in message for name in (*_load.AUTO_CLASSES, *ADAPTERS))


def test_a_model_that_hears_nothing(tiny: str, tmp_path: Path) -> None:
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(Path(tiny) / name, tmp_path)
    transformers.LlamaConfig(architectures=["LlamaForCausalLM"]).save_pretrained(tmp_path)
    message = refused(str(tmp_path))
    assert "feature extractor" in message and "audioflamingo3" in message and "adapter=<module>:<Class>" in message


def test_code_of_strangers_runs_only_when_it_may(tiny: str, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "model")
    config = json.loads((tmp_path / "model/config.json").read_text())
    config |= {"model_type": "stranger", "auto_map": {"AutoConfig": "code.Config"}}
    (tmp_path / "model/config.json").write_text(json.dumps(config))
    (tmp_path / "model/code.py").write_text("raise SystemExit('strange code has run')")
    assert "trust_remote_code" in refused(str(tmp_path / "model"))


@pytest.mark.parametrize("pretrained", ["tiny", "folder"])
def test_a_revision_of_what_has_none_is_refused(pretrained: str, tiny: str) -> None:
    message = refused(tiny if pretrained == "folder" else pretrained, revision="v2")
    assert "revision='v2'" in message and "leave revision out" in message


# ---------------------------------------------------------------- adapters of one's own


def test_an_edited_adapter_is_another_model(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    code = "from dsb2_tasks.models.adapters import Adapter\nclass Mine(Adapter):\n    name = 'mine'\n"
    (tmp_path / "edited_adapter.py").write_text(code)
    first = _load.load(tiny, device=CPU, adapter="edited_adapter:Mine").identity
    (tmp_path / "edited_adapter.py").write_text(code + "    max_clips = 1\n")
    assert _load.load(tiny, device=CPU, adapter="edited_adapter:Mine").identity != first


@pytest.mark.parametrize(
    ("adapter", "reason"),
    [
        (
            "nowhere_at_all:Mine",
            "cannot be imported (No module named 'nowhere_at_all'); its folder must be on the path of Python",
        ),
        ("json:JSONDecoder", "is no subclass of dsb2_tasks.models.adapters.Adapter in json"),
        ("json:Missing", "is no subclass of dsb2_tasks.models.adapters.Adapter in json"),
        ("json", "is not of the form module:Class"),
    ],
)
def test_an_adapter_that_is_none(adapter: str, reason: str, tiny: str) -> None:
    message = refused(tiny, adapter=adapter)
    assert f"adapter='{adapter}'" in message and reason in message


def test_an_adapter_is_imported_only_when_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "own_adapter.py").write_text("from dsb2_tasks.models.adapters import Adapter\nclass Mine(Adapter): ...\n")
    find_adapter("qwen2_audio")
    assert "own_adapter" not in sys.modules
    assert find_adapter("qwen2_audio", "own_adapter:Mine").__name__ == "Mine"


# ---------------------------------------------------------------- parts that an audio task does not use


def test_gemma3n_has_188_tokens_a_clip(tmp_path: Path) -> None:
    """Its processor with a tokenizer made here; the model itself cannot be made small."""
    from _tiny import gemma3n_processor

    gemma3n_processor(tmp_path)
    adapter = Gemma3n(Gemma3n.load_processor(str(tmp_path), revision=None, trust_remote_code=False))
    rows = [adapter.messages(CHAT, clips, "before") for clips in ([tone(300, 1)], [tone(300, 2), tone(900, 3)], [])]
    inputs = adapter.inputs(rows)
    assert (inputs["input_ids"] == adapter.audio_token_id).sum(-1).tolist() == [188, 376, 0]
    assert len(inputs["input_features"]) == 3 and inputs["input_ids"][0, 0] == adapter.tokenizer.pad_token_id
    assert (adapter.window_seconds, adapter.rate) == (30.0, RATE)


@pytest.mark.parametrize("family", ["qwen2_5_omni", "qwen3_omni", "phi4_multimodal", "gemma4"])
def test_no_image_library_is_needed(family: str, folder: Folder) -> None:
    source = (
        "import sys\n"
        "for name in ('PIL', 'torchvision', 'timm'): sys.modules[name] = None\n"
        "import torch\n"
        "from dsb2_tasks.models import _load\n"
        "print(_load.load(sys.argv[1], device=torch.device('cpu')).adapter.name)"
    )
    command = [sys.executable, "-c", source, str(folder(family))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.strip() == find_adapter(family.replace("3_omni", "3_omni_moe")).name


@pytest.mark.parametrize("named", [None, 1, [0, 1]])
def test_the_end_of_a_turn_ends_an_answer_whatever_the_settings_name(named: Any, folder: Folder, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(folder("qwen2_5_omni"), model)
    settings = json.loads((model / "generation_config.json").read_text())
    end = settings["eos_token_id"]
    (model / "generation_config.json").write_text(json.dumps({**settings, "eos_token_id": named}))
    ends = _load.load(str(model), device=CPU).model.generation_config.eos_token_id
    assert ends == ([] if named is None else [named] if isinstance(named, int) else named) + [end]
    assert _load.load(str(folder("qwen2_5_omni")), device=CPU).model.generation_config.eos_token_id == end


# ---------------------------------------------------------------- fine-tuned weights


def lora(tiny: str, folder: Path, seed: int = 0, **settings: Any) -> torch.Tensor:
    """Writes a LoRA for the tiny model and returns what the model scores with it."""
    peft = pytest.importorskip("peft", reason="fine-tuned weights need peft")
    loaded = _load.load(tiny, device=CPU)
    torch.manual_seed(seed)
    settings = {"target_modules": ["q_proj", "v_proj"], "r": 2, "init_lora_weights": False, **settings}
    tuned = peft.get_peft_model(loaded.model, peft.LoraConfig(**settings)).eval()
    tuned.save_pretrained(folder)
    return score(_load.Loaded(tuned, loaded.adapter, {}))


def test_a_lora_is_used_and_named(tiny: str, tmp_path: Path) -> None:
    expected = lora(tiny, tmp_path / "lora")
    plain = _load.load(tiny, device=CPU)
    tuned = _load.load(tiny, device=CPU, peft=str(tmp_path / "lora"))
    assert torch.allclose(score(tuned), expected, atol=1e-4)
    assert (score(tuned) - score(plain)).abs().max() > 0.05
    assert type(tuned.model) is type(plain.model)
    assert tuned.identity == {**plain.identity, "peft": fingerprint(tmp_path / "lora")}
    lora(tiny, tmp_path / "other", seed=1)
    assert _load.load(tiny, device=CPU, peft=str(tmp_path / "other")).identity != tuned.identity


def test_a_lora_from_the_hub(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = lora(tiny, tmp_path / "lora")
    asked = []

    def snapshot(name: str, **keywords: Any) -> str:
        asked.append((name, keywords["allow_patterns"]))
        return str(tmp_path / "lora")

    monkeypatch.setattr("huggingface_hub.snapshot_download", snapshot)
    assert torch.allclose(score(_load.load(tiny, device=CPU, peft="someone/lora")), expected, atol=1e-4)
    assert asked == [("someone/lora", ["adapter_*"])]


def test_a_lora_that_does_not_fit(tiny: str, tmp_path: Path) -> None:
    lora(tiny, tmp_path / "lora")
    weights = tmp_path / "lora/adapter_model.safetensors"
    from safetensors.torch import load_file, save_file

    names = load_file(weights)
    first = next(iter(names))
    save_file({name: weight for name, weight in names.items() if name != first}, weights, {"format": "pt"})
    assert "are another model's, or of another version of transformers: 1 do not fit" in refused(
        tiny, peft=str(tmp_path / "lora")
    )


def test_a_folder_without_fine_tuned_weights(tiny: str, tmp_path: Path) -> None:
    assert "holds no adapter_config.json" in refused(tiny, peft=str(tmp_path))


def test_peft_is_asked_for_by_name(tiny: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "adapter_config.json").write_text("{}")
    monkeypatch.setattr(_peft, "find_spec", lambda name: None)
    assert "pip install peft" in refused(tiny, peft=str(tmp_path))


def test_phi4_switches_its_own_lora_on(folder: Folder, tmp_path: Path) -> None:
    model = tmp_path / "phi4"
    shutil.copytree(folder("phi4_multimodal"), model)
    plain = _load.load(str(model), device=CPU)
    expected = lora(str(model), model / "speech-lora", target_modules=["qkv_proj", "o_proj"])
    own = _load.load(str(model), device=CPU)
    assert torch.allclose(score(own), expected, atol=1e-4) and not torch.allclose(score(own), score(plain), atol=1e-2)
    assert own.identity["content"] != plain.identity["content"]
    shutil.copytree(model / "speech-lora", tmp_path / "other")
    shutil.rmtree(model / "speech-lora")
    assert torch.allclose(score(_load.load(str(model), device=CPU, peft=str(tmp_path / "other"))), expected, atol=1e-4)


def test_granite_without_its_lora_is_refused(folder: Folder, tmp_path: Path) -> None:
    shutil.copytree(folder("granite_speech"), tmp_path / "granite")
    config = json.loads((tmp_path / "granite/config.json").read_text())
    (tmp_path / "granite/config.json").write_text(json.dumps({**config, "has_lora_adapter": True}))
    assert "LoRA weights for speech were not loaded; run: pip install peft" in refused(str(tmp_path / "granite"))


def test_granite_with_a_peft_too_old_for_its_lora_stops_before_the_run(folder: Folder, monkeypatch: pytest.MonkeyPatch) -> None:
    def too_old(model: Any) -> None:
        raise ValueError("The version of PEFT you are using is not compatible")

    monkeypatch.setattr(transformers.GraniteSpeechForConditionalGeneration, "_hf_peft_config_loaded", True)
    monkeypatch.setattr(transformers.GraniteSpeechForConditionalGeneration, "enable_adapters", too_old)
    assert "The version of PEFT you are using is not compatible" in refused(str(folder("granite_speech")))


# ---------------------------------------------------------------- quantized weights


@pytest.mark.parametrize("bits", ["4bit", "8bit"])
def test_quantized_weights(bits: str, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a stand-in for bitsandbytes: what transformers is asked for, and where the model is put."""
    kind = transformers.Qwen2AudioForConditionalGeneration
    original, asked = kind.from_pretrained, {}

    def from_pretrained(source: str, **keywords: Any) -> Any:
        asked.update(keywords)
        keywords = {name: value for name, value in keywords.items() if name not in ("quantization_config", "device_map")}
        model = original(source, **keywords)
        monkeypatch.setattr(model, "to", lambda *_: pytest.fail("a quantized model cannot be moved"))
        return model

    monkeypatch.setattr(_load, "find_spec", lambda name: object())
    monkeypatch.setattr("importlib.metadata.version", lambda name: "0.50.2")  # asked by BitsAndBytesConfig
    monkeypatch.setattr(_load, "_model_class", lambda config, family: type("Stub", (), {"from_pretrained": from_pretrained}))
    loaded = _load.load(tiny, device=CPU, quantization=bits)
    settings = asked["quantization_config"]
    assert (settings.load_in_4bit, settings.load_in_8bit) == (bits == "4bit", bits == "8bit")
    if bits == "4bit":
        assert (settings.bnb_4bit_quant_type, settings.bnb_4bit_compute_dtype) == ("nf4", torch.bfloat16)
    assert asked["device_map"] == {"": "cpu"}
    assert loaded.identity["quantization"] == bits


@pytest.mark.parametrize("bits", ["4bit", "8bit"])
def test_bitsandbytes_is_asked_for_by_name(bits: str, tiny: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_load, "find_spec", lambda name: None)
    message = refused(tiny, quantization=bits)
    assert f"quantization={bits} needs the library bitsandbytes" in message and "pip install bitsandbytes" in message


# ---------------------------------------------------------------- several devices


@pytest.mark.parametrize("family", ["qwen2_audio", "qwen2_5_omni"])
def test_device_map(family: str, folder: Folder) -> None:
    plain = _load.load(str(folder(family)), device=CPU)
    mapped = _load.load(str(folder(family)), device=torch.device("meta"), device_map="auto")
    assert mapped.model.device == CPU
    assert torch.equal(score(mapped), score(plain))
    assert mapped.identity == plain.identity


# ---------------------------------------------------------------- fingerprints


def test_a_fingerprint_covers_sub_folders_and_only_what_is_seen(tmp_path: Path) -> None:
    model = tmp_path / "model"
    (model / "speech-lora").mkdir(parents=True)
    (model / "config.json").write_text("{}")
    first = fingerprint(model)
    (model / "notes.md").write_text("not a part of the model")
    (model / ".cache").mkdir()
    (model / ".cache/config.json").write_text("{}")
    assert fingerprint(model) == first
    (model / "speech-lora/adapter_model.safetensors").write_bytes(b"1")
    second = fingerprint(model)
    (model / "speech-lora/adapter_model.safetensors").write_bytes(b"2")
    third = fingerprint(model)
    (model / "speech-lora").rename(model / "vision-lora")
    assert len({first, second, third, fingerprint(model)}) == 4
    shutil.copytree(model, tmp_path / "elsewhere")
    assert fingerprint(tmp_path / "elsewhere") == fingerprint(model)


def test_a_fingerprint_of_a_file(tmp_path: Path) -> None:
    for name, content in [("a.gguf", b"1"), ("b.gguf", b"2"), ("c.bin", b"1")]:
        (tmp_path / name).write_bytes(content)
    a, b, c = (fingerprint(tmp_path / name) for name in ("a.gguf", "b.gguf", "c.bin"))
    assert a == c != b and len(a) == 64
    with pytest.raises(FileNotFoundError):
        fingerprint(tmp_path / "missing")
