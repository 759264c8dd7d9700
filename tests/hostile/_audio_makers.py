"""Small files of every format that is read, and the tools to break them."""

from __future__ import annotations

import io
import struct
from functools import lru_cache
from typing import Any

import numpy as np
import soundfile

RATE = 16_000


def tone(rate: int = RATE, seconds: float = 1.0, *, channels: int = 1, hertz: float = 440.0) -> np.ndarray:
    """A sine of shape (n, channels)."""
    wave = 0.5 * np.sin(2 * np.pi * hertz * np.arange(round(rate * seconds)) / rate)
    return np.repeat(wave[:, None], channels, axis=1).astype(np.float32)


def encode(samples: np.ndarray, rate: int = RATE, form: str = "WAV", **options: Any) -> bytes:
    """A file by libsndfile, from samples of shape (n, channels)."""
    buffer = io.BytesIO()
    soundfile.write(buffer, samples, rate, format=form, **options)
    return buffer.getvalue()


def encode_av(container: str, codec: str, rate: int = 48_000, seconds: float = 1.0, *, silent: bool = False) -> bytes:
    """A mono file by PyAV."""
    import av

    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container) as file:
        stream = file.add_stream(codec, rate=rate, layout="mono", bit_rate=64_000)
        wave = tone(rate, 1.0) * (not silent)
        codec_form = stream.codec_context
        fit = av.AudioResampler(codec_form.format.name, "mono", rate, frame_size=codec_form.frame_size or 1024)
        left = round(seconds * rate)
        while left > 0:
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave[:left].T), "fltp", "mono")
            frame.sample_rate = rate
            left -= len(wave)
            for part in fit.resample(frame):
                file.mux(stream.encode(part))
        for part in fit.resample(None):
            file.mux(stream.encode(part))
        file.mux(stream.encode(None))
    return buffer.getvalue()


#: Name to form and subtype, of what libsndfile writes.
SNDFILE = {
    "wav": ("WAV", "PCM_16"),
    "wav-u8": ("WAV", "PCM_U8"),
    "wav-24": ("WAV", "PCM_24"),
    "wav-float": ("WAV", "FLOAT"),
    "wav-double": ("WAV", "DOUBLE"),
    "wav-ulaw": ("WAV", "ULAW"),
    "wav-ima": ("WAV", "IMA_ADPCM"),
    "wav-ms": ("WAV", "MS_ADPCM"),
    "wavex": ("WAVEX", "PCM_16"),
    "rf64": ("RF64", "PCM_16"),
    "w64": ("W64", "PCM_16"),
    "aiff": ("AIFF", "PCM_16"),
    "au": ("AU", "PCM_16"),
    "caf": ("CAF", "PCM_16"),
    "caf-alac": ("CAF", "ALAC_16"),
    "flac": ("FLAC", "PCM_16"),
    "mp3": ("MP3", "MPEG_LAYER_III"),
    "ogg": ("OGG", "VORBIS"),
    "opus": ("OGG", "OPUS"),
    "nist": ("NIST", "PCM_16"),
}
#: Name to container, codec and rate, of what PyAV writes.
PYAV = {
    "m4a": ("ipod", "aac", 44_100),
    "m4a-alac": ("ipod", "alac", 44_100),
    "webm": ("webm", "libopus", 48_000),
    "mkv-pcm": ("matroska", "pcm_s16le", 16_000),
    "aac": ("adts", "aac", 22_050),
    "ac3": ("ac3", "ac3", 48_000),
    "wma": ("asf", "wmav2", 44_100),
}


def make(name: str, seconds: float = 1.0, channels: int = 1) -> bytes:
    """A tone in the format of this name."""
    if name in PYAV:
        return encode_av(*PYAV[name], seconds)
    form, subtype = SNDFILE[name]
    return encode(tone(RATE, seconds, channels=channels), RATE, form, subtype=subtype)


def _crc(data: bytes, polynomial: int, bits: int) -> int:
    """A checksum as flac and ogg have them: highest bit first, from 0."""
    table = _crc_table(polynomial, bits)
    value, mask = 0, (1 << bits) - 1
    for byte in data:
        value = (value << 8 & mask) ^ table[value >> (bits - 8) ^ byte]
    return value


