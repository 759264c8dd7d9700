"""The committed samples: complete, in the form of the real sets, readable, small."""

from __future__ import annotations

import ast
import hashlib
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile
from _documents import KNOWN, clips, decode, documents, labels, references, rows

from dsb2_tasks import samples

ROOT = samples.root()
FILES = sorted(ROOT.rglob("test.parquet"))
ONE_SOURCE_ONLY = {f"dsb2_fraud_robocall_recognition_{part}" for part in ("robocall", "callhome", "promo")}
CHANNELS = {
    "dsb2_sound_position_prediction": 2,
    "dsb2_multichannel_sound_event_starss23": 4,
    "dsb2_audio_spatial_distance_prediction": 4,
}
SPAN = r"\d+\.\d+-\d+\.\d+"
FORMS = {
    "turns": r"\(spk\d, \d+(\.\d{1,2})?, \d+(\.\d{1,2})?\)( \(spk\d, \d+(\.\d{1,2})?, \d+(\.\d{1,2})?\))*",
    "events": rf"\w+: {SPAN}(; \w+: {SPAN})*",
    "spans": rf"{SPAN}|\(\d+\.\d\d, \d+\.\d\d\)( \(\d+\.\d\d, \d+\.\d\d\))*",
    "beats": r"\[?\d+\.\d\d(, \d+\.\d\d)*\]?",
    "pitches": r"[A-G]#?\d( [A-G]#?\d)*",
    "number": r"-?\d+(\.\d+)?",
    "phonemes": r"[A-Z]{1,2}( [A-Z]{1,2})+",
    "slots": r"\w+: [\w ]+(, \w+: [\w ]+)*",
    "entities": r"[A-Z]+: [\w ]+(, [A-Z]+: [\w ]+)*",
    "tags": r"([\w ]+ / )?[A-Z]+( [A-Z]+)*",
}


@pytest.mark.parametrize("name", KNOWN)
def test_documents_of_a_task(name: str) -> None:
    spec = KNOWN[name]
    assert all((ROOT / source.path / "test.parquet").is_file() for source in spec.data)
    found = documents(spec)
    assert len(found) >= 4 and all(rows(source.path) for source in spec.data)
    assert len({document["instruction"] for document in found}) >= 2
    assert len({(document["instruction"], tuple(c["bytes"] for c in clips(spec, document))) for document in found}) == len(found)
    for document in found:
        assert document["file"] and "{" not in document["instruction"]
        for column in (*spec.context, *spec.hidden):
            assert document[column]
        for column in spec.context:
            assert document[column] in document["instruction"]
        for column in spec.hidden:
            if document[column] != document.get("text"):
                assert document[column] not in document["instruction"]


@pytest.mark.parametrize("name", [name for name, spec in KNOWN.items() if spec.kind != "waveform"])
def test_labels_have_the_form_of_the_task(name: str) -> None:
    spec = KNOWN[name]
    given = [labels(spec, document) for document in documents(spec)]
    assert all(given)
    if name not in ONE_SOURCE_ONLY:
        assert len({tuple(one) for one in given}) >= 2
    for document, one in zip(documents(spec), given, strict=True):
        text = one[0]
        if spec.kind == "choice":
            options = spec.options if isinstance(spec.options, tuple) else {o[0] for o in given}
            assert text in options
            if name not in ("dsb2_hear_environmental_sound_esc50", "dsb2_hear_speaker_count_libricount"):
                assert text in document["instruction"]
        elif spec.kind == "labels":
            several = one if len(one) > 1 else ast.literal_eval(text) if text.startswith("[") else text.split(", ")
            assert set(several) <= set(spec.options)
            assert all(label in document["instruction"] for label in several)
        elif spec.kind == "notes":
            assert all(0 <= on < off <= 10 and 21 <= pitch <= 108 for on, off, pitch in ast.literal_eval(text))
        elif spec.kind in FORMS:
            assert re.fullmatch(FORMS[spec.kind], text), text
        if spec.kind in ("slots", "entities", "events"):
            assert set(re.findall(r"(\w+): ", text)) <= set(spec.options)
        if spec.kind == "tags":
            words, _, tags = text.rpartition(" / ")
            assert set(tags.split()) <= set(spec.options)
            assert not words or len(words.split()) == len(tags.split())
        if spec.kind == "number" and spec.number is not None:
            value = float(text)
            low, high = spec.number.minimum, spec.number.maximum
            assert (low is None or value >= low) and (high is None or value <= high)
            assert not spec.number.integer or value == int(value)


