"""Every reader takes every text: none raises, none is slow, none gives two results for one text."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from typing import Any

import pytest
from _readers import ANY_TEXT
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks import parse

OPTIONS = ["happy", "sad", "yes", "one", "a", "C# minor", "[+back]", "2.0m", "no emotion"]
READERS: dict[str, Callable[[str], Any]] = {
    "choose_option": lambda text: parse.choose_option(text, OPTIONS, aliases={"sad": ["in tears"]}, letters=True),
    "choose_option_yes_no": lambda text: parse.choose_option(text, ["yes", "no"]),
    "choose_labels": lambda text: parse.choose_labels(text, OPTIONS),
    "extract_transcript": parse.extract_transcript,
    **ANY_TEXT,
}
FRAGMENTS = """happy sad yes no not one a 1 0.5 1:30 -3 3-5 8/10 ( ) [ ] { } ' " : , ; . - / \\ < > | # % ° C#4 Hz ms seconds
between and to answer is score scale of out <think> </think> <|x|> SPEAKER <NA> PERSON: artist: DET NOUN (POS): B-artist E-artist
transcription 我 é́ 😀 ½ e999 inf nan None [] {} ``` BPM \\boxed{ }"""
WORDS = [*FRAGMENTS.split(), "\n", "\ud83d", "\x00"]
TEXTS = (
    st.text(max_size=80)
    | st.lists(st.sampled_from(WORDS), max_size=30).map(" ".join)
    | st.lists(st.sampled_from(WORDS), max_size=30).map("".join)
)


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=80, deadline=None)
@given(text=TEXTS)
def test_any_text_gives_one_result(reader: str, text: str) -> None:
    value, status = result = READERS[reader](text)
    assert isinstance(status, str) and status
    assert result == READERS[reader](text)
    json.dumps(value)
    if isinstance(value, float):
        assert math.isfinite(value)
    for entry in value if reader in ("parse_spans", "parse_notes") and value else ():
        assert 0 <= entry[0] < entry[1] < math.inf


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, order=st.permutations(OPTIONS))
def test_permuted_options_do_not_change_a_choice(text: str, order: list[str]) -> None:
    assert parse.choose_option(text, OPTIONS) == parse.choose_option(text, order)


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, thought=TEXTS)
def test_thinking_changes_nothing(text: str, thought: str) -> None:
    thought = thought.replace("think>", "")
    if "think>" not in text:
        assert parse.clean(f"<think>{thought}</think>{text}") == parse.clean(text)


#: A quarter of a megabyte, in a quarter of two seconds: one here, and as much again for a slow machine.
LENGTH, SECONDS = 250_000, 0.5
PIECES = [
    *(
        "a ",
        "1 ",
        "one ",
        "1,",
        "1-",
        "0:00 ",
        "<think>",
        "<|",
        "(",
        "[]",
        "(a, 1, 2) ",
        '"',
        "'",
        "{a:",
        "C4 ",
        " ",
        "\n",
        "_",
        "我",
    ),
    *("answer is ", "not happy ", "1.5-2.5 a\n", "artist: b, ", "B-a x E-a ", "PERSON: x; ", "x (PERSON), ", "\\boxed{"),
    *("a scale of ", "between 1 and ", "start 1 end ", "I'm sorry ", "Here is the ", "\u0301"),
]


def seconds(reader: str, text: str, bound: float) -> float:
    """Processor time of one reading; the best of three, for a neighbour on the same core costs processor time too."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        READERS[reader](text)
        best = min(best, time.process_time() - start)
        if best < bound:
            break
    return best


@pytest.mark.parametrize("reader", READERS)
def test_long_texts(reader: str) -> None:
    """Processor time of the slowest of many long texts, each of which would hurt some quadratic reader."""
    took: dict[str, float] = {}
    for piece in PIECES:
        text = (piece * (LENGTH // len(piece) + 1))[:LENGTH]
        took[piece] = seconds(reader, text, SECONDS)
    worst = max(took, key=lambda piece: took[piece])
    assert took[worst] < SECONDS, f"{worst!r} took {took[worst]:.2f} s"


@pytest.mark.parametrize("reader", READERS)
def test_a_megabyte_of_talk(reader: str) -> None:
    text = "I hear the speaker from 0.5 to 1.2 seconds, and (it seems) she is happy: not sad at all.\n" * 11_000
    assert len(text) > 950_000 and seconds(reader, text, 1.5) < 1.5
