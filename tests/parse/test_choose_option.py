"""One option out of a closed set, read from free text."""

from __future__ import annotations

import itertools
import time

import pytest

from dsb2_tasks.parse import choose_labels, choose_option, match_option

EMOTIONS = ["happy", "sad", "angry", "neutral"]
YES_NO = ["yes", "no"]
COMMANDS = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go", "_silence_", "_unknown_"]
KEYS = ["C major", "C minor", "C# minor", "Eb major", "E major", "F# major"]
PHONES = ["pʰ", "ph", "p", "a", "ɑ", "ə", "kʼ", "k"]
SHAPES: list[tuple[str, list[str], str | None, str]] = [
    # bare, quoted, marked up
    ("happy", EMOTIONS, "happy", "exact"),
    ("  HAPPY!! ", EMOTIONS, "happy", "exact"),
    ("'Happy'", EMOTIONS, "happy", "exact"),
    ("**Happy**.", EMOTIONS, "happy", "exact"),
    ("- happy", EMOTIONS, "happy", "exact"),
    ("`sad`", EMOTIONS, "sad", "exact"),
    # after "the answer is"
    ("The answer is sad.", EMOTIONS, "sad", "exact"),
    ("Options: happy, sad, angry. The correct label would be: sad", EMOTIONS, "sad", "exact"),
    ("The answer is happy. No, the answer is sad", EMOTIONS, "sad", "exact"),
    ('{"answer": "sad"}', EMOTIONS, "sad", "exact"),
    ('```json\n{"emotion": "angry"}\n```', EMOTIONS, "angry", "mention"),
    # headings with explanations
    ("happy\n\nThe voice is bright, it could not be sad or angry.", EMOTIONS, "happy", "exact"),
    ("Answer: sad\nIt may sound angry at first.", EMOTIONS, "sad", "exact"),
    ("happy\nsad", EMOTIONS, None, "ambiguous"),
    # sentences
    ("The speaker sounds happy to me", EMOTIONS, "happy", "mention"),
    ("A happy voice, happy all through", EMOTIONS, "happy", "mention"),
    ("either happy or sad", EMOTIONS, None, "ambiguous"),
    ("It is happy/sad", EMOTIONS, None, "ambiguous"),
    ("I cannot tell", EMOTIONS, None, "no_option"),
    ("I'm sorry, but I cannot listen to audio.", EMOTIONS, None, "no_option"),
    ("unhappy", EMOTIONS, None, "no_option"),
    # negation
    ("not happy", EMOTIONS, None, "no_option"),
    ("It isn't happy, it's sad", EMOTIONS, "sad", "mention"),
    ("more sad than angry", EMOTIONS, "sad", "mention"),
    ("sad instead of really angry", EMOTIONS, "sad", "mention"),
    ("not happy but sad", EMOTIONS, "sad", "mention"),
    ("There is no doubt: happy", EMOTIONS, "happy", "mention"),
    # reasoning and tokens
    ("<think>happy? or sad?</think>neutral<|im_end|>", EMOTIONS, "neutral", "exact"),
    ("<think>it is happy", EMOTIONS, None, "empty"),
    ("it was sad</think>\nangry", EMOTIONS, "angry", "exact"),
    (" \n", EMOTIONS, None, "empty"),
    # yes and no
    ("No.", YES_NO, "no", "exact"),
    ("No it is not", YES_NO, "no", "lead"),
    ("Yes, there is no noise", YES_NO, "yes", "lead"),
    ("There is no noise", YES_NO, None, "no_option"),
    ("Based on the clip, yes.", YES_NO, "yes", "mention"),
    ("No. Yes.", YES_NO, None, "ambiguous"),
    ("I know nothing", YES_NO, None, "no_option"),
    # words that are said for other reasons
    ("The word is left.", COMMANDS, "left", "mention"),
    ("The speaker says 'go'", COMMANDS, "go", "mention"),
    ("keyword: on", COMMANDS, "on", "mention"),
    ("The man is going on about it right there", COMMANDS, None, "no_option"),
    ("There is only silence", COMMANDS, "_silence_", "mention"),
    ("It is A or B", ["A", "B"], None, "ambiguous"),
    ("X is closer to word A than to word B.", ["A", "B"], "A", "mention"),
    ("a sound like b", ["A", "B"], None, "no_option"),
    # numbers
    ("2", ["one", "two"], "two", "exact"),
    ("sixty one", ["60", "61"], "61", "exact"),
    ("There are two", ["1", "2"], "2", "mention"),
    ("This one has two speakers", ["one", "two"], "two", "mention"),
    ("-5 dB", ["-5", "5"], "-5", "mention"),
    ("2 m", ["0.4m", "2.0m"], "2.0m", "exact"),
    ("2.5 m", ["0.4m", "2.0m"], None, "no_option"),
    # signs, notes, phones
    ("[-back]", ["[+back]", "[-back]"], "[-back]", "exact"),
    ("It is −back", ["[+back]", "[-back]"], "[-back]", "mention"),
    ("The vowel is back", ["[+back]", "[-back]"], None, "ambiguous"),
    ("C sharp minor", KEYS, "C# minor", "exact"),
    ("The key is C-sharp minor", KEYS, "C# minor", "mention"),
    ("E♭ major", KEYS, "Eb major", "exact"),
    ("minor", KEYS, None, "no_option"),
    ("[pʰ]", PHONES, "pʰ", "exact"),
    ("The phone is /ph/.", PHONES, "ph", "mention"),
    ("The phone is [ə]", PHONES, "ə", "mention"),
    ("a phone", PHONES, None, "no_option"),
    # spelling of the option itself
    ("mother call", ["MotherCall", "Happy"], "MotherCall", "exact"),
    ("covid 19", ["healthy", "COVID-19"], "COVID-19", "exact"),
    ("Hip-Hop", ["hip_hop", "rock"], "hip_hop", "exact"),
    ("dogs", ["dog", "cat"], "dog", "exact"),
    ("unrounded", ["rounded", "unrounded"], "unrounded", "exact"),
    ("no emotion at all", ["no emotion", "anger"], "no emotion", "mention"),
    ("女声", ["男声", "女声"], "女声", "exact"),
    ("这是女声。", ["男声", "女声"], "女声", "mention"),
]


