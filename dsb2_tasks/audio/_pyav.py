"""What libsndfile does not read: m4a, webm, wma and their like, by PyAV if it is installed.

The container is told by the file's first bytes and named to ffmpeg.  Left to guess, ffmpeg also tries playlist formats,
which open whatever files and addresses a stranger's clip names.
"""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from dsb2_tasks.audio._collect import collect
from dsb2_tasks.audio._errors import AudioError

if TYPE_CHECKING:
    import av

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


def decode(data: bytes, container: str, name: str) -> tuple[np.ndarray, int]:
    """Decodes the first audio stream whole.

    Args:
        data: The file's bytes.
        container: ffmpeg's name of the container.
        name: Name of the clip for messages.

    Returns:
        float32 of shape (channels, n) and the rate in Hz.

    Raises:
        AudioError: PyAV is not installed, or the file cannot be decoded or is too long.
    """
    try:
        import av
    except ImportError:
        raise AudioError(f"{name} ({container}) is not read by libsndfile; PyAV reads it: pip install av") from None
    name = f"{name} ({container})"
    # Tags in another encoding than UTF-8 are no damage. PyAV 19 takes them as they come, and takes no such argument.
    lenient: dict[str, Any] = {"metadata_errors": "ignore"} if int(av.__version__.partition(".")[0]) < 19 else {}
    try:
        with av.open(io.BytesIO(data), mode="r", format=container, **lenient) as file:
            if not file.streams.audio:
                raise AudioError(f"{name} holds no audio stream")
            stream = file.streams.audio[0]
            if stream.codec_context is None:  # damage to its name; before 18.1 PyAV decodes it with a null pointer
                raise AudioError(f"{name} holds audio in a coding that PyAV does not know, or is damaged")
            frames = _packed(file.decode(stream), name)
            first = next(frames, None)
            if first is None:
                raise AudioError(f"{name} holds no samples")
            channels = first.layout.nb_channels
            blocks = (frame.to_ndarray().reshape(-1, channels) for frame in itertools.chain([first], frames))
            return collect(blocks, channels, name), first.sample_rate
    except AudioError:
        raise
    except Exception as error:  # damaged files meet ffmpeg, text decoding and array shapes alike: one clip, not the run
        reason = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        raise AudioError(f"{name} is cut or damaged: {reason}") from None


def _packed(frames: Iterable[av.AudioFrame], name: str) -> Iterator[av.AudioFrame]:
    """Frames as float32 with the channels interleaved: of planar ones with 8 channels PyAV reads beyond the last."""
    import av

    convert = form = None
    for frame in frames:
        if convert is None:
            form = _form(frame)
            convert = av.AudioResampler(format="flt", layout=frame.layout.name, rate=frame.sample_rate)
        elif _form(frame) != form:
            # Only damage changes these, and ffmpeg's converter reads out of bounds when they change under it.
            raise AudioError(f"{name} is cut or damaged: it changes from {form} to {_form(frame)}")
        yield from convert.resample(frame)
    if convert is not None:
        yield from convert.resample(None)


def _form(frame: av.AudioFrame) -> tuple[int, str, str]:
    """Rate, channel layout and sample format of a frame."""
    return frame.sample_rate, frame.layout.name, frame.format.name
