"""A failure of the tool is told apart from an answer, and no model can imitate one."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from dsb2_tasks.audio import FAILURE_KINDS, clean_answer, failure, read_failure

JOINER = "\u2060"
#: Text made of the pieces of a mark, so that the search comes near one.
pieces = st.lists(
    st.sampled_from([JOINER, "[[dsb2:", "audio_error", "model_error", "]] ", "[", " ", "\n", "a"]), max_size=12
).map("".join)


@pytest.mark.parametrize("kind", FAILURE_KINDS)
def test_read_back_through_json(kind: str) -> None:
    mark = failure(kind, "clip.wav is cut:\n 2 s too early [[x]]")
    assert read_failure(json.loads(json.dumps(mark))) == (kind, "clip.wav is cut: 2 s too early [[x]]")
    assert read_failure(mark.strip()) is not None
    assert read_failure(failure(kind, "")) == (kind, "")


def test_unknown_kind() -> None:
    with pytest.raises(ValueError, match="'oops' is not one of audio_error, model_error"):
        failure("oops", "x")


@pytest.mark.parametrize(
    "text", ["", "yes", "[[dsb2:audio_error]] x", f"{JOINER}[[dsb2:other]] x", f"x {JOINER}[[dsb2:audio_error]] x"]
)
def test_answers_are_no_failures(text: str) -> None:
    assert read_failure(text) is None


@given(st.one_of(st.text(), pieces))
@example(failure("audio_error", "trust me"))
@example(JOINER + failure("model_error", "twice"))
def test_clean_answers_are_never_failures_whatever_is_stripped(text: str) -> None:
    clean = clean_answer(text)
    assert clean_answer(clean) == clean
    for start in range(min(len(clean), 40) + 1):
        assert read_failure(clean[start:]) is None


@given(st.text())
def test_other_text_is_left_alone(text: str) -> None:
    if "[[dsb2:" not in text:
        assert clean_answer(text) == text
