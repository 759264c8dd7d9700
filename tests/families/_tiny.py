"""Models of random weights, one a family, below 2 MB each; processors and chat templates are built as the published ones are.

The templates are the published ones without what a test never reaches (tools, images, thinking).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
import transformers as hf

from dsb2_tasks.samples import tiny_model

MELS = 32
_TEXT = {
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 8192,
}
_WHISPER_ENCODER = {
    "num_mel_bins": MELS,
    "encoder_layers": 1,
    "encoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "d_model": 16,
    "max_source_positions": 1500,
}

_CHATML = (
    "{% for m in messages %}"
    "{% if loop.first and m['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] }}{% else %}{% for c in m['content'] %}"
    "{% if c['type'] == 'audio' %}AUDIO{% elif c['type'] == 'text' %}{{ c['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
_GRANITE = (  # contents are strings: a list of blocks would be an error of the template
    "{% for m in messages %}{{ '<|start_of_role|>' + m['role'] + '<|end_of_role|>' + m['content'] + '<|end_of_text|>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|start_of_role|>assistant<|end_of_role|>' }}{% endif %}"
)
_PHI4 = (
    "{% for m in messages %}{{ '<|' + m['role'] + '|>' }}{% if m['content'] is string %}{{ m['content'] }}{% else %}"
    "{% for c in m['content'] %}{% if c['type'] == 'audio' %}<|audio|>{% else %}{{ c['text'] }}{% endif %}{% endfor %}{% endif %}"
    "{{ '<|end|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"
)
_GEMMA = (
    "{{ bos_token }}{% for m in messages %}<start_of_turn>{{ 'model' if m['role'] == 'assistant' else m['role'] }}\n"
    "{% if m['content'] is string %}{{ m['content'] | trim }}{% else %}{% for c in m['content'] %}"
    "{% if c['type'] == 'audio' %}<audio_soft_token>{% else %}{{ c['text'] | trim }}{% endif %}{% endfor %}{% endif %}"
    "<end_of_turn>\n{% endfor %}{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)


def _tokenizer(template: str | None = None, bos: str | None = None, **tokens: str) -> Any:
    """The tiny model's words, with the special tokens of a family: attribute name -> token."""
    backend = tiny_model._tokenizer().backend_tokenizer
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=backend,
        pad_token="<|endoftext|>",
        eos_token="<|im_end|>",
        bos_token=bos,
        padding_side="left",
        extra_special_tokens=tokens,
        chat_template=template,
    )


def _text(tokenizer: Any, **changes: Any) -> dict[str, Any]:
    ends = {"bos_token_id": None, "eos_token_id": tokenizer.eos_token_id, "pad_token_id": tokenizer.pad_token_id}
    return {**_TEXT, "vocab_size": len(tokenizer), "tie_word_embeddings": False, **ends, **changes}


def _save(folder: Path, model: Any, tokenizer: Any) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        with torch.no_grad():
            for name, weight in model.named_parameters():
                if weight.ndim >= 2 and "embed_tokens" not in name:
                    inputs = weight.shape[-1] if "experts" in name else weight[0].numel()
                    torch.nn.init.normal_(weight, std=1.5 / inputs**0.5)
            torch.nn.init.normal_(model.get_input_embeddings().weight, std=0.5)
            head = model.get_output_embeddings().weight
            if head is not model.get_input_embeddings().weight:
                # Answers made of words; a special token in them would be dropped, or taken for audio.
                head[tokenizer.all_special_ids] = 0
                head[tokenizer.eos_token_id] = 2 * head[-20]
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    model.eval().save_pretrained(folder)


def _whisper_extractor(**changes: Any) -> Any:
    return hf.WhisperFeatureExtractor(feature_size=MELS, **changes)


def qwen2_audio(folder: Path) -> None:
    tiny_model.make_tiny_model(folder)


def audioflamingo3(folder: Path) -> None:
    template = _CHATML.replace("AUDIO", "<sound>")
    tokenizer = _tokenizer(audio_token="<sound>")
    config = hf.AudioFlamingo3Config(
        audio_config={"model_type": "audioflamingo3_encoder", **_WHISPER_ENCODER},
        text_config={"model_type": "qwen2", **_text(tokenizer)},
        audio_token_id=tokenizer.audio_token_id,
    )
    _save(folder, hf.AudioFlamingo3ForConditionalGeneration(config), tokenizer)
    hf.AudioFlamingo3Processor(_whisper_extractor(), tokenizer, chat_template=template).save_pretrained(folder)


