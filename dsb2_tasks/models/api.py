"""``--model dsb2-api``: an audio language model behind a server with OpenAI's API (a vLLM server, a hosted model ...)."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from typing import Any

from dsb2_tasks.audio import AudioError, AudioPolicy
from dsb2_tasks.endpoint import Endpoint, EndpointError, Failed, Reply
from dsb2_tasks.models._ahead import Workers, ahead
from dsb2_tasks.models._api_body import check_request, make_body
from dsb2_tasks.models._api_files import CONTAINERS, AudioFile, Files, make_files
from dsb2_tasks.models._args import ModelArgError, check_args, read_choice, read_count, read_seconds, refuse_secrets
from dsb2_tasks.models._base import AudioLM, Question
from dsb2_tasks.models._cache import store_folder
from dsb2_tasks.models._control import CONTROLS
from dsb2_tasks.models._generation import cut
from dsb2_tasks.models._ranks import Ranks
from dsb2_tasks.models._responses import Answer, ResponseStore
from dsb2_tasks.models._tally import Failure
from dsb2_tasks.models._windows import join_windows, rule_for

_ARGUMENTS = (
    "base_url",
    "model",
    "pretrained",
    "key_env",
    "concurrency",
    "timeout",
    "retries",
    "requests_per_minute",
    "tokens_per_minute",
    "max_new_tokens",
    "max_tokens_key",
    "system_instruction",
    "audio",
    "audio_position",
    "audio_format",
    "containers",
    "clips",
    "sampling_rate",
    "long_audio",
    "max_audio_seconds",
    "seed",
    "prompt_price",
    "completion_price",
    "resume",
    "responses",
)
_DECODERS = 4


@dataclass
class _Open:
    """A question that is being asked.

    Attributes:
        starts: Where each window begins, in seconds; one unless long audio is asked about in chunks.
        events: What befell its clips.
        replies: Those that are there, by window.
    """

    starts: tuple[float, ...]
    events: tuple[str, ...]
    replies: dict[int, Reply | Failed] = field(default_factory=dict)


class APIModel(AudioLM):
    """A server that takes chat completions with ``input_audio`` blocks.

    Up to ``concurrency`` requests are in flight; clips are read when theirs is among the next few to be sent.  Each answer goes
    to the response store as it comes.  A request that the server refuses, or that fails after all retries, is a recorded failure
    of that request, asked again by the next run; a wrong key, URL or model, or a server that is gone, ends the run.
    """

    name = "dsb2-api"

    def __init__(
        self,
        base_url: str = "https://api.openai.com/v1",
        *,
        model: str | None = None,
        pretrained: str | None = None,
        key_env: str = "OPENAI_API_KEY",
        concurrency: int = 8,
        timeout: float = 120.0,
        retries: int = 6,
        requests_per_minute: float | None = None,
        tokens_per_minute: float | None = None,
        max_new_tokens: int | None = None,
        max_tokens_key: str = "max_tokens",
        system_instruction: str | None = None,
        audio: str = "real",
        audio_position: str = "before",
        audio_format: str = "auto",
        containers: str = "wav+mp3",
        clips: str = "several",
        sampling_rate: int = 16_000,
        long_audio: str | None = None,
        max_audio_seconds: float | None = None,
        seed: int | None = None,
        prompt_price: float | None = None,
        completion_price: float | None = None,
        resume: bool = True,
        responses: str | None = None,
        batch_size: int | str = 1,
        device: str | None = None,
        **unknown: Any,
    ) -> None:
        """Contacts nobody yet.  These are the names for ``--model_args``.

        Args:
            base_url: Where the API is, for example ``http://localhost:8000/v1``.
            model: Name of the model on the server.
            pretrained: The same.
            key_env: Environment variable that holds the key; a server on one's own machine needs none.
            concurrency: Most requests at a time.
            timeout: Seconds for one sending of a request.
            retries: How often a request is sent again after a fault that may pass.
            requests_per_minute: Limit.
            tokens_per_minute: Limit, for tokens of prompts and answers.
            max_new_tokens: Token cap of all tasks, instead of their own.
            max_tokens_key: What the server calls the token cap: ``max_tokens`` or ``max_completion_tokens``.
            system_instruction: Text of a system turn.
            audio: ``real``; or a control: ``none`` asks without clips, ``silence`` and ``noise`` (white, -20 dB below full scale)
                send a wav file of the same length in the place of every clip.
            audio_position: Clips ``before`` or ``after`` the text.
            audio_format: ``auto`` sends a clip's file as it is if the server takes its container, else as wav; ``wav`` sends
                all clips as 16-bit wav at ``sampling_rate``.
            containers: What the server takes, joined by +: wav, mp3, flac, ogg.
            clips: ``several`` clips of a question each in a block of its own, or ``joined`` into one with 0.5 s of silence
                between them, for servers that take one.
            sampling_rate: Hz of wav files that are made.
            long_audio: What is done with a clip longer than ``max_audio_seconds``: ``truncate`` it (the default), ask by
                ``chunk`` and join the answers (:func:`dsb2_tasks.models._windows.join_windows`), or ``error``: the request
                counts as one whose audio cannot be read.
            max_audio_seconds: Longest clip, of those to be joined each; no bound by default.
            seed: Sent with each request; servers may heed it.
            prompt_price: Of a million prompt tokens, for the cost in the results.
            completion_price: Of a million tokens of answers.
            resume: Whether answers are kept in, and taken from, the response store.
            responses: Folder for response stores instead of ``DSB2_CACHE`` or ``~/.cache/dsb2``.
            batch_size: lm-eval always gives one; 1 or ``auto``, as a server makes its own batches.
            device: lm-eval always gives one; the model runs where the server is.
            **unknown: Refused, with the nearest known name.

        Raises:
            EndpointError: ``base_url`` is no URL.
            ModelArgError: An argument is unknown or has a wrong value.
        """
        check_args(unknown, _ARGUMENTS, self.name)
        _refuse_ranks()
        if str(batch_size).partition(":")[0] not in ("1", "auto"):
            raise ModelArgError(f"batch_size={batch_size!r}: a server makes its own batches; give concurrency= instead")
        if model is not None and pretrained is not None:
            raise ModelArgError(f"model={model!r} and pretrained={pretrained!r} mean the same; leave one out")
        served = model if model is not None else pretrained
        if served is None:
            raise ModelArgError("model=... is missing: the name under which the server knows the model")
        if str(served) == "":
            raise ModelArgError("model='': the name under which the server knows the model is needed")
        refuse_secrets("base_url", str(base_url), "key_env")
        if long_audio is not None and max_audio_seconds is None:
            raise ModelArgError(f"long_audio={long_audio!r} does nothing without max_audio_seconds=")
        root = store_folder(resume, responses)
        taken = str(containers).split("+")
        self._originals = [read_choice("containers", name, CONTAINERS) for name in taken]
        if read_choice("audio_format", audio_format, ("auto", "wav")) == "wav":
            self._originals = []
        self._control = read_choice("audio", audio, CONTROLS)
        self._joined = read_choice("clips", clips, ("several", "joined")) == "joined"
        self._position = read_choice("audio_position", audio_position, ("before", "after"))
        self._cap_name = read_choice("max_tokens_key", max_tokens_key, ("max_tokens", "max_completion_tokens"))
        self._seed = None if seed is None else _read_number("seed", seed, whole=True)
        self._prices = {
            "prompt": None if prompt_price is None else _read_number("prompt_price", prompt_price),
            "completion": None if completion_price is None else _read_number("completion_price", completion_price),
        }
        seconds = read_seconds("max_audio_seconds", max_audio_seconds, least=AudioPolicy.min_seconds)
        long_audio = read_choice("long_audio", long_audio or "truncate", ("truncate", "chunk", "error"))
        rate, channels = read_count("sampling_rate", sampling_rate), "mono" if self._joined else "keep"
        try:
            self._policy = AudioPolicy(rate=rate, channels=channels, max_seconds=seconds, long_audio=long_audio)
        except ValueError as error:  # all but the rate is checked above
            raise ModelArgError(f"sampling_rate={sampling_rate!r}: {error}") from None
        self._endpoint = Endpoint(
            base_url,
            str(served),
            key_env=str(key_env),
            concurrency=read_count("concurrency", concurrency),
            timeout=read_seconds("timeout", timeout) or 120.0,
            retries=0 if retries in (0, "0") else read_count("retries", retries),
            requests_per_minute=None if requests_per_minute is None else read_count("requests_per_minute", requests_per_minute),
            tokens_per_minute=None if tokens_per_minute is None else read_count("tokens_per_minute", tokens_per_minute),
        )
        identity = {"server": self._endpoint.url, "model": str(served), "seed": self._seed}
        super().__init__(
            identity=identity,
            preprocessing={
                **asdict(self._policy),
                "originals": "+".join(sorted(self._originals)),
                "joined": self._joined,
                "audio_position": self._position,
                **({} if self._control == "real" else {"audio": self._control}),
            },
            ranks=Ranks(cpu=True),
            device="cpu",
            store=ResponseStore(root, identity) if root is not None else None,
            max_new_tokens=None if max_new_tokens is None else read_count("max_new_tokens", max_new_tokens),
            system_instruction=system_instruction,
        )

    def _begin(self) -> None:
        super()._begin()
        self._used_before = self._endpoint.usage

    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Asks the server; a question is answered when the reply to its last window is there.

        Raises:
            EndpointError: No request can succeed, or the server is gone.
            SettingError: A generation setting cannot be sent.
        """
        for question in questions:
            check_request(question.chat, question.generation)
        opened: dict[int, _Open] = {}
        sent: list[tuple[int, int]] = []  # of each body: question and window
        unreadable: list[tuple[int, Answer | Failure]] = []
        answered = 0

        def files(i: int) -> Files | Failure:
            try:
                return make_files(
                    questions[i].audio, self._policy, originals=self._originals, joined=self._joined, control=self._control
                )
            except AudioError as error:
                return Failure("audio_error", error.reason)

        def bodies(pool: Workers) -> Iterator[dict[str, Any]]:
            for ((i, made),) in ahead(pool, files, ([i] for i in range(len(questions))), _DECODERS):
                if isinstance(made, Failure):
                    unreadable.append((i, made))
                    continue
                opened[i] = _Open(made.starts, made.events)
                for k, clips in enumerate(made.times):
                    sent.append((i, k))
                    yield self._body(questions[i], clips)

        with (
            Workers(_DECODERS, "dsb2-decode") as pool,
            closing(self._endpoint.chat(bodies(pool))) as replies,
        ):
            try:
                for n, reply in replies:
                    i, k = sent[n]
                    opened[i].replies[k] = reply
                    if len(opened[i].replies) == len(opened[i].starts):
                        answered += 1
                        yield [*unreadable, (i, _answer(questions[i], opened.pop(i)))]
                        unreadable.clear()
            except EndpointError as error:
                if self._store is None or not answered:
                    raise
                end = "" if str(error).endswith(("?", ".")) else "."
                raise EndpointError(f"{error}{end} The answers so far are stored and will not be asked for again") from None
        if unreadable:
            yield unreadable

    def _body(self, question: Question, clips: Sequence[AudioFile]) -> dict[str, Any]:
        return make_body(
            question.chat, question.generation, clips, position=self._position, cap_name=self._cap_name, seed=self._seed
        )

    # ------------------------------------------------------------------ for lm-eval

    @property
    def effort(self) -> dict[str, Any]:
        """What this run took; not the same for a resumed run."""
        usage = asdict(self._endpoint.usage - self._used_before)
        usage["seconds_with_server"] = round(usage.pop("seconds"), 3)
        paid = [price * usage[f"{kind}_tokens"] / 1e6 for kind, price in self._prices.items() if price is not None]
        cost = {"cost": round(sum(paid), 6)} if paid else {}
        return {**super().effort, **usage, **cost}

    @property
    def tokenizer_name(self) -> str:
        """Name under which lm-eval keeps requests made with a chat template."""
        return f"{self.name}__{str(self.identity['model']).replace('/', '__')}"

    def get_model_info(self) -> dict[str, Any]:
        """What the results file says about the model and about what befell its answers.

        All but the part ``time`` is the same for a run in one go and for one that was killed and resumed.
        """
        return {
            "dsb2_model": {
                **self.identity,
                "audio": self._control,
                "preprocessing": self._preprocessing,
                "system_instruction": self._system_instruction,
                "max_new_tokens": self._max_new_tokens,
                **self.counts,
                "time": self.effort,
            },
        }


