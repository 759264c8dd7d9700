"""Turns signals into files: wav, flac, mp3, ogg vorbis and ogg opus, the same bytes for the same samples."""

from __future__ import annotations

import io
import math
import struct
from dataclasses import dataclass, replace

import numpy as np
import soundfile
from numpy.typing import NDArray
from scipy.signal import resample_poly

from dsb2_tasks.samples._signal import RATE

# Variable bit rate alone makes libsndfile write the header from which decoders learn the encoder's delay: only so do
# times stay right and lengths exact.
_FORMATS: dict[str, tuple[str, str, dict[str, float | str]]] = {
    "wav": ("WAV", "PCM_16", {}),
    "ulaw": ("WAV", "ULAW", {}),
    "flac": ("FLAC", "PCM_16", {"compression_level": 1.0}),
    "mp3": ("MP3", "MPEG_LAYER_III", {"compression_level": 0.85, "bitrate_mode": "VARIABLE"}),
    "ogg": ("OGG", "VORBIS", {"compression_level": 0.9}),
    "opus": ("OGG", "OPUS", {"compression_level": 0.94}),
}
_SUFFIX = {"ulaw": "wav", "opus": "ogg"}
_OGG_SERIAL = 0x64736232


@dataclass(frozen=True)
class Clip:
    """A signal on its way to a file.

    Attributes:
        samples: ``(n,)`` or ``(channels, n)`` at ``RATE``.
        keep_level: Whether loudness carries meaning; otherwise the peak is set to 0.6.
        codec: ``format@rate``, instead of the data set's.
    """

    samples: NDArray[np.float64]
    keep_level: bool = False
    codec: str | None = None

    def at(self, codec: str) -> Clip:
        """The same clip, stored as another kind of file."""
        return replace(self, codec=codec)


def encode(clip: Clip, codec: str) -> tuple[bytes, str]:
    """Encodes a clip.

    Args:
        clip: The signal.
        codec: ``format@rate`` such as ``mp3@16000``, used unless the clip names its own.

    Returns:
        The bytes of the file and the suffix of its name.
    """
    kind, _, rate_text = (clip.codec or codec).partition("@")
    rate = int(rate_text)
    x = np.atleast_2d(clip.samples)
    if not clip.keep_level:
        x = x * (0.6 / max(float(np.max(np.abs(x))), 1e-9))
    divisor = math.gcd(rate, RATE)
    if rate != RATE:
        x = resample_poly(x, rate // divisor, RATE // divisor, axis=1)
    # Rounded to 16 bits before lossy coding too: last-digit differences between machines then seldom reach the coder.
    pcm = np.round(np.clip(x, -0.999, 0.999) * 32767).astype(np.int16)
    container, subtype, settings = _FORMATS[kind]
    file = io.BytesIO()
    soundfile.write(file, pcm.T, rate, format=container, subtype=subtype, **settings)
    data = file.getvalue()
    return (_with_fixed_serial(data) if container == "OGG" else data), _SUFFIX.get(kind, kind)


def _crc_table() -> list[int]:
    table = []
    for byte in range(256):
        value = byte << 24
        for _ in range(8):
            value = ((value << 1) ^ 0x04C11DB7 if value & 0x80000000 else value << 1) & 0xFFFFFFFF
        table.append(value)
    return table


_CRC = _crc_table()


def _with_fixed_serial(data: bytes) -> bytes:
    """Ogg streams carry a random serial number: sets it to a fixed one and renews the checksum of each page."""
    out = bytearray(data)
    start = 0
    while start < len(out):
        if out[start : start + 4] != b"OggS":
            raise ValueError(f"no ogg page at byte {start}")
        segments = out[start + 26]
        size = 27 + segments + sum(out[start + 27 : start + 27 + segments])
        struct.pack_into("<II", out, start + 14, _OGG_SERIAL, struct.unpack_from("<I", out, start + 18)[0])
        struct.pack_into("<I", out, start + 22, 0)
        crc = 0
        for byte in out[start : start + size]:
            crc = ((crc << 8) & 0xFFFFFFFF) ^ _CRC[(crc >> 24) ^ byte]
        struct.pack_into("<I", out, start + 22, crc)
        start += size
    return bytes(out)
