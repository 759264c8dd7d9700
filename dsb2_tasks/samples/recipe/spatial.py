"""Spatial audio and signal characteristics: distance, direction, several channels, duration."""

from __future__ import annotations

from collections.abc import Iterator

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._encode import Clip
from dsb2_tasks.samples._rooms import ambisonic, at_distance, binaural
from dsb2_tasks.samples._signal import Rng, fitted, noise
from dsb2_tasks.samples._speech import TALKERS, padded, say
from dsb2_tasks.samples.recipe._texts import ENGLISH
from dsb2_tasks.samples.recipe.sound_events import heard

#: Azimuth in degrees, positive to the left, and where a listener would say it is.
_DIRECTIONS = (("30", 30), ("-60", -60), ("90", 90), ("0", 0))
_EVENTS = (("phone", 90, "left"), ("knock", -90, "right"), ("laughter", 0, "front"), ("speech", 180, "back"))
METRES = ("0.9127364518263740", "1.8402917365520184", "2.7719034418820113", "4.1033927764510928")


def _far(rng: Rng) -> Iterator[Row]:
    for i, label in enumerate(("0.4m", "2.0m", "4.0m", "0.4m")):
        speech = padded(say(ENGLISH[i + 7], TALKERS[i]))
        yield Row(label, (Clip(at_distance(rng, speech, float(label[:-1])), keep_level=True),))


def _distance(rng: Rng) -> Iterator[Row]:
    for i, label in enumerate(METRES):
        x = at_distance(rng, say(" ".join(ENGLISH[i].split()[:3]), TALKERS[i]), float(label))
        yield Row(label, (Clip(ambisonic(x, 40.0 * i - 60), keep_level=True),))


def _direction(rng: Rng) -> Iterator[Row]:
    for i, (label, azimuth) in enumerate(_DIRECTIONS):
        x = fitted(say(" ".join(ENGLISH[i + 4].split()[:4]), TALKERS[i]), 1.3) + 0.003 * noise(rng, 1.3)
        yield Row(label, (binaural(x, azimuth),))


def _scene(rng: Rng) -> Iterator[Row]:
    for sound, azimuth, side in _EVENTS:
        x = heard(sound, rng, 1.0)
        yield Row(f"{sound} from the {side}", (ambisonic(fitted(x, 1.2), azimuth) + 0.0,))


def _durations(rng: Rng) -> Iterator[Row]:
    for i, seconds in enumerate((2.4, 4.1, 3.2, 1.7)):
        words = ENGLISH[i].split()
        speech = say(" ".join(words[:4] if seconds < 2 else words), TALKERS[i])
        x = fitted(padded(speech, 0.15), seconds) + 0.002 * noise(rng, seconds)
        yield Row(str(seconds), (x,))


DATA_SETS = [
    DataSet(
        "HowFarAreYou_3DSpeaker",
        _far,
        (
            "How far from the microphone is the talker? Answer with one of: {options}.",
            "Estimate the distance of the talker. Options: {options}.",
        ),
        ("0.4m", "2.0m", "4.0m"),
        codec="mp3@16000",
    ),
    DataSet(
        "AudioSpatialDistancePrediction_SpatialLibriSpeech",
        _distance,
        (
            "How many metres is the talker away from the microphones, between 0.5 m and 4.5 m? Answer with a number.",
            "Estimate the distance between talker and microphones in metres, from 0.5 m to 4.5 m.",
        ),
        codec="flac@16000",
    ),
    DataSet(
        "SoundPositionPrediction_Dataset",
        _direction,
        (
            "From which angle does the sound come? Answer in degrees from -90 (right) over 0 (ahead) to 90 (left).",
            "Estimate the azimuth of the source in degrees; 0 is ahead, 90 is left, -90 is right.",
        ),
        codec="flac@16000",
    ),
    DataSet(
        "MultichannelSoundEventUnderstanding_STARSS23",
        _scene,
        (
            "Which sound comes from which side of this multichannel recording? Answer with one of: {options}.",
            "Name the sound and its direction. Options: {options}.",
        ),
        tuple(f"{sound} from the {side}" for sound, _, side in _EVENTS),
        codec="flac@16000",
    ),
    DataSet(
        "AudioDurationPrediction_NTUML2021",
        _durations,
        ("How long is the clip in seconds? Answer with a number.", "Estimate the duration of the recording in seconds."),
        codec="mp3@16000",
    ),
]
