"""Whatever a server sends is a reply or said to be none; nothing it sends raises anything else."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dsb2_tasks.endpoint import Reply
from dsb2_tasks.endpoint._read import NoReply, read_chat, read_code, read_reason, read_transcript

NAMES = ["choices", "message", "content", "error", "detail", "usage", "prompt_tokens", "text", "finish_reason", "code", "refusal"]
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8) | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=12,
)
CHATS = st.builds(
    lambda message, rest: {"choices": [{"message": message, **rest}], **rest},
    VALUES,
    st.dictionaries(st.sampled_from(NAMES[3:]), VALUES, max_size=3),
)


def _check(body: bytes) -> None:
    for read in (read_chat, read_transcript):
        try:
            reply = read(body)
        except NoReply:
            continue
        assert isinstance(reply, Reply)
        assert isinstance(reply.text, str)
        assert reply.finish_reason is None or isinstance(reply.finish_reason, str)
        assert reply.usage.prompt_tokens >= 0
    assert len(read_reason(body)) <= 300
    assert read_reason(body).isprintable() or read_reason(body) == ""
    assert isinstance(read_code(body), str)


@given(VALUES | CHATS)
def test_any_json(value: Any) -> None:
    _check(json.dumps(value).encode())


@given(st.binary(max_size=60))
def test_any_bytes(body: bytes) -> None:
    _check(body)


@pytest.mark.parametrize("depth", [200, 500, 900, 990, 1000, 1100, 3000, 100_000])
@pytest.mark.parametrize(
    "form", ["%s", '{"error": %s}', '{"error": {"message": %s}}', '{"choices": [{"message": {"content": %s}}]}']
)
def test_deep_json(depth: int, form: str) -> None:
    _check((form % ("[" * depth + "]" * depth)).encode())


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ({"error": {"message": "of OpenAI", "code": "x"}}, "of OpenAI"),
        ({"error": "of others"}, "of others"),
        ({"detail": "of FastAPI"}, "of FastAPI"),
        ({"object": "error", "message": "of vLLM", "code": 400}, "of vLLM"),
        ({"detail": [{"loc": ["body"], "msg": "field required"}]}, '[{"loc": ["body"], "msg": "field required"}]'),
        ("<html>  bad\n gateway</html>", "<html> bad gateway</html>"),
    ],
)
def test_reasons_of_known_servers(body: Any, reason: str) -> None:
    assert read_reason(json.dumps(body).encode() if isinstance(body, dict) else body.encode()) == reason


@pytest.mark.parametrize("stated", [-1, 0, True, "7", 1.5, None, 10**20, [7]])
def test_counts_of_tokens_that_cannot_be_are_none(stated: Any) -> None:
    usage = {"prompt_tokens": stated, "completion_tokens": 7}
    reply = read_chat(json.dumps({"choices": [{"message": {"content": "x"}}], "usage": usage}).encode())
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == (0, 7)
