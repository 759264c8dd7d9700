"""Spoken sentences by espeak-ng, which is needed only to build the samples."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import soundfile

from dsb2_tasks.samples._signal import RATE, Sound, chain, length, scaled


class SpeechError(RuntimeError):
    """espeak-ng is missing or cannot say something."""


@dataclass(frozen=True)
class Voice:
    """A synthetic talker.

    Attributes:
        name: espeak-ng's voice, with a variant: ``en-us+f2``.
        pitch: 0 to 99.
        speed: Words a minute.
    """

    name: str
    pitch: int = 50
    speed: int = 175


#: Talkers of English that differ clearly from each other.
TALKERS = (
    Voice("en-us+f2", 60),
    Voice("en-gb+m3", 35),
    Voice("en-us+Annie", 70, 190),
    Voice("en-gb-x-rp+m7", 20, 165),
    Voice("en-us+klatt", 45, 180),
    Voice("en-gb-scotland+f4", 45, 170),
    Voice("en-us+m1", 60, 195),
    Voice("en-gb+f5", 85, 180),
)
LJ = Voice("en-us+f3", 55)
LANGUAGES = {
    "en": Voice("en-us+f2", 55),
    "de": Voice("de+f2", 45, 155),
    "fr": Voice("fr-fr+f2", 50, 155),
    "es": Voice("es+f2", 50, 145),
    "it": Voice("it+f3", 50, 155),
    "nl": Voice("nl+m1", 50, 155),
    "pl": Voice("pl", 50, 140),
    "pt": Voice("pt+m3", 50, 150),
    "pt-br": Voice("pt-br+f3", 50, 150),
    "ar": Voice("ar+m3", 50, 150),
    "ru": Voice("ru+f2", 50),
    "sv": Voice("sv+m3", 50),
    "fa": Voice("fa+m1", 50),
    "uk": Voice("uk+f2", 50),
    "zh": Voice("cmn-latn-pinyin+m3", 50, 135),
}


def espeak_version() -> str:
    """Version of the installed espeak-ng.

    Raises:
        SpeechError: It is not installed.
    """
    program = shutil.which("espeak-ng")
    if program is None:
        raise SpeechError("espeak-ng is not installed: it speaks the sentences of the samples ('apt-get install espeak-ng')")
    printed = subprocess.run([program, "--version"], capture_output=True, text=True, check=True).stdout
    return printed.split(":")[1].split()[0]


@lru_cache(maxsize=2048)
def say(text: str, voice: Voice) -> Sound:
    """Speaks a text, ``<prosody>`` elements or ``[[phonemes]]``; silence at both ends is cut, the peak is 0.6.

    Raises:
        SpeechError: espeak-ng failed or said nothing.
    """
    command = ["espeak-ng", "-v", voice.name, "-p", str(voice.pitch), "-s", str(voice.speed), "-m", "--stdin", "--stdout"]
    try:
        done = subprocess.run(command, input=f"<speak>{text}</speak>".encode(), capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SpeechError(f"espeak-ng cannot say {text!r} with voice {voice.name!r}: {error}") from error
    x, rate = soundfile.read(io.BytesIO(_with_true_length(done.stdout)))
    loud = np.flatnonzero(np.abs(x) > 0.01 * np.max(np.abs(x), initial=0.0))
    if rate != RATE or not loud.size:
        raise SpeechError(f"espeak-ng said nothing for {text!r} with voice {voice.name!r} (rate {rate})")
    return scaled(x[loud[0] : loud[-1] + 1])


def _with_true_length(wav: bytes) -> bytes:
    """Written to a pipe, the header holds no length; puts in the real one."""
    return wav[:4] + (len(wav) - 8).to_bytes(4, "little") + wav[8:40] + (len(wav) - 44).to_bytes(4, "little") + wav[44:]


def phonemes(mnemonics: str, voice: Voice) -> Sound:
    """Speaks espeak-ng phoneme mnemonics, such as ``'apa``."""
    return say(f"[[{mnemonics}]]", voice)


def prosody(text: str, **settings: str) -> str:
    """Text within a prosody element: ``rate``, ``pitch``, ``range``, ``volume``."""
    attributes = " ".join(f'{key}="{value}"' for key, value in settings.items())
    return f"<prosody {attributes}>{text}</prosody>"


def conversation(turns: Sequence[tuple[str, Voice]], gap: float = 0.25) -> tuple[Sound, list[tuple[float, float]]]:
    """Several utterances one after another, with the span of each in seconds."""
    return chain([say(text, voice) for text, voice in turns], gap=gap, lead=0.1, tail=0.1)


def padded(x: Sound, seconds: float = 0.1) -> Sound:
    """Adds silence at both ends."""
    return np.pad(x, length(seconds))
