"""Files whose heads lie: samples as stated and there, or an AudioError that says why; in little time and memory."""

from __future__ import annotations

import math
import struct
from collections import Counter
from importlib.metadata import version

import numpy as np
import pytest
from _audio_makers import PYAV, RATE, SNDFILE, flac_head, flac_silence, make, mp3_silence, opus_silence, patch
from _children import in_child

from dsb2_tasks.audio import AudioError, RawAudio, decode, read_info

MB = 1 << 20
#: What no format has room for, the ends of signed and unsigned numbers, and one that fits everywhere.
NUMBERS = (0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x10000000)


def check(data: bytes) -> str:
    """Decodes a file whole and in part; what holds for all files, broken or not, and how it went."""
    raw = RawAudio(data, "clip")
    try:
        info = read_info(raw)
        samples, rate = decode(raw)
    except AudioError as error:
        assert error.reason.startswith("clip") and error.reason.isprintable() and len(error.reason) < 600
        return "refused"
    assert samples.dtype == np.float32 and np.isfinite(samples).all()
    assert (len(samples), rate) == (info.channels, info.rate)
    assert 1 <= samples.shape[1] <= info.frames <= samples.shape[1] + 2304  # an mp3 tag may be two frames off
    assert math.isclose(info.seconds, info.frames / info.rate)
    try:
        part, _ = decode(raw, start=info.seconds / 2, seconds=info.seconds / 4)
    except AudioError:
        return "decoded, not from its middle"
    assert 1 <= part.shape[1] <= math.ceil(info.frames / 4) + 1
    return "decoded"


