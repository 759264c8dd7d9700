"""Singing: lyrics, their translation and pitches, techniques, quality."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._rooms import add_noise
from dsb2_tasks.samples._signal import Rng, Sound, glide, hertz, hump, noise, scaled, times
from dsb2_tasks.samples._speech import Voice, padded, say
from dsb2_tasks.samples._vocoder import resynthesised, sing, vibrato

_CHILD = Voice("en-us+f5", 75, 150)
_SINGER = Voice("cmn-latn-pinyin+m3", 50, 130)
_NOTE_NAMES = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")

#: Own lines for children: (word, MIDI pitch, seconds).
_CHILDREN: tuple[tuple[tuple[str, float, float], ...], ...] = (
    (("little", 67, 0.5), ("bird", 69, 0.5), ("in", 67, 0.4), ("the", 64, 0.4), ("tree", 60, 0.8)),
    (("sing", 60, 0.5), ("with", 62, 0.4), ("me", 64, 0.6), ("today", 62, 0.8)),
    (("round", 72, 0.5), ("and", 71, 0.4), ("round", 69, 0.5), ("we", 67, 0.4), ("go", 65, 0.8)),
    (("moon", 64, 0.6), ("so", 65, 0.4), ("bright", 67, 0.6), ("tonight", 60, 0.8)),
)
#: Own lines of songs in Mandarin: characters, syllables, pitches, English.
_SONGS = (
    ("月亮很美", "yue4 liang4 hen3 mei3", (62, 64, 65, 62), "The moon is beautiful."),
    ("我想回家", "wo3 xiang3 hui2 jia1", (60, 62, 64, 67), "I want to go home."),
    ("风吹过山", "feng1 chui1 guo4 shan1", (67, 65, 64, 60), "The wind blows over the mountain."),
    ("你在哪里", "ni3 zai4 na3 li3", (64, 64, 67, 65), "Where are you?"),
)


def note_name(midi: int) -> str:
    """Name with octave; 60 is C4."""
    return f"{_NOTE_NAMES[midi % 12]}{midi // 12 - 1}"


def _children(rng: Rng) -> Iterator[Row]:
    for line in _CHILDREN:
        yield Row(" ".join(word for word, _, _ in line), (sing(line, _CHILD)[0],))


def _pitches(rng: Rng) -> Iterator[Row]:
    for number, line in enumerate(_CHILDREN):
        words = line[number % 2 : number % 2 + 3]
        label = " ".join(note_name(int(midi)) for _, midi, _ in words)
        yield Row(label, (sing(line, _CHILD)[0],), ask={"words": " ".join(word for word, _, _ in words)})


def _song(number: int) -> Sound:
    _, syllables, pitches, _ = _SONGS[number]
    return sing([(s, float(p), 0.55) for s, p in zip(syllables.split(), pitches, strict=True)], _SINGER)[0]


def _lyrics(rng: Rng, column: int) -> Iterator[Row]:
    for number, song in enumerate(_SONGS):
        yield Row(str(song[column]), (_song(number),))


def _vowel() -> Sound:
    x = say("ah", Voice("it+f2", 50, 80))
    return x[len(x) // 3 : 2 * len(x) // 3]


def technique(name: str, rng: Rng, midi: float = 62, seconds: float = 1.8) -> Sound:
    """A held note in a singing technique."""
    t, flat = times(seconds), np.full(len(times(seconds)), hertz(midi))
    pitch, breath = flat, 0.01
    if name == "vibrato":
        pitch = vibrato(midi, seconds, depth=0.9, start=0)
    elif name == "trill":
        pitch = flat * 2 ** ((np.sin(2 * np.pi * 6 * t) > 0) * 2 / 12)
    elif name == "breathy":
        breath = 0.85
    elif name == "vocal_fry":
        pitch = glide(seconds, 42, 34) * (1 + 0.1 * noise(rng, seconds, 20, 60))
    elif name == "spoken":
        return padded(say("the day is bright and clear", Voice("it+f2", 50, 160)))
    x = resynthesised(_vowel(), pitch, seconds, breath)
    if name == "lip_trill":
        x = x * (1 + 0.9 * np.sign(np.sin(2 * np.pi * 22 * t)))
    if name == "trillo":
        x = x * (np.sin(2 * np.pi * 7 * t) > -0.3)
    return scaled(x * hump(seconds, 0.05, 0.1))


def _techniques(rng: Rng, names: tuple[str, ...], midi: float) -> Iterator[Row]:
    for name in names:
        yield Row(name, (technique(name, rng, midi),))


def _quality(rng: Rng) -> Iterator[Row]:
    line = (("la", 62, 0.5), ("la", 65, 0.5), ("la", 67, 0.5), ("la", 62, 0.7))
    for score, snr, off in (("4.6", None, 0.0), ("3.4", 18, 0.3), ("2.2", 8, 0.7), ("1.4", 0, 1.2)):
        detuned = [(text, midi + off * (-1) ** n, seconds) for n, (text, midi, seconds) in enumerate(line)]
        x = sing(detuned, Voice("it+f3", 50, 120))[0]
        yield Row(score, (x if snr is None else add_noise(x, noise(rng, 1.0), snr),))


_TECHNIQUE_PROMPTS = (
    "Which singing technique is used? Answer with one of: {options}.",
    "Name the vocal technique. Options: {options}.",
)
_TECHNIQUES = ("belt", "breathy", "inhaled", "lip_trill", "spoken", "straight", "trill", "trillo", "vibrato", "vocal_fry")

DATA_SETS = [
    DataSet(
        "SongLyricRecognition_SingSet",
        partial(_lyrics, column=0),
        ("Write down the lyrics in Chinese characters.", "Which words are sung? Answer with the Chinese text only."),
    ),
    DataSet(
        "LyricTranslation_SingSet",
        partial(_lyrics, column=3),
        ("Translate the Mandarin lyrics into English.", "What is sung here, in English? Answer with the translation only."),
    ),
    DataSet(
        "PitchExtractionByLyrics_CSD",
        _pitches,
        (
            "On which pitches are the words '{words}' sung? Answer with note names such as C4 D4, one a word.",
            "Give the notes of the words '{words}' in order, as in: G4 E4 C4",
        ),
        codec="ogg@44100",
    ),
    DataSet(
        "ChildrenSongTranscriptVerification_CSD",
        _children,
        ("Write down the words of this children's song.", "What does the child sing? Answer with the lyrics only."),
        codec="mp3@44100",
    ),
    DataSet(
        "VocalTechniqueClassification_VocalSet",
        partial(_techniques, names=("straight", "vibrato", "breathy", "trill", "spoken"), midi=60),
        _TECHNIQUE_PROMPTS,
        ("straight", "vibrato", "breathy", "trill", "spoken"),
    ),
    DataSet(
        "MARBLEVocalTechniqueDetection_VocalSet",
        partial(_techniques, names=("vibrato", "straight", "lip_trill", "vocal_fry", "trillo"), midi=64),
        _TECHNIQUE_PROMPTS,
        _TECHNIQUES,
        codec="mp3@44100",
    ),
    DataSet(
        "SingingAutomaticMOSPrediction_SingMOS",
        _quality,
        (
            "Rate the quality of the singing from 1 to 5. Answer with a number.",
            "Give an opinion score between 1 (bad) and 5 (excellent) with one decimal.",
        ),
    ),
]
