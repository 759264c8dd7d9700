"""A server that listens: what it says is what it heard, so an answer tells whether the right sound came."""

from __future__ import annotations

import base64
import io
from typing import Any

import numpy as np
import soundfile
from _server import Request, Response, chat_reply
from lm_eval.api.instance import Instance

GREEDY = {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 12}


def tone(hertz: float, seconds: float, rate: int = 16_000, level: float = 0.3) -> np.ndarray:
    """Samples of a tone."""
    return (level * np.sin(2 * np.pi * hertz / rate * np.arange(round(seconds * rate)))).astype(np.float32)


def file(samples: np.ndarray, rate: int = 16_000, form: str = "WAV", subtype: str | None = None) -> bytes:
    """Samples of shape (n,) or (n, channels) as the bytes of a file."""
    out = io.BytesIO()
    soundfile.write(out, samples, rate, format=form, subtype=subtype)
    return out.getvalue()


def request(prompt: str, *audio: dict[str, Any], **generation: Any) -> Instance:
    """A request in lm-eval's form; ``generation`` replaces single settings of a greedy one, None leaves one out."""
    settings = {name: value for name, value in {**GREEDY, **generation}.items() if value is not None}
    arguments: tuple[Any, ...] = (prompt, settings, {"audio": list(audio)}) if audio else (prompt, settings)
    return Instance(request_type="generate_until", doc={}, arguments=arguments, idx=0, metadata=("task", 0, 1))


def blocks(request: Request) -> list[dict[str, Any]]:
    """Content of the last turn, as a list."""
    content = request.json["messages"][-1]["content"]
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def sent_files(request: Request) -> list[tuple[str, bytes]]:
    """Format and bytes of the clips that came, in order."""
    audio = [block["input_audio"] for block in blocks(request) if block["type"] == "input_audio"]
    return [(clip["format"], base64.b64decode(clip["data"], validate=True)) for clip in audio]


def heard(form: str, data: bytes) -> str:
    """A clip in words: format, rate, channels, seconds, loudest frequency."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    spectrum = np.abs(np.fft.rfft(samples[:, 0]))
    peak = np.fft.rfftfreq(len(samples), 1 / rate)[int(spectrum.argmax())]
    return f"{form} {rate} Hz x{samples.shape[1]} {len(samples) / rate:.2f} s at {peak:.0f}"


def listen(request: Request) -> Response:
    """Answers with the question and all that was heard."""
    text = "".join(block["text"] for block in blocks(request) if block["type"] == "text")
    return chat_reply("; ".join([text, *(heard(*clip) for clip in sent_files(request))]))
