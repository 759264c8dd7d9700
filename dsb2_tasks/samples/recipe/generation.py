"""Tasks with audio as output: enhancement, separation, singing, conversion of emotion; each row brings the right answer."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._encode import Clip
from dsb2_tasks.samples._music import STYLES, play
from dsb2_tasks.samples._rooms import add_noise
from dsb2_tasks.samples._signal import RATE, Rng, Sound, fitted, placed, rms
from dsb2_tasks.samples._speech import TALKERS, Voice, prosody, say
from dsb2_tasks.samples._vocoder import sing
from dsb2_tasks.samples.recipe._texts import ENGLISH
from dsb2_tasks.samples.recipe.enhancement import disturbance

_LOUDEST = 0.6
_SINGER = Voice("cmn-latn-pinyin+m3", 50, 130)
#: Own lines: characters, syllables, MIDI pitches.
_SONGS = (
    ("春天来了", "chun1 tian1 lai2 le5", (60, 64, 67, 64)),
    ("小河流水", "xiao3 he2 liu2 shui3", (67, 65, 64, 62)),
    ("星星点灯", "xing1 xing5 dian3 deng1", (64, 64, 67, 69)),
    ("晚风轻轻", "wan3 feng1 qing1 qing1", (62, 60, 62, 65)),
)
_SECONDS = 0.4
_EMOTIONS = {
    "happy": {"pitch": "+35%", "rate": "110%", "range": "+60%"},
    "sad": {"pitch": "-20%", "rate": "80%", "range": "-60%"},
    "angry": {"pitch": "+10%", "rate": "120%", "volume": "x-loud"},
    "surprised": {"pitch": "+50%", "range": "+90%"},
}


def _together(mixture: Sound, *parts: Sound) -> tuple[Clip, ...]:
    """Clips at one scale, so that the parts still add up to the mixture."""
    scale = _LOUDEST / max(float(np.max(np.abs(x))) for x in (mixture, *parts))
    return tuple(Clip(x * scale, keep_level=True) for x in (mixture, *parts))


def _noisy(rng: Rng) -> Iterator[Row]:
    for i, kind in enumerate(("gaussian", "noise", "speech", "music")):
        speech = placed(1.5, [(0.1, fitted(say(ENGLISH[i], TALKERS[i]), 1.3))])
        yield Row(None, _together(add_noise(speech, disturbance(kind, rng), snr=(2, 5, 8, 4)[i]), speech))


def _talkers(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        one, other = (fitted(say(ENGLISH[n], TALKERS[t]), 1.1) for n, t in ((i + 4, i), (i + 8, (i + 3) % len(TALKERS))))
        other = other * (rms(one) / rms(other)) * (1.0, 0.7, 1.2, 0.8)[i]
        yield Row(None, _together(one + other, one, other))


def _song(number: int) -> Sound:
    _, syllables, pitches = _SONGS[number]
    return sing([(s, float(p), _SECONDS) for s, p in zip(syllables.split(), pitches, strict=True)], _SINGER)[0]


def _accompanied(rng: Rng) -> Iterator[Row]:
    for i, style in enumerate(("classical", "rock", "folk", "electronic")):
        vocals = _song(i)
        band = 0.5 * fitted(play(STYLES[style], len(vocals) / RATE + 0.1, rng), len(vocals) / RATE)
        yield Row(None, _together(vocals + band, vocals, band))


def _sung(rng: Rng) -> Iterator[Row]:
    for i, (words, _, pitches) in enumerate(_SONGS):
        notes = ", ".join(f"{word}={midi}" for word, midi in zip(words, pitches, strict=True))
        yield Row(None, (_song(i),), ask={"notes": notes, "seconds": str(_SECONDS)})


def _converted(rng: Rng) -> Iterator[Row]:
    for i, (emotion, settings) in enumerate(_EMOTIONS.items()):
        voice, text = TALKERS[i], ENGLISH[i + 16]
        yield Row(None, (say(text, voice), say(prosody(text, **settings), voice)), ask={"emotion": emotion})


DATA_SETS = [
    DataSet(
        "SuperbSE_VoiceBankDEMAND-Test",
        _noisy,
        ("Remove the noise from this recording and give back the clean speech.", "Enhance the noisy speech."),
        audio=("audio", "label"),
        codec="ogg@16000",
    ),
    DataSet(
        "SuperbSS_Libri2Mix-Test",
        _talkers,
        ("Separate the two talkers of this mixture into two recordings.", "Give back each of the two voices alone."),
        audio=("audio", "label", "label2"),
        codec="flac@8000",
    ),
    DataSet(
        "SongSeparation_SingSet",
        _accompanied,
        ("Split the song into voice and accompaniment.", "Separate the singing from the instruments; give back both."),
        audio=("audio", "label", "label2"),
        codec="ogg@22050",
    ),
    DataSet(
        "SingingVoiceSynthesis_ACEOpencpop-Test700",
        _sung,
        (
            "Sing these characters on these MIDI pitches, each for {seconds} seconds: {notes}",
            "Make a singing voice for the following score (character=MIDI pitch, {seconds} seconds each): {notes}",
        ),
        audio=("label",),
        codec="ogg@24000",
    ),
    DataSet(
        "EmotionalVoiceConversion_ESD",
        _converted,
        (
            "Say this again in the same voice, but {emotion}.",
            "Convert the emotion of the speech to {emotion}; keep words and speaker.",
        ),
        audio=("audio", "label"),
        codec="ogg@16000",
    ),
]
