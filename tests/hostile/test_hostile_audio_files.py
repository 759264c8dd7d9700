"""What lies under an audio name: anything at all.  Samples that are right, or an AudioError; never a crash, never a wait."""

from __future__ import annotations

import hashlib
import io
import json
import os
import random
import socket
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _audio_makers import PYAV, RATE, encode, flac_silence, make, tone
from _children import in_child

from dsb2_tasks.audio import (
    AudioError,
    AudioPolicy,
    AudioStore,
    RawAudio,
    check_handle,
    decode,
    failure,
    make_handle,
    prepare,
    read_failure,
)
from dsb2_tasks.sources import open_rows
from dsb2_tasks.spec import DataSource

#: First bytes by which a reader is chosen.
MAGICS = (
    b"",
    b"RIFF\xff\xff\xff\xffWAVEfmt \x10\x00\x00\x00\x01\x00\x01\x00\x80\x3e\x00\x00\x00\x7d\x00\x00\x02\x00\x10\x00data",
    b"RIFF\x00\x10\x00\x00WAVE",
    b"RF64\xff\xff\xff\xffWAVEds64",
    b"riff\x2e\x91\xcf\x11\xa5\xd6\x28\xdb\x04\xc1\x00\x00",
    b"FORM\x00\x00\x10\x00AIFFCOMM\x00\x00\x00\x12",
    b"FORM\x00\x00\x10\x00AIFCFVER",
    b"FORM\x00\x00\x10\x008SVX",
    b".snd\x00\x00\x00\x20",
    b"caff\x00\x01\x00\x00desc",
    b"fLaC\x00\x00\x00\x22",
    b"OggS\x00\x02" + bytes(8),
    b"\xff\xfb\x90\x64",
    b"ID3\x04\x00\x00\x00\x00\x00\x0a",
    b"NIST_1A\n   1024\n",
    b"Creative Voice File\x1a",
    b"MATLAB 5.0 MAT-file",
    b"2BIT",
    b" paf\x00\x00\x00\x00",
    b"Extended Instrument: ",
    b"PVF1\n",
    b"\xf0\x7e\x00\x01",
    b"ALawSoundFile**\x00\x00\x00\x00",
    b"\x64\xa3\x01\x00",
    b"\x00\x00\x00\x1cftypM4A ",
    b"\x1a\x45\xdf\xa3",
    b"\x30\x26\xb2\x75\x8e\x66\xcf\x11\xa6\xd9\x00\xaa\x00\x62\xce\x6c",
    b"\xff\xf1\x50\x80",
    b"\x0b\x77",
    b"#!AMR\n",
)


def test_random_bytes_behind_every_magic() -> None:
    pytest.importorskip("av", reason="PyAV is not installed (pip install av)")

    def throw() -> Counter[str]:
        fared: Counter[str] = Counter()
        for seed in range(600):
            data = MAGICS[seed % len(MAGICS)] + random.Random(seed).randbytes(2 ** (seed % 13))
            try:
                samples, rate = decode(RawAudio(data, "clip"))
            except AudioError as error:
                assert error.reason.startswith("clip")
                fared["refused"] += 1
            else:
                assert np.isfinite(samples).all() and samples.size and 100 <= rate <= 768_000
                fared["decoded"] += 1
        return fared

    fared, seconds, grown = in_child(throw)
    assert fared["refused"] > 300 and seconds < 10 and grown < 150 << 20