@lru_cache
def _crc_table(polynomial: int, bits: int) -> list[int]:
    table = []
    for byte in range(256):
        value = byte << (bits - 8)
        for _ in range(8):
            value = value << 1 ^ (polynomial if value >> (bits - 1) & 1 else 0)
        table.append(value & (1 << bits) - 1)
    return table


def flac_head(rate: int, channels: int, frames: int, *, block: int = 65_535, bits: int = 16) -> bytes:
    """The head of a flac file, whatever it claims."""
    packed = rate << 44 | (channels - 1) << 41 | (bits - 1) << 36 | frames
    info = struct.pack(">HH", block, block) + bytes(6) + packed.to_bytes(8, "big") + bytes(16)
    return b"fLaC" + bytes([0x80, 0, 0, len(info)]) + info


def flac_silence(rate: int, channels: int, blocks: int, *, claimed: int | None = None) -> bytes:
    """A flac file of constant blocks, 65,535 frames each, in some 12 bytes and 3 a channel.

    Args:
        rate: Hz.
        channels: 1 to 8.
        blocks: How many.
        claimed: Frames that the head states; None for the truth, 0 for "not known".
    """
    pieces = [flac_head(rate, channels, 65_535 * blocks if claimed is None else claimed)]
    for number in range(blocks):
        head = bytes([0xFF, 0xF8, 0x70, (channels - 1) << 4 | 0x08]) + _flac_number(number) + b"\xff\xfe"
        block = head + bytes([_crc(head, 0x07, 8)]) + bytes(3 * channels)
        pieces.append(block + struct.pack(">H", _crc(block, 0x8005, 16)))
    return b"".join(pieces)


def _flac_number(number: int) -> bytes:
    """A block's number as flac writes it: UTF-8, surrogates too."""
    return chr(number).encode("utf-8", "surrogatepass")


def ogg_page(packets: list[bytes], granule: int, number: int, serial: int = 1, flags: int = 0) -> bytes:
    """One page of whole packets."""
    table = b"".join(bytes([255] * (len(p) // 255) + [len(p) % 255]) for p in packets)
    head = struct.pack("<4sBBQIIIB", b"OggS", 0, flags, granule, serial, number, 0, len(table)) + table
    page = head + b"".join(packets)
    return page[:22] + struct.pack("<I", _crc(page, 0x04C11DB7, 32)) + page[26:]


def opus_silence(pages: int, channels: int = 2, *, claimed: int | None = None) -> bytes:
    """An ogg opus file of empty packets: 255 times 120 ms a page of 792 bytes.

    Args:
        pages: How many.
        channels: 1 or 2.
        claimed: Granule position of the last page; None for the truth.
    """
    head = struct.pack("<8sBBHIhB", b"OpusHead", 1, channels, 0, 48_000, 0, 0)
    tags = struct.pack("<8sI4sI", b"OpusTags", 4, b"test", 0)
    pieces = [ogg_page([head], 0, 0, flags=2), ogg_page([tags], 0, 1)]
    packet = bytes([3 << 3 | (channels - 1) << 2 | 3, 2])  # two frames of 60 ms without content
    for page in range(1, pages + 1):
        last = page == pages
        granule = claimed if last and claimed is not None else page * 255 * 5760
        pieces.append(ogg_page([packet] * 255, granule, page + 1, flags=4 * last))
    return b"".join(pieces)


def mp3_silence(frames: int, *, stated: int | None = None) -> bytes:
    """Stereo mp3 frames of 96 bytes and 24 ms of silence, at 48 kHz.

    Args:
        frames: How many.
        stated: Frames that a Xing tag before them states; None for no tag.
    """
    frame = b"\xff\xfb\x14\x04" + bytes(92)
    tag = b"" if stated is None else frame[:36] + b"Xing" + struct.pack(">II", 1, stated) + bytes(48)
    return tag + frame * frames


def patch(data: bytes, at: int, form: str, value: float) -> bytes:
    """A file with one number of its head replaced."""
    piece = struct.pack(form, value)
    return data[:at] + piece + data[at + len(piece) :]