def _answer(question: Question, asked: _Open) -> Answer | Failure:
    texts, capped = [], False
    for _, reply in sorted(asked.replies.items()):
        if isinstance(reply, Failed):
            return Failure("model_error", reply.reason)
        if reply.finish_reason == "content_filter":
            return Failure("model_error", "the server's content filter withheld the answer")
        text = cut(reply.text, question.generation.until)
        texts.append(text)
        capped = capped or (reply.finish_reason == "length" and text == reply.text)
    rule = rule_for(question.audio[0].get("task_kind") if question.audio else None)
    text, joined = join_windows(texts, asked.starts, rule)
    return Answer(text, (*asked.events, *joined), capped, len(texts))


def _refuse_ranks() -> None:
    ranks = os.environ.get("WORLD_SIZE", "1")
    if ranks != "1":
        raise ModelArgError(
            f"dsb2-api in {ranks} processes (WORLD_SIZE): one process keeps a server busy and keeps to its limits; start it "
            f"without torchrun or accelerate launch and raise concurrency="
        )


def _read_number(name: str, value: object, *, whole: bool = False) -> Any:
    try:
        number = int(str(value)) if whole else float(str(value))
    except ValueError:
        number = -1
    if not 0 <= number < float("inf") or isinstance(value, bool):
        raise ModelArgError(f"{name}={value!r}: a {'whole ' if whole else ''}number of at least 0 is needed")
    return number
