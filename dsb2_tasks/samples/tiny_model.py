"""A Qwen2-Audio of random weights, about 1 MB: what tests, README and CI run where a real model cannot be had.

``python -m dsb2_tasks.samples.tiny_model FOLDER`` writes model, processor, tokenizer and chat template in seconds and
without a network.  It goes the whole way of a real model - mel features, audio tokens, attention masks, greedy decoding -
and its answers depend on what it hears; they mean nothing.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

#: Part of the cached folder's name; goes up whenever the files change.
VERSION = 1

_VOCABULARY = 600
_MEL_BINS = 80
_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|AUDIO|>", "<|audio_bos|>", "<|audio_eos|>")

#: What the tokenizer learns its merges from: the words that instructions and answers of audio tasks are made of.
_TEXT = """
Listen to the audio and answer the question. What is said in the recording? Transcribe the speech word by word.
Please classify the emotion of the speaker: angry, happy, sad, neutral, surprised, fearful or disgusted.
Which language is spoken, English, German, Spanish, French or Chinese? Answer with one of the given options only.
Do the first and the second clip come from the same speaker? Answer yes or no. Is there a siren in the background?
Determine the instrument, the genre, the key, the tempo and the pitch of the music. Give the time of each beat in seconds.
How many people are talking? When does the sound event start and when does it end? Estimate the distance in metres.
The answer is the first, the second, the third. There is a dog barking and a car passing by. The signal is noisy, clean,
natural, synthetic, real or fake. Rate the quality of the speech from one to five. Spell every phoneme of the utterance.
""".strip().splitlines()

# The template of the published Qwen2-Audio in shorter form: clips are numbered, a default system turn comes first.
_CHAT_TEMPLATE = (
    "{% set clips = namespace(n=0) %}"
    "{% for message in messages %}"
    "{% if loop.first and message['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n{% endif %}"
    "<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}"
    "{% else %}{% for block in message['content'] %}"
    "{% if block['type'] == 'audio' %}{% set clips.n = clips.n + 1 %}"
    "Audio {{ clips.n }}: <|audio_bos|><|AUDIO|><|audio_eos|>\n"
    "{% elif 'text' in block %}{{ block['text'] }}{% endif %}"
    "{% endfor %}{% endif %}"
    "<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tiny_model(folder: str | Path) -> Path:
    """Writes the tiny model; the same files every time.

    Args:
        folder: Where to; made if it does not exist.

    Returns:
        The folder.
    """
    from dsb2_tasks.audio import ensure_torchaudio

    ensure_torchaudio()  # transformers' audio parts import it, and a broken one would end the run
    from transformers import Qwen2AudioProcessor, WhisperFeatureExtractor

    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    tokenizer = _tokenizer()
    _model(tokenizer).save_pretrained(folder)
    extractor = WhisperFeatureExtractor(feature_size=_MEL_BINS)
    Qwen2AudioProcessor(extractor, tokenizer, chat_template=_CHAT_TEMPLATE).save_pretrained(folder)
    return folder


def cached_tiny_model(cache: str | Path) -> Path:
    """The tiny model in a cache folder, made there if need be; safe when many processes ask at once.

    Args:
        cache: Folder for files that can be made again.

    Returns:
        The folder to give to ``from_pretrained``.
    """
    folder = Path(cache) / f"tiny-model-v{VERSION}"
    if _is_whole(folder):
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        make_tiny_model(made)
        if not _is_whole(made):
            # transformers writes models on the first rank of a process group only: wait for that one.
            return _wait_for(folder)
        _move(made, folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
    return folder


def _move(made: Path, folder: Path) -> None:
    try:
        made.rename(folder)
    except OSError:
        if _is_whole(folder):
            return  # another process was faster, with the same files
        shutil.rmtree(folder)  # what a killed process or an older version left
        made.rename(folder)


def _is_whole(folder: Path) -> bool:
    return all(
        (folder / name).is_file() for name in ("config.json", "model.safetensors", "tokenizer.json", "processor_config.json")
    )


def _wait_for(folder: Path, seconds: float = 120.0) -> Path:
    until = time.monotonic() + seconds
    while not _is_whole(folder):
        if time.monotonic() > until:
            raise RuntimeError(f"{folder}: no other process has made the tiny model within {seconds:.0f} s")
        time.sleep(0.1)
    return folder


def _tokenizer() -> Any:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=_VOCABULARY,
        special_tokens=list(_SPECIAL),
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()),
        show_progress=False,
    )
    tokenizer.train_from_iterator(_TEXT, trainer)
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="<|endoftext|>", eos_token="<|im_end|>", padding_side="left", model_max_length=8192
    )


def _model(tokenizer: Any) -> Any:
    import torch
    from transformers import Qwen2AudioConfig, Qwen2AudioForConditionalGeneration

    config = Qwen2AudioConfig(
        audio_config={
            "model_type": "qwen2_audio_encoder",
            "num_mel_bins": _MEL_BINS,
            "encoder_layers": 1,
            "encoder_attention_heads": 2,
            "encoder_ffn_dim": 64,
            "d_model": 32,
            "max_source_positions": 1500,
        },
        text_config={
            "model_type": "qwen2",
            "vocab_size": len(tokenizer),
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 2,
            "num_attention_heads": 4,
            "num_key_value_heads": 2,
            "max_position_embeddings": 8192,
            "bos_token_id": None,
            "eos_token_id": tokenizer.eos_token_id,
            "pad_token_id": tokenizer.pad_token_id,
            "tie_word_embeddings": False,
        },
        audio_token_index=tokenizer.convert_tokens_to_ids("<|AUDIO|>"),
    )
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        model = Qwen2AudioForConditionalGeneration(config).eval()
        _spread(model, tokenizer)
    model.generation_config.eos_token_id = tokenizer.eos_token_id
    model.generation_config.pad_token_id = tokenizer.pad_token_id
    return model


def _spread(model: Any, tokenizer: Any) -> None:
    """Draws weights wide enough that the answer hangs on the audio, made of words, and ended by the model now and then."""
    import torch

    with torch.no_grad():
        for name, weight in model.named_parameters():
            if weight.ndim >= 2 and "embed" not in name:
                torch.nn.init.normal_(weight, std=1.5 / weight[0].numel() ** 0.5)
        torch.nn.init.normal_(model.get_input_embeddings().weight, std=0.5)
        head = model.get_output_embeddings().weight
        head[: len(_SPECIAL) + 256] *= 0.5  # single bytes follow the special tokens
        head[tokenizer.eos_token_id] *= 5


def main() -> None:
    """Writes the tiny model to the folder named on the command line."""
    parser = argparse.ArgumentParser(prog="python -m dsb2_tasks.samples.tiny_model", description=str(__doc__).splitlines()[0])
    parser.add_argument("folder", type=Path, help="where to write the model")
    print(make_tiny_model(parser.parse_args().folder))


if __name__ == "__main__":
    main()
