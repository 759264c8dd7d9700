"""Files of any form, honest or not: samples of shape (channels, n), or an AudioError, never anything else."""

from __future__ import annotations

import io
import struct
import sys
import tracemalloc

import numpy as np
import pytest
from _audio_files import Shelf, encode, noise, pitch, tone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dsb2_tasks.audio import AudioError, AudioPolicy, RawAudio, decode, prepare
from dsb2_tasks.audio._decode import MAX_SAMPLES, read_info

RATE = 16_000


def read(data: bytes, **window: float) -> tuple[np.ndarray, int]:
    return decode(RawAudio(data, "clip.wav"), **window)


@pytest.mark.parametrize("channels", [1, 2, 6, 64])
@pytest.mark.parametrize("subtype", ["PCM_16", "PCM_24", "FLOAT", "DOUBLE", "ULAW", "PCM_U8"])
def test_shape_and_scale(channels: int, subtype: str) -> None:
    wave = tone(8000, 0.2, channels=channels) * np.linspace(0.2, 1, channels, dtype=np.float32)
    samples, rate = read(encode(wave, 8000, subtype=subtype))
    assert (samples.dtype, samples.shape, rate) == (np.float32, (channels, 1600), 8000)
    np.testing.assert_allclose(samples.T, wave, atol=0.02 if subtype in ("ULAW", "PCM_U8") else 1e-4)


@pytest.mark.parametrize("form", ["WAV", "FLAC", "MP3", "OGG", "AIFF", "AU", "CAF", "W64", "RF64"])
@pytest.mark.parametrize("place", [0.0, 1.25])
def test_formats_keep_length_and_time(form: str, place: float) -> None:
    wave = np.zeros((44100 * 2, 1), np.float32)
    wave[round(44100 * place) : round(44100 * (place + 0.05))] = tone(44100, 0.05, hertz=1000)
    samples, rate = read(encode(wave, 44100, form))
    assert rate == 44100 and samples.shape[1] == len(wave)  # codec delay is taken out to the sample
    loud = np.flatnonzero(np.abs(samples[0]) > 0.25)
    assert loud[0] / rate == pytest.approx(place, abs=1e-3) and loud[-1] / rate == pytest.approx(place + 0.05, abs=1e-3)


@pytest.mark.parametrize("form", ["WAV", "FLAC", "MP3", "OGG"])
def test_a_window_equals_that_part_of_the_whole(form: str) -> None:
    data = encode(noise(5 * RATE, 2), RATE, form)
    whole, _ = read(data)
    part, _ = read(data, start=2.5, seconds=1.0)
    np.testing.assert_allclose(part, whole[:, 40_000:56_000], atol=1e-6)
    assert read(data, start=4.5)[0].shape == read(data, start=4.5, seconds=9.0)[0].shape == (2, 8000)


@pytest.mark.parametrize("rate", [16000, 44100])
def test_a_window_of_an_mp3_with_variable_bit_rate(rate: int) -> None:
    """libsndfile's own seek lands beside the place, or within a frame whose bits it has not seen."""
    wave = np.concatenate([noise(5 * rate), tone(rate, 5.0), np.zeros((10 * rate, 1), np.float32)])
    data = encode(wave, rate, "MP3", bitrate_mode="VARIABLE", compression_level=0.5)
    whole, _ = read(data)
    for start in (2, 3, 6, 11):
        np.testing.assert_array_equal(read(data, start=start, seconds=1.0)[0], whole[:, start * rate : (start + 1) * rate])


