"""What libsndfile does not read: m4a, webm, wma and their like, by PyAV if it is installed.

The container is told by the file's first bytes and named to ffmpeg.  Left to guess, ffmpeg also tries playlist formats,
which open whatever files and addresses a stranger's clip names.
"""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from dsb2_tasks.audio._errors import AudioError

#: First bytes, where they stand, and ffmpeg's name of the container.
_SIGNATURES = (
    (4, b"ftyp", "mov"),
    (0, b"\x1a\x45\xdf\xa3", "matroska"),
    (0, b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "asf"),
    (0, b"\xff\xf1", "aac"),
    (0, b"\xff\xf9", "aac"),
    (0, b"\x0b\x77", "ac3"),
    (0, b"#!AMR", "amr"),
    (0, b"fLaC", "flac"),  # one that states no length, which libsndfile cannot read to its end
)


def container(data: bytes) -> str | None:
    """Tells the container of a file by ffmpeg's name for it; None where PyAV is not asked."""
    return next((name for at, magic, name in _SIGNATURES if data[at : at + len(magic)] == magic), None)


def decode(data: bytes, container: str, name: str, most: int) -> tuple[np.ndarray, int]:
    """Decodes the first audio stream whole.

    Args:
        data: The file's bytes.
        container: ffmpeg's name of the container.
        name: Name of the clip for messages.
        most: Most samples (frames times channels) to decode.

    Returns:
        float32 of shape (channels, n) and the rate in Hz.

    Raises:
        AudioError: PyAV is not installed, or the file cannot be decoded or is too long.
    """
    try:
        import av
    except ImportError:
        raise AudioError(f"{name} ({container}) is not read by libsndfile; PyAV reads it: pip install av") from None
    blocks: list[np.ndarray] = []
    got = 0
    try:
        with av.open(io.BytesIO(data), mode="r", format=container, metadata_errors="ignore") as file:
            if not file.streams.audio:
                raise AudioError(f"{name} ({container}) holds no audio stream")
            stream = file.streams.audio[0]
            planar = form = None
            for frame in file.decode(stream):
                if planar is None:
                    rate, form = frame.sample_rate, _form(frame)
                    planar = av.AudioResampler(format="fltp", layout=frame.layout.name, rate=rate)
                elif _form(frame) != form:
                    # Only damage changes these, and ffmpeg's converter reads out of bounds when they change under it.
                    raise AudioError(f"{name} ({container}) is cut or damaged: it changes from {form} to {_form(frame)}")
                for part in planar.resample(frame):
                    blocks.append(part.to_ndarray())
                    got += blocks[-1].size
                if got > most:
                    raise AudioError(f"{name} ({container}) holds more than the {most} samples that are decoded at once")
            if planar is None:
                raise AudioError(f"{name} ({container}) holds no samples")
            blocks += [part.to_ndarray() for part in planar.resample(None)]
        return np.concatenate(blocks, axis=1), rate
    except AudioError:
        raise
    except Exception as error:  # damaged files meet ffmpeg, text decoding and array shapes alike: one clip, not the run
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise AudioError(f"{name} ({container}) is cut or damaged: {reason}") from None


def _form(frame: Any) -> tuple[int, str, str]:
    """Rate, channel layout and sample format of a frame."""
    return frame.sample_rate, frame.layout.name, frame.format.name
