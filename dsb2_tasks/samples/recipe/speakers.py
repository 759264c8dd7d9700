"""Speakers and languages: how many, the same or not, who when, which language."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from dsb2_tasks.samples._dataset import DataSet, Row, folds
from dsb2_tasks.samples._rooms import add_noise, in_room
from dsb2_tasks.samples._signal import RATE, Rng, Sound, chain, fitted, noise, placed
from dsb2_tasks.samples._speech import LANGUAGES, TALKERS, padded, say
from dsb2_tasks.samples.recipe._texts import ENGLISH, SPOKEN

YES_NO = ("yes", "no")
_NUMBERS = ("one", "two", "three", "four", "five")
_NAMES = {"English": "en", "French": "fr", "German": "de", "Italian": "it", "Russian": "ru", "Spanish": "es"}
_VOXLINGUA = {
    "Arabic": "ar", "English": "en", "Farsi": "fa", "French": "fr", "German": "de",
    "Mandarin": "zh", "Russian": "ru", "Spanish": "es", "Swedish": "sv", "Ukrainian": "uk",
}  # fmt: skip


def utterance_columns(count: int) -> dict[str, str | None]:
    """Names of the utterances that a clip was made of, in the columns "utterance 1" to "utterance 5"."""
    return {f"utterance {n}": f"utterance_{n}.flac" if n <= count else None for n in range(1, 6)}


def talkers_in_turn(count: int, first: int) -> Sound:
    """So many talkers, each with a short sentence, one after another."""
    lines = [" ".join(ENGLISH[(first + n) % len(ENGLISH)].split()[:4]) for n in range(count)]
    return chain([say(line, TALKERS[(first + n) % len(TALKERS)]) for n, line in enumerate(lines)], gap=0.15, lead=0.1, tail=0.1)[
        0
    ]


def _several(rng: Rng, first: int) -> Iterator[Row]:
    for i in range(4):
        if i % 2:
            x = chain([say(ENGLISH[first + i], TALKERS[i]), say("and so it was", TALKERS[i])], gap=0.15, lead=0.1)[0]
        else:
            x = talkers_in_turn(2 + i // 2, first + i)
        yield Row("no" if i % 2 else "yes", (x,), utterance_columns(1 if i % 2 else 2 + i // 2))


def _counted(rng: Rng) -> Iterator[Row]:
    for i, count in enumerate((2, 1, 4, 3, 5)):
        yield Row(_NUMBERS[count - 1], (talkers_in_turn(count, 3 * i),), utterance_columns(count))


def _verified(rng: Rng, first: int, noisy: bool) -> Iterator[Row]:
    for i in range(4):
        one = TALKERS[(first + i) % len(TALKERS)]
        two = TALKERS[(first + i + 3) % len(TALKERS)] if i % 2 else one
        clips = [padded(say(ENGLISH[(first + 2 * i + n) % len(ENGLISH)], voice)) for n, voice in enumerate((one, two))]
        if noisy:
            clips = [add_noise(in_room(rng, x, "small"), noise(rng, 1.0, 50, 3000), 20) for x in clips]
        yield Row("no" if i % 2 else "yes", tuple(clips))


def diarized(number: int) -> tuple[Sound, list[tuple[str, float, float]]]:
    """Two talkers, partly at the same time, with the turns (speaker, start, end)."""
    first, second = TALKERS[number % 4], TALKERS[number % 4 + 4]
    a, b = say(ENGLISH[number], first), say(ENGLISH[number + 10], second)
    c = say("yes, I think so too", first)
    start_b = round(0.65 * len(a) / RATE, 2)
    start_c = round(start_b + len(b) / RATE + (0.4 if number % 2 else -0.3), 2)
    starts = ((0.2, a, "spk1"), (0.2 + start_b, b, "spk2"), (0.2 + start_c, c, "spk1"))
    turns = [(who, at, at + len(x) / RATE) for at, x, who in starts]
    seconds = max(end for _, _, end in turns) + 0.2
    return placed(seconds, [(at, x) for at, x, _ in starts]), turns


def _diarization(rng: Rng) -> Iterator[Row]:
    for number in range(4):
        x, turns = diarized(number)
        yield Row(" ".join(f"({who}, {round(start, 2)}, {round(end, 2)})" for who, start, end in turns), (x,))


def _speak(language: str, number: int) -> Sound:
    sentences = SPOKEN[language]
    text, respelt = sentences[number % len(sentences)]
    voice = LANGUAGES[language]
    return padded(say(respelt or text, voice))


def _languages(rng: Rng, names: Sequence[str]) -> Iterator[Row]:
    for i, name in enumerate(names):
        yield Row(name, (_speak(_NAMES[name], i % 2),))


def _voxlingua(rng: Rng, fold: int) -> Iterator[Row]:
    for name in list(_VOXLINGUA)[2 * fold : 2 * fold + 2]:
        yield Row(name, (_speak(_VOXLINGUA[name], 1),))


def _crowd(rng: Rng, fold: int) -> Iterator[Row]:
    count = (0, 1, 2, 3, 5)[fold]
    voices = [say(ENGLISH[(fold * 3 + n) % len(ENGLISH)], TALKERS[n]) for n in range(count)]
    seconds = 2.0
    yield Row(
        str(count),
        (sum((fitted(x, seconds) for x in voices), start=0.002 * noise(rng, seconds)),)
        if count
        else (noise(rng, seconds, 50, 500),),
    )


_SEVERAL_PROMPTS = (
    "Does more than one person speak in this clip? Answer with one of: {options}.",
    "Can several talkers be heard? Options: {options}.",
)
_SAME_PROMPTS = (
    "Do both recordings come from the same talker? Answer with one of: {options}.",
    "Compare the voices of the two clips: is it one person? Options: {options}.",
)
_WHICH_LANGUAGE = (
    "Which language is spoken? Answer with one of: {options}.",
    "Name the language of the speech. Options: {options}.",
)

DATA_SETS = [
    DataSet(
        "LanguageIdentification_VoxForge",
        partial(_languages, names=("German", "Spanish", "English", "Russian", "French")),
        _WHICH_LANGUAGE,
        tuple(_NAMES),
    ),
    DataSet("MultiSpeakerDetection_LibriSpeech-TestClean", partial(_several, first=0), _SEVERAL_PROMPTS, YES_NO),
    DataSet("MultiSpeakerDetection_VCTK", partial(_several, first=9), _SEVERAL_PROMPTS, YES_NO),
    DataSet(
        "SpeakerCounting_LibriTTS-TestClean",
        _counted,
        (
            "How many different talkers are heard? Answer with one of: {options}.",
            "Count the voices in the clip. Options: {options}.",
        ),
        _NUMBERS,
    ),
    *(
        DataSet(
            name, partial(_verified, first=first, noisy=noisy), _SAME_PROMPTS, YES_NO, ("audio", "audio2"), file_columns=files
        )
        for name, first, noisy, files in (
            ("SpeakerVerification_LibriSpeech-TestClean", 0, False, ("file", "file2")),
            ("SpeakerVerification_VCTK", 2, False, ("file", "file2")),
            ("SpeakerVerification_LibriSpeech-TestOther", 4, True, ("file", "file2")),
            ("SuperbSV_SuperbHiddenSet", 6, True, ("file",)),
        )
    ),
    DataSet(
        "SuperbSD_Libri2Mix-Test",
        _diarization,
        (
            "Who speaks when? List the turns of spk1 and spk2 in seconds in this form: (spk1, 0.41, 5.27) (spk2, 1.08, 6.9)",
            "List the turns of both talkers as (speaker, start, end) in seconds, as in (spk1, 0.5, 2.25) (spk2, 1.75, 4.0)",
        ),
        codec="mp3@16000",
    ),
    *folds("HEARLanguageIdentification_VoxLingua107Top10", 5, _voxlingua, _WHICH_LANGUAGE, options=tuple(_VOXLINGUA)),
    *folds(
        "HEARSpeakerCountIdentification_LibriCount",
        5,
        _crowd,
        (
            "How many people speak at the same time? Answer with a number from 0 to 10.",
            "Count the voices that talk at once, from 0 to 10.",
        ),
    ),
]
