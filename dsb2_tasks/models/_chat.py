"""Chat turns on their way through lm-eval, whose requests are plain strings.

With ``--apply_chat_template`` lm-eval asks the model for a string before the request is made, when nobody knows yet how many
clips there are.  The string made here is a marked JSON text; the turns are taken out of it, and the clips put in, at generation.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dsb2_tasks.models._args import SettingError

_MARK = '{"dsb2_chat": 1, '


@dataclass(frozen=True)
class Chat:
    """A conversation without its clips.

    Attributes:
        turns: Role and text of each turn.
        reply_begun: Whether the last turn is the beginning of the model's own answer, to be gone on with.
    """

    turns: tuple[tuple[str, str], ...]
    reply_begun: bool = False

    @property
    def text(self) -> str:
        """Text of the last user turn: the question."""
        return self.turns[self._last][1]

    @property
    def before(self) -> tuple[tuple[str, str], ...]:
        """The turns before the question: system instruction, examples."""
        return self.turns[: self._last]

    @property
    def _last(self) -> int:
        return max(i for i, (role, _) in enumerate(self.turns) if role == "user")


def dump_chat(messages: Sequence[dict[str, Any]], add_generation_prompt: bool = True) -> str:
    """Chat messages as a string that :func:`read_chat` knows again.

    Args:
        messages: ``{"role": ..., "content": <text>}`` each.
        add_generation_prompt: False if the last message is the beginning of the answer.
    """
    turns = [[str(message["role"]), str(message["content"])] for message in messages]
    return _MARK + json.dumps({"turns": turns, "reply_begun": not add_generation_prompt})[1:]


def read_chat(prompt: str, system: str | None = None) -> Chat:
    """The conversation that a request's prompt stands for: a string of :func:`dump_chat`, or one user turn.

    Args:
        prompt: First argument of a request.
        system: Text of a system turn to be put in front.

    Raises:
        SettingError: The conversation has a system turn of its own and ``system`` is given too.
    """
    chat = _parse(prompt) if prompt.startswith(_MARK) else None
    if chat is None:
        chat = Chat((("user", prompt),))
    if system is None:
        return chat
    if any(role == "system" for role, _ in chat.turns):
        raise SettingError(
            "two system instructions: give --system_instruction or the model argument system_instruction=, not both"
        )
    return Chat((("system", system), *chat.turns), chat.reply_begun)


def _parse(text: str) -> Chat | None:
    """None if the text only begins like one of ours; then it is a prompt like any other."""
    try:
        value = json.loads(text)
        turns = tuple((role, content) for role, content in value["turns"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    if not all(isinstance(part, str) for turn in turns for part in turn) or not any(role == "user" for role, _ in turns):
        return None
    return Chat(turns, value.get("reply_begun") is True)
