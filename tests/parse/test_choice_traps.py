"""Answers in which an option stands and is not meant, or is meant and hard to see: numbers, denials, lists, hedges, letters."""

from __future__ import annotations

import pytest

from dsb2_tasks.parse import choose_labels, choose_option

COUNTS = [str(number) for number in range(11)]
NUMERALS = ["one", "two", "twenty-one", "three"]
MIDI = ["48", "60", "100", "162"]
LEVELS = ["-5", "5"]
EMOTIONS = ["happy", "sad", "angry", "neutral"]
YES_NO = ["yes", "no"]
SPEECH = ["speech", "no speech"]
REAL = ["real", "fake"]
CHANCE = ["likely", "unlikely"]
ACTS = ["question", "inform"]
NOISE = ["clean", "noisy"]
EFFECTS = ["none", "reverb", "delay"]
COMMANDS = ["yes", "no", "up", "down", "left", "right", "on", "off"]
#: Answer, options, the one that is meant.
Case = tuple[str, list[str], str | None]

NUMBERS: list[Case] = [
    ("one hundred", COUNTS, None),
    ("two hundred", COUNTS, None),
    ("2 hundred and five", COUNTS, None),
    ("a hundred and two", COUNTS, None),
    ("two million", COUNTS, None),
    ("two dozen", COUNTS, None),
    ("twenty-one", COUNTS, None),
    ("There are twenty-two speakers.", COUNTS, None),
    ("the twenty-first", ["20"], None),
    ("1,000", COUNTS, None),
    ("10 000", COUNTS, None),
    ("1.000.000", COUNTS, None),
    ("3,25", COUNTS, None),
    ('{"answer": 1,000}', COUNTS, None),
    ("1,100", MIDI, None),
    ("1e1", COUNTS, None),
    ("1e-1", COUNTS, None),
    ("1e+1", COUNTS, None),
    ("3rd", COUNTS, None),
    ("2k", COUNTS, None),
    ("2½", COUNTS, None),
    ("one third", COUNTS, None),
    ("two and a half", COUNTS, None),
    ("2 and a half", COUNTS, None),
    ("two point five", COUNTS, None),
    ("minus two", COUNTS, None),
    ("minus 5", LEVELS, None),
    ("thirty one", NUMERALS, None),
    ("sixty-two", MIDI, None),
    # the number itself, and other numbers apart from it
    ("3 speakers", COUNTS, "3"),
    ("There are 3.", COUNTS, "3"),
    ("3.0 speakers", COUNTS, "3"),
    ("Answer: 3, 25 seconds in all", COUNTS, "3"),
    ("In 2.3, 3 speakers", COUNTS, "3"),
    ("seven, one hundred percent sure", COUNTS, "7"),
    ("at this point two speakers", COUNTS, "2"),
    ("three, i.e. 3", COUNTS, "3"),
    ("1, 2", COUNTS, None),
    ("1,2", COUNTS, None),
    ("one two", COUNTS, None),
    ("twenty-one", NUMERALS, "twenty-one"),
    ("I hear twenty one speakers", NUMERALS, "twenty-one"),
    ("21", NUMERALS, "twenty-one"),
    ("one hundred", MIDI, "100"),
    ("one hundred sixty-two", MIDI, "162"),
    ("MIDI note 60 (C4, 261.63 Hz)", MIDI, "60"),
    ("60, 100", MIDI, None),
    ("-5 dB", LEVELS, "-5"),
]
DENIED_BEFORE: list[Case] = [
    ("It is unlikely to be fake.", REAL, None),
    ("It is unlikely that the speech is fake.", REAL, None),
    ("It is less likely to be fake.", REAL, None),
    ("Nothing indicates that it is fake.", REAL, None),
    ("I doubt it's happy", EMOTIONS, None),
    ("I doubt that the speaker is happy.", EMOTIONS, None),
    ("far from happy", EMOTIONS, None),
    ("hardly happy", EMOTIONS, None),
    ("Anything but happy", EMOTIONS, None),
    ("lacks a happy tone", EMOTIONS, None),
    ("The speaker is happy. My answer is based on the lack of sad tones.", EMOTIONS, "happy"),
    ("The speaker is happy. My answer is based on the sad tones.", EMOTIONS, None),
    ("Absent: happy, sad. Present: angry", EMOTIONS, "angry"),
    ("not happy, unlikely sad, but angry", EMOTIONS, "angry"),
    ("most likely happy, least likely sad", EMOTIONS, "happy"),
    # what only looks like it
    ("not only happy but very happy", EMOTIONS, "happy"),
    ("nothing but happy", EMOTIONS, "happy"),
    ("I can't hear anything but speech", SPEECH, "speech"),
    ("There is no doubt that this is fake.", REAL, "fake"),
    ("There is little doubt that it is fake", REAL, "fake"),
    ("I don't doubt it's fake", REAL, "fake"),
    ("beyond any doubt it is fake", REAL, "fake"),
    ("It is more than likely fake", REAL, "fake"),
    ("It is unlikely to be fake, real is more likely", REAL, "real"),
    ("I doubt it. Happy.", EMOTIONS, "happy"),
    ("It lacks noise and is clean.", NOISE, "clean"),
    ("unlikely", CHANCE, "unlikely"),
    ("It is unlikely.", CHANCE, "unlikely"),
    ("not likely", CHANCE, None),
    ("There is no question here", ACTS, None),
    ("There is no doubt it is a question", ACTS, "question"),
]
DENIED_AFTER: list[Case] = [
    ("Speech is not present in the audio.", SPEECH, None),
    ("Speech isn't clearly audible.", SPEECH, None),
    ("Speech cannot be heard.", SPEECH, None),
    ('"Speech" is wrong', SPEECH, None),
    ("Happy is wrong", EMOTIONS, None),
    ("Happy and sad are wrong", EMOTIONS, None),
    ("Happy or sad is wrong", EMOTIONS, None),
    ("Happy is wrong, sad is right", EMOTIONS, "sad"),
    ("The happy option is incorrect. Sad.", EMOTIONS, "sad"),
    ("Fake can be ruled out, so real", REAL, "real"),
    ("2 is the word, 1 is not.", ["1", "2"], "2"),
    ("happy: no, sad: yes", EMOTIONS, "sad"),
    ("happy (absent), sad (present)", EMOTIONS, "sad"),
    ("happy: ❌\nsad: ✅", EMOTIONS, "sad"),
    ("Yes is incorrect", YES_NO, None),
    ("No is incorrect", YES_NO, None),
    ("No. Yes is wrong.", YES_NO, "no"),
    # what only looks like it
    ("Speech is present in the audio.", SPEECH, "speech"),
    ("No speech is present.", SPEECH, "no speech"),
    ("Speech is not only present but loud.", SPEECH, "speech"),
    ("Speech is not the only sound.", SPEECH, "speech"),
    ("The speech is not in English.", SPEECH, "speech"),
    ("Speech: 0 - 5 s", SPEECH, "speech"),
    ("Happy is not sad", EMOTIONS, "happy"),
    ("Fake cannot be ruled out", REAL, "fake"),
    ("No (not audible).", YES_NO, "no"),
    ("No: none", YES_NO, "no"),
    ("Yes: no noise is audible", YES_NO, "yes"),
    ("queen absent (not present)", ["queen present", "queen absent"], "queen absent"),
    ("reverb: none", EFFECTS, None),
]
HEDGED: list[Case] = [
    ("The answer is most likely yes.", YES_NO, "yes"),
    ("The answer is probably no.", YES_NO, "no"),
    ("The answer is definitely yes.", YES_NO, "yes"),
    ("Definitely yes", YES_NO, "yes"),
    ("Definitely yes, because it is loud", YES_NO, "yes"),
    ("Most likely no.", YES_NO, "no"),
    ("I think it's a yes.", YES_NO, "yes"),
    ("That's a no.", YES_NO, "no"),
    ("It's no.", YES_NO, "no"),
    ("I believe it is most likely yes.", YES_NO, "yes"),
    ("No is the answer", YES_NO, "no"),
    ('{"answer": "most likely yes", "confidence": 0.4}', YES_NO, "yes"),
    ("The word is probably off.", COMMANDS, "off"),
    ("The answer is most likely up because of the vowel", COMMANDS, "up"),
    ("The answer is likely.", CHANCE, "likely"),
    ("Most likely", CHANCE, "likely"),
    # hedges that name nothing
    ("Probably not", YES_NO, None),
    ("Definitely", YES_NO, None),
    ("Most likely no noise", YES_NO, None),
    ("The answer is most likely no noise", YES_NO, None),
    ("maybe yes, maybe no", YES_NO, None),
    ("It's a no parking sign", YES_NO, None),
    ("It is a yes or no question", YES_NO, None),
    ("Definitely up there", COMMANDS, None),
    ("It's definitely going up there", COMMANDS, None),
]
LETTERED: list[tuple[str, str | None]] = [
    ("B is the answer", "sad"),
    ("B is the correct option.", "sad"),
    ("A is the answer", "happy"),
    ("B, because the voice is low", "sad"),
    ("B because it is low", "sad"),
    ("I think B is correct", "sad"),
    ("I think B.", "sad"),
    ("The answer is most likely B.", "sad"),
    ("Probably B", "sad"),
    ("The answer is (B). (A) is wrong.", "sad"),
    ("The answer is (B), not (A).", "sad"),
    ("(A) is incorrect. (B) is incorrect.", None),
    ("B is correct and C is correct", None),
    ("I don't think B is correct", None),
    ("B is not correct", None),
    ("B, C and D are wrong", None),
    ("Is B correct?", None),
    ("Definitely A good one", None),
]
CASES = [*NUMBERS, *DENIED_BEFORE, *DENIED_AFTER, *HEDGED]


