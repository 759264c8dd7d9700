"""Whom a judge's prompts are put to: a server with OpenAI's API, or a text backend of lm-eval."""

from __future__ import annotations

import importlib.util
import logging
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from dsb2_tasks.audio import ensure_torchaudio
from dsb2_tasks.endpoint import Endpoint, Failed, Reply, Usage
from dsb2_tasks.judge._types import JudgeError

log = logging.getLogger(__name__)

#: Prompts that an lm-eval backend gets in one call; what it said is stored after each.
CHUNK = 64
#: So many calls in a row that raise mean that the backend is broken.
_BROKEN = 2
#: Arguments of lm-eval backends that do not change what a model says.
_MACHINERY = frozenset(
    {"batch_size", "max_batch_size", "device", "num_concurrent", "max_retries", "timeout", "verify_certificate", "ca_cert_path"}
)
_SECRET = re.compile(r"key|token|secret|password|auth|header", re.IGNORECASE)
_USER = re.compile(r"//[^/@]*@")


class Prompt(NamedTuple):
    """One user turn and the longest reply to it."""

    text: str
    most_tokens: int


class Client(Protocol):
    """Puts prompts to a model, at temperature 0."""

    @property
    def identity(self) -> dict[str, Any]:
        """What replies hang on beside the prompt; without secrets."""

    @property
    def usage(self) -> Usage:
        """Totals so far."""

    def ask(self, prompts: Sequence[Prompt]) -> Iterator[tuple[int, Reply | Failed]]:
        """Numbers of prompts and their replies, as they come."""


class EndpointClient:
    """A server with OpenAI's API."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._endpoint = endpoint
        self.identity = {"client": "openai", "base_url": endpoint.url, "model": endpoint.model, "temperature": 0}

    @property
    def usage(self) -> Usage:
        """Totals so far."""
        return self._endpoint.usage

    def ask(self, prompts: Sequence[Prompt]) -> Iterator[tuple[int, Reply | Failed]]:
        """Puts every prompt as the one user turn of a chat."""
        return self._endpoint.chat(
            {"messages": _chat(prompt.text), "temperature": 0, "max_tokens": prompt.most_tokens} for prompt in prompts
        )


class HarnessClient:
    """A text backend of lm-eval, loaded when it is first asked.

    The chat template is applied where the backend has one.  lm-eval counts no tokens, so :attr:`usage` has none.
    """

    def __init__(self, backend: str, args: str) -> None:
        """Remembers whom to load.

        Args:
            backend: Name as for ``lm_eval --model``.
            args: As for ``--model_args``.
        """
        self._backend, self._args = backend, args
        pairs = [tuple(_USER.sub("//", part).split("=", 1)) for part in args.split(",") if part]
        told = {pair[0].strip(): pair[-1].strip() for pair in pairs if not _SECRET.search(pair[0])}
        told = {name: value for name, value in sorted(told.items()) if name not in _MACHINERY}
        self.identity: dict[str, Any] = {"client": "lm-eval", "backend": backend, "args": told, "temperature": 0}
        self.usage = Usage()
        self._lm: Any = None

    def ask(self, prompts: Sequence[Prompt]) -> Iterator[tuple[int, Reply | Failed]]:
        """Has the backend generate, a chunk of prompts at a time.

        Raises:
            JudgeError: The backend cannot be loaded, or raises every time.
        """
        if self._lm is None:
            self._lm = self._load()
        broken = 0
        for start in range(0, len(prompts), CHUNK):
            chunk = prompts[start : start + CHUNK]
            began = time.monotonic()
            try:
                replies = self._generate(chunk)
                broken = 0
            except Exception as error:
                reason = f"lm-eval backend {self._backend!r}: {_told(error)}"
                log.warning("%s; %d answers get no verdict", reason, len(chunk))
                broken += 1
                if broken == _BROKEN:
                    raise JudgeError(f"{broken} calls in a row failed, the last with: {reason}") from error
                replies = [Failed(reason, "gave_up")] * len(chunk)
            self.usage += Usage(requests=len(chunk), seconds=time.monotonic() - began)
            yield from enumerate(replies, start)

    def _load(self) -> Any:
        from lm_eval.api.registry import get_model

        try:
            if importlib.util.find_spec("torchaudio"):
                ensure_torchaudio()  # transformers imports it wherever it is installed, and a broken one would end the run
            lm = get_model(self._backend).create_from_arg_string(self._args)
            self._templated = _takes_chats(lm)
        except Exception as error:
            raise JudgeError(f"lm-eval backend {self._backend!r} cannot be loaded as a judge: {_told(error)}") from error
        log.info("judge %s: %s", self._backend, "chat template applied" if self._templated else "no chat template, plain prompts")
        return lm

    def _generate(self, prompts: Sequence[Prompt]) -> list[Reply | Failed]:
        from lm_eval.api.instance import Instance

        replies: list[Reply | Failed | None] = []
        requests: list[Instance] = []
        for prompt in prompts:
            text = self._lm.apply_chat_template(_chat(prompt.text)) if self._templated else prompt.text
            replies.append(self._too_long(text, prompt))
            if replies[-1] is None:
                # OpenAI's API refuses an empty list of stop sequences; this one, lm-eval's own default, ends no reply early.
                settings = {
                    "until": ["<|endoftext|>"],
                    "do_sample": False,
                    "temperature": 0.0,
                    "max_gen_toks": prompt.most_tokens,
                }
                requests.append(Instance("generate_until", {}, (text, settings), len(requests)))
        texts = iter(self._lm.generate_until(requests) if requests else [])
        return [self._reply(next(texts)) if reply is None else reply for reply in replies]

    def _too_long(self, text: str, prompt: Prompt) -> Failed | None:
        """Local backends cut a prompt that is too long at its beginning, where the rules stand, so it must not get there."""
        from lm_eval.api.model import TemplateLM
        from lm_eval.models.api_models import TemplateAPI

        if not isinstance(self._lm, TemplateLM) or isinstance(self._lm, TemplateAPI):
            return None
        tokens, most = len(self._lm.tok_encode(text)), self._lm.max_length
        if tokens + prompt.most_tokens <= most:
            return None
        return Failed(f"{tokens} tokens of prompt and {prompt.most_tokens} of reply do not fit into max_length={most}", "refused")

    def _reply(self, text: Any) -> Reply | Failed:
        from lm_eval.models.api_models import LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER, TemplateAPI

        if not isinstance(text, str):
            return Failed(f"lm-eval backend {self._backend!r} gave a {type(text).__name__}, not text", "malformed")
        if isinstance(self._lm, TemplateAPI) and text in ("", LMEVAL_MODEL_NONE_ANSWER_PLACEHOLDER):
            return Failed("no text; lm-eval gives the same for a failed request and for an empty reply", "malformed")
        return Reply(text, None, Usage())


def _chat(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


def _takes_chats(lm: Any) -> bool:
    """Whether a backend makes prompts of chats; those of text completions and tokenizers without a template do not."""
    from lm_eval.models.api_models import JsonChatStr
    from lm_eval.models.openai_completions import LocalCompletionsAPI, OpenAICompletionsAPI

    try:
        rendered = lm.apply_chat_template(_chat("?"))
    except (NotImplementedError, ValueError):  # the base class; transformers without a template
        return False
    return not (isinstance(rendered, JsonChatStr) and type(lm) in (LocalCompletionsAPI, OpenAICompletionsAPI))


def _told(error: Exception) -> str:
    return ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