@pytest.mark.parametrize(
    "data",
    [
        b"\x00",
        b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
        b'{"error": "rate limited"}',
        b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 12345\n",
        b"PK\x03\x04\x14\x00" + bytes(500),
        b"\x7fELF\x02\x01\x01" + bytes(500),
        b"\x1f\x8b\x08\x00" + bytes(500),
        b"\x89PNG\r\n\x1a\n" + bytes(500),
        b"%PDF-1.7\n" + bytes(500),
        b"\x80\x04\x95" + b"cos\nsystem\n(S'touch /tmp/owned'\ntR.",
        b"\x93NUMPY\x01\x00v\x00{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        bytes(100_000),
        b"\xff" * 100_000,
    ],
    ids=lambda data: repr(data[:12]),
)
def test_no_audio(data: bytes) -> None:
    told = in_child(lambda: decode(RawAudio(data, "speech.wav"))).value
    assert isinstance(told, AudioError) and told.reason.startswith("speech.wav is no audio file that libsndfile reads (")


@pytest.mark.parametrize("name", ["wav", "flac", "mp3", "ogg", "m4a", "webm"])
def test_the_name_does_not_count_and_what_is_behind_a_clip_neither(name: str) -> None:
    if name in PYAV:
        pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    data = make(name)
    samples, rate = decode(RawAudio(data, f"clip.{name}"))
    for other in ("clip.mp3", "clip.txt", "", "../../etc/passwd"):
        np.testing.assert_array_equal(decode(RawAudio(data, other))[0], samples)
    for behind in (bytes(1000), b"PK\x03\x04" + bytes(1000), bytes(range(256)) * 100, make("flac")):
        found, same_rate = decode(RawAudio(data + behind, "clip"))
        assert same_rate == rate and found.shape == samples.shape
        np.testing.assert_allclose(found, samples, atol=1e-3)
    for before in (bytes(100), b"hello world\n", b"<html>"):
        with pytest.raises(AudioError, match="no audio file"):
            decode(RawAudio(before + data, "clip"))


@pytest.mark.parametrize(
    ("first", "second"), [("ogg", "ogg"), ("opus", "opus"), ("ogg", "opus"), ("flac", "flac"), ("mp3", "mp3")]
)
def test_of_two_files_in_one_the_first_is_heard(first: str, second: str) -> None:
    one, rate = decode(RawAudio(make(first), "clip"))
    both, _ = decode(RawAudio(make(first) + make(second, 2.0), "clip"))
    assert both.shape == one.shape == (1, rate)
    np.testing.assert_allclose(both, one, atol=1e-3)


def eight(name: str) -> bytes:
    """Eight channels, each louder than the one before."""
    import av

    wave = tone(48_000, 0.5, channels=8) * np.linspace(0.1, 0.8, 8, dtype=np.float32)
    if name == "flac":
        data = encode(wave, 48_000, "FLAC")
        head = int.from_bytes(data[18:26], "big")
        return data[:18] + (head >> 36 << 36).to_bytes(8, "big") + data[26:]
    container, codec = {"mkv": ("matroska", "pcm_s16le"), "m4a": ("ipod", "alac"), "webm": ("webm", "libopus")}[name]
    layout = "7.1(wide)" if codec == "alac" else "7.1"
    buffer = io.BytesIO()
    with av.open(buffer, "w", format=container) as file:
        stream = file.add_stream(codec, rate=48_000, layout=layout, bit_rate=1_000_000)
        frame = av.AudioFrame.from_ndarray(np.ascontiguousarray(wave.reshape(1, -1)), "flt", layout)
        frame.sample_rate = 48_000
        context = stream.codec_context
        fit = av.AudioResampler(context.format.name, layout, 48_000, frame_size=context.frame_size or 1024)
        for part in [*fit.resample(frame), *fit.resample(None)]:
            file.mux(stream.encode(part))
        file.mux(stream.encode(None))
    return buffer.getvalue()


@pytest.mark.parametrize("name", ["flac", "mkv", "m4a", "webm"])
def test_eight_channels_through_pyav(name: str) -> None:
    """PyAV reads beyond the last of 8 planes, which ended the whole process."""
    pytest.importorskip("av", reason="PyAV is not installed (pip install av)")
    data = eight(name)
    samples, rate = in_child(lambda: decode(RawAudio(data, "clip"))).value
    assert rate == 48_000 and samples.shape[0] == 8 and samples.shape[1] == pytest.approx(24_000, abs=1000)
    assert 2**0.5 * samples.std(axis=1) == pytest.approx(np.linspace(0.05, 0.4, 8), rel=0.2)