def test_a_window_decodes_only_what_it_needs() -> None:
    data = encode(np.zeros((3600 * RATE, 1), np.float32), RATE, "FLAC")
    tracemalloc.start()
    samples, _ = read(data, start=3000.0, seconds=2.0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert samples.shape == (1, 32_000) and peak < 20e6  # the hour is 230 MB


def test_windows_outside_the_clip() -> None:
    data = encode(tone(RATE), RATE)
    with pytest.raises(AudioError, match=r"lasts 1.000 s and has nothing at 1.0 s"):
        read(data, start=1.0)
    for window in ({"start": -1.0}, {"start": float("inf")}, {"seconds": 0.0}, {"seconds": float("nan")}):
        with pytest.raises(ValueError, match="no piece of a clip"):
            read(data, **window)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "clip.wav is empty"),
        (b"hello, this is text named .wav\n" * 50, "no audio file"),
        (b"RIFF", "no audio file"),
        (b"RIFF\xff\xff\xff\xffWAVEfmt ", "no audio file"),
        (b"ID3" + bytes(200), "no audio file"),
        (b"#EXTM3U\nfile:///etc/hostname\n", "no audio file"),
        (b"ffconcat version 1.0\nfile /etc/hostname\n", "no audio file"),
        (b"<html>404</html>", "no audio file"),
        (encode(np.zeros((0, 1), np.float32), RATE), "holds no samples"),
        (encode(np.zeros((0, 1), np.float32), RATE, "AU"), "holds no samples"),
        (encode(np.zeros((10, 65), np.float32), RATE), "has 65 channels; 1 to 64"),
        (encode(np.zeros((10, 1), np.float32), 99), "sampling rate of 99 Hz"),
        (encode(np.zeros((10, 1), np.float32), 768_001), "sampling rate of 768001 Hz"),
    ],
)
def test_what_is_no_clip(data: bytes, said: str) -> None:
    with pytest.raises(AudioError, match=said) as caught:
        read(data)
    assert "\n" not in caught.value.reason and str(caught.value) == caught.value.reason
    with pytest.raises(AudioError):
        read_info(RawAudio(data, "clip.wav"))


@pytest.mark.parametrize("channels", [1, 64])
@pytest.mark.parametrize("rate", [100, 768_000])
def test_the_bounds_themselves_are_read(channels: int, rate: int) -> None:
    assert read(encode(np.zeros((100, channels), np.float32), rate))[0].shape == (channels, 100)


def lying_wav(size: int) -> bytes:
    data = bytearray(encode(tone(RATE), RATE))
    place = data.index(b"data") + 4
    data[place : place + 4] = struct.pack("<I", size)
    return bytes(data)


@pytest.mark.parametrize("size", [2**31, 2**32 - 1, 2**31 - 1])
def test_wav_that_claims_too_much_gives_what_is_there(size: int) -> None:
    assert read(lying_wav(size))[0].shape == (1, RATE)
    assert read_info(RawAudio(lying_wav(size), "x")).seconds == 1.0


def lying_flac(frames: int) -> bytes:
    """A flac file of one second whose header states another length."""
    data = bytearray(encode(noise(RATE), RATE, "FLAC"))
    head = int.from_bytes(data[18:26], "big")
    data[18:26] = (head >> 36 << 36 | frames).to_bytes(8, "big")
    return bytes(data)