def granite_speech(folder: Path) -> None:
    tokenizer = _tokenizer(_GRANITE, audio_token="<|audio|>")
    config = hf.GraniteSpeechConfig(
        encoder_config={"input_dim": 160, "num_layers": 1, "hidden_dim": 16, "num_heads": 2, "output_dim": 8, "context_size": 50},
        text_config={"model_type": "granite", **_text(tokenizer)},
        projector_config={
            "model_type": "blip_2_qformer",
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "intermediate_size": 16,
            "encoder_hidden_size": 16,
        },
        audio_token_index=tokenizer.audio_token_id,
        has_lora_adapter=False,
        tie_word_embeddings=False,
    )
    _save(folder, hf.GraniteSpeechForConditionalGeneration(config), tokenizer)
    extractor = hf.GraniteSpeechFeatureExtractor()
    hf.GraniteSpeechProcessor(extractor, tokenizer).save_pretrained(folder)


_OMNI_TOKENS = {
    "image_token": "<|IMAGE|>",
    "audio_token": "<|AUDIO|>",
    "video_token": "<|VIDEO|>",
    "vision_bos_token": "<|vision_bos|>",
    "vision_eos_token": "<|vision_eos|>",
    "audio_bos_token": "<|audio_bos|>",
    "audio_eos_token": "<|audio_eos|>",
}
_OMNI_VISION = {"depth": 1, "hidden_size": 16, "intermediate_size": 16, "num_heads": 2, "out_hidden_size": 32}


def _omni_processor(folder: Path, kind: str, tokenizer: Any) -> None:
    """The files of a processor with image and video parts, without the libraries that these parts need."""
    tokenizer.save_pretrained(folder)
    _whisper_extractor().save_pretrained(folder)
    template = _CHATML.replace("AUDIO", "<|audio_bos|><|AUDIO|><|audio_eos|>")
    (folder / "chat_template.jinja").write_text(template, encoding="utf-8")
    _add(folder / "preprocessor_config.json", processor_class=kind, image_processor_type="Qwen2VLImageProcessor")
    _add(folder / "tokenizer_config.json", processor_class=kind)


def _add(path: Path, **entries: str) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **entries}), encoding="utf-8")


def qwen2_5_omni(folder: Path) -> None:
    """The whole model as published: thinker and talker in one folder; the thinker's weights suffice."""
    tokenizer = _tokenizer(**_OMNI_TOKENS)
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 1, 1]}
    thinker = {
        "audio_config": {**_WHISPER_ENCODER, "n_window": 50, "output_dim": 32},
        "vision_config": {**_OMNI_VISION, "fullatt_block_indexes": [0]},
        "text_config": _text(tokenizer, rope_parameters=rope),
        "audio_token_index": tokenizer.audio_token_id,
        "image_token_index": tokenizer.image_token_id,
        "video_token_index": tokenizer.video_token_id,
        "audio_start_token_id": tokenizer.audio_bos_token_id,
        "audio_end_token_id": tokenizer.audio_eos_token_id,
        "vision_start_token_id": tokenizer.vision_bos_token_id,
        "vision_end_token_id": tokenizer.vision_eos_token_id,
    }
    model = hf.Qwen2_5OmniThinkerForConditionalGeneration(hf.Qwen2_5OmniThinkerConfig(**thinker))
    _as_part(folder, model, tokenizer, hf.Qwen2_5OmniConfig(thinker_config=thinker, architectures=["Qwen2_5OmniModel"]))
    _omni_processor(folder, "Qwen2_5OmniProcessor", tokenizer)


