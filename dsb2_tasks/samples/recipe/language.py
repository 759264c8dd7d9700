"""Spoken language understanding: acts, intents, slots, entities, translation, grammar, meaning."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._rooms import telephone
from dsb2_tasks.samples._signal import Rng, Sound, chain
from dsb2_tasks.samples._speech import LANGUAGES, TALKERS, Voice, padded, prosody, say

PAIR = ("audio", "audio2")


def _said(text: str, number: int) -> Sound:
    return padded(say(text, TALKERS[number % len(TALKERS)]))


def _labelled(rng: Rng, rows: tuple[tuple[str, str], ...]) -> Iterator[Row]:
    """Sentences with one label each."""
    for i, (text, label) in enumerate(rows):
        yield Row(label, (_said(text, i),))


_ACTS = (
    ("where did you put the keys?", "question"),
    ("the shop closes at six.", "inform"),
    ("please close the window.", "directive"),
    ("I will call you tomorrow, I promise.", "commissive"),
)
_REPLIES = (
    ("what time does the train leave?", "it leaves at half past nine.", True),
    ("could you carry this bag for me?", "the capital of Peru is Lima.", False),
    ("would you like some tea?", "yes please, with milk.", True),
    ("I am so sorry about the delay.", "seven plus two is nine.", False),
)
_INTENTS = (
    ("wake me up at seven tomorrow", "set", "alarm", "alarm_set"),
    ("what will the weather be like on friday", "query", "weather", "weather_query"),
    ("play some jazz in the kitchen", "play", "music", "play_music"),
    ("remove milk from my shopping list", "remove", "lists", "lists_remove"),
    ("send an email to my boss", "send", "email", "email_send"),
)
_SLOTS = (
    ("play late night jazz by miles davis", "playlist: late night jazz, artist: miles davis"),
    ("book a table for four at an italian restaurant", "party_size_number: four, cuisine: italian, restaurant_type: restaurant"),
    ("will it rain in boston tomorrow", "condition_description: rain, city: boston, timeRange: tomorrow"),
    ("give this novel five stars", "object_type: novel, rating_value: five, rating_unit: stars"),
)
_TRANSLATIONS = (
    ("the house is very old", "Das Haus ist sehr alt."),
    ("we eat bread and cheese", "Wir essen Brot und Käse."),
    ("my brother lives in berlin", "Mein Bruder wohnt in Berlin."),
    ("tomorrow we go to the sea", "Morgen fahren wir ans Meer."),
)
#: Pieces of sentences; a piece with a type is a named entity.
_ENTITIES: tuple[tuple[tuple[str, str | None], ...], ...] = (
    (("the minister of", None), ("france", "PLACE"), ("will speak on", None), ("monday", "WHEN")),
    (("the", None), ("european parliament", "ORG"), ("thanked", None), ("anna schmidt", "PERSON")),
    (("twelve", "QUANT"), ("members came from", None), ("poland", "PLACE")),
    (("we discussed the", None), ("treaty of lisbon", "LAW"), ("with the", None), ("greek", "NORP"), ("delegation", None)),
)
_ACTS_HVB = (
    ("hello, this is the bank, how can I help you?", ("statement_open", "question_general")),
    ("I lost my card yesterday.", ("statement_problem",)),
    ("okay, thank you, goodbye.", ("acknowledge", "thanks", "statement_close")),
    ("sorry, could you say that again?", ("apology", "question_repeat")),
)
_SIMILAR = (
    (("a man is playing a guitar", "someone plays the guitar", "a dog runs on the beach", "the stock market fell"), True, "yes"),
    (("it is snowing outside", "the soup is too salty", "the boy eats an apple", "a child is eating an apple"), True, "no"),
    (("she bought a new car", "she got herself a new car", "two birds sing", "he repairs the roof"), False, "no"),
    (("the lamp is broken", "we sail to greece", "the film was boring", "the movie was dull"), False, "yes"),
)
_GRAMMAR = (
    ("the books on the table are new", "the books on the table is new"),
    ("she has never been there", "she have never been there"),
    ("which song did you sing", "which song did you sang"),
    ("the boys hurt themselves", "the boys hurt himself"),
)
#: Code-switched pairs as (language, text) parts: the good order first.
_SWITCHED = (
    ((("zh", "wo3 xiang3 mai3"), ("en", "a new phone")), (("zh", "wo3 mai3 xiang3"), ("en", "new a phone"))),
    ((("zh", "ta1 men5 dou1 xi3 huan1"), ("en", "coffee")), (("zh", "xi3 huan1 dou1 ta1 men5"), ("en", "coffee"))),
    ((("zh", "jin1 tian1 you3"), ("en", "two meetings")), (("zh", "you3 jin1 tian1"), ("en", "meetings two"))),
    ((("zh", "qing3 ni3"), ("en", "open the file")), (("zh", "ni3 qing3"), ("en", "file the open"))),
)
_TAGGED = (
    ("the dog runs fast", "DET NOUN VERB ADV"),
    ("she bought two red apples", "PRON VERB NUM ADJ NOUN"),
    ("anna and peter live in london", "PROPN CCONJ PROPN VERB ADP PROPN"),
    ("oh we should not leave if it rains", "INTJ PRON AUX PART VERB SCONJ PRON VERB"),
)
_SUMS = (
    ("three", "five", "plus", "8"),
    ("nine", "four", "minus", "5"),
    ("two", "six", "times", "12"),
    ("one", "seven", "plus", "8"),
)
_WORDS = {"plus": "sum of both digits", "minus": "first digit minus the second", "times": "product of both digits"}
_CHATS = (
    ("Where are you going?", "to the library, I need a book", "my cat is four years old"),
    ("How was the film?", "the printer is out of paper", "it was far too long"),
    ("Are you hungry?", "yes, let us have lunch", "blue is a nice colour"),
    ("Whose coat is this?", "we should turn left here", "it belongs to my aunt"),
)
_SARCASM = (
    ("oh great, another meeting, just what I needed", True),
    ("the meeting starts at ten in room four", False),
    ("wow, you broke it again, you are a genius", True),
    ("thank you, that was very kind of you", False),
)


def _replies(rng: Rng) -> Iterator[Row]:
    for i, (first, second, fits) in enumerate(_REPLIES):
        yield Row(fits, (_said(first, i), _said(second, i + 3)))


def _acts_hvb(rng: Rng) -> Iterator[Row]:
    columns = [f"label{n}" if n > 1 else "label" for n in range(1, 9)]
    for i, (text, acts) in enumerate(_ACTS_HVB):
        speech = telephone(_said(text, i))
        yield Row(None, (speech,), dict(zip(columns, [*acts, *[None] * (len(columns) - len(acts))], strict=True)))


def _slots(rng: Rng) -> Iterator[Row]:
    for i, (text, slots) in enumerate(_SLOTS):
        yield Row(slots, (_said(text, i),), {"transcription": text})


def entities(number: int) -> tuple[Sound, list[tuple[str, str, float, float]]]:
    """A sentence spoken piece by piece, with (type, phrase, start, end) of its named entities."""
    pieces = _ENTITIES[number]
    speech, spans = chain([say(text, TALKERS[number]) for text, _ in pieces], gap=0.08, lead=0.15, tail=0.15)
    return speech, [(kind, text, *span) for (text, kind), span in zip(pieces, spans, strict=True) if kind]


def _named(rng: Rng, times: bool) -> Iterator[Row]:
    for number in range(len(_ENTITIES)):
        speech, found = entities(number)
        if times:
            label = " ".join(f"({start:.2f}, {end:.2f})" for _, _, start, end in found)
        else:
            label = ", ".join(f"{kind}: {phrase}" for kind, phrase, _, _ in found)
        yield Row(label, (speech,))


def _similar(rng: Rng) -> Iterator[Row]:
    for i, (texts, closer, label) in enumerate(_SIMILAR):
        yield Row(
            label, tuple(_said(text, i) for text in texts), ask={"relation": "closer to each other" if closer else "less alike"}
        )


def _better_of_two(rng: Rng, pairs: tuple[tuple[str, str], ...]) -> Iterator[Row]:
    for i, (good, bad) in enumerate(pairs):
        clips = (_said(good, i), _said(bad, i))
        yield Row("1", clips) if i % 2 == 0 else Row("2", clips[::-1])


def _switched(rng: Rng) -> Iterator[Row]:
    for i, pair in enumerate(_SWITCHED):
        clips = tuple(chain([say(t, LANGUAGES[lang]) for lang, t in parts], gap=0.05, lead=0.1, tail=0.1)[0] for parts in pair)
        yield Row("first", clips) if i % 2 == 0 else Row("second", clips[::-1])


def _tags(rng: Rng, text_too: bool) -> Iterator[Row]:
    for i, (text, tags) in enumerate(_TAGGED):
        yield Row(f"{text} / {tags}" if text_too else tags, (_said(text, i),))


def _sums(rng: Rng) -> Iterator[Row]:
    for i, (first, second, operation, result) in enumerate(_SUMS):
        yield Row(result, (_said(first, i), _said(second, i + 2)), ask={"operation": _WORDS[operation]})


def _chats(rng: Rng) -> Iterator[Row]:
    for i, (before, first, second) in enumerate(_CHATS):
        yield Row("second" if i % 2 else "first", (_said(first, i), _said(second, i)), ask={"before": before})


def _sarcastic(rng: Rng) -> Iterator[Row]:
    voice = Voice("en-us+m3", 45, 165)
    for text, sarcastic in _SARCASM:
        # Sarcasm is drawn out, with a wide range of pitch.
        shaped = prosody(text, rate="75%", range="x-high", pitch="-10%") if sarcastic else text
        yield Row(sarcastic, (padded(say(shaped, voice)),))


def _intent(number: int) -> tuple[tuple[str, str], ...]:
    return tuple((row[0], row[number]) for row in _INTENTS)


def _choices(rows: tuple[tuple[str, str], ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(label for _, label in rows))


def _intent_set(name: str, number: int, what: str) -> DataSet:
    rows = _intent(number)
    prompts = (
        f"What is the {what} of the spoken request? Answer with one of: {{options}}.",
        f"Choose the {what} that fits the command in the clip. Options: {{options}}.",
    )
    return DataSet(name, partial(_labelled, rows=rows), prompts, _choices(rows))


_TAG_LIST = "ADJ ADP ADV AUX CCONJ DET INTJ NOUN NUM PART PRON PROPN SCONJ VERB"
_HVB = [
    "acknowledge",
    "answer_agree",
    "answer_dis",
    "answer_general",
    "apology",
    "backchannel",
    "disfluency",
    "other",
    "question_check",
    "question_general",
    "question_repeat",
    "self",
    "statement_close",
    "statement_general",
    "statement_instruct",
    "statement_open",
    "statement_problem",
    "thanks",
]

DATA_SETS = [
    DataSet(
        "DialogueActClassification_DailyTalk",
        partial(_labelled, rows=_ACTS),
        (
            "Which dialogue act is the utterance? Answer with one of: {options}.",
            "Name the act that the speaker performs by saying this. Options: {options}.",
        ),
        ("question", "inform", "directive", "commissive"),
    ),
    DataSet(
        "DialogueActPairing_DailyTalk",
        _replies,
        (
            "Is the second utterance a fitting answer to the first? Answer true or false.",
            "Could what the second recording says follow the first one in a conversation? Options: true, false.",
        ),
        audio=PAIR,
        file_columns=("file", "file2"),
    ),
    _intent_set("IntentClassification_SLURP_MINDS14-Action", 1, "action"),
    _intent_set("IntentClassification_SLURP_MINDS14-Intent", 2, "intent"),
    _intent_set("IntentClassification_SLURP_MINDS14", 3, "intent class"),
    _intent_set("SuperbIC_SLURP", 3, "intent"),
    DataSet(
        "SuperbSF_AudioSnips-Test",
        _slots,
        (
            "List the slots of the request as 'type: value, type: value', with types such as artist, city or timeRange.",
            "Extract slot types and their values from the speech in this form: type: value, type: value",
        ),
    ),
    DataSet(
        "SuperbST_CoVoST2-Test",
        lambda rng: (Row(german, (_said(english, i),)) for i, (english, german) in enumerate(_TRANSLATIONS)),
        (
            "Translate the English speech into German. Answer with the German sentence only.",
            "What is said here, in German? Write nothing but the translation.",
        ),
    ),
    DataSet(
        "Named_Entity_Recognition_SLUE-VoxPopuli",
        partial(_named, times=False),
        (
            "List the named entities as 'TYPE: phrase, TYPE: phrase' with the types PLACE, QUANT, ORG, WHEN, NORP, PERSON, LAW.",
            "Which named entities are said? Types: PLACE, QUANT, ORG, WHEN, NORP, PERSON, LAW. Form: TYPE: phrase, TYPE: phrase",
        ),
    ),
    DataSet(
        "Named_Entity_Localization_SLUE-VoxPopuli",
        partial(_named, times=True),
        (
            "Give start and end of each named entity in seconds, in the form (start, end) (start, end).",
            "When are named entities said? Answer with times in seconds: (start, end) for each of them.",
        ),
        codec="mp3@16000",
    ),
    DataSet(
        "Dialogue_Act_Classification_SLUE-HVB",
        _acts_hvb,
        (
            "Select all dialogue acts of this utterance, separated by commas, out of: {options}.",
            "Which of these acts does the caller or agent perform? {options}. Name each that applies, with commas.",
        ),
        tuple(_HVB),
        codec="wav@8000",
    ),
    DataSet(
        "SemanticTextualSimilarity_SpokenSTS",
        _similar,
        (
            "Are the first and second utterance {relation} in meaning than the third and fourth? Answer yes or no.",
            "Compare utterances one and two with three and four. Is the first pair {relation} in meaning? Options: yes, no.",
        ),
        audio=("audio", "audio2", "audio3", "audio4"),
        codec="mp3@16000",
    ),
    DataSet(
        "SentenceGrammarAcceptability_sBLIMP",
        partial(_better_of_two, pairs=_GRAMMAR),
        (
            "Which of the two spoken sentences is grammatical? Answer 1 or 2.",
            "One recording holds a grammatical mistake. Which one is correct, 1 or 2?",
        ),
        audio=PAIR,
    ),
    DataSet(
        "CodeSwitchingSemanticGrammarAcceptabilityComparison_CSZS-zh-en",
        _switched,
        (
            "Which of the two Mandarin-English utterances is more acceptable in grammar and meaning? Answer first or second.",
            "Two utterances mix Mandarin and English. Choose the well-formed one. Options: first, second.",
        ),
        audio=PAIR,
    ),
    DataSet(
        "PoS_Estimation_LibriTTS_PoS",
        partial(_tags, text_too=False),
        (
            f"Give the part of speech of each spoken word, separated by blanks. Tags: {_TAG_LIST}",
            f"Tag the words of the sentence in order with {_TAG_LIST}. Answer with the tags only.",
        ),
        codec="mp3@24000",
    ),
    DataSet(
        "PoS_Estimation_LibriTTS_PoS_with_transcription",
        partial(_tags, text_too=True),
        (
            f"Write the sentence, then ' / ', then one tag for each word out of: {_TAG_LIST}",
            f"Transcribe and tag the speech in the form 'words / TAGS'. Tags: {_TAG_LIST}",
        ),
        codec="ogg@24000",
    ),
    DataSet(
        "SpokenDigitArithmetic_AudioMNIST",
        _sums,
        (
            "Each clip holds one digit. What is the {operation}? Answer with one of: {options}.",
            "Listen to two digits and give the {operation}. Options: {options}.",
        ),
        ("5", "8", "12"),
        audio=PAIR,
    ),
    DataSet(
        "ConversationMatching_EnShortConversation",
        _chats,
        (
            'One person says: "{before}" Which recording is the fitting reply? Answer first or second.',
            'Which of the two recordings goes on with the conversation that begins "{before}"? Options: first, second.',
        ),
        audio=PAIR,
        codec="mp3@44100",
    ),
    DataSet(
        "SarcasmDetection_Mustard",
        _sarcastic,
        ("Is the speaker sarcastic? Answer true or false.", "Does this utterance carry sarcasm? Options: true, false."),
    ),
]