@pytest.mark.parametrize(("answer", "options", "option", "status"), SHAPES)
def test_shapes(answer: str, options: list[str], option: str | None, status: str) -> None:
    assert choose_option(answer, options) == (option, status)


@pytest.mark.parametrize(("answer", "options", "option", "status"), SHAPES)
def test_the_order_of_options_does_not_matter(answer: str, options: list[str], option: str | None, status: str) -> None:
    assert choose_option(answer, options[::-1]) == (option, status)


@pytest.mark.parametrize("options", [EMOTIONS, YES_NO, COMMANDS, KEYS, PHONES, ["[+back]", "[-back]"], ["A", "B"], ["😀", "😢"]])
def test_every_option_names_itself(options: list[str]) -> None:
    for option in options:
        loud = option.upper() if len(option) > 2 else option
        for answer in (option, loud, f"The answer is: {option}", f"<think>x</think>{option}"):
            assert choose_option(answer, options)[0] == option, answer
        assert match_option(option, options) == option


@pytest.mark.parametrize(
    ("answer", "option", "status"),
    [
        ("B", "dog", "letter"),
        ("(B)", "dog", "letter"),
        ("B.", "dog", "letter"),
        ("B) dog", "dog", "letter"),
        ("Option B", "dog", "letter"),
        ("The answer is B because it barks", "dog", "letter"),
        ("**(B)** it barks", "dog", "letter"),
        ("b", None, "no_option"),
        ("A dog", "dog", "mention"),
        ("B) cat", None, "ambiguous"),
        ("(A) or (B)", None, "ambiguous"),
        ("(F)", None, "no_option"),
    ],
)
def test_letters(answer: str, option: str | None, status: str) -> None:
    assert choose_option(answer, ["cat", "dog", "cow"], letters=True) == (option, status)


def test_a_letter_counts_only_where_the_instruction_letters_its_options() -> None:
    assert choose_option("(B)", ["cat", "dog"]) == (None, "no_option")


def test_aliases() -> None:
    aliases = {"happy": ["joy", "in high spirits"], "sad": ["sorrow"]}
    assert choose_option("Full of joy", EMOTIONS, aliases=aliases) == ("happy", "mention")
    assert choose_option("She is in high spirits", EMOTIONS, aliases=aliases) == ("happy", "mention")
    assert choose_option("joy and sorrow", EMOTIONS, aliases=aliases) == (None, "ambiguous")
    assert match_option("Joy", EMOTIONS, aliases=aliases) == "happy"
    assert match_option("joy and more", EMOTIONS, aliases=aliases) is None


def test_two_options_are_never_one_choice() -> None:
    for one, other in itertools.permutations(EMOTIONS, 2):
        for joint in (" and ", " or ", ", ", "; ", "\n", " / "):
            assert choose_option(f"{one}{joint}{other}", EMOTIONS) == (None, "ambiguous")


INSTRUMENTS = ["piano", "guitar", "drums", "bass", "drinking or sipping"]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ("piano", ["piano"]),
        ("['piano', 'drums', 'piano']", ["piano", "drums"]),
        ('{"labels": ["bass", "Piano"]}', ["bass", "piano"]),
        ("Piano; drums", ["piano", "drums"]),
        ("- piano\n- drums", ["piano", "drums"]),
        ("1. piano\n2) drums", ["piano", "drums"]),
        ("a piano and the guitar", ["piano", "guitar"]),
        ("The labels are guitar & bass", ["guitar", "bass"]),
        ("I hear a piano, some drums but no bass", ["piano", "drums"]),
        ("piano, drinking or sipping", ["piano", "drinking or sipping"]),
        ("['piano', 'violin']", ["piano"]),
        ("<think>drums</think>bass", ["bass"]),
    ],
)
def test_sets(answer: str, found: list[str]) -> None:
    assert choose_labels(answer, INSTRUMENTS) == (tuple(found), "ok")


@pytest.mark.parametrize(
    ("answer", "status"), [("", "empty"), ("none", "no_option"), ("no piano", "no_option"), ("[]", "no_option")]
)
def test_no_set(answer: str, status: str) -> None:
    assert choose_labels(answer, INSTRUMENTS) == ((), status)


def test_many_options_are_fast() -> None:
    options = [f"{a}{b}{c}" for a in "ptkbdgmn" for b in "aeiouəɛɔ" for c in "ptkbdgmns"]
    choose_option("warm", options)
    start = time.process_time()
    for _ in range(100):
        choose_option("The middle phone is [pat], I believe, since it is short.", options)
    assert time.process_time() - start < 1.0


def test_options_may_be_any_sequence() -> None:
    assert choose_option("x", ("x", "y")) == choose_option("x", ["x", "y"]) == ("x", "exact")
