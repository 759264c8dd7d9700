"""Safety and security: spoofed and generated voices, robocalls, replaced scenes, edits, sirens in traffic."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._music import STYLES, play
from dsb2_tasks.samples._rooms import add_noise, in_room, replayed, telephone
from dsb2_tasks.samples._signal import Rng, Sound, chain, fitted, length, noise
from dsb2_tasks.samples._sounds import make
from dsb2_tasks.samples._speech import LJ, TALKERS, Voice, conversation, padded, say
from dsb2_tasks.samples._vocoder import fake, sing
from dsb2_tasks.samples.recipe._texts import ENGLISH

YES_NO = ("yes", "no")


def _natural(rng: Rng, number: int, voice: Voice) -> Sound:
    """Stands for a genuine recording: the plain voice in a room with a little noise."""
    return add_noise(in_room(rng, padded(say(ENGLISH[number], voice)), "small"), noise(rng, 1.0, 50, 2000), 30)


def _voices(rng: Rng, real: str, wrong: str, first: int, kind: str) -> Iterator[Row]:
    """Natural voices, and replayed ones or flat, buzzing copies by a vocoder."""
    for i in range(4):
        voice = LJ if kind == "music" else TALKERS[(first + i) % len(TALKERS)]
        x = _natural(rng, first + i, voice)
        if i % 2:
            x = replayed(rng, x) if kind == "replay" else fake(padded(say(ENGLISH[first + i], voice)), 130 + 40 * (i % 3))
        if kind == "music":
            x = add_noise(x, play(STYLES["calm"], 2.0, rng), 12)
        yield Row(wrong if i % 2 else real, (x,))


_CALLS = {
    "FraudRobocallRecognition_Robocall": (
        "yes",
        (
            "this is the tax office. you must pay at once or you will be arrested.",
            "your computer has a virus. press one to give us your card number.",
            "final notice: your bank account is blocked. call back with your password.",
            "you won a prize. send two hundred dollars in gift cards today.",
        ),
    ),
    "FraudRobocallRecognition_CallHome": (
        "no",
        (
            "hi mum, I am home again.|good, did you eat something?",
            "how is the baby?|she sleeps through the night now.",
            "are you coming on sunday?|yes, with the children.",
            "the snow is so deep here.|here it only rains.",
        ),
    ),
    "FraudRobocallRecognition_Promo": (
        "no",
        (
            "the city library opens its new reading room on saturday.",
            "this week all winter coats are half price in our shop.",
            "your parcel will be delivered tomorrow before noon.",
            "the theatre invites you to the first night of its new play.",
        ),
    ),
}


def _calls(rng: Rng, name: str) -> Iterator[Row]:
    label, texts = _CALLS[name]
    for i, text in enumerate(texts):
        turns = [(part, TALKERS[(2 * i + n) % 4]) for n, part in enumerate(text.split("|"))]
        yield Row(label, (telephone(conversation(turns)[0]),))


def _scenes(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        speech = padded(say(ENGLISH[i + 5], TALKERS[i]))
        seconds = len(speech) / 22050
        scene = make(("rain", "train", "sea waves", "engine")[i], rng, seconds)
        if i % 2:
            # A replaced scene: traces of the old one left by the enhancer, the new one pasted under it with a cut.
            cut = length(seconds / 2)
            scene = fitted(chain([scene[:cut], make("vacuum cleaner", rng, seconds / 2)])[0], seconds)
        yield Row("fake" if i % 2 else "real", (add_noise(speech, scene, 8),))


def edited(kind: str, number: int, rng: Rng) -> Sound:
    """A sentence after one edit: cut, repeated, reversed, or with noise inserted."""
    x = say(ENGLISH[number], TALKERS[number % 4])
    a, b = len(x) // 3, 2 * len(x) // 3
    parts = {
        "deletion": [x[:a], x[b:]],
        "repetition": [x[:b], x[a:b], x[b:]],
        "reversal": [x[:a], x[a:b][::-1], x[b:]],
        "noise insertion": [x[:a], 0.3 * noise(rng, 0.4), x[a:]],
    }[kind]
    return chain(parts, lead=0.1, tail=0.1)[0]


_EDITS = ("deletion", "repetition", "reversal", "noise insertion")


def _edits(rng: Rng) -> Iterator[Row]:
    for i, kind in enumerate(_EDITS):
        yield Row(kind, (edited(kind, i + 3, rng),))


def _traffic(rng: Rng) -> Iterator[Row]:
    for label, voice in (("yes", "siren"), ("no", "car horn"), ("yes", "siren"), ("no", "train")):
        x = make("engine", rng, 2.5) + 0.3 * noise(rng, 2.5, 60, 1500)
        yield Row(label, (x + (1.2 if label == "yes" else 0.8) * make(voice, rng, 2.5),))


def _singers(rng: Rng) -> Iterator[Row]:
    line = (("la", 60, 0.5), ("la", 62, 0.5), ("la", 64, 0.5), ("la", 60, 0.8))
    for i in range(4):
        voice = Voice("it+f2" if i < 2 else "it+m3", 50, 120)
        shifted = [(text, midi - (5 if i < 2 else 15) + i, seconds) for text, midi, seconds in line]
        song = sing(shifted, voice, depth=0.0 if i % 2 else 0.4)[0]
        x = song if i % 2 else in_room(rng, song, "small")
        more: dict[str, str | None] = {"singer": f"singer_{i // 2}", "data_source": "ACEKiSing" if i % 2 else "M4Singer"}
        yield Row("deepfake" if i % 2 else "bonafide", (x,), more)


_SPOOF = (
    "Is this an authentic or a spoofed voice? Answer with one of: {options}.",
    "Decide whether the voice was faked. Options: {options}.",
)
_FAKE = (
    "Is this audio real or fake? Answer with one of: {options}.",
    "Decide whether the voice was generated by a machine. Options: {options}.",
)

DATA_SETS = [
    DataSet(
        "SpoofDetection_ASVspoof2015",
        partial(_voices, real="authentic", wrong="spoofed", first=0, kind="vocoder"),
        _SPOOF,
        ("authentic", "spoofed"),
    ),
    DataSet(
        "SpoofDetection_ASVspoof2017",
        partial(_voices, real="authentic", wrong="spoofed", first=8, kind="replay"),
        (
            "Was this voice recorded live (authentic) or replayed from a loudspeaker (spoofed)? Answer with one of: {options}.",
            _SPOOF[1],
        ),
        ("authentic", "spoofed"),
    ),
    DataSet(
        "AudioDeepFakeDetection_LJSpeech_WaveFake_MUSDB18HQ",
        partial(_voices, real="real", wrong="fake", first=4, kind="music"),
        _FAKE,
        ("real", "fake"),
        codec="mp3@22050",
    ),
    DataSet(
        "DeepFakeVoiceRecognition_DEEP-VOICE",
        partial(_voices, real="real", wrong="fake", first=14, kind="vocoder"),
        _FAKE,
        ("real", "fake"),
        codec="mp3@48000",
    ),
    *(
        DataSet(
            name,
            partial(_calls, name=name),
            (
                "Is this phone call a fraudulent robocall? Answer with one of: {options}.",
                "Does this call try to cheat someone? Options: {options}.",
            ),
            YES_NO,
            codec="mp3@8000",
        )
        for name in _CALLS
    ),
    DataSet(
        "SceneFakeDetection_SceneFake_ASPIRE",
        _scenes,
        (
            "Is the acoustic scene behind the speech real, or was it replaced? Answer with one of: {options}.",
            "Was the background of this recording manipulated (fake) or not (real)? Options: {options}.",
        ),
        ("real", "fake"),
    ),
    DataSet(
        "AudioEditingIdentification_PeoplesSpeech",
        _edits,
        (
            "Which edit was applied to the speech? Answer with one of: {options}.",
            "The recording was edited once. Name the kind of edit. Options: {options}.",
        ),
        _EDITS,
    ),
    DataSet(
        "EmergencyTrafficDetection_Large-Scale-Audio-dataset",
        _traffic,
        (
            "Can an emergency vehicle be heard? Answer with one of: {options}.",
            "Is there the siren of an emergency vehicle? Options: {options}.",
        ),
        YES_NO,
        codec="mp3@16000",
    ),
    DataSet(
        "SingingVoiceDeepfakeDetection_CtrSVDD_ACEKiSing_M4Singer",
        _singers,
        (
            "Is the singing voice bonafide or a deepfake? Answer with one of: {options}.",
            "Decide whether a machine sings. Options: {options}.",
        ),
        ("bonafide", "deepfake"),
    ),
]
