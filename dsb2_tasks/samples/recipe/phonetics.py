"""Phonetics, phonology and prosody: accents, stress, single phones, counts, naturalness, learners of English, tones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._signal import Rng, Sound, chain, length
from dsb2_tasks.samples._speech import LANGUAGES, TALKERS, Voice, padded, phonemes, prosody, say
from dsb2_tasks.samples.recipe._texts import ENGLISH, PHONES, listed

PAIR = ("audio", "audio2")

#: The accents that espeak-ng can imitate; Bengali and Malayalam voices read English in their own script.
_ACCENTS = (
    ("american", Voice("en-us+m3"), ENGLISH[0]),
    ("british", Voice("en-gb-x-rp+f2"), ENGLISH[1]),
    ("bangla", Voice("bn+m3"), "গুড মর্নিং, মাই নেম ইজ রবি"),
    ("malayalam", Voice("ml+f2"), "ഗുഡ് മോണിംഗ്, മൈ നെയിം ഈസ് രവി"),
    ("welsh", Voice("cy+m1"), "gwd morning, mai neim is Dafydd"),
)
#: Position of the stressed syllable counted from zero; stress is forced by phoneme mnemonics.
_STRESS = (
    ("table", "t'eIb@L", 0),
    ("hotel", "hoUt'El", 1),
    ("banana", "b@n'an@", 1),
    ("magazine", "mag@z'i:n", 2),
    ("water", "w'O:t@", 0),
)
_HETERONYMS = (
    ("lead", "the metal", "l'Ed", True),
    ("tear", "to rip something", "t'i@", False),
    ("wind", "moving air", "w'Ind", True),
    ("bow", "to bend forward", "b'oU", False),
)
#: Three phones in espeak-ng mnemonics; IPA, place and manner of the middle one.
_CONSONANTS = (
    ("es", "apa", "p", "bilabial", "plosive"),
    ("es", "ana", "n", "alveolar", "nasal"),
    ("es", "aka", "k", "velar", "plosive"),
    ("en-us", "afa", "f", "labio-dental", "fricative"),
    ("es", "ala", "l", "alveolar", "lateral"),
    ("en-us", "asa", "s", "alveolar", "fricative"),
)
#: Three phones with a vowel in the middle; IPA, height, backness, rounding.
_VOWELS = (
    ("es", "pip", "i", "close", "[-back]", "unrounded"),
    ("es", "pup", "u", "close", "[+back]", "rounded"),
    ("es", "pep", "e", "mid", "[-back]", "unrounded"),
    ("es", "pop", "o", "mid", "[+back]", "rounded"),
    ("de", "tA:t", "ɑ", "open", "[+back]", "unrounded"),
)
#: Words in espeak-ng mnemonics of a language, with the number of their phones.
_COUNTED = (("es", "k'asa", 4), ("es", "s'ol", 3), ("it", "f'esta", 5), ("de", "Zo:n", 3), ("es", "b'aRko", 5))
_NONCE = (("table", "tavle"), ("garden", "gorfen"), ("picture", "pickmure"), ("window", "winlow"))
_SANDHI = (
    ("你好", "ni2 hao3", "1"),
    ("我很好", "wo3 hen2 hao3", "2"),
    ("今天", "jin1 tian1", "none"),
    ("水果", "shui2 guo3", "1"),
)


def _accents(rng: Rng) -> Iterator[Row]:
    for accent, voice, text in _ACCENTS:
        yield Row(accent, (padded(say(text, voice)),))


def _stress(rng: Rng) -> Iterator[Row]:
    numbers = ("zero", "one", "two")
    for i, (word, mnemonics, position) in enumerate(_STRESS):
        yield Row(numbers[position], (padded(phonemes(mnemonics, TALKERS[i])),), {"word": word}, {"word": word})


def _heteronyms(rng: Rng) -> Iterator[Row]:
    for i, (word, meaning, mnemonics, fits) in enumerate(_HETERONYMS):
        yield Row("yes" if fits else "no", (padded(phonemes(mnemonics, TALKERS[i])),), ask={"word": word, "meaning": meaning})


def _feature(rng: Rng, table: tuple[tuple[str, ...], ...], column: int) -> Iterator[Row]:
    """Three phones each, asked for one feature of the middle one."""
    for i, entry in enumerate(table):
        yield Row(entry[column], (padded(phonemes(entry[1], Voice(f"{entry[0]}+{'mf'[i % 2]}3", 45, 130))),))


def _similar(rng: Rng) -> Iterator[Row]:
    for i, (x, near, far) in enumerate(
        (("pata", "bata", "luki"), ("sola", "zola", "mine"), ("kame", "game", "furo"), ("tilo", "dilo", "raska"))
    ):
        words = (x, far, near) if i % 2 else (x, near, far)
        clips = tuple(
            padded(say(word, Voice(f"es+{talker}", 45, 140))) for word, talker in zip(words, ("m3", "f2", "f4"), strict=True)
        )
        yield Row("B" if i % 2 else "A", clips)


def _counted(rng: Rng) -> Iterator[Row]:
    for i, (language, mnemonics, count) in enumerate(_COUNTED):
        yield Row(str(count), (padded(phonemes(mnemonics, Voice(f"{language}+{'mf'[i % 2]}3", 45, 140))),))


def _english_words(rng: Rng) -> Iterator[Row]:
    for i, word in enumerate(("stones", "ship", "tea", "black", "five")):
        yield Row(len(PHONES[word].split()), (padded(say(word, TALKERS[i])),))


def pause_at(text: str, place: int, voice: Voice) -> Sound:
    """A sentence with a pause before its word number ``place``."""
    words = text.split()
    return chain([say(" ".join(words[:place]), voice), say(" ".join(words[place:]), voice)], gap=0.35, lead=0.1, tail=0.1)[0]


def _pauses(rng: Rng, lexical: bool) -> Iterator[Row]:
    for i, (text, good, bad) in enumerate(
        (
            ("when the rain had stopped we went outside", 5, 3),
            ("the old man and his dog walked along the river", 6, 8),
            ("because she was late she took a taxi", 4, 6),
            ("after the long concert everybody went home", 4, 2),
        )
    ):
        voice = TALKERS[i]
        natural = pause_at(text, good, voice)
        odd = _split_word(text, voice) if lexical else pause_at(text, bad, voice)
        yield Row("1", (natural, odd)) if i % 2 == 0 else Row("2", (odd, natural))


def _split_word(text: str, voice: Voice) -> Sound:
    """The sentence with a pause in the middle of its sound, most likely within a word."""
    x = say(text, voice)
    middle = len(x) // 2 + length(0.05)
    return chain([x[:middle], x[middle:]], gap=0.35, lead=0.1, tail=0.1)[0]


def _nonce(rng: Rng) -> Iterator[Row]:
    for i, (word, nonce) in enumerate(_NONCE):
        clips = (padded(say(word, TALKERS[i])), padded(say(nonce, TALKERS[i])))
        yield Row("2", clips) if i % 2 == 0 else Row("1", clips[::-1])


# Learners: a German or Spanish voice that reads English, with pauses or a flat pitch, stands for a weak score.
_L2_TEXTS = (
    "I would like to visit London",
    "my sister works in a hospital",
    "we play football every weekend",
    "the weather is nice today",
)
_FOREIGN = (Voice("es+m3", 45, 150), Voice("de+f2", 50, 150), Voice("it+m1", 50, 150), Voice("pl+f3", 50, 150))


def learner(aspect: str, text: str, score: int, number: int) -> Sound:
    """A sentence as a learner of that score from 0 to 10 might say it.

    Args:
        aspect: accuracy (foreign phones), fluency (pauses, slow) or prosody (flat pitch).
        text: The sentence.
        score: From 10, native, downwards.
        number: Chooses the voice.
    """
    native, words = TALKERS[number % 4], text.split()
    if aspect == "accuracy":
        foreign = 0 if score >= 9 else 2 if score >= 7 else len(words)
        voice = _FOREIGN[number % 4]
        # A foreign voice reads the last words by its own rules of spelling.
        parts = [say(" ".join(words[: len(words) - foreign]), native)] if foreign < len(words) else []
        parts += [say(" ".join(words[-foreign:]), voice)] if foreign else []
        return chain(parts, gap=0.05, lead=0.1, tail=0.1)[0]
    if aspect == "fluency":
        gap = (10 - score) * 0.06
        slow = replace(native, speed=175 - (10 - score) * 7)
        parts = [say(word, slow) for word in words] if score < 9 else [say(text, native)]
        return chain(parts, gap=gap, lead=0.1, tail=0.1)[0]
    return padded(say(prosody(text, range="x-low", rate=f"{60 + 4 * score}%") if score < 8 else text, native))


def _scores(rng: Rng, aspect: str) -> Iterator[Row]:
    for i, score in enumerate((10, 7, 4, 8) if aspect == "accuracy" else (9, 6, 3, 8)):
        yield Row(str(score), (learner(aspect, _L2_TEXTS[i], score, i),))


def _ranking(rng: Rng, aspect: str) -> Iterator[Row]:
    for i, (first, second) in enumerate(((10, 4), (3, 9), (9, 3), (5, 10))):
        yield Row("Yes" if first > second else "No", tuple(learner(aspect, _L2_TEXTS[i], score, i) for score in (first, second)))


def _sandhi(rng: Rng) -> Iterator[Row]:
    for i, (text, spoken, places) in enumerate(_SANDHI):
        voice = replace(LANGUAGES["zh"], pitch=40 + 10 * i)
        yield Row(places, (padded(say(spoken, voice)),), ask={"text": text})


_PLACES = listed("bilabial, labio-dental, dental, alveolar, palato-alveolar, retroflex, palatal, velar, uvular, glottal")
_MANNERS = listed(
    "plosive, nasal, trill, tap/flap, fricative, affricate, approximant, lateral, glide, click, ejective, implosive, vowel"
)


def _phone_set(name: str, table: tuple[tuple[str, ...], ...], column: int, what: str, options: tuple[str, ...]) -> DataSet:
    prompts = (
        f"Three phones are heard. {what} the middle one? Answer with one of: {{options}}.",
        f"Listen to the sequence of three phones. {what} its second phone? Options: {{options}}.",
    )
    source = partial(_feature, table=table, column=column)
    return DataSet(f"PhonologicalFeatureClassification_VoxAngeles-{name}", source, prompts, options, codec="wav@8000")


#: Data set of the ranking, data set of the scores, and how better and how well the learner speaks.
_ASPECTS = {
    "accuracy": ("Accuracy_speechocean762-Ranking", "Accuracy_speechocean762-scoring", "pronounced more correctly", "correctly"),
    "fluency": ("Fluency_speechocean762-Ranking", "Fluency_speechocean762-Scoring", "more fluent", "fluently"),
    "prosody": (
        "Prosodic_speechocean762-Ranking",
        "Prosodic_speechocean762-Scoring",
        "better in intonation and rhythm",
        "naturally, in intonation and rhythm,",
    ),
}

DATA_SETS = [
    DataSet(
        "AccentClassification_AccentdbExtended",
        _accents,
        (
            "Which accent of English does the speaker have? Answer with one of: {options}.",
            "Name the English accent in the clip. Options: {options}.",
        ),
        ("american", "australian", "bangla", "british", "indian", "malayalam", "odiya", "telugu", "welsh"),
    ),
    DataSet(
        "StressDetection_MIRSD",
        _stress,
        (
            "The word is: {word}\nCounting syllables from zero, which one is stressed? Answer with one of: {options}.",
            "The word is: {word}\nGive the position of its stressed syllable; the first syllable is zero. Options: {options}.",
        ),
        ("zero", "one", "two", "three", "four", "five"),
    ),
    DataSet(
        "HeteronymDifferentiation_HeteronymEn",
        _heteronyms,
        (
            "Is the word '{word}' pronounced here as in the meaning: {meaning}? Answer yes or no.",
            "You hear the word '{word}'. Is it the pronunciation for '{meaning}'? Options: yes, no.",
        ),
    ),
    _phone_set("ConsonantPlaceOfArticulation", _CONSONANTS, 3, "What is the place of articulation of", _PLACES),
    _phone_set("MannerOfArticulation", _CONSONANTS, 4, "What is the manner of articulation of", _MANNERS),
    _phone_set(
        "Phone",
        _CONSONANTS,
        2,
        "Which IPA symbol stands for",
        ("p", "b", "t", "k", "f", "s", "m", "n", "l", "r", "i", "e", "a", "o", "u"),
    ),
    _phone_set("VowelHeight", _VOWELS, 3, "How high is the vowel,", ("close", "mid", "open")),
    _phone_set("VowelFrontness", _VOWELS, 4, "Is the vowel back or not:", ("[+back]", "[-back]")),
    _phone_set("VowelRoundedness", _VOWELS, 5, "Is the vowel rounded or not:", ("rounded", "unrounded")),
    DataSet(
        "MultilingualPronunciationSimilarity_VoxAngeles",
        _similar,
        (
            "The first clip is word X, the second is word A, the third is word B. Which word sounds closer to X? Answer A or B.",
            "You hear X, A and B in this order. Is A or B more similar to X in pronunciation? Options: A, B.",
        ),
        audio=("audio", "audio2", "audio3"),
    ),
    DataSet(
        "PhoneSegmentCounting_VoxAngeles",
        _counted,
        ("How many phones has this word? Answer with a number.", "Count the phone segments in the clip and give their number."),
    ),
    DataSet(
        "PhonemeSegmentCounting_Librispeech-words",
        _english_words,
        (
            "How many phonemes has this English word? Answer with a number.",
            "Count the phonemes of the spoken word and give their number.",
        ),
    ),
    *(
        DataSet(
            f"ProsodyNaturalness_ProsAudit-{name}",
            partial(_pauses, lexical=name == "Lexical"),
            (
                "Which of the two recordings has the more natural prosody? Answer 1 or 2.",
                "In one recording a pause stands at an unnatural place. Which recording is natural, 1 or 2?",
            ),
            audio=PAIR,
        )
        for name in ("Lexical", "Protosyntax")
    ),
    DataSet(
        "NonceWordDetection_sWUGGY",
        _nonce,
        (
            "Which of the two clips is not a real English word? Answer 1 or 2.",
            "One of the words is invented. Is it the one in clip 1 or 2?",
        ),
        audio=PAIR,
    ),
    *(
        DataSet(
            f"L2English{name}",
            partial(_ranking, aspect=aspect),
            (
                f"Is the first recording {more} than the second? Answer Yes or No.",
                f"Compare two learners: is the first one {more}? Options: Yes, No.",
            ),
            audio=PAIR,
        )
        for aspect, (name, _, more, _) in _ASPECTS.items()
    ),
    *(
        DataSet(
            f"L2English{name}",
            partial(_scores, aspect=aspect),
            (
                f"How {how} does the learner speak? Give a score from 0 to 10 in Arabic numerals.",
                f"Rate from 0 to 10 how {how} the English sentence is spoken. Answer in Arabic numerals.",
            ),
            suffix=False,
            codec="mp3@16000",
        )
        for aspect, (_, name, _, how) in _ASPECTS.items()
    ),
    DataSet(
        "ThirdToneSandhiRecognition_NCCUCorpusofSpokenTaiwanMandarin",
        _sandhi,
        (
            "The text is: {text}\nWhich syllable changes from third to second tone? Answer with its number, from 1, or none.",
            "The text is: {text}\nAt which syllable, counted from 1, does third-tone sandhi occur? Give its number, or none.",
        ),
    ),
]
