"""Every classification task of the catalogue against a table of answer shapes: what each yields.

The options are the task's own, closed over its embedded samples where the task file says ``options: labels``.  Of each task
the first, the last and one more option are asked for, beside a second one that is not.
"""

from __future__ import annotations

import json
import random
from functools import lru_cache
from typing import Any, NamedTuple

import pytest

from dsb2_tasks import catalog, hooks
from dsb2_tasks.catalog import TaskEntry
from dsb2_tasks.parse import match_option
from dsb2_tasks.sources import Docs, open_rows
from dsb2_tasks.spec import TaskSpec

KNOWN = catalog.read_catalog([catalog.yaml_root()])
CHOICE: dict[str, TaskEntry] = {name: task for name, task in KNOWN.tasks.items() if task.spec.kind == "choice"}

CHOSEN, NO_OPTION, AMBIGUOUS, EMPTY = "chosen", "no_option", "ambiguous", "empty"


class Shape(NamedTuple):
    """An answer with {o}, the option that is meant, and {p}, another one; what it yields.

    ``fragile`` is what it yields where the options are words that are said for other reasons too (yes, no, up, left, one
    letter): these count only where they stand alone, in quotes, or after a cue such as "is" or "says".
    """

    text: str
    yields: str
    fragile: str


def same(text: str, yields: str) -> Shape:
    return Shape(text, yields, yields)


SHAPES: dict[str, Shape] = {
    "bare": same("{o}", CHOSEN),
    "with a full stop": same("{o}.", CHOSEN),
    "other case": same("{upper}", CHOSEN),
    "quoted": same('"{o}"', CHOSEN),
    "bold": same("**{o}**", CHOSEN),
    "code": same("`{o}`", CHOSEN),
    "JSON": same("{json}", CHOSEN),
    "JSON in a fence": same("```json\n{json}\n```", CHOSEN),
    "end token": same("{o}<|im_end|>", CHOSEN),
    "sentence": same("The answer is {o}.", CHOSEN),
    "field": same("Answer: {o}", CHOSEN),
    "field, then an explanation": same("Answer: {o}\n\nThis is what the recording suggests to me.", CHOSEN),
    "loose sentence": Shape("It sounds like {o}.", CHOSEN, NO_OPTION),
    "in the middle": Shape("I can hear {o} here quite well.", CHOSEN, NO_OPTION),
    "after thinking": same("<think>Could it be {p}? The answer is {p}.</think>\n{o}", CHOSEN),
    "only thinking": same("<think>It is {o}. The answer is {o}.", EMPTY),
    "other option negated after": same("It is {o}, not {p}.", CHOSEN),
    "other option negated before": Shape("It is not {p}, but {o}.", CHOSEN, NO_OPTION),
    "taken back": same("First I thought of {p}. The answer is {o}.", CHOSEN),
    "option negated": same("It is not {o}.", NO_OPTION),
    "two options": same("{o} or {p}", AMBIGUOUS),
    "two options in a sentence": same("The answer is {o} and {p}.", AMBIGUOUS),
    "two options in a list": same("{o}, {p}", AMBIGUOUS),
    "refusal": same("I'm sorry, but I can't listen to audio.", NO_OPTION),
    "something else": same("qwxz", NO_OPTION),
    "empty": same("", EMPTY),
}
#: Words that are said for other reasons than to name an option, of the options that the tasks have; and every single letter.
FRAGILE = {"yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"}


@lru_cache(maxsize=8)
def closed(name: str) -> TaskSpec:
    task = CHOICE[name]
    parts = [open_rows(source, "samples", task.path.parent, name) for source in task.spec.data]
    docs = Docs(name, task.spec, parts)
    return hooks.close_options(task.spec, [docs.text(index) for index in range(len(docs))])


def options_of(spec: TaskSpec) -> tuple[str, ...]:
    assert isinstance(spec.options, tuple) and len(spec.options) >= 2
    return spec.options


