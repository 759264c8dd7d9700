"""Channels, then rate, then length; whatever is changed is told."""

from __future__ import annotations

import json
import logging
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from _audio_files import Shelf, encode, noise, pitch, rms, tone

from dsb2_tasks.audio import AudioError, AudioLog, AudioPolicy, Clip, prepare
from dsb2_tasks.audio._prepare import _warn_cancelling

RATE = 16_000


@pytest.mark.parametrize("form", ["WAV", "FLAC", "MP3", "OGG"])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [8000, 11025, 16000, 22050, 44100, 48000, 96000])
def test_a_tone_reaches_the_model(rate: int, channels: int, form: str, shelf: Shelf) -> None:
    if form == "MP3" and rate == 96000:
        with pytest.raises(RuntimeError, match="sample rates"):  # the format has no such rate
            encode(tone(rate, 0.1), rate, form)
        return
    handle = shelf.put(encode(tone(rate, 1.234, channels=channels), rate, form))
    (clip,) = prepare(handle, AudioPolicy(), shelf.store)
    assert (clip.rate, clip.samples.dtype, clip.samples.ndim) == (RATE, np.float32, 1)
    assert clip.samples.flags.c_contiguous
    assert pitch(clip.samples, RATE) == pytest.approx(440, rel=0.01)
    assert len(clip.samples) / RATE == pytest.approx(1.234, abs=1e-3) and clip.seconds == pytest.approx(1.234, abs=1e-3)
    assert rms(clip.samples) == pytest.approx(0.5 / 2**0.5, rel=0.03)
    assert clip.events == ("mixed_down",) * (channels == 2) + ("resampled",) * (rate != RATE)


def test_mixing_is_the_plain_mean(shelf: Shelf) -> None:
    wave = noise(RATE, 5)
    (clip,) = prepare(shelf.put(encode(wave, RATE, subtype="FLOAT")), AudioPolicy(), shelf.store)
    np.testing.assert_allclose(clip.samples, wave.mean(1), atol=1e-7)
    assert clip.events == ("mixed_down",)


@pytest.mark.parametrize("channels", [2, 6, 64])
@pytest.mark.parametrize("kind", ["independent", "one sounds", "silent"])
def test_mixes_that_keep_their_sound_are_not_called_cancelling(channels: int, kind: str, shelf: Shelf) -> None:
    wave = noise(RATE, channels) * (kind != "silent")
    if kind == "one sounds":
        wave[:, 1:] = 0
    (clip,) = prepare(shelf.put(encode(wave, RATE, subtype="FLOAT")), AudioPolicy(), shelf.store)
    assert clip.events == ("mixed_down",)


def test_antiphase_is_told_and_not_mended(shelf: Shelf, caplog: pytest.LogCaptureFixture) -> None:
    wave = tone(RATE, channels=2) * [1.0, -0.95]
    _warn_cancelling.cache_clear()
    with caplog.at_level(logging.WARNING, "dsb2_tasks.audio"):
        for _ in range(2):
            (clip,) = prepare(shelf.put(encode(wave, RATE, subtype="FLOAT")), AudioPolicy(), shelf.store)
    assert "cancelling" in clip.events and rms(clip.samples) == pytest.approx(0.025 * 0.5 / 2**0.5, rel=0.01)
    assert [r.getMessage()[:7] for r in caplog.records] == ["Org/Set"]  # once a data set
    (half,) = prepare(shelf.put(encode(tone(RATE, channels=2) * [1.0, -0.5], RATE)), AudioPolicy(), shelf.store)
    assert "cancelling" not in half.events


@pytest.mark.parametrize(
    ("handle_says", "policy_says", "shape", "events"),
    [
        ("mono", "mono", (RATE,), ("mixed_down", "resampled")),
        ("mono", "keep", (RATE,), ("mixed_down", "resampled")),
        ("keep", "mono", (RATE,), ("mixed_down", "spatial_mixdown", "resampled")),
        ("keep", "keep", (2, RATE), ("resampled",)),
    ],
)
def test_channels_are_kept_where_task_and_model_want_it(
    handle_says: str, policy_says: str, shape: tuple[int, ...], events: tuple[str, ...], shelf: Shelf
) -> None:
    wave = np.concatenate([tone(48000, hertz=300), tone(48000, hertz=900)], axis=1)
    (clip,) = prepare(shelf.put(encode(wave, 48000), handle_says), AudioPolicy(channels=policy_says), shelf.store)
    assert clip.samples.shape == shape and clip.events == events
    if len(shape) == 2:
        assert [round(pitch(c, RATE)) for c in clip.samples] == [300, 900]