def qwen3_omni(folder: Path) -> None:
    tokenizer = _tokenizer(**_OMNI_TOKENS)
    rope = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 1, 1], "interleaved": True}
    moe = {"moe_intermediate_size": 16, "num_experts": 4, "num_experts_per_tok": 2, "head_dim": 8}
    thinker = {
        "audio_config": {**_WHISPER_ENCODER, "output_dim": 32, "downsample_hidden_size": 8},
        "vision_config": {**_OMNI_VISION, "deepstack_visual_indexes": [0]},
        "text_config": _text(tokenizer, rope_parameters=rope, **moe),
        "audio_token_id": tokenizer.audio_token_id,
        "image_token_id": tokenizer.image_token_id,
        "video_token_id": tokenizer.video_token_id,
        "audio_start_token_id": tokenizer.audio_bos_token_id,
        "vision_start_token_id": tokenizer.vision_bos_token_id,
    }
    model = hf.Qwen3OmniMoeThinkerForConditionalGeneration(hf.Qwen3OmniMoeThinkerConfig(**thinker))
    _as_part(folder, model, tokenizer, hf.Qwen3OmniMoeConfig(thinker_config=thinker))
    _omni_processor(folder, "Qwen3OmniMoeProcessor", tokenizer)


def _as_part(folder: Path, thinker: Any, tokenizer: Any, config: Any) -> None:
    """Saves a thinker as the published weights are: its names begin with ``thinker.``, the config is the whole model's."""
    from safetensors.torch import load_file, save_file

    _save(folder, thinker, tokenizer)
    weights = load_file(folder / "model.safetensors")
    save_file({f"thinker.{name}": weight for name, weight in weights.items()}, folder / "model.safetensors", {"format": "pt"})
    config.save_pretrained(folder)


def phi4_multimodal(folder: Path) -> None:
    tokenizer = _tokenizer(_PHI4, audio_token="<|audio|>", image_token="<|image|>")
    config = hf.Phi4MultimodalConfig(
        **_text(tokenizer),
        audio_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_blocks": 2,
            "num_attention_heads": 2,
            "ext_pw_out_channel": 16,
            "depthwise_separable_out_channel": 16,
            "nemo_conv_channels": 16,
            "audio_token_id": tokenizer.audio_token_id,
        },
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "image_size": 28,
            "crop_size": 28,
            "image_token_id": tokenizer.image_token_id,
        },
    )
    _save(folder, hf.Phi4MultimodalForCausalLM(config), tokenizer)
    tokenizer.save_pretrained(folder)
    hf.Phi4MultimodalFeatureExtractor().save_pretrained(folder)
    kind = "Phi4MultimodalProcessor"
    _add(folder / "preprocessor_config.json", processor_class=kind, image_processor_type="Phi4MultimodalImageProcessorFast")
    _add(folder / "tokenizer_config.json", processor_class=kind)


_GEMMA_TOKENS = {
    "image_token": "<image_soft_token>",
    "boi_token": "<start_of_image>",
    "eoi_token": "<end_of_image>",
    "audio_token": "<audio_soft_token>",
    "boa_token": "<start_of_audio>",
    "eoa_token": "<end_of_audio>",
}


def _gemma_processor(folder: Path, name: str, tokenizer: Any, extractor: Any) -> None:
    tokenizer.save_pretrained(folder)
    extractor.save_pretrained(folder)
    (folder / "chat_template.jinja").write_text(_GEMMA, encoding="utf-8")
    _add(folder / "preprocessor_config.json", processor_class=f"{name}Processor", image_processor_type=f"{name}ImageProcessor")
    _add(folder / "tokenizer_config.json", processor_class=f"{name}Processor")


def gemma3n_processor(folder: Path) -> None:
    """No model: its image tower alone is larger than 1 GB whatever its config says."""
    _gemma_processor(folder, "Gemma3n", _tokenizer(bos="<bos>", **_GEMMA_TOKENS), hf.Gemma3nAudioFeatureExtractor())