@pytest.mark.parametrize("frames", [RATE + 1, 10 * RATE, MAX_SAMPLES - 1, MAX_SAMPLES + 1, 2**36 - 1])
def test_flac_that_claims_too_much_is_refused_without_allocating(frames: int) -> None:
    data = lying_flac(frames)
    tracemalloc.start()
    with pytest.raises(AudioError, match=r"cut|claims"):
        read(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20e6


@pytest.mark.parametrize("tenth", range(10))
@pytest.mark.parametrize("form", ["FLAC", "MP3"])
def test_cut_files_that_state_their_length_are_errors(form: str, tenth: int, capfd: pytest.CaptureFixture[str]) -> None:
    data = encode(noise(5 * RATE), RATE, form)
    with pytest.raises(AudioError):
        read(data[: len(data) * tenth // 10])
    assert read(data)[0].shape == (1, 5 * RATE)


@pytest.mark.parametrize("tenth", range(1, 10))
@pytest.mark.parametrize("form", ["WAV", "OGG"])
def test_cut_files_that_state_no_length_give_what_is_there(form: str, tenth: int) -> None:
    data = encode(noise(5 * RATE), RATE, form)
    whole, _ = read(data)
    cut = data[: len(data) * tenth // 10]
    try:
        part, _ = read(cut)
    except AudioError:
        assert form == "OGG" and tenth <= 3  # not one whole page of audio
        return
    length = part.shape[1]
    assert 0.5 * tenth - 1.25 <= length / RATE <= 0.5 * tenth + 0.25  # an ogg page holds about a second
    steady = max(0, length - 2048)  # a lossy codec overlaps its last block with one that is gone
    np.testing.assert_allclose(part[:, :steady], whole[:, :steady], atol=1e-6)


def without_tag(data: bytes) -> bytes:
    """An mp3 file without its first frame, the one that states the length."""
    tag = max(data.find(b"Xing"), data.find(b"Info"))
    assert 0 < tag < 64
    return data[data.index(data[:2], tag) :]


@pytest.mark.parametrize("mode", ["CONSTANT", "VARIABLE"])
@pytest.mark.parametrize("rate", [16000, 44100])
def test_mp3_without_length_is_read_to_its_end(mode: str, rate: int) -> None:
    wave = np.concatenate([noise(5 * rate), np.zeros((10 * rate, 1), np.float32), tone(rate, 5.0)])
    data = without_tag(encode(wave, rate, "MP3", bitrate_mode=mode, compression_level=0.5))
    samples, _ = read(data)
    assert samples.shape[1] / rate == pytest.approx(20.0, abs=0.1)
    assert pitch(samples[0, -2 * rate : -rate // 2], rate) == pytest.approx(440, rel=0.01)
    assert read_info(RawAudio(data, "x")).frames == samples.shape[1]
    np.testing.assert_array_equal(read(data, start=3.0, seconds=1.0)[0], samples[:, 3 * rate : 4 * rate])


def test_id3_tag_before_the_length_tag() -> None:
    data = encode(tone(RATE, 2.0), RATE, "MP3")
    cover = bytes(5000)
    tagged = b"ID3\x04\x00\x00" + bytes([0, 0, len(cover) >> 7, len(cover) & 127]) + cover + data
    assert read(tagged)[0].shape == (1, 2 * RATE)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_samples_that_are_no_numbers_become_zero_and_are_told(value: float, shelf: Shelf) -> None:
    wave = tone(RATE, channels=2)
    wave[100, 1] = value
    data = encode(wave, RATE, subtype="FLOAT")
    samples, _ = read(data)
    assert np.isfinite(samples).all() and samples[1, 100] == 0 and samples[0, 100] == wave[100, 0]
    (clip,) = prepare(shelf.put(data), AudioPolicy(), shelf.store)
    assert "nonfinite" in clip.events and np.isfinite(clip.samples).all()


FILES = {form: encode(noise(4000, 2), RATE, form) for form in ("WAV", "FLAC", "MP3", "OGG", "AIFF", "CAF")}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(form=st.sampled_from(sorted(FILES)), data=st.data())
def test_damaged_bytes_are_samples_or_an_audio_error(form: str, data: st.DataObject, capfd: pytest.CaptureFixture[str]) -> None:
    damaged = bytearray(FILES[form])
    for _ in range(data.draw(st.integers(1, 8))):
        # Most of the time in the header, where lengths, rates and channels stand.
        end = data.draw(st.sampled_from([64, 128, len(damaged)]))
        damaged[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    try:
        samples, rate = read(bytes(damaged))
    except AudioError as error:
        assert error.reason
    else:
        assert samples.ndim == 2 and 1 <= samples.shape[0] <= 64 and samples.shape[1] >= 1
        assert np.isfinite(samples).all() and 100 <= rate <= 768_000


class TestPyAV:
    """What libsndfile does not read."""

    @staticmethod
    def make(container: str, codec: str, rate: int, channels: int = 1) -> bytes:
        av = pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
        layout = "mono" if channels == 1 else "stereo"
        buffer = io.BytesIO()
        with av.open(buffer, "w", format=container) as file:
            stream = file.add_stream(codec, rate=rate, layout=layout)
            frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(tone(rate, 2.0, channels=channels).T), "fltp", layout)
            frame.sample_rate = rate
            size = stream.codec_context.frame_size or 1024
            fit = av.AudioResampler(stream.codec_context.format.name, layout, rate, frame_size=size)
            for part in [*fit.resample(frame), *fit.resample(None)]:
                file.mux(stream.encode(part))
            file.mux(stream.encode(None))
        return buffer.getvalue()

    @pytest.mark.parametrize("channels", [1, 2])
    @pytest.mark.parametrize(
        ("container", "codec", "rate"),
        [("mp4", "aac", 44100), ("ipod", "aac", 16000), ("adts", "aac", 22050), ("webm", "libopus", 48000)],
    )
    def test_pitch_and_length(self, container: str, codec: str, rate: int, channels: int, shelf: Shelf) -> None:
        data = self.make(container, codec, rate, channels)
        samples, found = read(data)
        assert (samples.shape[0], found) == (channels, rate)
        assert 2.0 - 1e-3 <= samples.shape[1] / rate <= 2.0 + 2 * 1024 / rate  # aac ends with a whole block
        assert read(data, start=1.0, seconds=0.5)[0].shape == (channels, rate // 2)
        (clip,) = prepare(shelf.put(data), AudioPolicy(), shelf.store)
        assert pitch(clip.samples, clip.rate) == pytest.approx(440, rel=0.01)

    @pytest.mark.parametrize("tenth", range(1, 10))
    def test_cut(self, tenth: int) -> None:
        data = self.make("mp4", "aac", 44100)
        with pytest.raises(AudioError, match=r"\(mov\) is cut or damaged"):
            read(data[: len(data) * tenth // 10])

    def test_a_tag_in_another_encoding_is_no_damage(self) -> None:
        data = self.make("mp4", "aac", 44100)
        odd = data.replace(b"Lavf", b"L\xe9vf")
        assert odd != data
        np.testing.assert_array_equal(read(odd)[0], read(data)[0])

    def test_flac_without_length(self) -> None:
        data = lying_flac(0)
        pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
        np.testing.assert_allclose(read(data)[0], read(lying_flac(RATE))[0], atol=1e-4)

    @pytest.mark.parametrize("head", [b"\x00\x00\x00\x1cftypM4A ", b"\x1a\x45\xdf\xa3", b"\xff\xf1\x50\x80"])
    def test_absent(self, head: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(sys.modules, "av", None)
        with pytest.raises(AudioError, match="pip install av"):
            read(head + bytes(100))

    @pytest.mark.parametrize(
        "head", [b"\x00\x00\x00\x1cftypM4A ", b"\x1a\x45\xdf\xa3", b"\xff\xf1\x50\x80", b"\x0b\x77", b"#!AMR\n"]
    )
    def test_right_head_and_nothing_behind(self, head: bytes) -> None:
        pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
        with pytest.raises(AudioError):
            read(head + bytes(100))


def test_samples_beyond_any_sound_are_silenced_before_they_overflow() -> None:
    samples = np.full((22050, 2), 3e38, np.float32)
    samples[::2] *= -1
    raw = RawAudio(encode(samples, 22050, subtype="FLOAT"), "loud.wav")
    decoded, _ = decode(raw)
    assert np.isfinite(decoded).all() and np.abs(decoded).max() == 0


@pytest.mark.parametrize("form", ["mp4", "webm", "adts", "ac3"])
def test_damaged_containers_are_errors_of_one_clip(form: str) -> None:
    av = pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    buffer = io.BytesIO()
    codec = {"mp4": "aac", "webm": "libopus", "adts": "aac", "ac3": "ac3"}[form]
    with av.open(buffer, "w", format=form) as file:
        stream = file.add_stream(codec, rate=48000, layout="mono")
        frame = av.AudioFrame.from_ndarray(np.zeros((1, 48000), np.float32), format="fltp", layout="mono")
        frame.sample_rate = 48000
        for packet in [*stream.encode(frame), *stream.encode(None)]:
            file.mux(packet)
    whole = buffer.getvalue()
    rng = np.random.default_rng(0)
    for _ in range(40):
        broken = bytearray(whole)
        for at in rng.integers(8, len(whole), 12):
            broken[at] = rng.integers(256)
        try:
            decode(RawAudio(bytes(broken), f"x.{form}"))
        except AudioError:
            continue
