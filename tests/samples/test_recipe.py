"""The recipe: the same samples at every build, exact times in every container, and what its parts promise."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import soundfile
from _documents import decode

from dsb2_tasks import samples
from dsb2_tasks.samples import build
from dsb2_tasks.samples._encode import Clip, encode
from dsb2_tasks.samples._rooms import add_noise, ambisonic, binaural, in_room
from dsb2_tasks.samples._signal import RATE, chain, fitted, hertz, length, noise, oscillate, placed, rms, silence
from dsb2_tasks.samples._sounds import SOUNDS, make

HANDFUL = [
    "NoiseDetection_LJSpeech_MUSAN-Noise",
    "SuperbKS_SpeechCommandsV1-Test",
    "SpeakerVerification_VCTK",
    "HEARMusicTranscription_MAESTRO-5hr-Fold2",
    "PitchExtractionByLyrics_CSD",
    "MultichannelSoundEventUnderstanding_STARSS23",
    "NBestCorrection_Librispeech-TestOther",
]


def text_columns(file: Path) -> dict[str, list]:
    table = pq.read_table(file)
    return {name: table.column(name).to_pylist() for name in table.column_names if not name.startswith("audio")}


@pytest.mark.usefixtures("voice")
def test_two_builds_are_equal_to_the_byte(tmp_path: Path) -> None:
    from dsb2_tasks.samples._speech import say

    first = build.build(tmp_path / "a", HANDFUL)
    say.cache_clear()
    assert build.build(tmp_path / "b", HANDFUL) == first and len(first) == len(HANDFUL)


@pytest.mark.usefixtures("voice")
def test_a_build_gives_the_committed_samples(tmp_path: Path) -> None:
    made = build.build(tmp_path, HANDFUL)
    build.write_manifest(tmp_path, made)
    committed = json.loads((samples.root() / "manifest.json").read_text())
    same_tools = json.loads((tmp_path / "manifest.json").read_text())["tools"] == committed["tools"]
    for name in made:
        assert text_columns(tmp_path / name) == text_columns(samples.root() / name)
        if not same_tools:
            continue
        # Not compared by bytes: another processor may round the last digit of a sine another way.
        ours, theirs = (pq.read_table(root / name).to_pylist() for root in (tmp_path, samples.root()))
        for a, b in zip(ours, theirs, strict=True):
            for column in (c for c in a if c.startswith("audio")):
                (x, rate), (y, other) = decode(a[column]), decode(b[column])
                assert rate == other and x.shape == y.shape
                assert np.sqrt(np.mean((x - y) ** 2)) < 0.02 * np.sqrt(np.mean(y**2))


RATES = [8000, 16000, 22050, 24000, 32000, 44100, 48000]
# Opus has fewer rates.
CODECS = [(k, r) for k in ("wav", "ulaw", "flac", "mp3", "ogg") for r in RATES] + [
    ("opus", r) for r in (8000, 16000, 24000, 48000)
]


@pytest.mark.parametrize(("kind", "rate"), CODECS)
def test_times_survive_every_container(kind: str, rate: int) -> None:
    tone = oscillate(440.0, 0.3)
    data, suffix = encode(Clip(placed(1.5, [(0.5, tone)])), f"{kind}@{rate}")
    assert data == encode(Clip(placed(1.5, [(0.5, tone)])), f"{kind}@{rate}")[0]
    x, found = soundfile.read(io.BytesIO(data))
    assert found == rate and abs(len(x) / rate - 1.5) < 0.001
    loud = np.flatnonzero(np.abs(x) > 0.15) / rate
    assert loud[0] == pytest.approx(0.5, abs=0.005) and loud[-1] == pytest.approx(0.8, abs=0.005)
    middle = x[round(0.55 * rate) : round(0.75 * rate)] * np.hanning(round(0.75 * rate) - round(0.55 * rate))
    spectrum = np.abs(np.fft.rfft(middle, rate))
    assert np.argmax(spectrum) == pytest.approx(440, rel=0.01)
    assert suffix == {"ulaw": "wav", "opus": "ogg"}.get(kind, kind)


@pytest.mark.parametrize("snr", [0, 5, 10, 15])
def test_noise_comes_at_the_stated_level(snr: float) -> None:
    rng = np.random.default_rng(0)
    speech = oscillate(200.0, 1.7, (1, 0.5))
    added = add_noise(speech, noise(rng, 0.6), snr) - speech
    assert 20 * np.log10(rms(speech) / rms(added)) == pytest.approx(snr, abs=0.01)


def test_a_room_rings_as_long_as_stated() -> None:
    click = fitted(np.ones(1), 0.05)
    spans = {}
    for room in ("small", "medium", "large"):
        x = in_room(np.random.default_rng(0), click, room)[length(0.01) :]
        energy = np.cumsum(x[::-1] ** 2)[::-1]
        level = 10 * np.log10(energy / energy[0] + 1e-12)
        spans[room] = 2 * (np.flatnonzero(level < -35)[0] - np.flatnonzero(level < -5)[0]) / RATE
    assert spans == pytest.approx({"small": 0.35, "medium": 0.8, "large": 1.8}, rel=0.15)


@pytest.mark.parametrize("name", sorted(SOUNDS))
def test_every_sound_is_heard_and_finite(name: str) -> None:
    x = make(name, np.random.default_rng(3), 1.6)
    assert len(x) == length(1.6) and np.all(np.isfinite(x))
    assert np.max(np.abs(x)) == pytest.approx(0.6) and rms(x) > 0.005
    assert np.array_equal(x, make(name, np.random.default_rng(3), 1.6))


def test_parts_of_a_chain_stand_where_it_says() -> None:
    parts = [np.ones(1000), np.ones(2000), np.ones(500)]
    x, spans = chain(parts, gap=0.1, lead=0.2, tail=0.3)
    assert len(x) == 3500 + 2 * length(0.1) + length(0.2) + length(0.3)
    assert sum(round(end * RATE) - round(start * RATE) for start, end in spans) == 3500
    assert all(np.all(x[round(start * RATE) : round(end * RATE)] == 1) for start, end in spans)
    assert np.array_equal(chain([np.ones(3)])[0], np.ones(3)) and not silence(0.1).any()


def test_left_is_left() -> None:
    left, right = binaural(noise(np.random.default_rng(0), 0.5), 70)
    assert rms(left) > 1.5 * rms(right)
    w, y, z, x = ambisonic(np.ones(4), 90)
    assert np.allclose([w[0], y[0], z[0], x[0]], [1, 1, 0, 0])
    assert hertz(69) == 440 and hertz(81) == pytest.approx(880)


def test_an_unknown_data_set_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(build, "espeak_version", lambda: "1.51")
    assert build.main([str(tmp_path), "--only", "Nothing"]) == 1
    assert "no data set of the recipe: Nothing" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_missing_voice_is_an_error_that_names_the_fix(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "dsb2_tasks.samples.build", str(tmp_path / "out")]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)}, cwd=Path(samples.__file__).parents[2]
    )
    assert done.returncode == 1 and "apt-get install espeak-ng" in done.stderr and "Traceback" not in done.stderr


def test_every_data_set_has_two_wordings_that_differ() -> None:
    found = list(build.data_sets())
    assert len({data_set.name for data_set in found}) == len(found)
    assert all(len(set(data_set.prompts)) >= 2 for data_set in found)