@pytest.mark.parametrize("name", KNOWN)
def test_clips_can_be_heard(name: str) -> None:
    spec = KNOWN[name]
    for document in documents(spec):
        for cell in [*clips(spec, document), *references(spec, document)]:
            x, rate = decode(cell)
            assert len(x) == CHANNELS.get(name, 1) and (len(x) > 1) == (spec.channels == "keep" and name in CHANNELS)
            assert 0.1 < x.shape[1] / rate < 12
            assert 0.02 < np.max(np.abs(x)) < 0.99 and np.sqrt(np.mean(x**2)) > 0.002
            assert Path(cell["path"]).suffix[1:] == soundfile.info(io.BytesIO(cell["bytes"])).format.lower()


def test_columns_are_described_for_datasets() -> None:
    for file in FILES:
        schema = pq.read_schema(file)
        features = json.loads(schema.metadata[b"huggingface"])["info"]["features"]
        assert list(features) == schema.names
        for column, feature in features.items():
            kind = str(schema.field(column).type)
            assert (feature == {"_type": "Audio"}) == (kind == "struct<bytes: binary, path: string>")
            assert feature["_type"] == "Audio" or feature == {"_type": "Value", "dtype": kind}


def test_datasets_reads_audio() -> None:
    import datasets

    file = ROOT / "DynamicSuperb/SuperbQbE_Quesst14-Eval/test.parquet"
    read = datasets.Dataset.from_parquet(str(file))
    assert [name for name, kind in read.features.items() if isinstance(kind, datasets.Audio)] == ["query", "doc"]


@pytest.mark.parametrize(
    ("name", "columns"),
    [
        ("PhonemeSegmentCounting_Librispeech-words", {"label": "int64"}),
        ("SarcasmDetection_Mustard", {"label": "bool"}),
        ("DialogueActPairing_DailyTalk", {"label": "bool", "file2": "string"}),
        ("SpeakerVerification_VCTK", {"file2": "string"}),
        ("MultiSpeakerDetection_VCTK", {f"utterance {n}": "string" for n in range(1, 6)}),
        ("SpeakerCounting_LibriTTS-TestClean", {f"utterance {n}": "string" for n in range(1, 6)}),
        ("EnhancementDetection_LibriTTS-TestClean_WHAM", {"speech file": "string", "noise file": "string", "SNR": "string"}),
        ("SingingVoiceDeepfakeDetection_CtrSVDD_ACEKiSing_M4Singer", {"singer": "string", "data_source": "string"}),
        ("SpeechTextMatching_LJSpeech", {"text": "string", "transcription": "string"}),
        ("StressDetection_MIRSD", {"word": "string"}),
        ("Dialogue_Act_Classification_SLUE-HVB", {f"label{n}": "string" for n in range(2, 9)}),
    ],
)
def test_special_columns(name: str, columns: dict[str, str]) -> None:
    schema = pq.read_schema(ROOT / "DynamicSuperb" / name / "test.parquet")
    assert {column: str(schema.field(column).type) for column in columns} == columns


def test_a_task_without_audio_has_none() -> None:
    columns = pq.read_schema(ROOT / "DynamicSuperb/NBestCorrection_Librispeech-TestOther/test.parquet").names
    assert columns == ["file", "instruction", "label"]


def test_containers_and_rates_are_mixed() -> None:
    kinds = set()
    for spec in KNOWN.values():
        for cell in clips(spec, documents(spec)[0]):
            info = soundfile.info(io.BytesIO(cell["bytes"]))
            kinds.add((info.format, info.subtype, info.samplerate))
    assert {rate for _, _, rate in kinds} >= {8000, 16000, 22050, 24000, 44100, 48000}
    assert {(f, s) for f, s, _ in kinds} >= {
        ("WAV", "PCM_16"),
        ("WAV", "ULAW"),
        ("FLAC", "PCM_16"),
        ("MP3", "MPEG_LAYER_III"),
        ("OGG", "VORBIS"),
        ("OGG", "OPUS"),
    }


def test_nothing_is_missing_or_left_over() -> None:
    named = {source.path for spec in KNOWN.values() for source in spec.data}
    assert {str(file.parent.relative_to(ROOT)) for file in FILES} == named
    others = {str(f.relative_to(ROOT)) for f in ROOT.rglob("*") if f.is_file() and f.name != "test.parquet"}
    assert others == {"README.md", "manifest.json"}


def test_manifest_and_size() -> None:
    manifest = json.loads((ROOT / "manifest.json").read_text())
    assert manifest["version"] == samples.VERSION and "CC0" in manifest["licence"]
    assert {str(f.relative_to(ROOT)): hashlib.sha256(f.read_bytes()).hexdigest() for f in FILES} == manifest["files"]
    assert sum(f.stat().st_size for f in ROOT.rglob("*") if f.is_file()) <= 12_000_000


def test_import_is_light() -> None:
    heavy = ("numpy", "pyarrow", "soundfile", "scipy")
    code = f"import sys, dsb2_tasks.samples as s; s.root(); print([m for m in {heavy} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