def test_mono_file_of_a_spatial_task(shelf: Shelf) -> None:
    handle = shelf.put(encode(tone(RATE), RATE), "keep")
    assert prepare(handle, AudioPolicy(channels="keep"), shelf.store)[0].samples.shape == (1, RATE)
    assert prepare(handle, AudioPolicy(), shelf.store)[0].events == ()


@pytest.mark.parametrize(("frames", "rate"), [(1, 16000), (370, 16000), (370, 44100), (1599, 16000)])
def test_short_clips_are_padded_at_their_end(frames: int, rate: int, shelf: Shelf) -> None:
    (clip,) = prepare(shelf.put(encode(tone(rate, frames / rate), rate)), AudioPolicy(min_seconds=0.1), shelf.store)
    assert clip.samples.shape == (1600,) and "padded" in clip.events and clip.seconds == pytest.approx(frames / rate)
    assert not clip.samples[round(frames * RATE / rate) :].any()


def test_long_enough_is_not_padded(shelf: Shelf) -> None:
    assert prepare(shelf.put(encode(tone(RATE, 0.1), RATE)), AudioPolicy(min_seconds=0.1), shelf.store)[0].events == ()


@pytest.mark.parametrize("rate", [16000, 44100])
def test_truncating_gives_the_beginning_of_the_whole(rate: int, shelf: Shelf) -> None:
    handle = shelf.put(encode(noise(3 * rate, 2), rate, "FLAC"))
    (whole,) = prepare(handle, AudioPolicy(), shelf.store)
    (clip,) = prepare(handle, AudioPolicy(max_seconds=1.5), shelf.store)
    assert clip.events == (*whole.events, "truncated") and clip.seconds == 3.0
    np.testing.assert_allclose(clip.samples, whole.samples[:24000], atol=1e-5)  # at the cut too


@pytest.mark.parametrize("long_audio", ["truncate", "chunk", "error"])
@pytest.mark.parametrize("rate", [16000, 44100, 8000])
def test_a_clip_of_just_the_limit_is_left_whole(long_audio: str, rate: int, shelf: Shelf) -> None:
    handle = shelf.put(encode(noise(2 * rate), rate))
    (clip,) = prepare(handle, AudioPolicy(max_seconds=2.0, long_audio=long_audio), shelf.store)
    assert clip.samples.shape == (32000,) and not {"truncated", "chunked"} & set(clip.events)


def test_too_long_is_an_error_where_asked(shelf: Shelf) -> None:
    handle = shelf.put(encode(noise(3 * RATE), RATE))
    with pytest.raises(AudioError, match=r"Org/Set \(test, row 0, audio\) lasts 3.0 s, the limit is 2.0 s \(long_audio=error"):
        prepare(handle, AudioPolicy(max_seconds=2.0, long_audio="error"), shelf.store)


@pytest.mark.parametrize("seconds", [2.05, 4.7, 10.0])
@pytest.mark.parametrize("channels", ["mono", "keep"])
def test_windows_hold_everything_once_and_in_order(seconds: float, channels: str, shelf: Shelf) -> None:
    handle = shelf.put(encode(noise(round(seconds * 44100), 2), 44100), channels)
    policy = {"channels": channels, "min_seconds": 0.5}
    (whole,) = prepare(handle, AudioPolicy(**policy), shelf.store)
    windows = prepare(handle, AudioPolicy(**policy, max_seconds=2.0, long_audio="chunk"), shelf.store)
    assert all(0.5 <= w.samples.shape[-1] / RATE <= 2.0 and "chunked" in w.events and w.seconds == whole.seconds for w in windows)
    joined = np.concatenate([w.samples for w in windows], axis=-1)
    length = whole.samples.shape[-1]
    np.testing.assert_array_equal(joined[..., :length], whole.samples)
    padding = joined[..., length:]
    assert not padding.any() and ("padded" in windows[-1].events) == (padding.size > 0)
    assert not any("padded" in w.events for w in windows[:-1])