def picks(name: str) -> list[tuple[str, str]]:
    """(option, another one): the first, the last, and one by the task's name."""
    options, chance = options_of(closed(name)), random.Random(name)
    chosen = dict.fromkeys((options[0], options[-1], chance.choice(options)))
    return [(option, chance.choice([other for other in options if other != option])) for option in chosen]


def is_fragile(option: str) -> bool:
    return option.casefold() in FRAGILE or (len(option) == 1 and option.isalpha())


def read(answer: str, label: str, spec: TaskSpec) -> tuple[Any, str, Any]:
    scored = hooks.choice(answer, {"dsb2_label": [label], "dsb2_language": None}, spec)
    return scored.value, scored.status, scored.statistics["accuracy"]


def test_every_classification_task_is_here_with_eight_shapes_or_more() -> None:
    assert len(CHOICE) == 129 and len(SHAPES) >= 8
    assert not any(task.spec.letters for task in CHOICE.values()), "a lettered task: test_letters says what holds for it"


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", CHOICE)
def test_shape(name: str, shape: str) -> None:
    spec = closed(name)
    options = options_of(spec)
    shuffled = spec.model_copy(update={"options": tuple(random.Random(name).sample(options, len(options)))})
    for option, other in picks(name):
        form = SHAPES[shape]
        answer = form.text.format(
            o=option, p=other, upper=option.upper(), json=json.dumps({"answer": option}, ensure_ascii=False)
        )
        yields = form.fragile if is_fragile(option) else form.yields
        expected = (option, "ok") if yields == CHOSEN else (None, yields)
        value, status, row = read(answer, option, spec)
        assert (value, status) == expected, answer
        assert row == (float(yields == CHOSEN),)
        assert read(answer, other, spec)[2] == (0.0,)
        assert read(answer, option, shuffled) == (value, status, row), "the order of the options matters"


@pytest.mark.parametrize("form", ["{}", "({})", "{}.", "{})", "option {}", "Answer: {}"])
@pytest.mark.parametrize("name", CHOICE)
def test_letters(name: str, form: str) -> None:
    """A letter is an answer where the instruction letters its options; elsewhere only where it is an option's name."""
    spec = closed(name)
    lettered = spec.model_copy(update={"letters": True})
    options = options_of(spec)
    for place, option in [(0, options[0]), (1, options[1]), (min(len(options), 26) - 1, options[min(len(options), 26) - 1])]:
        letter = chr(ord("A") + place)
        named = match_option(letter, options, aliases=spec.aliases)
        if form == "option {}" and named != letter:
            named = None  # among other words a letter must be written as the option: F is not the phone f
        value, status, _ = read(form.format(letter), option, spec)
        assert (value, status) == ((named, "ok") if named else (None, "no_option"))
        if named in (None, option):
            assert read(form.format(letter), option, lettered) == (option, "ok", (1.0,))
        else:  # the letter of one option is the name of another: no instruction does that, and neither is preferred at random
            assert read(form.format(letter), option, lettered)[0] in (named, None)


YES_NO = [name for name, task in CHOICE.items() if {str(o).lower() for o in task.spec.options or ()} == {"yes", "no"}]


@pytest.mark.parametrize(
    ("answer", "yields"),
    [
        ("Yes, I can hear that.", "yes"),
        ("No, there is nothing of the kind.", "no"),
        ("No because the voice stays the same.", "no"),
        ("yes!!", "yes"),
        ("Well, yes.", "yes"),
        ("Yes and no.", AMBIGUOUS),
        ("Yes. Or no.", AMBIGUOUS),
        ("There is no such sound.", NO_OPTION),
        ("I do not know.", NO_OPTION),
        ("It does.", NO_OPTION),
    ],
)
@pytest.mark.parametrize("name", YES_NO)
def test_yes_or_no(name: str, answer: str, yields: str) -> None:
    """A leading yes or no is the answer; "no" before a word is none; the opposite is never concluded."""
    spec = closed(name)
    wanted = next((option for option in options_of(spec) if option.lower() == yields), None)
    value, status, _ = read(answer, options_of(spec)[0], spec)
    assert (value, status) == (wanted, "ok" if wanted else yields)


def test_yes_or_no_tasks() -> None:
    assert len(YES_NO) > 20