def test_an_mp3_without_a_sample_is_no_silent_clip() -> None:
    """Its tag may be two frames off, so that nothing at all could pass for those."""
    data = bytearray(make("mp3", 0.05))
    at = data.index(b"\xff", 40 + max(data.find(b"Xing"), data.find(b"Info")))
    data[at:] = bytes(len(data) - at)
    with pytest.raises(AudioError):
        decode(RawAudio(bytes(data), "clip"))


@pytest.mark.parametrize("value", [1e39, -1e300, 1e308, 2.0**40])
def test_doubles_beyond_any_sound_are_silenced(value: float) -> None:
    wave = tone().astype(np.float64)
    wave[100] = value
    samples, _ = decode(RawAudio(encode(wave, subtype="DOUBLE"), "clip"))
    assert samples[0, 100] == 0 and np.abs(samples).max() == pytest.approx(0.5, abs=1e-3)


@pytest.mark.parametrize(("subtype", "kind"), [("PCM_16", np.int16), ("PCM_32", np.int32), ("PCM_24", np.int32)])
def test_the_ends_of_whole_numbers(subtype: str, kind: type) -> None:
    ends = np.array([np.iinfo(kind).min, np.iinfo(kind).max, 0, -1], kind)[:, None]
    samples, _ = decode(RawAudio(encode(ends, subtype=subtype), "clip"))
    assert samples[0] == pytest.approx([-1, 1, 0, 0], abs=1e-4) and np.abs(samples).max() <= 1


def test_the_smallest_floats_are_no_trouble() -> None:
    wave = np.full((48_000, 2), np.float32(1e-45))
    samples, _ = decode(RawAudio(encode(wave, 48_000, subtype="FLOAT"), "clip"))
    assert samples.shape == (2, 48_000) and np.isfinite(samples).all()
    clip = ready(encode(wave, 48_000, subtype="FLOAT"))
    assert clip.samples.shape == (16_000,) and np.abs(clip.samples).max() < 1e-30


class Source:
    """One clip."""

    def __init__(self, data: bytes, name: str = "clip.wav") -> None:
        self.raw = RawAudio(data, name)

    def read(self, row: int, column: str) -> RawAudio:
        return [self.raw][row]


def shelve(data: bytes, name: str = "clip.wav", **changes: Any) -> tuple[AudioStore, dict[str, Any]]:
    store = AudioStore()
    store.register("a/b", "main", "test", Source(data, name))
    digest = hashlib.sha256(data).hexdigest()
    return store, {**make_handle(repo="a/b", revision="main", split="test", row=0, column="audio", sha256=digest), **changes}


def ready(data: bytes, **policy: Any) -> Any:
    store, handle = shelve(data, channels=policy.get("channels", "mono"))
    (clip,) = prepare(handle, AudioPolicy(**policy), store)
    return clip


@pytest.mark.parametrize(
    ("rate", "channels"),
    [
        (100, 64),
        (101, 33),
        (1_999, 9),
        (7_999, 8),
        (15_999, 7),
        (44_099, 3),
        (191_999, 2),
        (655_350, 1),
        (768_000, 2),
    ],
)
def test_any_rate_and_channels_keep_length_and_pitch(rate: int, channels: int) -> None:
    hertz = min(rate / 5, 440)
    data = encode(tone(rate, 0.7, channels=channels, hertz=hertz), rate)
    clip = ready(data, channels="keep")
    assert (clip.rate, clip.samples.shape) == (RATE, (channels, round(round(0.7 * rate) * RATE / rate)))
    spectrum = np.abs(np.fft.rfft(clip.samples[-1] * np.hanning(clip.samples.shape[1]), 1 << 16))
    assert spectrum.argmax() * RATE / (1 << 16) == pytest.approx(hertz, rel=0.03, abs=1)
    mono = ready(data)
    np.testing.assert_allclose(mono.samples, clip.samples[0], atol=1e-4)


