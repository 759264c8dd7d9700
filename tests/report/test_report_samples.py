"""Which answers are shown, and their clips."""

from __future__ import annotations

import base64
import io
from pathlib import Path

import numpy as np
import pytest
import soundfile
from _report_runs import ASR, write_run

from dsb2_tasks.audio import STORE, RawAudio, decode, make_handle
from dsb2_tasks.report import Drawing, Shown, build
from dsb2_tasks.report import choose as choose_of
from dsb2_tasks.report._clips import Clips
from dsb2_tasks.results import Run, read_run

ONE = ["dsb2_superb_asr_librispeech"]


def choose(runs: list[Run], count: int, seed: int = 0, **settings) -> Shown:
    return choose_of(build(runs, how=Drawing(draws=100, seed=seed)), count, **settings)


def test_the_worst_come_first_then_some_by_chance(runs: dict[str, Run]) -> None:
    shown = choose([runs["mira"]], 4).documents[ASR]
    assert [document.why for document in shown] == ["among the worst"] * 2 + ["drawn by chance"] * 2
    rates = {s.doc_id: s.rows["wer"][0] / s.rows["wer"][1] for s in runs["mira"].tasks[ASR].samples()}
    assert sorted(rates.values(), reverse=True)[:2] == [rates[document.number] for document in shown[:2]]
    assert len({document.number for document in shown}) == 4


def test_an_answer_without_a_value_is_worst(runs: dict[str, Run]) -> None:
    shown = choose([runs["mira"]], 2).documents["dsb2_phone_segment_counting_voxangeles"]
    assert shown[0].answers[0].status == "na:no_number"
    assert shown[0].answers[0].counted[0] == ("mse", "not counted", "")


def test_the_seed_decides_what_is_drawn(runs: dict[str, Run]) -> None:
    def numbers(seed: int) -> list[int]:
        return [d.number for documents in choose([runs["mira"]], 8, seed=seed).documents.values() for d in documents]

    assert numbers(0) == numbers(0) != numbers(1)


def test_all_runs_answer_the_same_documents(runs: dict[str, Run]) -> None:
    pair = [runs["mira"], runs["sonata"]]
    for task, documents in choose(pair, 2).documents.items():
        for document in documents:
            for run, answer in zip(pair, document.answers, strict=True):
                said = next(s for s in run.tasks[task].samples() if s.doc_id == document.number)
                assert answer.answer.text == said.answer
                assert answer.status == said.status


def test_a_clip_is_the_one_that_was_heard(runs: dict[str, Run]) -> None:
    document = choose([runs["mira"]], 1).documents[ASR][0]
    (clip,) = document.clips
    sample = runs["mira"].tasks[ASR].samples()[document.number]
    data = base64.b64decode(clip.uri.partition("base64,")[2])
    assert data == STORE.read(sample.audio[0]).data
    assert clip.uri.startswith("data:audio/flac;") or clip.uri.startswith("data:audio/ogg;")
    assert clip.note == ""
    assert clip.wave.startswith("M1 ")


def test_the_size_of_all_clips_is_bounded_and_the_first_of_each_task_come_first(runs: dict[str, Run]) -> None:
    whole = choose([runs["mira"]], 2)
    first = sum(len(_audio(c)) for documents in whole.documents.values() for c in documents[0].clips)
    bounded = choose([runs["mira"]], 2, audio_bytes=first)
    clips = [(rank, c) for d in bounded.documents.values() for rank, document in enumerate(d) for c in document.clips]
    assert all(c.uri for rank, c in clips if rank == 0)
    assert sum(len(_audio(c)) for _, c in clips if c.uri) <= first
    missing = [c for _, c in clips if not c.uri]
    assert {c.note for c in missing} == {"left out: the clips of this page have reached their size limit"}
    assert bounded.notes == (f"{len(missing)} clips are left out: the page holds at most {first / 1e6:g} MB of audio",)


def _audio(clip) -> bytes:
    return base64.b64decode(clip.uri.partition("base64,")[2])


def test_answers_that_were_not_logged_are_told(tmp_path: Path) -> None:
    place = write_run(tmp_path, "quiet", right=0.5, tasks=ONE)
    for file in place.glob("samples_*"):
        file.unlink()
    shown = choose([read_run(place)], 2)
    assert shown.documents == {}
    assert shown.notes == ("answers of 1 tasks were not logged (run with --log_samples)",)


def test_clips_that_cannot_be_found_say_why(runs: dict[str, Run], tmp_path: Path) -> None:
    documents = choose([runs["mira"]], 1, data=str(tmp_path / "nowhere")).documents
    notes = {clip.note for shown in documents.values() for document in shown for clip in document.clips if not clip.uri}
    # Sample clips that another test has opened are still known to the store; a process of its own knows none.
    assert all("nowhere" in note or "folder" in note for note in notes)
    lost = Clips(10**6).show({"dsb2": 1, "repo": "x"})
    assert (lost.uri, lost.note) == (None, "not to be found: audio handle lacks the key 'revision': {'dsb2': 1, 'repo': 'x'}")


class _Source:
    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, row: int, column: str) -> RawAudio:
        return RawAudio(self.data, "clip")


def _shown(samples: np.ndarray, rate: int, form: str, budget: int = 10**7):
    import hashlib

    file = io.BytesIO()
    soundfile.write(file, samples, rate, format=form)
    data = file.getvalue()
    STORE.register("made", "local", "test", _Source(data))
    digest = hashlib.sha256(data).hexdigest()
    handle = make_handle(repo="made", revision="local", split="test", row=0, column="audio", sha256=digest)
    return Clips(budget).show(handle), data


@pytest.mark.parametrize(
    ("channels", "rate", "seconds", "form", "note"),
    [
        (1, 16000, 1, "WAV", ""),
        (1, 44100, 1, "WAV", "16 kHz"),
        (4, 24000, 1, "FLAC", "16 kHz, mixed down to one channel"),
        (1, 8000, 40, "WAV", "first 30 s of 40.0 s"),
    ],
    ids=["wav", "high rate", "four channels", "long"],
)
def test_what_browsers_may_not_play_is_written_anew(channels: int, rate: int, seconds: int, form: str, note: str) -> None:
    noise = np.random.default_rng(0).uniform(-0.1, 0.1, (rate * seconds, channels))
    clip, _ = _shown(noise, rate, form)
    samples, made = decode(RawAudio(_audio(clip), "made"))
    assert clip.uri.startswith("data:audio/flac;")
    assert (samples.shape[0], made) == (1, min(rate, 16000))
    assert samples.shape[1] == pytest.approx(min(seconds, 30) * made, abs=1)
    assert clip.note == note
    assert clip.seconds == seconds


@pytest.mark.parametrize(("form", "kind"), [("FLAC", "flac"), ("OGG", "ogg"), ("MP3", "mpeg")])
def test_small_files_that_browsers_play_are_left_as_they_are(form: str, kind: str) -> None:
    clip, data = _shown(np.zeros((8000, 2)), 16000, form)
    assert clip.uri == f"data:audio/{kind};base64,{base64.b64encode(data).decode()}"
    assert clip.wave  # silence is a line


def test_damaged_audio_says_so() -> None:
    import hashlib

    STORE.register("made", "local", "test", _Source(b"not audio"))
    digest = hashlib.sha256(b"not audio").hexdigest()
    handle = make_handle(repo="made", revision="local", split="test", row=3, column="audio", sha256=digest)
    clip = Clips(10**6).show(handle)
    assert (clip.uri, clip.name) == (None, "made, row 3, audio")
    assert clip.note.startswith("cannot be read: clip is no audio file")