def gemma4(folder: Path) -> None:
    tokenizer = _tokenizer(bos="<bos>", **_GEMMA_TOKENS, video_token="<|video|>")
    config = hf.Gemma4Config(
        text_config=_text(
            tokenizer,
            head_dim=8,
            global_head_dim=8,
            hidden_size_per_layer_input=8,
            vocab_size_per_layer_input=len(tokenizer),
            layer_types=["sliding_attention", "full_attention"],
            bos_token_id=tokenizer.bos_token_id,
        ),
        audio_config={
            "hidden_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "subsampling_conv_channels": [MELS, 4],
            "output_proj_dims": 16,
        },
        vision_config=None,
        audio_token_id=tokenizer.audio_token_id,
        image_token_id=tokenizer.image_token_id,
        video_token_id=tokenizer.video_token_id,
        boa_token_id=tokenizer.boa_token_id,
        eoa_token_index=tokenizer.eoa_token_id,
        boi_token_id=tokenizer.boi_token_id,
        eoi_token_id=tokenizer.eoi_token_id,
        tie_word_embeddings=False,
    )
    _save(folder, hf.Gemma4ForConditionalGeneration(config), tokenizer)
    _gemma_processor(folder, "Gemma4", tokenizer, hf.Gemma4AudioFeatureExtractor(feature_size=MELS))


def voxtral(folder: Path) -> None:
    import mistral_common

    data = json.loads((Path(mistral_common.__file__).parent / "data" / "tekken_240911.json").read_text(encoding="utf-8"))
    special = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "[TOOL_RESULTS]"]
    special += ["[/TOOL_RESULTS]", "[TOOL_CALLS]", "[IMG]", "<pad>", "[IMG_BREAK]", "[IMG_END]", "[PREFIX]", "[MIDDLE]"]
    special += ["[SUFFIX]", "[SYSTEM_PROMPT]", "[/SYSTEM_PROMPT]", "[TOOL_CONTENT]"]
    special += [f"<SPECIAL_{i}>" for i in range(20, 24)] + ["[AUDIO]", "[BEGIN_AUDIO]"]
    special += [f"<SPECIAL_{i}>" for i in range(26, 34)] + ["[TRANSCRIBE]"]
    special += [f"<SPECIAL_{i}>" for i in range(35, 64)]
    data["vocab"] = data["vocab"][:600]
    data["config"] |= {"default_vocab_size": 664, "default_num_special_tokens": 64, "version": "v7"}
    data["special_tokens"] = [{"rank": i, "token_str": token, "is_control": True} for i, token in enumerate(special)]
    data["audio"] = {
        "sampling_rate": 16000,
        "frame_rate": 12.5,
        "audio_encoding_config": {"num_mel_bins": MELS, "hop_length": 160, "window_size": 400},
        "chunk_length_s": 30.0,
    }
    (folder / "tekken.json").write_text(json.dumps(data), encoding="utf-8")
    tokenizer = hf.MistralCommonBackend.from_pretrained(folder)
    config = hf.VoxtralConfig(
        audio_config={
            "model_type": "voxtral_encoder",
            "num_mel_bins": MELS,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "hidden_size": 16,
            "intermediate_size": 64,
        },
        text_config={"model_type": "llama", **_text(tokenizer), "vocab_size": 664, "head_dim": 8},
        audio_token_id=24,
    )
    _save(folder, hf.VoxtralForConditionalGeneration(config), tokenizer)
    hf.VoxtralProcessor(_whisper_extractor(), tokenizer).save_pretrained(folder)


def whisper(folder: Path) -> None:
    tokenizer = _tokenizer(start="<|startoftranscript|>")
    config = hf.WhisperConfig(
        **_WHISPER_ENCODER,
        vocab_size=len(tokenizer),
        decoder_layers=1,
        decoder_attention_heads=2,
        decoder_ffn_dim=32,
        max_target_positions=64,
        tie_word_embeddings=False,
        decoder_start_token_id=tokenizer.start_id,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=tokenizer.eos_token_id,
        suppress_tokens=None,
        begin_suppress_tokens=None,
    )
    _save(folder, hf.WhisperForConditionalGeneration(config), tokenizer)
    hf.WhisperProcessor(_whisper_extractor(), tokenizer).save_pretrained(folder)


BUILDERS: Mapping[str, Callable[[Path], None]] = {
    build.__name__: build
    for build in (
        qwen2_audio,
        audioflamingo3,
        granite_speech,
        voxtral,
        qwen2_5_omni,
        qwen3_omni,
        phi4_multimodal,
        gemma4,
        whisper,
    )
}

#: What must be installed beside the extra ``hf``.
NEEDS = {"voxtral": "mistral_common"}
