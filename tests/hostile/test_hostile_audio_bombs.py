"""Small files that hold hours: there is one bound, it holds while they are decoded, and what lies below it costs little more
than its samples take."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from _audio_makers import RATE, encode, encode_av, flac_silence, mp3_silence, opus_silence
from _children import in_child

from dsb2_tasks.audio import (
    AudioError,
    AudioPolicy,
    AudioStore,
    RawAudio,
    _collect,
    _decode,
    decode,
    make_handle,
    prepare,
    read_info,
    resample,
)

MB = 1 << 20
MAX = _collect.MAX_SAMPLES
#: The bound of the tests that decode up to it; the real one takes minutes and is tested with the marker long.
SMALL = 1 << 24


@lru_cache
def aac_silence(seconds: int) -> bytes:
    """Frames of 1024 samples and a few bytes: the last of a silent second, again and again."""
    second = encode_av("adts", "aac", 48_000, 1.0, silent=True)
    frame = second[second.rindex(b"\xff\xf1") :]
    assert len(frame) < 40
    return second + frame * (seconds * 48_000 // 1024)


def bound(value: int) -> None:
    """Sets the bound of this process, a fork."""
    _collect.MAX_SAMPLES = _decode.MAX_SAMPLES = value


def many_blocks(most: int, claimed: int | None = None) -> bytes:
    return flac_silence(655_350, 8, most // 65_535 // 8 + 1, claimed=claimed)


#: A file of at least that many samples; what is said of it; whether its head says it, so that nothing need be decoded.
BOMBS: dict[str, tuple[Callable[[int], bytes], str, bool]] = {
    "flac": (many_blocks, "claims", True),
    "flac of unknown length": (
        lambda most: flac_silence(655_350, 8, most // 65_535 // 8 + 1, claimed=0),
        "holds more than",
        False,
    ),
    "opus": (lambda most: opus_silence(most // 255 // 5760 // 2 + 1), "claims", True),
    "mp3 without tag": (lambda most: mp3_silence(most // 1152 // 2 + 1), "holds more than", False),
    "mp3 with tag": (lambda most: mp3_silence(most // 1152 // 2 + 3, stated=most // 1152 // 2 + 3), "claims", True),
    "aac": (lambda most: aac_silence(most // 48_000 + 1), "holds more than", False),
}


def burst(name: str, most: int, *, below: bool = False) -> tuple[Any, float, int, int]:
    """Decodes a bomb whose samples are just above the bound, or half of it; with the size of its file."""
    if name in ("flac of unknown length", "aac"):
        pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    data = BOMBS[name][0](most // 2 if below else most)

    def read() -> tuple[int, ...]:
        bound(most)
        return decode(RawAudio(data, "bomb"))[0].shape

    return *in_child(read, seconds=500, most=8 * most + (1 << 30)), len(data)


@pytest.mark.parametrize("name", BOMBS)
def test_more_than_the_bound(name: str) -> None:
    told, seconds, grown, _ = burst(name, SMALL)
    assert isinstance(told, AudioError) and BOMBS[name][1] in told.reason and f"the {SMALL} samples" in told.reason
    assert grown < (32 * MB if BOMBS[name][2] else 4 * SMALL * 1.25 + 48 * MB)
    assert seconds < 10


@pytest.mark.parametrize("name", BOMBS)
def test_less_than_the_bound_is_decoded_in_little_more_than_its_size(name: str) -> None:
    told, seconds, grown, size = burst(name, SMALL, below=True)
    samples = told[0] * told[1]
    assert SMALL // 2 - 8 * 65_535 < samples <= SMALL // 2 + 8 * 65_535 and samples > 9 * size
    assert grown < 4 * samples * 1.25 + 48 * MB
    assert seconds < 10


@pytest.mark.long
@pytest.mark.parametrize("below", [False, True], ids=["above", "below"])
@pytest.mark.parametrize("name", BOMBS)
def test_the_real_bound(name: str, below: bool, record_property: Callable[[str, object], None]) -> None:
    told, seconds, grown, size = burst(name, MAX, below=below)
    record_property("measured", f"{size} bytes: {seconds:.1f} s, {grown // MB} MB")
    print(f"\n{name}: {size} bytes, {told}: {seconds:.1f} s, {grown // MB} MB")
    assert isinstance(told, AudioError) != below
    assert grown < 4 * MAX * 1.25 + 64 * MB and seconds < 120


def test_ten_hours_of_8_channels_at_655_khz_are_refused_by_their_head() -> None:
    data = flac_silence(655_350, 8, 1000, claimed=36_000 * 655_350)
    told, seconds, grown = in_child(lambda: decode(RawAudio(data, "bomb")))
    assert isinstance(told, AudioError) and "claims 23592600000 frames of 8 channels" in told.reason
    assert seconds < 1 and grown < 32 * MB
    assert read_info(RawAudio(data, "bomb")).seconds == 36_000


def test_a_clip_that_takes_more_memory_than_there_is_is_an_error_of_that_clip() -> None:
    data = flac_silence(RATE, 1, 2000)
    told = in_child(lambda: decode(RawAudio(data, "bomb")), most=200 * MB).value
    assert isinstance(told, AudioError) and told.reason == "bomb takes more memory to decode than there is"


@pytest.mark.parametrize("name", ["flac", "opus", "mp3 with tag"])
def test_the_beginning_of_a_bomb_costs_what_the_beginning_takes(name: str) -> None:
    data = BOMBS[name][0](MAX // 8)
    piece, seconds, grown = in_child(lambda: decode(RawAudio(data, "bomb"), seconds=1.0)[0].shape)
    info = read_info(RawAudio(data, "bomb"))
    assert piece == (info.channels, info.rate) and info.frames > 30_000_000 / info.channels
    assert seconds < 2 and grown < 64 * MB


def ready(data: bytes, policy: AudioPolicy) -> list[tuple[int, ...]]:
    """Prepares a clip; shapes of what a model gets."""

    class Source:
        def read(self, row: int, column: str) -> RawAudio:
            return RawAudio(data, "bomb")

    store = AudioStore()
    store.register("a/b", "main", "test", Source())
    digest = hashlib.sha256(data).hexdigest()
    handle = make_handle(
        repo="a/b", revision="main", split="test", row=0, column="audio", sha256=digest, channels=policy.channels
    )
    return [clip.samples.shape for clip in prepare(handle, policy, store)]


@pytest.mark.parametrize(
    ("rate", "channels", "policy"),
    [
        (100, 1, AudioPolicy()),
        (100, 64, AudioPolicy(channels="keep")),
        (8_000, 2, AudioPolicy(rate=768_000, channels="keep", long_audio="chunk", max_seconds=30.0)),
    ],
    ids=["mono", "64 channels", "windows"],
)
def test_what_would_be_blown_up_by_resampling(rate: int, channels: int, policy: AudioPolicy) -> None:
    frames = MAX * rate // policy.rate // channels + 1
    data = encode(np.zeros((frames, channels), np.float32), rate, subtype="PCM_U8")
    told, seconds, grown = in_child(lambda: ready(data, policy))
    assert isinstance(told, AudioError) and f"the {MAX} samples that are prepared at once; split it" in told.reason
    assert told.reason.startswith("a/b (test, row 0, audio) lasts ")
    assert grown < 80 * MB and seconds < 5
    if policy.long_audio == "truncate":  # what the message says to do
        ((*_, length),) = ready(data, dataclasses.replace(policy, max_seconds=10.0))
        assert length == 160_000


@pytest.mark.parametrize("rate", [100, 8_000, 48_000])
def test_resampling_takes_little_more_than_what_it_gives(rate: int) -> None:
    samples = np.zeros(20_000_000 * rate // max(rate, RATE), np.float32)
    samples[::1000] = 0.5
    size, _, grown = in_child(lambda: resample(samples, rate, RATE).nbytes, first=lambda: resample(samples[:1000], rate, RATE))
    assert grown < size + 64 * MB


def test_an_hour_is_prepared_in_little_more_than_its_size() -> None:
    data = flac_silence(48_000, 1, 500)
    shapes, seconds, grown = in_child(
        lambda: ready(data, AudioPolicy()), first=lambda: resample(np.zeros(1000, np.float32), 48_000, RATE)
    )
    assert shapes == [(round(500 * 65_535 / 3),)]
    assert grown < 4 * 500 * 65_535 * (1.25 + 1 / 3) + 64 * MB and seconds < 10
