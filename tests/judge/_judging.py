"""Items, and a server that judges them as it is told to."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from _server import FakeServer, Request, Response, chat_reply

from dsb2_tasks.endpoint import Endpoint
from dsb2_tasks.judge import Judge, JudgeItem
from dsb2_tasks.judge._clients import EndpointClient
from dsb2_tasks.spec import NumberSpec, TaskSpec

ANSWER = "Model's answer: "


class Time:
    """A clock that only sleeping moves on, so that no test waits for a retry."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


def spec(kind: str, metric: str, **more: Any) -> TaskSpec:
    fields = {"modality": "audio", "domain": "sound_event", "data": ({"path": "org/set"},), "kind": kind, "metric": metric}
    return TaskSpec.model_validate({**fields, **more})


SOUND = spec("choice", "accuracy", options=("dog", "cat"))
SCALE = spec("number", "mae", number=NumberSpec(minimum=0, maximum=10))


def doc(*labels: str, prompt: str = "Which animal is it?") -> dict[str, Any]:
    return {"dsb2_prompt": prompt, "dsb2_label": list(labels), "dsb2_language": None}


def item(answer: str, **more: Any) -> JudgeItem:
    return JudgeItem(**{"kind": "choice", "instruction": "Which animal?", "reference": ("dog",), "answer": answer, **more})


def answer_in(prompt: str) -> str:
    """The answer that a prompt asks about."""
    (line,) = [line for line in prompt.split("\n") if line.startswith(ANSWER)]
    return json.loads(line.removeprefix(ANSWER))


def answer_asked(request: Request) -> str:
    return answer_in(request.json["messages"][0]["content"])


def says(text: str) -> Response:
    return chat_reply(text, prompt=100, completion=10)


def by_answer(replies: dict[str, Response]) -> Callable[[Request], Response]:
    return lambda request: replies[answer_asked(request)]


def judge_at(server: FakeServer | str, store: Path, *, contract: str = "default", **more: Any) -> Judge:
    clock = Time()
    url = server if isinstance(server, str) else server.url
    own = {key: more.pop(key) for key in ("prices", "retry_unusable") if key in more}
    endpoint = Endpoint(url, "gpt-x", **{"retries": 2, "clock": clock, "sleep": clock.sleep, **more})
    return Judge(EndpointClient(endpoint), store, contract, **own)
