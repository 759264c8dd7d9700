"""The number an answer states, in the task's unit."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dsb2_tasks.parse import extract_number
from dsb2_tasks.parse._numerals import read_numeral, spell

SCORE: dict[str, Any] = {"lo": 0, "hi": 10}
SECONDS: dict[str, Any] = {"unit": "s"}
METRES: dict[str, Any] = {"unit": "m"}
DEGREES: dict[str, Any] = {"unit": "deg"}
PERCENT: dict[str, Any] = {"unit": "percent"}
PHONES: dict[str, Any] = {"noun": ("phone", "phones")}
SWITCHES: dict[str, Any] = {"lo": 0, "noun": ("switch", "switches")}


@pytest.mark.parametrize(
    ("answer", "form", "value"),
    [
        ("7", SCORE, 7),
        ("**7**", SCORE, 7),
        ("The score is 7.", SCORE, 7),
        ("7 out of 10", SCORE, 7),
        ("8/10", SCORE, 8),
        ("On a scale of 0 to 10, I rate it 7", SCORE, 7),
        ("On a scale from one to ten it is a six", {"lo": 1, "hi": 10}, 6),
        ("a 5-point scale: 4", {"lo": 1, "hi": 5}, 4),
        ("a score of 8 on the 0-10 scale", SCORE, 8),
        ("90%", SCORE, 9),
        ("Score: 8, confidence: 9", SCORE, 8),
        ("Score: 8\nConfidence: 9", SCORE, 8),
        ("Rating: 4 (min: 1, max: 5)", {"lo": 1, "hi": 5}, 4),
        ("The score is 4 (max is 5)", {"lo": 1, "hi": 5}, 4),
        ("Score: 4, Confidence: 0.9", {"lo": 1, "hi": 5}, 4),
        ("Score: 3 for rhythm, final score: 6", SCORE, 6),
        ("The answer is 2 + 2 = 4", SCORE, 4),
        ("The score is not 3: it is 4", SCORE, 4),
        ("Count: 6 (vowels: 2, consonants: 4)", {"lo": 0}, 6),
        ("Duration: 12 s, start: 3 s", SECONDS, 12),
        ("I give 3 points to rhythm. Final score: 6", SCORE, 6),
        ("The rating is 6, but 4 is possible", SCORE, 6),
        ("12 of them, so 5", SCORE, 5),
        (r"So \boxed{4}, not 5", SCORE, 4),
        ("<think>5</think> 6", SCORE, 6),
        ("The two recordings contain 6 phones", {"lo": 0, "noun": ("phone", "phones")}, 6),
        ("6 distinct phones", {"noun": "phones"}, 6),
        ("It has 5 phones: 1, 2, 3, 4, 5", {"noun": ["phones"]}, 5),
        ("There are no language switches.", SWITCHES, 0),
        ("This one has 3", SWITCHES, 3),
        ("five and a half", {}, 5.5),
        ("minus five", {}, -5),
        ("-3.5", {}, -3.5),
        ("A-3", {}, 3),
        ("1,234,567", {}, 1234567),
        ("12½", {}, 12.5),
        ("twelve hundred", {}, 1200),
        ("about 12.5 s", SECONDS, 12.5),
        ("seven seconds", SECONDS, 7),
        ("1 h 2 min 3 s", SECONDS, 3723),
        ("two minutes and five seconds", SECONDS, 125),
        ("1:02:03.5", SECONDS, 3723.5),
        ("The 16 kHz audio lasts 12.5 seconds", SECONDS, 12.5),
        ("7.2 s long with 3 words", SECONDS, 7.2),
        ("5 feet 2 inches", METRES, 1.5748),
        ("4 and a half meters", METRES, 4.5),
        ("1500 mm", METRES, 1.5),
        ("minus ninety degrees", {"unit": "deg"}, -90),
        ("-90°", {"unit": "deg"}, -90),
        ("8/10", {"unit": "frac"}, 0.8),
        ("40 percent", {"unit": "percent"}, 40),
    ],
)
def test_values(answer: str, form: dict[str, Any], value: float) -> None:
    found, status = extract_number(answer, **form)
    assert found == pytest.approx(value, abs=1e-12) and status in ("ok", "clock")


@pytest.mark.parametrize(
    ("answer", "form", "status"),
    [
        ("", SCORE, "empty"),
        ("no idea", SCORE, "no_number"),
        ("3-5", SCORE, "range"),
        ("3 or 4", SCORE, "range"),
        ("between 3 and 5", SCORE, "range"),
        ("3 to 5 seconds", SECONDS, "range"),
        ("0 to 10", SCORE, "no_number"),
        ("4/5", SCORE, "other_scale"),
        ("4 out of 5", {}, "other_scale"),
        ("11", SCORE, "out_of_range"),
        ("500 cm", {**METRES, "hi": 4.5}, "out_of_range"),
        ("1e999", {}, "out_of_range"),
        ("9" * 400, {}, "out_of_range"),
        ("3 and 7", SCORE, "ambiguous"),
        ("3, maybe 7", SCORE, "ambiguous"),
        ("spk1 says the 3rd", {}, "no_number"),
        ("one of them", {}, "no_number"),
        (" ".join(map(str, range(5000))), {}, "ambiguous"),
    ],
)
def test_no_value(answer: str, form: dict[str, Any], status: str) -> None:
    assert extract_number(answer, **form) == (None, status)


@pytest.mark.parametrize(
    ("answer", "form", "value"),
    [
        ("three quarters of a second", SECONDS, 0.75),
        ("one-third of a second", SECONDS, 1 / 3),
        ("two thirds of a minute", SECONDS, 40),
        ("one half second", SECONDS, 0.5),
        ("half a second", SECONDS, 0.5),
        ("one second", SECONDS, 1),
        ("two and three quarters seconds", SECONDS, 2.75),
        ("2 and a quarter hours", SECONDS, 8100),
        ("two minutes and a half", SECONDS, 150),
        ("two minutes and a half second", SECONDS, 120.5),
        ("1 ½ seconds", SECONDS, 1.5),
        ("⅓ of a second", SECONDS, 1 / 3),
        ("minus two and a quarter meters", METRES, -2.25),
        ("four and two thirds", SCORE, 14 / 3),
        ("two thirds of the time", {"unit": "frac"}, 2 / 3),
        ("two thirds of the time", PERCENT, 200 / 3),
        ("three quarters of a percent", PERCENT, 0.75),
        ("one third of the clip, 4 seconds", SECONDS, 4),
        ("one third of the phones, so 4 phones", PHONES, 4),
        ("three quarter notes", {}, 3),
        ("five minutes thirty", SECONDS, 330),
        ("It lasts 5 minutes and 30.", SECONDS, 330),
        ("five minutes thirty in total", SECONDS, 330),
        ("5 minutes 30 seconds", SECONDS, 330),
        ("one hour thirty", SECONDS, 5400),
        ("1 hour 5 minutes 30", SECONDS, 3930),
        ("5 minutes 3 speakers", SECONDS, 300),
        ("five minutes, thirty speakers", SECONDS, 300),
        ("3 days", SECONDS, 259_200),
        ("one metre eighty", METRES, 1.8),
        ("5 feet 2", METRES, 1.5748),
        ("2 yards", METRES, 1.8288),
        ("1 million", {}, 1_000_000),
        ("three million", {}, 3_000_000),
        ("2.5 thousand", {}, 2500),
        ("half a million", {}, 500_000),
        ("2 million 300 thousand", {}, 2_300_000),
        ("one million two hundred thousand and four", {}, 1_200_004),
        ("1 thousand phones", PHONES, 1000),
        ("a hundred and one phones", PHONES, 101),
        ("a hundred phones", PHONES, 100),
        ("two dozen phones", PHONES, 24),
        ("one hundred and two thousand", {}, 102_000),
        ("on a scale of one to a hundred, 60", {"lo": 1, "hi": 100}, 60),
        ("1.57 rad", DEGREES, 89.95437383553924),
        ("π/4 radians", DEGREES, 45),
        ("-π/2", DEGREES, -90),
        ("3 pi / 4", DEGREES, 135),
        ("0.5π rad, about 1.57 radians", DEGREES, 90),
        (r"$-\frac{3\pi}{4}$", DEGREES, -135),
        ("The angle is 45 degrees, which is 0.785 radians", DEGREES, 45),
        ("45° (0.785 rad)", DEGREES, 45),
        ("0.785 radians, that is 45 degrees", DEGREES, 45),
        ("5 feet (1.52 m)", METRES, 1.52),
        ("1.5 rad", {}, 1.5),
    ],
)
def test_amounts_and_units(answer: str, form: dict[str, Any], value: float) -> None:
    found, status = extract_number(answer, **form)
    assert found == pytest.approx(value, rel=1e-6) and status == "ok"


@pytest.mark.parametrize(
    ("answer", "form"),
    [
        ("one third of the clip", SECONDS),
        ("one third of the phones", PHONES),
        ("two thirds", SCORE),
        ("2/3 of a second", SECONDS),
        ("five minutes ninety", SECONDS),
        ("1 meter 5", METRES),
        ("5 feet (2 m)", METRES),
        ("several hundred and one phones", PHONES),
        ("a thousand and a half", {}),
        ("half a dozen phones", PHONES),
        ("between one hundred and two hundred phones", PHONES),
        ("between a hundred and two hundred phones", PHONES),
        ("one or two hundred phones", PHONES),
        ("between two and three quarters", SCORE),
        ("45 degrees, 1.2 radians", DEGREES),
        ("pi/4.5", DEGREES),
        (".25π", DEGREES),
        ("π/0", DEGREES),
    ],
)
def test_amounts_that_cannot_be_read_are_none(answer: str, form: dict[str, Any]) -> None:
    assert extract_number(answer, **form)[0] is None


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 999_999))
def test_numbers_in_words(number: int) -> None:
    words = spell(number)
    assert words is not None and read_numeral(words.split()) == (number, len(words.split()))
    for text in (words, words.capitalize() + ".", f"The answer is {words}", f"{number:,}", f"There are {number} of them"):
        assert extract_number(text)[0] == number


@settings(max_examples=200, deadline=None)
@given(st.floats(0, 1e9, allow_nan=False))
def test_every_decimal_reads_back(number: float) -> None:
    text = f"{number:.6f}"
    assert extract_number(text, unit="s")[0] == float(text)
    assert extract_number(f"It lasts {text} seconds.", unit="s")[0] == float(text)


def test_what_stands_far_from_numbers_does_not_matter() -> None:
    filler = "the sound goes on and on " * 2000
    assert extract_number(f"{filler} The answer is 7. {filler}") == (7.0, "ok")
    assert extract_number(f"3 apples {filler} 4 pears") == (None, "ambiguous")
