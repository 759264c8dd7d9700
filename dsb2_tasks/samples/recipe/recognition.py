"""Speech recognition: commands, texts and terms, transcripts in several languages, mixed languages, chosen talkers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._rooms import add_noise, in_room
from dsb2_tasks.samples._signal import Rng, Sound, chain, noise, placed
from dsb2_tasks.samples._sounds import make
from dsb2_tasks.samples._speech import LANGUAGES, LJ, TALKERS, Voice, padded, say
from dsb2_tasks.samples.recipe._texts import ENGLISH, PHONES, SPOKEN, phones, upper

YES_NO = ("yes", "no")
_COMMANDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
_DIGITS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def spoken(language: str, number: int, voice: Voice | None = None) -> tuple[str, Sound]:
    """A sentence of a language, as a label and as a sound."""
    text, respelt = SPOKEN[language][number % len(SPOKEN[language])]
    return text, padded(say(respelt or text, voice or LANGUAGES[language]))


def _second(x: Sound) -> Sound:
    return chain([x], lead=0.15, tail=0.2)[0]


def _commands(rng: Rng, words: tuple[str, ...], silent: str, unknown: str) -> Iterator[Row]:
    for i, word in enumerate(words):
        yield Row(word, (_second(say(word, TALKERS[i % len(TALKERS)])),))
    yield Row(unknown, (_second(say("marvin", TALKERS[2])),))
    yield Row(silent, (noise(rng, 0.8, 50, 2000),))


def _digits(rng: Rng) -> Iterator[Row]:
    for i, digit in enumerate((7, 0, 3, 9, 4)):
        yield Row(_DIGITS[digit], (_second(say(_DIGITS[digit], TALKERS[i])),))


def _matching(rng: Rng, first: int, voices: tuple[Voice, ...]) -> Iterator[Row]:
    for i in range(4):
        truth = ENGLISH[first + i]
        words = truth.split()
        # The false text is another sentence, or the same with two words exchanged.
        other = ENGLISH[first + 7 - i] if i == 1 else " ".join([*words[:-3], words[-1], words[-2], words[-3]])
        text = other if i % 2 else truth
        speech = padded(say(truth, voices[i % len(voices)]))
        more: dict[str, str | None] = {"text": text, "transcription": truth}
        yield Row("no" if i % 2 else "yes", (speech,), more, {"text": text})


def _terms(rng: Rng, first: int, voices: tuple[Voice, ...]) -> Iterator[Row]:
    absent = ("pepper", "airport", "mirror", "orange")
    for i in range(4):
        sentence = ENGLISH[first + i]
        term = absent[i] if i % 2 else max(sentence.split(), key=len)
        speech = padded(say(sentence, voices[i % len(voices)]))
        yield Row("no" if i % 2 else "yes", (speech,), {"text": term}, {"text": term})


def _english(rng: Rng, first: int, clean: bool) -> Iterator[Row]:
    for i in range(4):
        speech = padded(say(ENGLISH[first + i], TALKERS[(first + i) % len(TALKERS)]))
        if not clean:
            speech = add_noise(in_room(rng, speech, "small"), noise(rng, 1.0, 50, 4000), 18)
        yield Row(upper(ENGLISH[first + i]), (speech,))


def _language(rng: Rng, language: str, other: str | None = None) -> Iterator[Row]:
    for i in range(4):
        voice = LANGUAGES[language]
        if i % 2:
            voice = Voice(voice.name.split("+")[0] + ("+f4" if "+m" in voice.name else "+m7"), 40, voice.speed)
        text, speech = spoken(language, i, voice)
        yield Row(text, (speech,))


def _quoted(rng: Rng, sentences: tuple[str, ...], voices: tuple[Voice, ...], room: str | None = None) -> Iterator[Row]:
    for i, sentence in enumerate(sentences):
        speech = padded(say(sentence, voices[i % len(voices)]))
        yield Row(sentence, (in_room(rng, speech, room) if room else speech,))


_AAVE = (
    "they was over there all day",
    "he been working at that store",
    "ain't nobody told me about it",
    "she always be singing on sundays",
)
_SPONTANEOUS = (
    "um yeah I think it's in the oven",
    "no no put it over there please",
    "so what are we eating",
    "uh I don't know maybe later",
)

#: Mixed utterances as (language, text, spelling for espeak-ng) parts.
_MIXED = (
    (("zh", "我们今天讲", "wo3 men5 jin1 tian1 jiang3"), ("en", "linear regression", None)),
    (("zh", "这个", "zhe4 ge5"), ("en", "model", None), ("zh", "很好", "hen3 hao3")),
    (("en", "gradient", None), ("zh", "就是", "jiu4 shi4"), ("en", "slope", None), ("zh", "的意思", "de5 yi4 si5")),
    (("zh", "大家看一下", "da4 jia1 kan4 yi2 xia4"), ("en", "homework", None), ("zh", "三", "san1")),
)


def _mixed_speech(parts: tuple[tuple[str, str, str | None], ...]) -> Sound:
    return chain([say(respelt or text, LANGUAGES[language]) for language, text, respelt in parts], gap=0.06, lead=0.1, tail=0.1)[
        0
    ]


def _mixed_transcript(rng: Rng) -> Iterator[Row]:
    for parts in _MIXED:
        yield Row(" ".join(text for _, text, _ in parts), (_mixed_speech(parts),))


def _switches(rng: Rng) -> Iterator[Row]:
    single = ((("zh", "我喜欢喝茶", "wo3 xi3 huan1 he1 cha2"),),)
    for parts in single + _MIXED[:3]:
        yield Row(str(len(parts) - 1), (_mixed_speech(parts),), {"transcription": " ".join(text for _, text, _ in parts)})


def _chosen_talker(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        target, other = TALKERS[i], TALKERS[i + 4]
        said, over = say(ENGLISH[i], target), say(ENGLISH[i + 12], other)
        seconds = max(len(said) / 22050, 0.6 + len(over) / 22050) + 0.1
        mixture = placed(seconds, [(0.0, said), (0.6, 0.5 * over)])
        yield Row(ENGLISH[i], (mixture, padded(say("this is how my voice sounds", target))))


def _hypotheses(rng: Rng) -> Iterator[Row]:
    for truth, wrong in (
        (
            "the captain looked at the map once more",
            ("the captain looked at the mat once more", "the captain booked at the map ones more"),
        ),
        (
            "there was no sugar left in the kitchen",
            ("there was no sugar left in the chicken", "there was know sugar left in the kitchen"),
        ),
        ("the road leads through a dark forest", ("the rode leads threw a dark forest", "the road leads to a dark for rest")),
        (
            "a cold wind came down from the mountains",
            ("a called wind came down from the mountains", "a cold wind game town from the mountains"),
        ),
    ):
        place = int(rng.integers(3))
        listed = [*wrong[:place], truth, *wrong[place:]]
        yield Row(truth, (), {}, {"hypotheses": "\n".join(f"{n}. {text}" for n, text in enumerate(listed, start=1))})


def _query(rng: Rng) -> Iterator[Row]:
    for i, (word, other, language) in enumerate(
        (("violin", "forest", "en"), ("horses", "sugar", "en"), ("garten", "wasser", "de"), ("fenster", "morgen", "de"))
    ):
        sentence = {"violin": ENGLISH[8], "horses": ENGLISH[15], "garten": SPOKEN["de"][2][0], "fenster": SPOKEN["de"][0][0]}[
            word
        ]
        voice = LANGUAGES[language]
        query = say(word if i % 2 == 0 else other, Voice(voice.name.split("+")[0] + "+m7", 40))
        yield Row("yes" if i % 2 == 0 else "no", (padded(query), padded(say(sentence, voice))))


def _phonemes(rng: Rng, sentences: tuple[str, ...], noisy: bool) -> Iterator[Row]:
    for i, sentence in enumerate(sentences):
        speech = padded(say(sentence, TALKERS[i % len(TALKERS)]))
        yield Row(phones(sentence), (add_noise(speech, make("vacuum cleaner", rng, 1.0), 18) if noisy else speech,))


def _asr(name: str, language: str) -> tuple[str, str]:
    return (
        f"Write down what is said in this {language} recording. Give the transcript only.",
        f"Transcribe the {language} speech word for word. Answer with nothing but its text.",
    )


_MATCH_PROMPTS = (
    "The text is: {text}\nIs this what the speaker says? The answer could be {options}.",
    "The text is: {text}\nDoes the recording say exactly these words? The answer could be {options}.",
)
_TERM_PROMPTS = (
    "The word is: {text}\nIs it said in the recording? The answer could be {options}.",
    "The word is: {text}\nCan you hear this word in the speech? The answer could be {options}.",
)
_COMMAND_PROMPTS = (
    "Which command is spoken? Answer with one of: {options}.",
    "Name the keyword in the clip. The choices are: {options}.",
)
_PHONEMES_39 = " ".join(sorted({phone for word in PHONES.values() for phone in word.split()}))
_CORPORA = (
    ("LJSpeech", 0, (LJ,)),
    ("LibriSpeech-TestClean", 5, TALKERS),
    ("LibriSpeech-TestOther", 12, TALKERS[4:] + TALKERS[:4]),
)
_MLS = {
    "de": "German",
    "en": "English",
    "es": "Spanish",
    "fr": "French",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
}
_SPECIAL = ("_silence_", "_unknown_")

DATA_SETS = [
    *(
        DataSet(f"SpeechTextMatching_{c}", partial(_matching, first=first, voices=voices), _MATCH_PROMPTS, YES_NO)
        for c, first, voices in _CORPORA
    ),
    *(
        DataSet(f"SpokenTermDetection_{c}", partial(_terms, first=first + 3, voices=voices), _TERM_PROMPTS, YES_NO)
        for c, first, voices in _CORPORA
    ),
    DataSet(
        "SpeechCommandRecognition_GoogleSpeechCommandsV1",
        partial(_commands, words=("left", "stop", "yes"), silent="silence", unknown="unknown"),
        _COMMAND_PROMPTS,
        (*_COMMANDS, "silence", "unknown"),
        codec="wav@8000",
    ),
    DataSet(
        "SuperbKS_SpeechCommandsV1-Test",
        partial(_commands, words=("right", "go", "off"), silent="_silence_", unknown="_unknown_"),
        _COMMAND_PROMPTS,
        (*_COMMANDS, *_SPECIAL),
        codec="flac@16000",
    ),
    DataSet(
        "HEARSpokenCommandsClassification_SpeechCommands-5hr",
        partial(_commands, words=("down", "on", "no"), silent="_silence_", unknown="_unknown_"),
        _COMMAND_PROMPTS,
        (*_COMMANDS, *_SPECIAL),
        codec="mp3@48000",
    ),
    DataSet(
        "SpeechCommandRecognition_AudioMNIST",
        _digits,
        (
            "Which digit is spoken? Answer with one of: {options}.",
            "Name the number word in the clip. The choices are: {options}.",
        ),
        _DIGITS,
        codec="ulaw@16000",
    ),
    DataSet("SuperbASR_LibriSpeech-TestClean", partial(_english, first=0, clean=True), _asr("", "English")),
    DataSet("SuperbASR_LibriSpeech-TestOther", partial(_english, first=16, clean=False), _asr("", "English")),
    *(
        DataSet(
            f"SuperbPR_LibriSpeech-Test{part}",
            partial(_phonemes, sentences=sentences, noisy=part == "Other"),
            (
                "Write the phonemes of this utterance in ARPAbet without stress marks, separated by blanks, as in: HH AH L OW",
                "Transcribe the speech as ARPAbet phonemes with a blank between two of them and no stress digits.",
            ),
        )
        for part, sentences in (
            ("Clean", ("he sees the red boat", "the cat sat on a big stone", "we keep five black dogs", "she reads a good book")),
            ("Other", ("they made cold tea", "my blue shoe is wet", "he sees five stones", "we keep good books")),
        )
    ),
    *(
        DataSet(f"MultiLingualSpeechRecognition_MLS-{code}", partial(_language, language=code), _asr(code, name))
        for code, name in _MLS.items()
    ),
    DataSet(
        "PTBRSpeechRecognition_CommonVoice17-Test",
        partial(_language, language="pt-br"),
        _asr("", "Brazilian Portuguese"),
        codec="mp3@48000",
    ),
    DataSet(
        "AAVESpeechRecognition_CORAAL",
        partial(_quoted, sentences=_AAVE, voices=(TALKERS[4], TALKERS[0])),
        _asr("", "African-American English"),
        codec="mp3@44100",
    ),
    DataSet("SuperbOODAsrEs_CommonVoice7-Test", partial(_language, language="es"), _asr("", "Spanish")),
    DataSet("SuperbOODAsrAr_CommonVoice7-Test", partial(_language, language="ar"), _asr("", "Arabic")),
    DataSet("SuperbOODAsrZh_CommonVoice7-Test", partial(_language, language="zh"), _asr("", "Mandarin")),
    DataSet(
        "SuperbOODAsrSpon_CHIME6-Test",
        partial(_quoted, sentences=_SPONTANEOUS, voices=TALKERS[2:], room="small"),
        _asr("", "spontaneous English"),
    ),
    DataSet(
        "CodeSwitchingSpeechRecognition_ASCEND",
        _switches,
        (
            "How many times does the speaker change between Mandarin and English? Answer with a number.",
            "Count the language switches in the recording and give their number.",
        ),
    ),
    DataSet(
        "Code-switchSpeechRecognition_NTUML2021",
        _mixed_transcript,
        (
            "Transcribe this lecture in Mandarin and English. Write each word in the language in which it is said.",
            "Write down the mixed Mandarin and English speech; answer with the transcript only.",
        ),
    ),
    DataSet(
        "TargetSpeaker-ASR_AMItest",
        _chosen_talker,
        (
            "Two talkers overlap in the first clip; the second is the voice of one of them. Transcribe what this talker says.",
            "Write down only the words in the first recording that are spoken by the voice of the second recording.",
        ),
        audio=("audio", "audio2"),
    ),
    DataSet(
        "NBestCorrection_Librispeech-TestOther",
        _hypotheses,
        (
            "A recogniser gave these hypotheses for one utterance:\n{hypotheses}\nWrite the most likely true transcription.",
            "Read the hypotheses of a speech recogniser:\n{hypotheses}\nWhich sentence was said? Answer with the sentence.",
        ),
        audio=(),
    ),
    DataSet(
        "SuperbQbE_Quesst14-Eval",
        _query,
        (
            "The first clip is a spoken query. Does it occur in the second clip? Answer with one of: {options}.",
            "Is the word of the first recording said within the second recording? Options: {options}.",
        ),
        YES_NO,
        audio=("query", "doc"),
    ),
]
