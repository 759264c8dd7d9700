"""Any answer, however it is built, is read by every kind in bounded time and memory, to a row that can be kept."""

from __future__ import annotations

import time

import pytest
from _children import in_child
from _hostile_answers import SHAPES, SHORT, one_of, read
from click.testing import CliRunner

from dsb2_tasks.cli import main
from dsb2_tasks.hooks import KINDS

#: Processor seconds that one answer may take: so many whatever its length, and so many for each megabyte of characters.
#: Of a list of turns no more than 5,000 are read, and pyannote takes the square of their number.
FIXED, FIXED_TURNS, A_MEGABYTE = 0.3, 6.0, 15.0
#: Length of the texts of the default run; what takes the square of the length takes several times the bound at this one.
LENGTH = 12_000


#: What is also tried in ten megabytes.
LONG = ("one word", "words", "double quotes", "nested brackets", "objects", "digits", "numbers", "code fences", "combining")
LONG += ("marks on one letter", "blanks", "line ends", "thoughts", "ideographs", "all different")


def _bound(kind: str, length: int) -> float:
    return (FIXED_TURNS if kind == "turns" else FIXED) + A_MEGABYTE * length / 1e6


def _seconds(kind: str, answer: str, bound: float) -> float:
    """Processor time of one reading; the best of three, for a neighbour on the same core costs processor time too."""
    best = float("inf")
    for _ in range(3):
        start = time.process_time()
        read(kind, answer)
        best = min(best, time.process_time() - start)
        if best < bound:
            break
    return best


@pytest.mark.parametrize("kind", KINDS)
def test_time_grows_with_the_length_of_an_answer_and_not_with_its_square(kind: str) -> None:
    read(kind, "dog")  # imports are not part of the time
    bound = _bound(kind, LENGTH)
    # Words before and behind: blanks and fences at the ends are cut off before anybody reads.
    took = {name: _seconds(kind, f"x: {shape(LENGTH)} dog 1.", bound) for name, shape in SHAPES.items()}
    worst = max(took, key=lambda name: took[name])
    assert took[worst] < bound, f"{worst!r} took {took[worst]:.2f} s"


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_ten_megabytes(kind: str) -> None:
    """In a process of its own that may have 6 GB more, and the time of ten megabytes for each shape."""

    def slow() -> list[str]:
        one_of(kind)
        found = []
        for name in LONG:
            start = time.process_time()
            try:
                read(kind, f"x: {SHAPES[name](10_000_000)} dog 1.")
            except BaseException as error:
                found.append(f"{name}: {error!r:.200}")
            if time.process_time() - start > _bound(kind, 10_000_000):
                found.append(f"{name}: {time.process_time() - start:.0f} s")
        return found

    assert in_child(slow, seconds=3600, most=6 << 30).value == []


@pytest.mark.parametrize("kind", KINDS)
def test_short_answers_that_no_text_should_be(kind: str) -> None:
    start = time.process_time()
    for answer in SHORT.values():
        read(kind, answer)
        read(kind, f"The answer is {answer}")
    assert time.process_time() - start < 20


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_no_float_and_no_integer_holds_are_not_read_as_some_number(kind: str) -> None:
    for answer in ("9" * 1_000_000, "-" + "9" * 5000, "[1e999, 1e999]", "1e999999", "Infinity", "nan"):
        scored = read(kind, answer)
        if kind in ("number", "pitches", "notes", "spans", "turns", "events"):
            assert scored.value in (None, []), (answer[:20], scored)


def _of_every_block() -> list[str]:
    """Three characters of every 128 of the first two planes and of every 4096 of the others, 16 such blocks an answer."""
    starts = [*range(0, 0x20000, 128), *range(0x20000, 0x110000, 4096)]
    blocks = ["".join(chr(start + place) for place in (1, 42, 101)) for start in starts]
    return [" ".join(blocks[at : at + 16]) for at in range(0, len(blocks), 16)]


@pytest.mark.parametrize("kind", KINDS)
def test_characters_of_every_block(kind: str) -> None:
    for text in _of_every_block():
        read(kind, f"dog {text} 0.5 - 1.2")


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "waveform"])
def test_an_explanation_sends_nothing_to_the_terminal_but_text(kind: str) -> None:
    name, _, _ = one_of(kind)
    answer = "".join(SHORT[key] for key in ("colours", "overrides", "half characters", "controls", "tags", "script"))
    shown = CliRunner().invoke(main, ["explain", name, "--answer", answer, "--label", "dog\x1b[31m\u202e: 1-2 / NOUN"])
    assert shown.exit_code in (0, 1), shown.output  # 1: what stands there is no label of every kind
    shown = [shown, CliRunner().invoke(main, ["explain", name, "--answer", answer])]
    assert shown[1].exit_code == 0 and "answer" in shown[1].output
    for one in shown:
        assert not [sign for sign in one.output if not sign.isprintable() and sign != "\n"], one.output
