"""Paralinguistics and voice disorders: acted prosody, age, gender, human sounds, stuttering, rough voices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from dsb2_tasks.samples._dataset import DataSet, Row, folds
from dsb2_tasks.samples._signal import RATE, Rng, Sound, chain, fitted, noise, placed, scaled, times
from dsb2_tasks.samples._sounds import make
from dsb2_tasks.samples._speech import TALKERS, Voice, padded, prosody, say
from dsb2_tasks.samples._vocoder import resynthesised, vibrato
from dsb2_tasks.samples.recipe._texts import ENGLISH

YES_NO = ("yes", "no")

#: Caricatures of emotions by speed, pitch, range of pitch and loudness; nobody felt anything.
ACTING: dict[str, dict[str, str]] = {
    "neutral": {},
    "calm": {"rate": "80%", "pitch": "-15%", "range": "low"},
    "happy": {"rate": "115%", "pitch": "+35%", "range": "x-high"},
    "sad": {"rate": "65%", "pitch": "-30%", "range": "x-low"},
    "angry": {"rate": "125%", "pitch": "-5%", "range": "high", "volume": "x-loud"},
    "fearful": {"rate": "145%", "pitch": "+55%", "range": "low"},
    "disgust": {"rate": "75%", "pitch": "-35%", "range": "x-high"},
    "surprised": {"rate": "105%", "pitch": "+60%", "range": "x-high"},
}
_SAME_AS = {
    "anger": "angry", "fear": "fearful", "sadness": "sad", "joy": "happy", "happiness": "happy", "surprise": "surprised",
    "no emotion": "neutral", "Positive": "happy", "Negative": "angry", "Neutral": "neutral",
    "😠": "angry", "😊": "happy", "😢": "sad", "😐": "neutral", "😨": "fearful",
}  # fmt: skip
_LINES = (
    "the cups are on the kitchen table",
    "my brother came home last night",
    "they are waiting at the door",
    "I found your letter this morning",
)


def acted(emotion: str, text: str, voice: Voice) -> Sound:
    """A sentence with the prosody of an emotion; anger is driven, fear trembles."""
    style = _SAME_AS.get(emotion, emotion)
    x = say(prosody(text, **ACTING[style]) if ACTING[style] else text, voice)
    if style == "angry":
        x = np.tanh(3 * x) / 3
    if style == "fearful":
        x = x * (1 + 0.4 * np.sin(2 * np.pi * 9 * np.arange(len(x)) / RATE))
    return padded(x)


def _emotions(rng: Rng, labels: Sequence[str], lines: Sequence[str] = _LINES) -> Iterator[Row]:
    for i, label in enumerate(labels):
        yield Row(label, (acted(label, lines[i % len(lines)], TALKERS[i % 4]),))


def _crema(rng: Rng, fold: int) -> Iterator[Row]:
    emotion = ("anger", "happy", "sad", "neutral", "fear")[fold]
    yield Row(emotion, (acted(emotion, _LINES[fold % 4], TALKERS[fold]),))


_CHANGES = ("from calm to angry", "from happy to sad", "from neutral to fearful", "from sad to happy")


def _change(rng: Rng) -> Iterator[Row]:
    for i, change in enumerate(_CHANGES):
        before, after = change.removeprefix("from ").split(" to ")
        parts = [acted(before, "the cups are on the table", TALKERS[i]), acted(after, "they wait at the door", TALKERS[i])]
        yield Row(change, (chain(parts)[0],))


def _ages(rng: Rng) -> Iterator[Row]:
    voices = {
        "twenties": Voice("en-us+Annie", 75, 195),
        "fourties": Voice("en-us+m3", 40, 175),
        "sixties": Voice("en-gb+m7", 25, 145),
        "eighties": Voice("en-gb+grandpa", 40, 125),
    }
    for i, (age, voice) in enumerate(voices.items()):
        x = padded(say(ENGLISH[i + 3], voice))
        if age in ("sixties", "eighties"):
            x = x * (1 + 0.3 * np.sin(2 * np.pi * 6 * np.arange(len(x)) / RATE))
        yield Row(age, (x,))


def _genders(rng: Rng) -> Iterator[Row]:
    voices = (("female", "en-us+f2"), ("male", "en-us+m3"), ("female", "en-gb+f4"), ("male", "en-gb+m7"))
    for i, (gender, name) in enumerate(voices):
        yield Row(gender, (padded(say(ENGLISH[i + 14], Voice(name, 60 if gender == "female" else 35))),))


_VOCAL = {
    "laughter": "laugh",
    "sigh": "sigh",
    "cough": "cough",
    "throat clearing": "throat clearing",
    "sneeze": "sneeze",
    "sniff": "sniff",
}
_NONSPEECH = ("laugh", "scream", "yawn", "breath", "speech")


def _vocal(rng: Rng) -> Iterator[Row]:
    for label, sound in _VOCAL.items():
        yield Row(label, (make(sound, rng, 1.6),))


def _nonspeech(rng: Rng) -> Iterator[Row]:
    for label in _NONSPEECH:
        yield Row(label, (padded(say(ENGLISH[6], TALKERS[1])) if label == "speech" else make(label, rng, 2.0),))


def _screams(rng: Rng) -> Iterator[Row]:
    for label, background in (("yes", "rain"), ("no", "rain"), ("yes", "train"), ("no", "footsteps")):
        x = 0.3 * make(background, rng, 2.0)
        yield Row(label, (x + fitted(placed(2.0, [(0.3, make("scream", rng, 1.5))]), 2.0) if label == "yes" else x,))


def stutter(text: str, voice: Voice) -> Sound:
    """A sentence whose first and fourth word begin several times."""
    words, parts = text.split(), []
    for number, word in enumerate(words):
        if number in (0, 3):
            x = say(word, voice)
            parts += [x[: max(len(x) // 3, 1500)]] * 2
        parts.append(say(word, voice))
    return chain(parts, gap=0.06, lead=0.1, tail=0.1)[0]


def _stutters(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        text = " ".join(ENGLISH[i + 2].split()[:6])
        yield Row("no" if i % 2 else "yes", (padded(say(text, TALKERS[i])) if i % 2 else stutter(text, TALKERS[i]),))


def _coughs(rng: Rng) -> Iterator[Row]:
    # Nothing can be heard from a real cough for sure; here the ill cough more, and more hoarsely.
    for label, count, hoarse in (("healthy", 1, 0.0), ("symptomatic", 2, 0.3), ("COVID-19", 3, 0.8), ("healthy", 1, 0.0)):
        coughs = [
            scaled(make("cough", rng, 0.4) + hoarse * noise(rng, 0.4, 1500, 8000) * np.hanning(len(times(0.4))))
            for _ in range(count)
        ]
        yield Row(label, (chain(coughs, gap=0.1, lead=0.2, tail=0.2)[0],))


def _disorders(rng: Rng) -> Iterator[Row]:
    settings = {
        "healthy": (0.0, 0.02, 0.0),
        "hyperkinetic dysphonia": (0.05, 0.1, 0.5),
        "hypokinetic dysphonia": (0.01, 0.7, 0.0),
        "flux laryngitis": (0.03, 0.35, 0.2),
    }
    vowel = say("ah", Voice("en-us+m3", 40, 80))
    middle = vowel[len(vowel) // 3 : 2 * len(vowel) // 3]
    for i, (label, (shake, breath, drive)) in enumerate(settings.items()):
        pitch = vibrato(45 + 2 * i, 2.0, rate=11, depth=12 * shake, start=0) * (1 + shake * noise(rng, 2.0, 20, 80))
        x = resynthesised(middle, pitch, 2.0, breath=breath)
        yield Row(label, (np.tanh((1 + 6 * drive) * x),))


def _emotion_set(
    name: str, labels: Sequence[str], options: Sequence[str], what: str = "emotion", codec: str | None = None
) -> DataSet:
    prompts = (
        f"Which {what} does the speaker express? Answer with one of: {{options}}.",
        f"Choose the {what} of the voice in this clip. Options: {{options}}.",
    )
    return DataSet(name, partial(_emotions, labels=labels), prompts, options, codec=codec)


_CREMA = ("anger", "disgust", "fear", "happy", "neutral", "sad")
DATA_SETS = [
    _emotion_set(
        "DialogueEmotionClassification_DailyTalk",
        ("happiness", "no emotion", "anger", "surprise", "sadness"),
        ("no emotion", "anger", "disgust", "fear", "happiness", "sadness", "surprise"),
        codec="mp3@44100",
    ),
    _emotion_set(
        "EmotionRecognition_MultimodalEmotionlinesDataset",
        ("neutral", "joy", "anger", "fear"),
        ("anger", "disgust", "sadness", "joy", "neutral", "surprise", "fear"),
    ),
    _emotion_set("SuperbER_RAVDESS", ("calm", "angry", "happy", "fearful", "sad"), tuple(ACTING), codec="mp3@48000"),
    _emotion_set(
        "EmojiGroundedSpeechEmotionRecognition_RAVDESS",
        ("😠", "😊", "😢", "😐"),
        ("😐", "😌", "😊", "😢", "😠", "😨", "🤢", "😲"),
        "emoji",
    ),
    _emotion_set(
        "SpeechSentimentAnalysis_MELD",
        ("Positive", "Negative", "Neutral", "Negative"),
        ("Positive", "Negative", "Neutral"),
        "sentiment",
    ),
    *folds(
        "HEAREmotionRecognition_CREMAD",
        5,
        _crema,
        (
            "Which emotion does the speaker express? Answer with one of: {options}.",
            "Name the emotion of the voice. Options: {options}.",
        ),
        options=_CREMA,
    ),
    DataSet(
        "EmotionChangeDetection_Ravdess",
        _change,
        (
            "How does the speaker's emotion change? Answer with one of: {options}.",
            "The emotion of the voice changes once. Give it before and after. Options: {options}.",
        ),
        _CHANGES,
    ),
    DataSet(
        "AgeClassification_CommonVoiceCorpus-Test",
        _ages,
        ("How old is the speaker? Answer with one of: {options}.", "Choose the age group of the voice. Options: {options}."),
        ("twenties", "thirties", "fourties", "fifties", "sixties", "seventies", "eighties"),
    ),
    DataSet(
        "GenderRecognitionbyVoice-CommonVoice-DeltaSegment-15",
        _genders,
        ("Is the speaker male or female? Answer with one of: {options}.", "Name the gender of the voice. Options: {options}."),
        ("male", "female"),
    ),
    DataSet(
        "VocalSoundRecognition_VocalSound",
        _vocal,
        ("Which vocal sound is it? Answer with one of: {options}.", "Name the sound that the person makes. Options: {options}."),
        tuple(_VOCAL),
    ),
    DataSet(
        "HumanNonSpeechSoundRecognition_Nonspeech7k-test_CommonVoice-DeltaSegment-15",
        _nonspeech,
        ("What does the person do? Answer with one of: {options}.", "Name the human sound in the clip. Options: {options}."),
        ("breath", "cough", "cry", "laugh", "scream", "sneeze", "yawn", "speech"),
    ),
    DataSet(
        "HumanScreamingDetection_Environmentdb",
        _screams,
        ("Does someone scream in the recording? Answer with one of: {options}.", "Can a scream be heard? Options: {options}."),
        YES_NO,
        codec="mp3@16000",
    ),
    DataSet(
        "StutteringDetection_SEP28k",
        _stutters,
        ("Does the speaker stutter? Answer with one of: {options}.", "Is there stuttering in this speech? Options: {options}."),
        YES_NO,
    ),
    DataSet(
        "Covid19CoughAudioClassification_CoughVid",
        _coughs,
        (
            "Judge the cough: what is the state of the person? Answer with one of: {options}.",
            "To which group does the person who coughs belong? Options: {options}.",
        ),
        ("healthy", "symptomatic", "COVID-19"),
    ),
    DataSet(
        "VoiceDisorderClassification_VOICED",
        _disorders,
        (
            "Which condition has this voice? Answer with one of: {options}.",
            "Name the voice disorder, if any. Options: {options}.",
        ),
        ("healthy", "hyperkinetic dysphonia", "hypokinetic dysphonia", "flux laryngitis"),
        codec="ogg@8000",
    ),
]