@pytest.mark.parametrize("name", [*SNDFILE, *PYAV])
def test_any_number_of_a_head_may_lie(name: str) -> None:
    if name in PYAV:
        pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    data = make(name, 0.1)
    # In some formats the head is all that counts, in others lengths stand everywhere.
    spread = name in PYAV or name in ("ogg", "opus")
    places = range(0, len(data) - 4, max(1, len(data) // 60)) if spread else range(0, 128, 3)

    def sweep() -> Counter[str]:
        return Counter(
            check(patch(data, at, order + "I", number))
            for at in places
            for number in NUMBERS
            for order in ("<>" if number in (1, 0x10000000) else "<")
        )

    fared, seconds, grown = in_child(sweep)
    assert fared["decoded"] and fared["refused"]  # the sweep met numbers that matter and others
    assert seconds < 20 and grown < 150 * MB


WAV, WAVEX, RF64, W64, AIFF, AU, CAF, FLAC, MP3 = map(make, ("wav", "wavex", "rf64", "w64", "aiff", "au", "caf", "flac", "mp3"))
FMT = WAVEX.index(b"fmt ") + 8
COMM = AIFF.index(b"COMM") + 8
TAG = max(MP3.find(b"Xing"), MP3.find(b"Info"))
STREAMINFO = int.from_bytes(FLAC[18:26], "big")


def streaminfo(keep: int, value: int) -> bytes:
    return FLAC[:18] + (STREAMINFO & keep | value).to_bytes(8, "big") + FLAC[26:]


#: Shape that is decoded, or what the error says.
LIES: dict[str, tuple[bytes, tuple[int, int] | str]] = {
    "wav of rate 0": (patch(WAV, 24, "<I", 0), "no audio file"),
    "wav of rate 1": (patch(WAV, 24, "<I", 1), "sampling rate of 1 Hz; 100 to 768000 Hz"),
    "wav of rate 2**31-1": (patch(WAV, 24, "<I", 2**31 - 1), "sampling rate of 2147483647 Hz"),
    "wav of negative rate": (patch(WAV, 24, "<i", -RATE), "no audio file"),
    "wav of no channels": (patch(WAV, 22, "<H", 0), "Channel count is zero"),
    "wav of 3 channels": (patch(WAV, 22, "<H", 3), (3, 5333)),
    "wav of 255 channels": (patch(WAV, 22, "<H", 255), "has 255 channels; 1 to 64"),
    "wav of 65535 channels": (patch(WAV, 22, "<H", 65535), "Too many channels"),
    "wav of 0 bits": (patch(WAV, 34, "<H", 0), "unimplemented format"),
    "wav of 65535 bits": (patch(WAV, 34, "<H", 65535), "unimplemented format"),
    "wav with blocks of nothing": (patch(WAV, 32, "<H", 0), (1, RATE)),
    "wav with blocks of 65535": (patch(WAV, 32, "<H", 65535), (1, RATE)),
    "wav with no data": (patch(WAV, 40, "<I", 0), "holds no samples"),
    "wav with an odd size": (patch(WAV, 40, "<I", 1001), (1, 500)),
    "wav with one byte more": (patch(WAV, 40, "<I", 2 * RATE + 1), (1, RATE)),
    "wav whose riff is empty": (patch(WAV, 4, "<I", 0), (1, RATE)),
    "wav whose riff is 4 GB": (patch(WAV, 4, "<I", 2**32 - 1), (1, RATE)),
    "wav of mp3": (patch(WAV, 20, "<H", 0x55), "no audio file"),
    "wav with an endless fmt": (patch(WAV, 16, "<I", 2**32 - 1), "Short 'fmt ' chunk"),
    "wavex with a long tail": (patch(WAVEX, FMT + 16, "<H", 65535), (1, RATE)),
    "wavex with 65535 valid bits": (patch(WAVEX, FMT + 18, "<H", 65535), (1, RATE)),
    "wavex with all speakers": (patch(WAVEX, FMT + 20, "<I", 2**32 - 1), (1, RATE)),
    "wavex within wavex": (patch(WAVEX, FMT + 24, "<H", 0xFFFE), "unimplemented format"),
    "rf64 of 2**63 bytes": (patch(RF64, RF64.index(b"ds64") + 16, "<Q", 2**63), (1, RATE)),
    "rf64 of 2**64 - 1 bytes": (patch(RF64, RF64.index(b"ds64") + 16, "<Q", 2**64 - 1), "no audio file"),
    "w64 of 2**40 bytes": (patch(W64, W64.index(b"data") + 16, "<Q", 2**40), (1, RATE)),
    "w64 of 2**63 bytes": (patch(W64, W64.index(b"data") + 16, "<Q", 2**63), "no audio file"),
    "aiff of 255 channels": (patch(AIFF, COMM, ">H", 255), "has 255 channels"),
    "aiff of 2**32 frames": (patch(AIFF, COMM + 2, ">I", 2**32 - 1), (1, RATE)),
    "aiff of a rate beyond all": (patch(AIFF, COMM + 8, ">H", 0x7FFF), "sampling rate of 67108864 Hz"),
    "au with its data far away": (patch(AU, 4, ">I", 2**31), "no audio file"),
    "au of unknown size": (patch(AU, 8, ">I", 2**32 - 1), (1, RATE)),
    "au of 2**31 channels": (patch(AU, 20, ">I", 2**31), "Channel count is zero"),
    "caf of rate NaN": (patch(CAF, CAF.index(b"desc") + 12, ">d", math.nan), "no audio file"),
    "caf of endless rate": (patch(CAF, CAF.index(b"desc") + 12, ">d", math.inf), "no audio file"),
    "caf of 2**40 bytes": (patch(CAF, CAF.index(b"data") + 4, ">Q", 2**40), "malformed"),
    "flac of rate 1048575": (streaminfo((1 << 44) - 1, 1048575 << 44), "sampling rate of 1048575 Hz"),
    "flac of 655350 Hz": (streaminfo((1 << 44) - 1, 655350 << 44), (1, RATE)),
    "flac with blocks of nothing": (patch(FLAC, 8, ">I", 0), (1, RATE)),
    "flac that says 8 channels": (streaminfo(-1, 7 << 41), "flac channel changed"),
    "flac head alone": (flac_head(RATE, 1, RATE), "cut or damaged"),
    "flac head alone, 2**36 - 1 frames": (flac_head(655_350, 8, 2**36 - 1), "claims 68719476735 frames of 8 channels, more than"),
    "flac that states one block of three": (flac_silence(RATE, 1, 3, claimed=65_535), (1, 65_535)),
    "opus that ends where it begins": (opus_silence(2, claimed=0), "holds no samples"),
    "opus of a sample": (opus_silence(2, claimed=1), (2, 1)),
    "opus of 2**62 samples": (opus_silence(2, claimed=2**62), "claims 4611686018427387904 frames"),
    "opus of negative length": (opus_silence(2, claimed=2**63), "no audio file"),
    "opus of no known length": (opus_silence(2, claimed=2**64 - 1), (2, 255 * 5760)),
    "mp3 of 2**32 - 1 frames": (patch(MP3, TAG + 8, ">I", 2**32 - 1), "claims 2473901160640 frames"),
    "mp3 of ten frames of 28": (patch(MP3, TAG + 8, ">I", 10), (1, 4480)),
    "mp3 of a frame": (patch(MP3, TAG + 8, ">I", 1), "no audio file"),
    "mp3 of 100 frames of 10": (mp3_silence(10, stated=100), "is cut: it states 2."),
    "mp3 in an id3 tag of 256 MB": (b"ID3\x04\x00\x00\x7f\x7f\x7f\x7f" + MP3, "no audio file"),
    "mp3 in an id3 tag of no size": (b"ID3\xff\xff\xff\xff\xff\xff\xff" + MP3, "no audio file"),
    "mp3 behind two id3 tags": ((b"ID3\x04\x00\x00\x00\x00\x00\x10" + bytes(16)) * 2 + MP3, (1, RATE)),
}


@pytest.mark.parametrize("name", LIES)
def test_lies(name: str) -> None:
    data, expected = LIES[name]

    def read() -> tuple[int, ...]:
        return decode(RawAudio(data, "clip"))[0].shape

    told, _, grown = in_child(read)
    if isinstance(expected, str):
        assert isinstance(told, AudioError) and expected in told.reason and told.reason.startswith("clip ")
    else:
        assert told == expected
    assert grown < 64 * MB


def _boxes(data: bytes, name: bytes) -> int:
    return data.index(name) + 4


@pytest.mark.parametrize("seconds", [0, 1, 36_000, 2**31])
def test_stated_durations_of_containers_decide_nothing(seconds: int) -> None:
    pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    m4a, webm = make("m4a"), make("webm")
    honest = [decode(RawAudio(data, "clip"))[0].shape for data in (m4a, webm)]
    scale = struct.unpack(">I", m4a[_boxes(m4a, b"mvhd") + 12 :][:4])[0]
    stated = min(seconds * scale, 2**32 - 1)
    m4a = patch(patch(m4a, _boxes(m4a, b"mvhd") + 16, ">I", stated), _boxes(m4a, b"mdhd") + 16, ">I", stated)
    at = webm.index(b"\x44\x89\x88") + 3
    webm = patch(webm, at, ">d", seconds * 1000.0)
    of_m4a, of_webm = (in_child(lambda data=data: decode(RawAudio(data, "c"))[0].shape).value for data in (m4a, webm))
    assert of_webm == honest[1]
    # FFmpeg 8, which PyAV 19 brings, fills the last frame of AAC up where the stated end does not lie within it.
    whole = (1, -(-honest[0][1] // 1024) * 1024)
    assert of_m4a == honest[0] or (int(version("av").split(".")[0]) >= 19 and of_m4a == whole)


#: Of what states no length that can be trusted what is there is decoded: seconds that may be missing of, and be on top of, the
#: share of the file that is left, for a page or block of the format.
CUT = {
    **dict.fromkeys(("aiff", "au", "w64", "rf64", "wavex", "nist", "wav-ima", "wav-float"), (0.1, 0.1)),
    **dict.fromkeys(("webm", "mkv-pcm", "ac3"), (0.15, 0.15)),
    "opus": (1.1, 0.1),
}


@pytest.mark.parametrize("name", [*CUT, "caf", "caf-alac", "m4a", "m4a-alac", "aac", "wma"])
def test_cut_at_every_tenth(name: str) -> None:
    if name in PYAV:
        pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    whole = make(name, 2.0)

    def lengths() -> list[float | None]:
        found: list[float | None] = []
        for tenth in range(1, 10):
            try:
                samples, rate = decode(RawAudio(whole[: len(whole) * tenth // 10], "clip"))
            except AudioError as error:
                assert error.reason
                found.append(None)
            else:
                found.append(samples.shape[1] / rate)
        return found

    found = in_child(lengths).value
    if name in CUT:
        less, more = CUT[name]
        assert all(-less < length - tenth / 5 < more for tenth, length in enumerate(found, 1) if length is not None), found
        assert None not in found[5:], found
    else:
        assert not any(found[1:]), found  # of the first tenth of wma ffmpeg takes what it gets
