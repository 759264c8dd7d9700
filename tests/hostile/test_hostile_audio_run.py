"""A run over a folder with hostile clips among good ones: it ends, scores the good ones, and records the others."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from _audio_makers import (
    RATE,
    encode,
    flac_head,
    flac_silence,
    make,
    mp3_silence,
    opus_silence,
    patch,
    tone,
)

from dsb2_tasks import catalog, compat
from dsb2_tasks.audio import read_failure

TASK, FOLDER = "dsb2_how_far_are_you_3dspeaker", "DynamicSuperb/HowFarAreYou_3DSpeaker"
OPTIONS = ("0.4m", "2.0m", "4.0m")

GOOD = {
    "good.wav": encode(tone(seconds=0.4)),
    "good.flac": encode(tone(22_050, 0.5, channels=2), 22_050, "FLAC"),
    "good.mp3": encode(tone(44_100, 0.3, hertz=900), 44_100, "MP3"),
    "good.ogg": encode(tone(seconds=0.6, hertz=200), form="OGG"),
    "good.opus": make("opus", 0.5),
    "good 8 channels.wav": encode(tone(8_000, 0.5, channels=8), 8_000),
    "good but odd.mp3": encode(tone(767_999, 0.2), 767_999),
    "good with nan.wav": encode(np.where(np.arange(RATE)[:, None] == 5, np.nan, tone()), subtype="FLOAT"),
    # The model hears the first 30 s, and no more is decoded.
    "hours.wav": encode(np.zeros((4_000_000, 1), np.float32), 100, subtype="PCM_U8"),
    "ages.opus": opus_silence(2, claimed=2**62),
}
#: Name to bytes and what is said; None is no file at all.
BAD: dict[str, tuple[bytes | None, str]] = {
    "missing.wav": (None, "cannot be read"),
    "empty.wav": (b"", "is empty"),
    "byte.wav": (b"R", "no audio file"),
    "head.wav": (make("wav")[:44], "holds no samples"),
    "head.flac": (flac_head(RATE, 1, RATE), "is cut or damaged"),
    "text.wav": (b"hello " * 100, "no audio file"),
    "page.mp3": (b"<html>404</html>", "no audio file"),
    "archive.flac": (b"PK\x03\x04" + bytes(100), "no audio file"),
    "program.ogg": (b"\x7fELF" + bytes(100), "no audio file"),
    "zeros.wav": (bytes(10_000), "no audio file"),
    "list.m3u": (b"#EXTM3U\n/etc/hostname\n", "no audio file"),
    "random.wav": (np.random.default_rng(0).bytes(5000), "no audio file"),
    "rate 0.wav": (patch(make("wav"), 24, "<I", 0), "no audio file"),
    "rate 2**31.wav": (patch(make("wav"), 24, "<I", 2**31 - 1), "sampling rate of 2147483647 Hz"),
    "channels 0.wav": (patch(make("wav"), 22, "<H", 0), "no audio file"),
    "channels 255.wav": (patch(make("wav"), 22, "<H", 255), "has 255 channels"),
    "bits 0.wav": (patch(make("wav"), 34, "<H", 0), "no audio file"),
    "no samples.aiff": (encode(tone()[:0], form="AIFF"), "holds no samples"),
    "cut.flac": (make("flac")[:-200], "is cut"),
    "cut.mp3": (make("mp3", 2.0)[:2000], "is cut"),
    "cut.ogg": (make("ogg")[:1000], "no audio file"),
    "cut.caf": (make("caf")[:9000], "no audio file"),
    "long.flac": (flac_silence(655_350, 8, 2, claimed=2**36 - 1), "is cut"),
    "long.mp3": (mp3_silence(10, stated=2**32 - 1), "is cut: it states 103079215"),
    "nothing.opus": (opus_silence(2, claimed=0), "holds no samples"),
    "tag.mp3": (b"ID3\x04\x00\x00\x7f\x7f\x7f\x7f" + make("mp3"), "no audio file"),
    "twice.wav": (make("wav") * 2, "no audio file"),
    "head.m4a": (b"\x00\x00\x00\x1cftypM4A " + bytes(100), "(mov)"),
    "\x1b[2J\nname.wav": (b"x", "no audio file"),
    "folder.wav": (b"folder", "cannot be read"),
}


def lay(folder: Path, names: list[str]) -> None:
    """Writes clips and their metadata."""
    folder.mkdir(parents=True)
    records = []
    for name in names:
        data = GOOD[name] if name in GOOD else BAD[name][0]
        if data == b"folder":
            (folder / name).mkdir()
        elif data is not None:
            (folder / name).write_bytes(data)
        label = OPTIONS[len(name) % 3]
        records.append({"file_name": name, "instruction": f"How far is the speaker of {name!r}?", "label": label})
    (folder / "metadata.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records))


def run(root: Path, place: Path) -> dict[str, Any]:
    from lm_eval import simple_evaluate

    from dsb2_tasks.models.hf_audio import HFAudio

    model = HFAudio(pretrained="tiny", device="cpu", batch_size=4, responses=str(place))
    settings = {"data": str(root)}
    results = simple_evaluate(
        model=model,
        tasks=[TASK],
        task_manager=compat.task_manager([catalog.yaml_root()], settings),
        metadata=settings,
        log_samples=True,
        bootstrap_iters=0,
    )
    return {**results, "counts": model.counts}


@pytest.mark.slow
def test_good_clips_among_hostile_ones(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    mixed = list(BAD)
    for number, name in enumerate(GOOD):
        mixed.insert(number * 4, name)
    lay(tmp_path / "good" / FOLDER, list(GOOD))
    lay(tmp_path / "mixed" / FOLDER, mixed)
    alone = run(tmp_path / "good", tmp_path / "store of good")
    with caplog.at_level(logging.WARNING):
        found = run(tmp_path / "mixed", tmp_path / "store of mixed")

    answers = {mixed[sample["doc_id"]]: sample["filtered_resps"][0] for sample in found["samples"][TASK]}
    assert list(answers) == mixed
    for sample, name in zip(alone["samples"][TASK], GOOD, strict=True):
        assert answers[name] == sample["filtered_resps"][0] and read_failure(answers[name]) is None
    for name, (_, said) in BAD.items():
        kind, reason = read_failure(answers[name]) or ("", answers[name])
        assert kind == "audio_error" and said in reason and reason.isprintable() and len(reason) < 600, name

    scores = {name: value for name, value in alone["results"][TASK].items() if name.startswith("accuracy")}
    assert scores and scores.items() <= found["results"][TASK].items()
    assert found["counts"]["failures"] == {"audio_error": len(BAD)} and alone["counts"]["failures"] == {}
    assert f"{len(BAD)} requests could not be put to the model and are left out of the metrics" in caplog.text
    assert "first: audio_error: " in caplog.text
