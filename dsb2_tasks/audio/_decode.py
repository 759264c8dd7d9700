"""File bytes to samples.

libsndfile reads wav, flac, mp3, ogg (vorbis, opus), aiff, au, caf and more.  What it refuses but PyAV (an optional
package) reads, m4a and webm above all, is told by its first bytes and goes there.

A file whose decoder stops before the length that its own header states is an :class:`AudioError`: the model would hear
another clip than the label describes.  That covers cut flac files and mp3 files with a length tag.  Wav, aiff, ogg and
webm files state no length that can be trusted (streamed wav files carry placeholders), so of these what is there is what
counts.  What lies behind the stated length or behind the first stream of a chain is not read.  However long a clip is said to
be, :data:`dsb2_tasks.audio._collect.MAX_SAMPLES` bounds what is decoded.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from dsb2_tasks.audio import _pyav
from dsb2_tasks.audio._collect import MAX_SAMPLES, collect
from dsb2_tasks.audio._errors import AudioError

if TYPE_CHECKING:
    import soundfile

MAX_CHANNELS = 64
MIN_RATE, MAX_RATE = 100, 768_000
#: Samples per read, 47 s of stereo at 44.1 kHz, so that most clips are read at once and never copied; memory grows with what is
#: really there, never with what a header claims.
_BLOCK = 1 << 22
#: Samples by which the length tag of an mp3 file may be off: encoders disagree on which frames count.
_TAG_ERROR = 2 * 1152
#: What libsndfile says of a flac file that states no length.
_UNKNOWN = (1 << 63) - 1


#: Full scale is 1; files of floats in 32-bit integer units go up to 2**31.
_LOUDEST = np.float32(2.0**40)


@dataclass(frozen=True)
class RawAudio:
    """An undecoded audio file.

    Attributes:
        data: The file's bytes.
        name: Its name, for messages; the format is told by the bytes.
    """

    data: bytes
    name: str


@dataclass(frozen=True)
class AudioInfo:
    """What the header of a file states: length in seconds, rate in Hz, channels, frames (samples per channel)."""

    seconds: float
    rate: int
    channels: int
    frames: int


@dataclass(frozen=True, eq=False)
class Decoded:
    """A decoded piece.

    Attributes:
        samples: float32 of shape (channels, n), all finite.
        rate: Hz.
        seconds: Length of the whole file.
        nonfinite: Whether samples that are no sound (NaN, infinite, beyond 2**40) were replaced by 0.
    """

    samples: np.ndarray
    rate: int
    seconds: float
    nonfinite: bool


def read_info(raw: RawAudio) -> AudioInfo:
    """Reads the header (a file that only PyAV reads is decoded to know its length).

    Raises:
        AudioError: The file is empty, no audio, or claims what no clip has.
    """
    with _open(raw) as reader:
        return AudioInfo(reader.frames / reader.rate, reader.rate, reader.channels, reader.frames)


def decode(raw: RawAudio, *, start: float = 0.0, seconds: float | None = None) -> tuple[np.ndarray, int]:
    """Decodes a file or a piece of it.

    Args:
        raw: The file.
        start: Where to begin, in seconds.
        seconds: Most to decode, in seconds; None for all.

    Returns:
        Samples as float32 of shape (channels, n), NaN and infinities replaced by 0, and the rate in Hz.

    Raises:
        AudioError: The file cannot be decoded, holds no samples there, or too many.
    """
    decoded = decode_piece(raw, start=start, seconds=seconds)
    return decoded.samples, decoded.rate


def decode_piece(raw: RawAudio, *, start: float = 0.0, seconds: float | None = None) -> Decoded:
    """As :func:`decode`, with the length of the whole file and whether samples were replaced."""
    if not 0 <= start < math.inf or (seconds is not None and not 0 < seconds < math.inf):
        raise ValueError(f"start={start} and seconds={seconds} name no piece of a clip")
    with _open(raw) as reader:
        total = reader.frames / reader.rate
        first = round(start * reader.rate)
        wanted = reader.frames - first
        if wanted <= 0:
            raise AudioError(f"{_name(raw)} lasts {total:.3f} s and has nothing at {start} s")
        if seconds is not None:
            wanted = min(wanted, math.ceil(seconds * reader.rate))
        samples, nonfinite = _finite(reader.read(first, wanted))
        return Decoded(samples, reader.rate, total, nonfinite)


class _Reader(Protocol):
    """An open file: Hz, channels, frames, and any piece of it as (channels, n)."""

    rate: int
    channels: int
    frames: int

    def read(self, first: int, wanted: int) -> np.ndarray: ...


class _Sndfile:
    """A file that libsndfile has opened and whose length it knows."""

    def __init__(self, file: soundfile.SoundFile, name: str) -> None:
        self._file, self._name = file, name
        self.rate, self.channels, self.frames = file.samplerate, file.channels, file.frames

    def read(self, first: int, wanted: int) -> np.ndarray:
        # libsndfile's seek in mp3 lands beside the place: decode what comes before and drop it.
        skipped = first if self._file.format == "MP3" else 0
        if (skipped + wanted) * self.channels > MAX_SAMPLES:
            raise AudioError(
                f"{self._name} claims {wanted} frames of {self.channels} channels, more than the {MAX_SAMPLES} samples that are "
                f"decoded at once; split it"
            )
        if first != skipped:
            with _damage(self._name):
                self._file.seek(first)
        samples = _read(self._file, skipped + wanted, self._name)[:, skipped:]
        missing = wanted - samples.shape[1]
        if missing > (_TAG_ERROR if self._file.format == "MP3" else 0) or missing == wanted:
            raise AudioError(
                f"{self._name} is cut: it states {self.frames / self.rate:.3f} s and ends {missing / self.rate:.3f} s too early"
            )
        return samples


class _Whole:
    """A file that had to be decoded whole to know its length."""

    def __init__(self, samples: np.ndarray, rate: int) -> None:
        self._samples, self.rate = samples, rate
        self.channels, self.frames = samples.shape

    def read(self, first: int, wanted: int) -> np.ndarray:
        return self._samples[:, first : first + wanted]


class _Stream(io.BytesIO):
    """File bytes as libsndfile walks through them: damaged headers send it before the start, which is no error here."""

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: super().tell(), io.SEEK_END: self.getbuffer().nbytes}[whence]
        return super().seek(max(0, base + offset))


class _FarEnd(_Stream):
    """Reports 64 times its length.

    Of an mp3 file without a length tag libsndfile guesses the length from size and first frame, and never reads beyond
    the guess: with a variable bit rate that can be a fifth of the file.  A guess that is too long does no harm.
    """

    _at_end = False

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self._at_end = whence == io.SEEK_END
        return super().seek(offset, whence)

    def tell(self) -> int:
        return super().tell() * (64 if self._at_end else 1)


@contextmanager
def _open(raw: RawAudio) -> Iterator[_Reader]:
    """Opens a file with whatever reads it and checks what it claims."""
    name = _name(raw)
    if not raw.data:
        raise AudioError(f"{name} is empty")
    try:
        with _opened(raw, name) as reader:
            yield _checked(reader, name)
    except MemoryError:  # other clips take less
        raise AudioError(f"{name} takes more memory to decode than there is") from None


@contextmanager
def _opened(raw: RawAudio, name: str) -> Iterator[_Reader]:
    import soundfile

    container = _pyav.container(raw.data)
    try:
        file = soundfile.SoundFile(_Stream(raw.data))
    except soundfile.LibsndfileError as error:
        if container is None:
            raise AudioError(f"{name} is no audio file that libsndfile reads ({_said(error)})") from None
        file = None
    if file is None or (file.frames == _UNKNOWN and container is not None):
        yield _Whole(*_pyav.decode(raw.data, str(container), name))
        return
    with file:
        if file.format == "MP3" and not _states_length(raw.data):
            with _damage(name), soundfile.SoundFile(_FarEnd(raw.data)) as far:
                yield _Whole(_read(far, far.frames, name), far.samplerate)
        else:
            yield _Sndfile(file, name)


def _read(file: soundfile.SoundFile, wanted: int, name: str) -> np.ndarray:
    """Reads up to ``wanted`` frames from where the file stands, as (channels, n)."""
    return collect(_blocks(file, wanted, name), file.channels, name)


def _blocks(file: soundfile.SoundFile, wanted: int, name: str) -> Iterator[np.ndarray]:
    got = 0
    while got < wanted:
        with _damage(name):
            block = file.read(min(_BLOCK // file.channels, wanted - got), dtype="float32", always_2d=True)
        if not len(block):
            return
        yield block
        got += len(block)


@contextmanager
def _damage(name: str) -> Iterator[None]:
    import soundfile

    try:
        yield
    except soundfile.LibsndfileError as error:
        raise AudioError(f"{name} is cut or damaged: decoding fails ({_said(error)})") from None


def _states_length(data: bytes) -> bool:
    """Whether the first frame of an mp3 file, after its ID3 tag if there is one, is a Xing, Info or VBRI tag."""
    at = 0
    if data[:3] == b"ID3" and len(data) > 10:
        size = data[6] << 21 | data[7] << 14 | data[8] << 7 | data[9]
        at = 10 + size
    return any(tag in data[at : at + 64] for tag in (b"Xing", b"Info", b"VBRI"))


def _checked(reader: _Reader, name: str) -> _Reader:
    if not 1 <= reader.channels <= MAX_CHANNELS:
        raise AudioError(f"{name} has {reader.channels} channels; 1 to {MAX_CHANNELS} are read")
    if not MIN_RATE <= reader.rate <= MAX_RATE:
        raise AudioError(f"{name} states a sampling rate of {reader.rate} Hz; {MIN_RATE} to {MAX_RATE} Hz are read")
    if reader.frames < 1:
        raise AudioError(f"{name} holds no samples")
    return reader


def _finite(samples: np.ndarray) -> tuple[np.ndarray, bool]:
    # A sample of 1e30 is no sound either, and mixing or resampling it would overflow.
    if samples.min(initial=0) > -_LOUDEST and samples.max(initial=0) < _LOUDEST:  # both are NaN if any sample is
        return samples, False
    return np.where(np.abs(samples) < _LOUDEST, samples, np.float32(0)), True


def _name(raw: RawAudio) -> str:
    return raw.name or "the clip"


def _said(error: soundfile.LibsndfileError) -> str:
    return error.error_string.strip().rstrip(".")
