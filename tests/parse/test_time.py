"""Texts built to hurt cost little more than one plain pass over them, and twice the text costs twice the time."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Any

import pytest
from _readers import ANY_TEXT

from dsb2_tasks import parse

FIRST = ["big", "small", "loud", "quiet", "old", "new", "red", "blue"]
SECOND = ["dog", "cat", "cow", "pig", "hen"]
NAMES = [f"{first} {second}" for first in FIRST for second in SECOND]
MANY = [f"{name} {place}" for place in ["here", "there", "near", "far", "out", "in", "up"] for name in NAMES] + NAMES
ALIASES = {name: [f"the {name}", f"{name} noise", f"a {name}"] for name in MANY}
FEW = ["happy", "sad", "yes", "one", "a", "C# minor", "[+back]", "2.0m", "no emotion"]
READERS: dict[str, Callable[[str], Any]] = {
    "choose_option": lambda text: parse.choose_option(text, FEW, letters=True),
    "choose_option of 320": lambda text: parse.choose_option(text, MANY, aliases=ALIASES, letters=True),
    "choose_labels": lambda text: parse.choose_labels(text, FEW),
    **ANY_TEXT,
}
PIECES = [
    *("a ", "1 ", "1,", "1-", "x", "{a:", "[", "(A) ", '"', "<think>", "<answer>", "[THINK]", "<|channel|>x", "\\boxed{", "😀"),
    *("the ", "Here is the ", "big dog ", "not happy ", "no no happy ", "happy, sad, ", "happy or sad? ", "between happy and "),
    *(
        "don't think that ",
        "whether happy ",
        "answer: ",
        '{"answer": "x", ',
        "1 2 3 4\n",
        "0:00 ",
        "[1, 2] ",
        "1m30s ",
        "half a ",
    ),
    *(
        "1.5-2.5 a\n",
        "SPEAKER a 1 0.1 0.2 <NA> <NA> x\n",
        "artist: b, ",
        "PERSON: x; ",
        "scale 0 (a) ",
        "start 1\nend 2\n",
        "我1",
    ),
    *(
        "one hundred ",
        "1,000 1e1 ",
        "happy is wrong ",
        "(A) is not ",
        "most likely ",
        "from happy, sad I ",
        "dog: no, ",
        "unlikely ",
    ),
]


def text_of(piece: str, length: int) -> str:
    return (piece * (length // len(piece) + 1))[:length]


def best(read: Callable[[str], Any], text: str, enough: float = 0.0, times: int = 4) -> float:
    """Processor time; the best of some, for a neighbour on the same core costs processor time too."""
    took = float("inf")
    for _ in range(times):
        start = time.process_time()
        read(text)
        took = min(took, time.process_time() - start)
        if took < enough:
            break
    return took


def plain_pass(text: str) -> int:
    """What any reader must do: cut the text into words and signs, and look at each."""
    return sum(1 for token in re.findall(r"\w+|\S", text.casefold()) if token.isalnum())


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_a_megabyte_built_to_hurt(reader: str) -> None:
    """The texts that hurt most cost a few plain passes over a megabyte; a slow machine slows both."""
    read = READERS[reader]
    bound = 8 * best(plain_pass, text_of("a ", 1_000_000))
    read("warm")
    slowest = sorted(PIECES, key=lambda piece: -best(read, text_of(piece, 50_000), times=1))[:2]
    took = {piece: best(read, text_of(piece, 1_000_000), bound) for piece in slowest}
    worst = max(took, key=lambda piece: took[piece])
    assert took[worst] < bound, f"{worst!r} took {took[worst]:.2f} s, allowed are {bound:.2f} s"


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_time_grows_with_the_length(reader: str) -> None:
    """Twice and four times the text, below the lengths where reading ends: as many times the time, with room for what varies."""
    read = READERS[reader]
    read("warm")
    for piece in PIECES:
        once, twice, four = (best(read, text_of(piece, length), times=2) for length in (8_000, 16_000, 32_000))
        if four > 8 * once + 0.005 or four > 4 * twice + 0.005:
            once, four = (best(read, text_of(piece, length)) for length in (24_000, 96_000))
            assert four <= 8 * once + 0.02, f"{piece!r}: {once:.3f} s, four times the text {four:.3f} s"
