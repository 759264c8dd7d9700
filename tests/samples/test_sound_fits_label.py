"""Labels against the sound: what can be measured in a clip is measured after decoding."""

from __future__ import annotations

import ast
import re

import numpy as np
import pytest
from _documents import decode, mono, pitch, power, rows
from scipy.signal import butter, sosfilt

from dsb2_tasks.samples._signal import hertz

ORG = "DynamicSuperb"
NAMES = {name: n for n, name in enumerate(("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B"))}


def test_duration() -> None:
    for row in rows(f"{ORG}/AudioDurationPrediction_NTUML2021"):
        x, rate = mono(row)
        assert len(x) / rate == pytest.approx(float(row["label"]), abs=0.001)


def test_pitch_of_a_note() -> None:
    for row in rows(f"{ORG}/InstrumentPitchClassification_Nsynth"):
        x, rate = mono(row)
        assert 12 * np.log2(pitch(x[rate // 5 : rate], rate) / hertz(int(row["label"]))) == pytest.approx(0, abs=0.3)


def test_third_of_a_chord() -> None:
    for row in rows(f"{ORG}/ChordClassification_AcousticGuitarAndPiano"):
        x, rate = mono(row)
        spectrum = np.abs(np.fft.rfft(x * np.hanning(len(x)), 8 * len(x)))

        def level(midi: float, spectrum: np.ndarray = spectrum, size: int = 8 * len(x), rate: int = rate) -> float:
            centre = hertz(midi) * size / rate
            return float(np.max(spectrum[round(centre * 0.99) : round(centre * 1.01)]))

        roots = (60, 57, 52, 62)
        root = max(roots, key=lambda m: level(m) + level(m - 12) + level(m + 7))
        assert ("minor" if level(root + 3) > level(root + 4) else "major") == row["label"]


@pytest.mark.parametrize("fold", range(1, 6))
def test_notes_begin_at_their_times(fold: int) -> None:
    (row,) = rows(f"{ORG}/HEARMusicTranscription_MAESTRO-5hr-Fold{fold}")
    x, rate = mono(row)
    for onset, _, midi in ast.literal_eval(row["label"]):
        f = hertz(midi)
        y = sosfilt(butter(2, [f * 0.94, f * 1.06], "bandpass", fs=rate, output="sos"), x)
        assert power(y, rate, onset + 0.01, onset + 0.08) > 2 * power(y, rate, max(onset - 0.05, 0), max(onset - 0.005, 0.02))


@pytest.mark.parametrize("name", ["MusicBeatTracking_ASAP", "MARBLEBeatTracking_ASAP_MAESTRO"])
def test_beats_are_onsets(name: str) -> None:
    for row in rows(f"{ORG}/{name}"):
        x, rate = mono(row)
        beats = [float(t) for t in re.findall(r"[\d.]+", row["label"])]
        assert len(beats) >= 3 and np.ptp(np.diff(beats)) < 0.03
        for beat in beats:
            assert power(x, rate, beat + 0.001, beat + 0.02) > 1.5 * power(x, rate, beat - 0.03, beat - 0.01)
        # The first sound of the clip is the first beat.
        assert np.flatnonzero(np.abs(x) > 0.05 * np.max(np.abs(x)))[0] / rate == pytest.approx(beats[0], abs=0.015)


def test_turns_of_two_talkers() -> None:
    for row in rows(f"{ORG}/SuperbSD_Libri2Mix-Test"):
        x, rate = mono(row)
        turns = [(who, float(a), float(b)) for who, a, b in re.findall(r"\((\w+), ([\d.]+), ([\d.]+)\)", row["label"])]
        assert {who for who, _, _ in turns} == {"spk1", "spk2"}
        overlap = sum(max(min(a[2], b[2]) - max(a[1], b[1]), 0) for a in turns for b in turns if a[0] < b[0])
        assert overlap > 0.2
        loud = np.flatnonzero(np.abs(x) > 0.01 * np.max(np.abs(x))) / rate
        assert loud[0] == pytest.approx(min(a for _, a, _ in turns), abs=0.02)
        assert loud[-1] == pytest.approx(max(b for _, _, b in turns), abs=0.03)
        spoken = np.zeros(len(x), bool)
        for _, start, end in turns:
            assert power(x, rate, start, end) > 1e-3
            spoken[round((start - 0.03) * rate) : round((end + 0.03) * rate)] = True
        assert spoken.all() or np.mean(x[~spoken] ** 2) < 1e-5


@pytest.mark.parametrize("name", ["DomesticEnvironmentSoundEventDetection_DESED-PublicEval", "AudioSegmentRetrieval_Clotho"])
def test_events_sound_within_their_times(name: str) -> None:
    for row in rows(f"{ORG}/{name}"):
        x, rate = mono(row)
        spans = [(float(a), float(b)) for a, b in re.findall(r"([\d.]+)-([\d.]+)", row["label"])]
        inside = np.zeros(len(x), bool)
        for start, end in spans:
            assert 0 <= start < end <= len(x) / rate
            inside[round((start - 0.03) * rate) : round((end + 0.05) * rate)] = True
        outside = np.mean(x[~inside] ** 2)
        assert all(power(x, rate, start, end) > 5 * outside for start, end in spans)


def test_named_entities_are_spoken_within_their_times() -> None:
    for row in rows(f"{ORG}/Named_Entity_Localization_SLUE-VoxPopuli"):
        x, rate = mono(row)
        for start, end in re.findall(r"\(([\d.]+), ([\d.]+)\)", row["label"]):
            a, b = float(start), float(end)
            assert power(x, rate, a, b) > 20 * power(x, rate, a - 0.06, a - 0.02)
            assert b + 0.06 > len(x) / rate or power(x, rate, a, b) > 20 * power(x, rate, b + 0.02, b + 0.06)


def test_sung_pitches() -> None:
    from dsb2_tasks.samples.recipe.singing import _CHILDREN

    for row, line in zip(rows(f"{ORG}/PitchExtractionByLyrics_CSD"), _CHILDREN, strict=True):
        x, rate = mono(row)
        asked = re.search(r"'([^']+)'", row["instruction"]).group(1).split()
        words = [word for word, _, _ in line]
        first = next(i for i in range(len(words)) if words[i : i + len(asked)] == asked)
        for number, name in enumerate(row["label"].split()):
            start = 0.1 + sum(seconds for _, _, seconds in line[: first + number])
            seconds = line[first + number][2]
            part = x[round((start + 0.25 * seconds) * rate) : round((start + 0.75 * seconds) * rate)]
            midi = 12 * (int(name[-1]) + 1) + NAMES[name[:-1]]
            assert 12 * np.log2(pitch(part, rate, 150, 700) / hertz(midi)) == pytest.approx(0, abs=0.6), (row["label"], name)


def test_direction_of_a_binaural_source() -> None:
    for row in rows(f"{ORG}/SoundPositionPrediction_Dataset"):
        (left, right), rate = decode(row["audio"])
        degrees = float(row["label"])
        cross = np.correlate(right[:rate], left[:rate], "full")
        middle = rate - 1
        near = cross[middle - 16 : middle + 17]
        delay = (np.argmax(near) - 16) / rate
        side = np.sin(np.deg2rad(degrees))
        assert delay == pytest.approx(0.0875 / 343 * (np.arcsin(side) + side), abs=1e-4)
        assert np.sign(round(10 * np.log10(np.sum(left**2) / np.sum(right**2)))) == np.sign(degrees)


@pytest.mark.parametrize(
    "name", ["MultichannelSoundEventUnderstanding_STARSS23", "AudioSpatialDistancePrediction_SpatialLibriSpeech"]
)
def test_direction_of_an_ambisonic_source(name: str) -> None:
    sides = {"left": 90, "right": -90, "front": 0, "back": 180}
    for number, row in enumerate(rows(f"{ORG}/{name}")):
        (w, y, _, x), _ = decode(row["audio"])
        found = np.rad2deg(np.arctan2(np.mean(w * y), np.mean(w * x)))
        wanted = sides.get(row["label"].split()[-1], 40 * number - 60)
        assert (found - wanted + 180) % 360 - 180 == pytest.approx(0, abs=3)


def test_far_talkers_are_weaker() -> None:
    def level(row: dict) -> float:
        x, _ = decode(row["audio"])
        return float(np.sqrt(np.mean(x[0] ** 2)))

    near = [level(row) for row in rows(f"{ORG}/HowFarAreYou_3DSpeaker") if row["label"] == "0.4m"]
    far = [level(row) for row in rows(f"{ORG}/HowFarAreYou_3DSpeaker") if row["label"] == "4.0m"]
    assert min(near) > 2 * max(far)
    levels = {float(row["label"]): level(row) for row in rows(f"{ORG}/AudioSpatialDistancePrediction_SpatialLibriSpeech")}
    assert levels[min(levels)] > 1.2 * levels[max(levels)]


def floor(row: dict) -> float:
    """Power of the quietest tenth of a clip's 20 ms frames against its mean, in decibels."""
    x, rate = mono(row)
    frames = x[: len(x) // (rate // 50) * (rate // 50)].reshape(-1, rate // 50)
    powers = np.mean(frames**2, axis=1)
    return float(10 * np.log10((np.quantile(powers, 0.1) + 1e-9) / np.mean(powers)))


@pytest.mark.parametrize("kind", ["Gaussian", "Noise", "Speech"])
def test_more_noise_fills_the_pauses(kind: str) -> None:
    floors = {row["label"]: floor(row) for row in rows(f"{ORG}/NoiseSNRLevelPrediction_VCTK_MUSAN-{kind}")}
    assert floors["zero"] > floors["ten"] > floors["clean"] and floors["five"] > floors["fifteen"]


@pytest.mark.parametrize("corpus", ["LJSpeech", "VCTK"])
@pytest.mark.parametrize("room", ["Large", "Medium", "Small"])
def test_rooms_ring_after_the_speech(corpus: str, room: str) -> None:
    found = rows(f"{ORG}/ReverberationDetection_{corpus}_RirsNoises-{room}Room")
    tails = {"clean": [], "noisy": []}
    for row in found:
        x, rate = mono(row)
        loud = np.flatnonzero(np.abs(x) > 0.25 * np.max(np.abs(x)))[-1]
        tails[row["label"]].append((len(x) - loud) / rate)
    least = {"Large": 1.0, "Medium": 0.5, "Small": 0.25}[room]
    assert min(tails["noisy"]) > least


def test_silence_and_crowds() -> None:
    for fold in range(1, 6):
        (row,) = rows(f"{ORG}/HEARSpeakerCountIdentification_LibriCount-Fold{fold}")
        x, rate = mono(row)
        assert len(x) / rate == pytest.approx(2.0, abs=0.01)


def test_false_texts_are_false() -> None:
    for corpus in ("LJSpeech", "LibriSpeech-TestClean", "LibriSpeech-TestOther"):
        for row in rows(f"{ORG}/SpeechTextMatching_{corpus}"):
            assert (row["text"] == row["transcription"]) == (row["label"] == "yes")


def test_sums_are_right() -> None:
    from dsb2_tasks.samples.recipe.language import _SUMS

    digits = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
    for (first, second, operation, result), row in zip(_SUMS, rows(f"{ORG}/SpokenDigitArithmetic_AudioMNIST"), strict=True):
        a, b = digits.index(first), digits.index(second)
        assert {"plus": a + b, "minus": a - b, "times": a * b}[operation] == int(result) == int(row["label"])
