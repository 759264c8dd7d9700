"""Answers that are files: what is read, what is refused, and what it scores."""

from __future__ import annotations

import json
import math
import os
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _sounds import EVC, NAMES, SE, SS, SVS, as_answer, b64, clip, needs_libraries, wav

from dsb2_tasks import metrics
from dsb2_tasks.audio import STORE, RawAudio
from dsb2_tasks.hooks import KINDS, Scored, _waveform, waveform

pytestmark = needs_libraries
Load = Callable[[str], Any]


def score(one: Any, answer: str, number: int = 0) -> Scored:
    return waveform(answer, one.test_docs()[number], one.spec)


def total(one: Any, answers: list[str]) -> dict[str, float]:
    rows = [one.process_results(doc, [answer]) for doc, answer in zip(one.test_docs(), answers, strict=True)]
    return {name: rule([row[name] for row in rows]) for name, rule in one.aggregation().items()}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of generated clips; the working directory is another one."""
    inside, here = tmp_path / "clips", tmp_path / "here"
    inside.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    monkeypatch.setenv(_waveform.FOLDER, str(inside))
    return inside


@pytest.mark.parametrize("name", NAMES)
def test_the_references_score_best_whatever_their_form(name: str, task: Load, folder: Path) -> None:
    one = task(name)
    docs = list(one.test_docs())
    best = total(one, [one.kind.reference_answer(doc, one.spec) for doc in docs])
    assert best["na_rate"] == best["audio_error_rate"] == 0.0
    for number, doc in enumerate(docs):
        lines = []
        for source, handle in reversed(list(enumerate(doc["dsb2_reference"]))):
            (folder / f"{number}_{source}.wav").write_bytes(wav(*clip(handle)))
            lines.append(f"{number}_{source}.wav")
        scored = score(one, "\n".join(lines), number)
        assert scored.status == "ok" and scored.statistics == score(one, as_answer(doc["dsb2_reference"]), number).statistics
        assert [entry["rate"] for entry in scored.value] == [clip(handle)[1] for handle in doc["dsb2_reference"]]
        json.dumps([scored.value, scored.statistics], allow_nan=False)
    for metric in one.kind.metrics(one.spec):
        near = 10.0 if metric == "si_sdri" else 1e-6
        assert best[metric] == pytest.approx(metrics.get(metric).best, abs=near)


@pytest.mark.parametrize("name", [SE, SS, "dsb2_song_separation_singset"])
def test_the_mixture_given_back_improves_nothing(name: str, task: Load) -> None:
    one = task(name)
    docs = list(one.test_docs())
    found = total(one, [as_answer(doc["audio"][:1] * len(doc["dsb2_reference"])) for doc in docs])
    assert found["si_sdri"] == pytest.approx(0.0, abs=1e-9) and found["na_rate"] == 0.0
    if one.spec.metric != "si_sdri":
        assert found[one.spec.metric] < metrics.get(one.spec.metric).best - 2


def test_better_clips_score_better(task: Load) -> None:
    for name in (SE, EVC):
        one = task(name)
        doc = one.test_docs()[0]
        x, rate = clip(doc["dsb2_reference"][0])
        noise = np.random.default_rng(0).standard_normal(x.shape)
        values = [score(one, b64(wav(x + level * noise, rate))).statistics[one.spec.metric][0] for level in (0.003, 0.03, 0.3)]
        assert values == sorted(values, reverse=metrics.get(one.spec.metric).higher_is_better)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "answer",
    [
        "",
        " \n ",
        "I am sorry, but I cannot make audio.",
        "The clean speech says: no",
        "[]",
        "[1]",
        '{"a": 1}',
        "[" * 100_000,
        "\x00",
        "\ud83d",
    ],
)
def test_text_is_na(name: str, answer: str, task: Load, folder: Path) -> None:
    one = task(name)
    scored = score(one, answer)
    assert scored.status in ("na:empty", "na:text") and scored.value is None
    assert set(scored.statistics.values()) == {None}
    rows = one.process_results(one.test_docs()[0], [answer])
    assert rows["na_rate"] == (1.0, scored.status) and rows["audio_error_rate"] == (0.0, "ok")


def test_forms_of_an_answer(task: Load, folder: Path) -> None:
    one = task(SS)
    handles = one.test_docs()[0]["dsb2_reference"]
    files = [wav(*clip(handle), kind="FLAC", subtype="PCM_16") for handle in handles]
    for number, data in enumerate(files):
        (folder / f"{number}.flac").write_bytes(data)
    texts = [b64(data) for data in files]
    wrapped = ["\n".join(text[i : i + 76] for i in range(0, len(text), 76)) for text in texts]
    uris = [f"data:audio/flac;base64,{text}" for text in texts]
    answers = [
        "\n".join(texts),
        "\r\n".join(texts) + "\n",
        "\n".join(wrapped),
        "\n".join(uris),
        json.dumps(uris),
        json.dumps(texts, indent=1),
        "0.flac\n1.flac",
        "`1.flac`\n'0.flac'",
        json.dumps(["0.flac", str(folder / "1.flac")]),
        f"0.flac\n{uris[1]}",
        "<think>which first?</think>0.flac\n1.flac",
    ]
    found = [score(one, answer) for answer in answers]
    assert [entry.status for entry in found] == ["ok"] * len(answers)
    assert all(entry.statistics == found[0].statistics for entry in found)
    for refused in ("0.flac", "0.flac\n1.flac\n0.flac", json.dumps(uris * 2)):
        assert score(one, refused).status == "na:count"


def test_without_the_setting_the_folder_is_the_working_directory(
    task: Load, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = task(SVS)
    (tmp_path / "a.wav").write_bytes(wav(*clip(one.test_docs()[0]["dsb2_reference"][0])))
    monkeypatch.chdir(tmp_path)
    assert score(one, "a.wav").status == score(one, str(tmp_path / "a.wav")).status == "ok"


def test_nothing_outside_of_the_folder_is_opened(
    task: Load, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = task(SVS)
    data = wav(*clip(one.test_docs()[0]["dsb2_reference"][0]))
    for place in (tmp_path, tmp_path / "here"):
        (place / "secret.wav").write_bytes(data)
    (tmp_path / "clips2").mkdir()
    (tmp_path / "clips2" / "x.wav").write_bytes(data)
    (folder / "link.wav").symlink_to(tmp_path / "secret.wav")
    (folder / "there").symlink_to(tmp_path)
    opened: list[str] = []
    real = Path.open
    monkeypatch.setattr(Path, "open", lambda self, *a, **k: (opened.append(str(self)), real(self, *a, **k))[1])
    for answer in (
        "../secret.wav",
        str(tmp_path / "secret.wav"),
        "there/secret.wav",
        "link.wav",
        "sub/../../secret.wav",
        "../clips2/x.wav",
        f"{folder}/../secret.wav",
        "/etc/../" + str(tmp_path / "secret.wav"),
        "..\\secret.wav/../../secret.wav",
    ):
        assert score(one, answer).status == "na:outside", answer
    for answer in ("secret.wav", "~/secret.wav", "file:///secret.wav", "/etc/passwd", "../secret.txt", "http://x/a.wav"):
        assert score(one, answer).status in ("na:no_file", "na:text"), answer
    assert opened == []


def test_what_is_no_readable_file_is_na(task: Load, folder: Path) -> None:
    one = task(SVS)
    (folder / "dir.wav").mkdir()
    os.mkfifo(folder / "pipe.wav")
    (folder / "loop.wav").symlink_to(folder / "loop.wav")
    (folder / "gone.wav").symlink_to(folder / "nothing.wav")
    for answer in ("dir.wav", "pipe.wav", "loop.wav", "gone.wav", "a\x00b.wav", "x" * 5000 + ".wav", ".wav", "\ud83d.wav"):
        assert score(one, answer).status == "na:no_file", answer


def test_files_that_are_no_wanted_audio_are_na(task: Load) -> None:
    one = task(SVS)
    x, rate = clip(one.test_docs()[0]["dsb2_reference"][0])
    good = wav(x, rate)
    cases = {
        b64(b"RIFF\0\0\0\0WAVEfmt garbage"): "undecodable",
        b64(good[:40]): "undecodable",
        b64(wav(x, rate, "FLAC", "PCM_16")[:2000]): "undecodable",
        "data:audio/mpeg;base64," + b64(wav(x, rate, "MP3", None)): "format",
        "data:audio/ogg;base64," + b64(wav(x, rate, "OGG", None)): "format",
        b64(wav(np.repeat(x, 3, axis=0), rate)): "format",
        b64(wav(x, 384_000)): "format",
        b64(wav(0 * x, rate)): "silent",
        b64(wav(0 * x + 0.5, rate)): "silent",
        b64(wav(np.full_like(x, np.nan), rate)): "silent",
        "data:audio/wav;base64,%%%": "base64",
        "data:audio/wav,RIFF": "base64",
        "data:": "base64",
        "UklGR!": "base64",
        b64(good) + "=x": "base64",
    }
    assert {answer: score(one, answer).status for answer in cases} == {answer: f"na:{status}" for answer, status in cases.items()}


def test_bombs_are_bounded(task: Load, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    one = task(SVS)
    hours = wav(np.zeros(2 * 3600 * 8000, np.int16), 8000, "FLAC", "PCM_16")  # 230 MB of samples in some 100 kB
    assert len(hours) < 300_000
    tracemalloc.start()
    assert score(one, b64(hours)).status == "na:too_long"
    lying = bytearray(wav(np.zeros(100), 8000, "WAV", "PCM_16"))
    lying[40:44] = b"\xff\xff\xff\x7f"
    assert score(one, b64(bytes(lying))).status in ("na:silent", "na:undecodable")
    assert tracemalloc.get_traced_memory()[1] < 50_000_000
    tracemalloc.stop()
    monkeypatch.setattr(_waveform, "MAX_BYTES", 100_000)
    assert score(one, "UklGR" + "A" * 200_000).status == "na:too_large"
    assert score(one, "UklGR" + "A" * 134_000).status == "na:too_large"
    with (folder / "big.wav").open("wb") as file:
        file.truncate(100_001)
    assert score(one, "big.wav").status == "na:too_large"
    with (folder / "fits.wav").open("wb") as file:
        file.truncate(100_000)
    assert score(one, "fits.wav").status == "na:format"


def test_a_long_wrapped_answer_takes_no_time(task: Load) -> None:
    one = task(SVS)
    lines = "\n".join(["UklGR" + "A" * 71, *["A" * 76] * 200_000])
    assert score(one, lines).status == "na:format"


@pytest.mark.parametrize("rate", [8000, 22050, 48000])
def test_other_rates_and_two_channels_are_taken(rate: int, task: Load) -> None:
    pytest.importorskip("torchaudio", reason="changing a sampling rate needs torch and torchaudio")
    from dsb2_tasks.audio import resample

    one = task(SE)
    x, own = clip(one.test_docs()[0]["dsb2_reference"][0])
    y = resample(x, own, rate)
    scored = score(one, b64(wav(np.concatenate([y, y]), rate)))
    noisy = score(one, as_answer(one.test_docs()[0]["audio"]))
    assert scored.status == "ok"
    for metric, row in scored.statistics.items():
        assert row[0] > noisy.statistics[metric][0]
    assert scored.statistics["stoi"][0] > 0.95


def test_length_is_that_of_the_reference(task: Load) -> None:
    one = task(SE)
    x, rate = clip(one.test_docs()[0]["dsb2_reference"][0])
    longer = score(one, b64(wav(np.concatenate([x, 0.3 * x], axis=1), rate)))
    assert longer.statistics == score(one, b64(wav(x, rate))).statistics
    shorter = score(one, b64(wav(x[:, : x.shape[1] // 2], rate)))
    assert shorter.status == "ok" and all(math.isfinite(row[0]) for row in shorter.statistics.values())
    assert shorter.statistics["stoi"][0] < 0.9
    assert score(one, b64(wav(np.tile(x, 12), rate))).status == "na:too_long"


@pytest.mark.parametrize("broken", ["dsb2_reference", "audio"])
def test_a_clip_of_the_data_that_cannot_be_used_is_no_fault_of_the_answer(
    broken: str, task: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = task(SE)
    doc = one.test_docs()[0]
    answer = as_answer(doc["dsb2_reference"])
    real = STORE.read
    x, rate = clip(doc["dsb2_reference"][0])
    for data, said in ((b"", "empty"), (b"no audio", "no audio file"), (wav(0 * x, rate), "silent")):
        monkeypatch.setattr(STORE, "read", lambda h, d=data: RawAudio(d, "clip") if h == doc[broken][0] else real(h))
        for given in (answer, "I cannot"):
            rows = one.process_results(doc, [given])
            error = rows.pop("audio_error_rate")
            assert error[0] == 1.0 and said in error[1]
            assert set(rows.values()) == {None}


def test_a_reference_that_cannot_be_measured_is_told_from_an_answer_that_cannot(
    task: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = task(SE)
    doc = one.test_docs()[0]
    answer = as_answer(doc["audio"])
    monkeypatch.setattr(metrics, "pesq_wb", lambda x, y: 4.6 if np.array_equal(x, y) else None)
    rows = one.process_results(doc, [answer])
    assert rows["na_rate"] == (1.0, "na:unmeasurable") and rows["stoi"] is rows["pesq_wb"] is None
    monkeypatch.setattr(metrics, "pesq_wb", lambda x, y: None)
    rows = one.process_results(doc, [answer])
    assert rows["audio_error_rate"][0] == 1.0 and "pesq_wb is not defined for the reference" in rows["audio_error_rate"][1]
    assert rows["na_rate"] is None


def test_what_explain_shows_agrees_with_the_score(task: Load) -> None:
    one = task(SS)
    doc = one.test_docs()[0]
    for answer in (as_answer(doc["dsb2_reference"]), "no", ""):
        value, status = KINDS["waveform"].read_answer(answer, doc, one.spec)
        scored = score(one, answer)
        assert (scored.value, scored.status) == (value, status if status == "ok" else f"na:{status}")
