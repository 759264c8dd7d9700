from __future__ import annotations

import copy

import pytest

from dsb2_tasks.models._args import SettingError
from dsb2_tasks.models._generation import DEFAULT_CAP, Generation, cut, read_generation

SUITE = {"until": [], "do_sample": False, "temperature": 0.0, "max_gen_toks": 64}


def test_settings_of_a_task() -> None:
    before = copy.deepcopy(SUITE)
    assert read_generation(SUITE) == Generation(64)
    assert before == SUITE
    assert read_generation(SUITE, cap=7).max_new_tokens == 7
    assert read_generation({}).max_new_tokens == DEFAULT_CAP


@pytest.mark.parametrize(
    ("given", "sampling", "options"),
    [
        ({"do_sample": True}, True, {}),
        ({"temperature": 0.7}, True, {"temperature": 0.7}),
        ({"temperature": 0.0}, False, {}),
        ({"do_sample": True, "temperature": 0.7, "top_p": 0.9}, True, {"temperature": 0.7, "top_p": 0.9}),
        ({"num_beams": 4, "length_penalty": None}, False, {"num_beams": 4}),
        ({"repetition_penalty": 1.1}, False, {"repetition_penalty": 1.1}),
    ],
)
def test_sampling_and_options(given: dict, sampling: bool, options: dict) -> None:
    read = read_generation(given)
    assert read.sampling is sampling and read.options == options


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"temprature": 0.5}, "did you mean 'temperature'"),
        ({"xyz": 1}, "known are"),
        ({"return_dict_in_generate": True}, "not known"),
        ({**SUITE, "do_sample": True}, "add temperature="),
        ({**SUITE, "temperature": 0.5}, "add do_sample=true"),
        ({"do_sample": "yes"}, "do_sample='yes'"),
        ({"temperature": -1}, "temperature=-1"),
        ({"max_gen_toks": 5, "max_new_tokens": 6}, "more than one token cap"),
        ({"max_gen_toks": 0}, "max_gen_toks=0"),
        ({"max_gen_toks": "many"}, "max_gen_toks='many'"),
        ({"until": [5]}, "until="),
        ({"until": 5}, "until=5: a text"),
        ({"until": {"a": 1}}, "until="),
        ({"temperature": float("nan"), "do_sample": True}, "temperature=nan"),
        ({"num_beams": 2.5}, "num_beams=2.5: a whole number of at least 1"),
        ({"num_beams": True}, "num_beams=True"),
        ({"top_k": -1}, "top_k=-1: a whole number of at least 0"),
        ({"min_new_tokens": "many"}, "min_new_tokens='many'"),
        ({"no_repeat_ngram_size": [3]}, "no_repeat_ngram_size="),
        ({"top_p": "high"}, "top_p='high': a number from 0 to 1"),
        ({"typical_p": 2}, "typical_p=2"),
        ({"min_p": -0.1}, "min_p=-0.1"),
        ({"repetition_penalty": 0}, "repetition_penalty=0: a number above 0"),
        ({"length_penalty": float("inf")}, "length_penalty=inf: a number"),
        ({"early_stopping": "often"}, "early_stopping='often': true, false or never"),
    ],
)
def test_what_is_refused(given: dict, message: str) -> None:
    with pytest.raises(SettingError, match=message):
        read_generation(given)


def test_the_group_tells_settings_apart() -> None:
    settings = ({}, {"until": "."}, {"max_gen_toks": 5}, {"temperature": 0.3}, {"top_k": 3})
    groups = [read_generation(given).group for given in settings]
    assert len(set(groups)) == len(groups)
    assert read_generation({"until": ["."]}).group == read_generation({"until": "."}).group


@pytest.mark.parametrize(
    ("text", "until", "expected"),
    [
        ("one. two", (".",), "one"),
        ("one. two", ("two", "."), "one"),
        ("one", (".",), "one"),
        ("one", (), "one"),
        (".", (".",), ""),
    ],
)
def test_cut(text: str, until: tuple[str, ...], expected: str) -> None:
    assert cut(text, until) == expected


def test_empty_stop_strings_stop_nothing() -> None:
    assert read_generation({"until": ["", "\n"]}).until == ("\n",)
