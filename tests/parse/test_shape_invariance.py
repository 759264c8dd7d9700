"""What is read does not depend on order, case, marks around the answer, or politeness."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks.parse import choose_labels, choose_option, extract_number, extract_transcript, parse_pitches, parse_spans

SETS = [
    ["happy", "sad", "angry", "neutral"],
    ["yes", "no"],
    ["male", "female"],
    ["piano", "electric piano", "guitar"],
    ["speech", "no speech"],
    ["one", "two", "twenty one"],
    ["dog_bark", "carHorn", "street-music"],
    ["C major", "C minor", "C# minor"],
    ["left or right", "in front", "behind"],
    ["女声", "男声"],
]
FORMS = [
    "{o}",
    "The answer is {o}.",
    "It is {o}, not {p}.",
    "{o} or {p}",
    "The answer is {o} and {p}.",
    "It is not {o}.",
    "nothing",
]
#: Each leaves a careful reader with the same answer; the text is a sentence of its own.
AROUND = {
    "blanks": "  {}  ",
    "line ends": "\n\n{}\n",
    "bold": "**{}**",
    "code": "`{}`",
    "quotes": '"{}"',
    "curly quotes": "“{}”",
    "italics": "*{}*",
    "list mark": "- {}",
    "end token": "{}<|im_end|>",
    "thinking": "<think>Could it be otherwise?</think>{}",
    "thinking in brackets": "[THINK]Could it be otherwise?[/THINK]{}",
    "marked answer": "I listened twice. <answer>{}</answer>",
    "emoji before": "🎧 {}",
    "emoji behind": "{} 🎧",
    "greeting": "Sure!\n\n{}",
    "thanks": "{}\n\nLet me know if you need anything else!",
}


@st.composite
def answers(draw: st.DrawFn) -> tuple[str, list[str]]:
    options = draw(st.sampled_from(SETS))
    one, other = draw(st.permutations(options).map(lambda order: order[:2]))
    return draw(st.sampled_from(FORMS)).format(o=one, p=other), options


@pytest.mark.parametrize("around", AROUND)
@settings(max_examples=60, deadline=None)
@given(case=answers())
def test_what_stands_around_a_choice(around: str, case: tuple[str, list[str]]) -> None:
    answer, options = case
    assert choose_option(AROUND[around].format(answer), options)[0] == choose_option(answer, options)[0]


@settings(max_examples=200, deadline=None)
@given(case=answers(), around=st.sampled_from(sorted(AROUND)), data=st.data())
def test_order_and_case(case: tuple[str, list[str]], around: str, data: st.DataObject) -> None:
    answer, options = case
    text = AROUND[around].format(answer)
    read = choose_option(text, options)
    assert read == choose_option(text, data.draw(st.permutations(options)))
    assert choose_labels(text, options) == choose_labels(text, data.draw(st.permutations(options)))
    if "<" not in text:
        assert choose_option(text.upper(), options)[0] == read[0]


@pytest.mark.parametrize("around", AROUND)
@settings(max_examples=30, deadline=None)
@given(value=st.integers(0, 40).map(lambda quarters: quarters / 4))
def test_what_stands_around_a_number(around: str, value: float) -> None:
    for form in ("{}", "The score is {}.", "{} out of 10"):
        text = AROUND[around].format(form.format(f"{value:g}"))
        assert extract_number(text, lo=0, hi=10) == (value, "ok")


@pytest.mark.parametrize("around", [name for name in AROUND if name not in ("greeting", "thanks", "italics")])
def test_what_stands_around_other_values(around: str) -> None:
    spans = AROUND[around].format("dog: 0.5 - 1.2")
    assert parse_spans(spans)[0] == [(0.5, 1.2, "🎧 dog" if around == "emoji before" else "dog")] or "emoji" in around
    assert parse_pitches(AROUND[around].format("C4 D4"))[0] == [60, 62]
    if "emoji" not in around and around != "list mark" and around != "code":
        assert extract_transcript(AROUND[around].format("hello there"))[0] == "hello there"


@pytest.mark.parametrize("wrapped", ["◁think▷sad?◁/think▷{}", "<thought>sad?</thought>{}", "<reasoning>sad?</reasoning>\n{}"])
def test_every_kind_of_thinking(wrapped: str) -> None:
    assert choose_option(wrapped.format("happy"), ["happy", "sad"]) == ("happy", "exact")
    opened = wrapped[: wrapped.index("sad?")] + "sad"
    assert choose_option(opened, ["happy", "sad"]) == (None, "empty"), "an unclosed block holds no answer"


def test_channels_of_a_decoder() -> None:
    thought = "<|channel|>analysis<|message|>sad?<|end|>"
    assert choose_option(f"{thought}<|start|>assistant<|channel|>final<|message|>happy", ["happy", "sad"]) == ("happy", "exact")
    assert choose_option(thought, ["happy", "sad"]) == (None, "empty")


def test_the_last_marked_answer_counts_and_an_empty_one_does_not() -> None:
    assert choose_option("<answer>sad</answer> No. <answer>happy", ["happy", "sad"])[0] == "happy"
    assert choose_option("happy <answer> </answer>", ["happy", "sad"])[0] == "happy"
    assert extract_number("<answer>3</answer> of 5", lo=0, hi=10) == (3.0, "ok")


def test_an_enumeration_that_repeats_the_question_is_no_choice_of_its_own() -> None:
    options = ["happy", "sad", "angry"]
    assert choose_option("Between happy and sad, I choose sad.", options)[0] == "sad"
    assert choose_option("It is between happy and sad.", options) == (None, "ambiguous")
    assert choose_option("Between happy and sad, or else angry.", options) == (None, "ambiguous")
    assert choose_labels("Options: happy, sad. I hear sad.", options)[0] == ("happy", "sad"), "a set may be listed"


def test_an_option_that_begins_another_one_may_end_the_text() -> None:
    options = ["alveolar", "alveolar nasal", "alveolar nasal click"]
    for option in options:
        assert choose_option(f"I hear it: {option}", options)[0] == option
        assert choose_option(f"either dental or {option}", options)[0] == option