@pytest.mark.parametrize("rate", [100, 44_100, 768_000])
@pytest.mark.parametrize("frames", [1, 2, 3])
def test_a_sample_or_two(rate: int, frames: int) -> None:
    clip = ready(encode(np.full((frames, 1), 0.5, np.float32), rate), min_seconds=0.0)
    assert len(clip.samples) == round(frames * RATE / rate) and np.isfinite(clip.samples).all()
    assert clip.seconds == frames / rate
    assert len(ready(encode(np.full((frames, 1), 0.5, np.float32), rate)).samples) == max(1600, round(frames * RATE / rate))


NAMES = {
    "lines": "a\nb\r\x0b\u2028c.wav",
    "terminal": "\x1b[2J\x1b]0;owned\x07.wav",
    "no text": os.fsdecode(b"\xff\xfe.wav"),
    "a mark": failure("audio_error", "x"),
    "right to left": "\u202evaw.exe",
    "endless": "x" * 1_000_000,
    "empty": "",
}


@pytest.mark.parametrize("name", NAMES)
def test_names_reach_logs_and_results_as_short_printable_text(name: str) -> None:
    for data in (b"", b"no audio", flac_silence(RATE, 1, 1, claimed=1 << 30), make("flac")[:-100]):
        with pytest.raises(AudioError) as caught:
            decode(RawAudio(data, NAMES[name]))
        reason = caught.value.reason
        assert reason.isprintable() and len(reason) < 600 and str(caught.value) == reason
        reason.encode()
        assert any(cause in reason for cause in ("is empty", "no audio file", "claims", "is cut"))
        assert read_failure(json.loads(json.dumps(failure("audio_error", reason)))) == ("audio_error", " ".join(reason.split()))


def deep(levels: int = 100_000) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


@pytest.mark.parametrize(
    "change",
    [
        {"repo": deep()},
        {"channels": deep()},
        {"channels": {"mono": 1}},
        {"sha256": "0" * 10_000_000},
        {"row": float("nan")},
        {"row": "0"},
        {"row": "../0"},
        {"dsb2": 1.0},
        {"dsb2": [1]},
        {"x" * 1_000_000: 1},
        {None: 1},
        {("a", 1): 1},
        {"path": "/etc/passwd"},
        {"task_kind": ["transcript"]},
    ],
    ids=lambda change: str(next(iter(change)))[:10],
)
def test_forged_handles_are_refused_in_few_words(change: dict[Any, Any]) -> None:
    store, handle = shelve(make("wav"))
    with pytest.raises(ValueError, match="audio handle") as caught:
        check_handle({**handle, **change})
    assert len(str(caught.value)) < 300
    with pytest.raises(ValueError, match="audio handle"):
        store.read({**handle, **change})


@pytest.mark.parametrize("row", [1, 2**31, 2**63, 10**30])
def test_a_row_that_is_not_there_is_an_error_of_that_clip(row: int) -> None:
    store, handle = shelve(make("wav"), row=row)
    for read in (store.read, store.info):
        with pytest.raises(AudioError, match=rf"a/b \(test, row {row}, audio\): the data set has no such clip"):
            read(handle)


def test_a_handle_opens_nothing_by_its_texts(tmp_path: Path) -> None:
    (tmp_path / "secret.wav").write_bytes(make("wav"))
    store, handle = shelve(make("wav"))
    for key in ("repo", "revision", "split"):
        for text in (str(tmp_path / "secret.wav"), "../secret.wav", "http://localhost/secret.wav", "\0"):
            with pytest.raises(KeyError, match="no audio source is registered"):
                store.read({**handle, key: text})