@pytest.mark.parametrize(("answer", "options", "option"), CASES)
def test_choices(answer: str, options: list[str], option: str | None) -> None:
    assert choose_option(answer, options)[0] == option
    assert choose_option(answer, options[::-1])[0] == option


@pytest.mark.parametrize(("answer", "option"), LETTERED)
def test_lettered_choices(answer: str, option: str | None) -> None:
    assert choose_option(answer, EMOTIONS, letters=True)[0] == option


SOUNDS = ["dog", "cat", "rain", "car horn"]
ALL = "dog, cat, rain and car horn"
LISTED = "[dog, cat, rain, car horn]"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ('{"dog": true, "cat": false}', ["dog"]),
        ("{'dog': True, 'cat': None}", ["dog"]),
        ('{"dog": "yes", "cat": "no"}', ["dog"]),
        ('{"labels": {"dog": 1, "cat": 0}}', ["dog"]),
        ('{"dog": "present", "cat": "absent"}', ["dog"]),
        ('[{"label": "dog", "present": true}, {"label": "cat", "present": false}]', ["dog"]),
        ('{"dog": false, "cat": false}', []),
        ('{"dog": 0.9, "cat": 0.1}', ["dog", "cat"]),
        ("dog: yes, cat: no", ["dog"]),
        ("dog: present\ncat: absent", ["dog"]),
        ("- dog: heard\n- cat: not heard", ["dog"]),
        ("| dog | yes |\n| cat | no |", ["dog"]),
        ("dog - no; cat - yes", ["cat"]),
        ("dog: 0, cat: 1", ["cat"]),
        ("dog: 0\ncat: 1", ["cat"]),
        ("dog: 0 - 5 s\ncat: 1 - 2 s", ["dog", "cat"]),
        ("dog: [0.0, 1.2]\ncat: 0, 1.2", ["dog", "cat"]),
        ("| dog | 0.0 | 1.2 |", ["dog"]),
        ("Not present: cat, rain. Present: dog", ["dog"]),
        ("Dog and cat are absent", []),
        ("Dog and cat are audible", ["dog", "cat"]),
    ],
)
def test_sets_with_what_is_absent(answer: str, found: list[str]) -> None:
    assert choose_labels(answer, SOUNDS)[0] == tuple(found)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (f"From {LISTED} I hear a dog.", ["dog"]),
        ("From [dog, cat, rain] I hear dog and rain.", ["dog", "rain"]),
        (f"The options are {LISTED}. The answer is [dog].", ["dog"]),
        ("The options are [dog, cat]. The answer is [dog].", ["dog"]),
        (f"The options are {ALL}. I hear a dog.", ["dog"]),
        (f"Among {ALL}, I hear dog and rain.", ["dog", "rain"]),
        (f"Choose from {LISTED}: [cat, rain]", ["cat", "rain"]),
        ("Dog, cat, rain or car horn? I hear rain.", ["rain"]),
        # a set of several options may be listed, and one of them named again
        (LISTED, SOUNDS),
        (f"I hear {ALL}. The dog is loudest.", SOUNDS),
        (f"The options that I hear are {ALL}.", SOUNDS),
        ('["dog", "cat"]\nThe dog is loud.', ["dog", "cat"]),
        ("Among the sounds are dog and cat. The dog is loudest.", ["dog", "cat"]),
        ("It alternates between dog and cat, and the dog is louder.", ["dog", "cat"]),
        ("The sounds come from a dog and a cat. The cat is quiet.", ["dog", "cat"]),
    ],
)
def test_sets_beside_a_list_that_repeats_the_question(answer: str, found: list[str]) -> None:
    assert choose_labels(answer, SOUNDS) == (tuple(found), "ok")


def test_yes_and_no_may_be_options_of_a_set() -> None:
    assert choose_labels('{"dog": "yes"}', ["yes", "no", "dog"])[0] == ("yes",)
