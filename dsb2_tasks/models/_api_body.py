"""A question as the JSON of ``/chat/completions``."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

from dsb2_tasks.models._api_files import AudioFile
from dsb2_tasks.models._args import SettingError
from dsb2_tasks.models._chat import Chat
from dsb2_tasks.models._generation import Generation

#: Stop strings that the API takes; further ones are cut off here.
_STOPS = 4
_SENT = ("temperature", "top_p")


def check_request(chat: Chat, generation: Generation) -> None:
    """Refuses what the API has no word for.

    Raises:
        SettingError: The message names the setting and the fix.
    """
    unsent = {name: value for name, value in generation.options.items() if name not in _SENT}
    if unsent:
        raise SettingError(
            f"generation settings {unsent} cannot be sent to a chat completions server (it takes temperature, top_p, until and "
            f"the token cap); leave them out of --gen_kwargs"
        )
    if chat.reply_begun:
        raise SettingError(
            "a chat completions server cannot go on with an answer that is begun (the task's gen_prefix, or the last turn of the "
            "chat); leave that out"
        )


def make_body(
    chat: Chat, generation: Generation, files: Sequence[AudioFile], *, position: str, cap_name: str, seed: int | None
) -> dict[str, Any]:
    """The body of one request, without the model.

    Args:
        chat: What is asked.
        generation: How to answer; as :func:`check_request` lets through.
        files: Clips, in order, that go with the last user turn.
        position: Clips ``before`` or ``after`` its text.
        cap_name: Name of the token cap: ``max_tokens`` or ``max_completion_tokens``.
        seed: Sent if not None.
    """
    messages: list[dict[str, Any]] = [{"role": role, "content": text} for role, text in chat.turns]
    if files:
        turn = messages[len(chat.before)]
        text = [{"type": "text", "text": turn["content"]}]
        audio = [_block(file) for file in files]
        turn["content"] = audio + text if position == "before" else text + audio
    body: dict[str, Any] = {
        "messages": messages,
        cap_name: generation.max_new_tokens,
        # Servers sample unless told otherwise.
        "temperature": generation.options.get("temperature", 1.0) if generation.sampling else 0.0,
    }
    if "top_p" in generation.options:
        body["top_p"] = generation.options["top_p"]
    if generation.until:
        body["stop"] = list(generation.until[:_STOPS])
    if seed is not None:
        body["seed"] = seed
    return body


def _block(file: AudioFile) -> dict[str, Any]:
    return {"type": "input_audio", "input_audio": {"data": base64.b64encode(file.data).decode(), "format": file.format}}