@pytest.mark.parametrize("place", ["samples", "folder", "parquet"])
def test_real_sources_know_no_other_rows_and_columns(place: str, tmp_path: Path) -> None:
    source = DataSource(path="Org/Set", split="test")
    folder = tmp_path / "Org" / "Set"
    folder.mkdir(parents=True)
    if place == "samples":
        from dsb2_tasks import catalog

        source = next(iter(catalog.read_catalog([catalog.yaml_root()]).tasks.values())).spec.data[0]
    elif place == "folder":
        (folder / "clip.wav").write_bytes(make("wav"))
        (folder / "metadata.jsonl").write_text('{"file_name": "clip.wav", "label": "x"}\n')
    else:
        import pyarrow as pa
        import pyarrow.parquet as pq

        audio = pa.array([{"bytes": make("wav"), "path": "clip.wav"}], pa.struct([("bytes", pa.binary()), ("path", pa.string())]))
        pq.write_table(pa.table({"audio": audio, "label": ["x"]}), folder / "test.parquet")
    rows = open_rows(source, "samples" if place == "samples" else str(tmp_path), tmp_path, "task")
    store = AudioStore()
    store.register(rows.repo, rows.revision, rows.split, rows.audio)
    column = rows.audio_columns[0]
    handle = {"repo": rows.repo, "revision": rows.revision, "split": rows.split, "sha256": "0" * 64}
    for row, name in ((0, "nothing"), (0, "label"), (len(rows), column), (2**40, column), (10**30, column)):
        with pytest.raises(AudioError):
            store.read(make_handle(row=row, column=name, **handle))
    with pytest.raises(AudioError, match="has changed"):  # what is there is another file than the handle says
        store.read(make_handle(row=0, column=column, **handle))


def test_odd_files_of_a_data_folder_are_neither_waited_for_nor_read_without_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "Org" / "Set"
    folder.mkdir(parents=True)
    (tmp_path / "outside.wav").write_bytes(make("wav"))
    makers: dict[str, Callable[[Path], Any]] = {
        "folder.wav": Path.mkdir,
        "fifo.wav": os.mkfifo,
        "socket.wav": lambda path: socket.socket(socket.AF_UNIX).bind(os.path.relpath(path)),
        "zero.wav": lambda path: path.symlink_to("/dev/zero"),
        "random.wav": lambda path: path.symlink_to("/dev/urandom"),
        "tty.wav": lambda path: path.symlink_to("/dev/tty"),
        "stdin.wav": lambda path: path.symlink_to("/dev/stdin"),
        "loop.wav": lambda path: path.symlink_to("loop.wav"),
        "dangling.wav": lambda path: path.symlink_to("nothing"),
        "fifo link.wav": lambda path: path.symlink_to("fifo.wav"),
        "missing.wav": lambda path: None,
        "long" * 1000: lambda path: None,
        "\ud800.wav": lambda path: None,
        "below\\..\\clip.wav": lambda path: None,
    }
    monkeypatch.chdir(tmp_path)  # the name of a socket may be 107 bytes
    for name, maker in makers.items():
        maker(folder / name)
    (folder / "metadata.jsonl").write_text("".join(json.dumps({"file_name": name, "label": "x"}) + "\n" for name in makers))
    rows = open_rows(DataSource(path="Org/Set", split="test"), str(tmp_path), tmp_path, "task")

    def read() -> list[str]:
        told = []
        for row in range(len(makers)):
            try:
                told.append(f"read {rows.audio.read(row, 'audio')}"[:40])
            except AudioError as error:
                told.append(error.reason)
        return told

    told, seconds, grown = in_child(read, seconds=10)
    assert [reason.partition(" cannot be read (")[0][:30] for reason in told] == [
        f"Org/Set row {row} column 'audio': {name!r}"[:30] for row, name in enumerate(makers)
    ]
    assert seconds < 1 and grown < 16 << 20