def test_windows_are_cut_where_it_is_quiet(shelf: Shelf) -> None:
    wave = noise(50 * RATE)
    pauses = [9.4, 18.9, 28.3, 37.6]
    for pause in pauses:
        wave[round((pause - 0.05) * RATE) : round((pause + 0.05) * RATE)] *= 0.01
    windows = prepare(shelf.put(encode(wave, RATE)), AudioPolicy(max_seconds=10.0, long_audio="chunk"), shelf.store)
    cuts = np.cumsum([len(w.samples) for w in windows]) / RATE
    assert cuts[:4] == pytest.approx(pauses, abs=0.06)


def test_a_rate_that_had_to_be_rounded_is_told_when_it_shows(shelf: Shelf) -> None:
    short, long = (shelf.put(encode(noise(15999 * seconds), 15999)) for seconds in (2, 40))
    assert prepare(short, AudioPolicy(), shelf.store)[0].events == ("resampled",)
    assert prepare(long, AudioPolicy(), shelf.store)[0].events == ("resampled", "rate_rounded")


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ({"rate": 0}, "rate=0"),
        ({"channels": "stereo"}, "channels='stereo' is not one of mono, keep"),
        ({"long_audio": "cut"}, "long_audio='cut' is not one of truncate, chunk, error"),
        ({"min_seconds": -1.0}, "min_seconds"),
        ({"min_seconds": float("nan")}, "min_seconds"),
        ({"max_seconds": 0.0}, "max_seconds"),
        ({"max_seconds": 1.0, "min_seconds": 2.0}, "max_seconds=1.0 must be at least"),
    ],
)
def test_policies_that_make_no_sense(setting: dict[str, object], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        AudioPolicy(**setting)  # type: ignore[arg-type]


def test_other_model_rate(shelf: Shelf) -> None:
    (clip,) = prepare(shelf.put(encode(tone(44100), 44100)), AudioPolicy(rate=24000), shelf.store)
    assert clip.rate == 24000 and pitch(clip.samples, 24000) == pytest.approx(440, rel=0.01)


def test_broken_clip_is_an_audio_error(shelf: Shelf) -> None:
    with pytest.raises(AudioError, match="no audio file"):
        prepare(shelf.put(b"text named .wav"), AudioPolicy(), shelf.store)


def test_log_counts_clips_not_windows(shelf: Shelf) -> None:
    log = AudioLog()
    assert log.summary() == {"clips": 0, "seconds": 0.0}
    log.add(prepare(shelf.put(encode(noise(5 * RATE), RATE)), AudioPolicy(max_seconds=2.0, long_audio="chunk"), shelf.store))
    log.add(Clip(np.zeros(1, np.float32), RATE, 0.5, ("padded", "resampled")))
    log.add("audio_error")
    assert log.summary() == {"clips": 2, "seconds": 5.5, "audio_error": 1, "chunked": 1, "padded": 1, "resampled": 1}
    json.dumps(log.summary())


def test_log_from_many_threads() -> None:
    log = AudioLog()
    clip = Clip(np.zeros(1, np.float32), RATE, 1.0, ("padded",))
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=lambda: [log.add(clip) for _ in range(500)]) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert log.summary() == {"clips": 4000, "seconds": 4000.0, "padded": 4000}


def test_preparing_in_many_threads_gives_the_same_samples(shelf: Shelf) -> None:
    handles = [
        shelf.put(encode(noise(8000 + 100 * i, 2, seed=i), rate)) for i, rate in enumerate([8000, 22050, 44100, 48000] * 3)
    ]
    alone = [prepare(h, AudioPolicy(), shelf.store)[0].samples for h in handles]
    with ThreadPoolExecutor(6) as pool:
        together = list(pool.map(lambda h: prepare(h, AudioPolicy(), shelf.store)[0].samples, handles))
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)
