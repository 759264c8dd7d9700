"""What all audio backends share: how requests are read, answers kept, counted and handed back.  No model is known here."""

from __future__ import annotations

import abc
import hashlib
import json
import logging
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar

from lm_eval.api.model import LM

from dsb2_tasks.audio import failure, read_failure
from dsb2_tasks.compat import Request, read_request
from dsb2_tasks.models._args import SettingError
from dsb2_tasks.models._chat import Chat, dump_chat, read_chat
from dsb2_tasks.models._generation import Generation, read_generation
from dsb2_tasks.models._progress import Progress
from dsb2_tasks.models._ranks import Ranks, in_document_order
from dsb2_tasks.models._responses import Answer, Asked, ResponseStore, question_key, response_key
from dsb2_tasks.models._tally import Failure, Tally
from dsb2_tasks.models._windows import rule_for

if TYPE_CHECKING:
    from lm_eval.api.instance import Instance
    from lm_eval.api.model import CacheHook

log = logging.getLogger(__name__)

T = TypeVar("T", bound="AudioLM")

_CACHE_OWNER = "dsb2_model"


class NotOffered(NotImplementedError):
    """lm-eval asks for what the backends do not give."""


@dataclass(frozen=True)
class Question:
    """One request, read.

    Attributes:
        key: Response key: equal keys, equal answers.
        chat: What is asked.
        audio: Handles of the clips, in order.
        generation: How to answer.
    """

    key: str
    chat: Chat
    audio: tuple[dict[str, Any], ...]
    generation: Generation


class AudioLM(LM):
    """Base of the backends: the response store, ranks, chat strings and counts; a backend adds :meth:`ask`.

    lm-eval's own HFLM is not the base: it never runs data parallel on CPUs and takes the local rank for the global one.
    """

    MULTIMODAL = True
    #: Name for ``--model``.
    name: ClassVar[str]

    def __init__(
        self,
        *,
        identity: Mapping[str, Any],
        preprocessing: Mapping[str, Any],
        ranks: Ranks,
        device: Any,
        store: ResponseStore | None,
        max_new_tokens: int | None = None,
        system_instruction: str | None = None,
    ) -> None:
        """Sets up what is shared.

        Args:
            identity: Everything about the model that its answers hang on, JSON-able.
            preprocessing: How clips are prepared, JSON-able.
            ranks: The processes of this run.
            device: ``torch.device`` of this process.
            store: Response store of this model; None to keep nothing.
            max_new_tokens: Token cap that overrides the tasks'.
            system_instruction: Text of a system turn before every prompt.
        """
        super().__init__()
        self.identity = dict(identity)
        self._preprocessing = dict(preprocessing)
        self._ranks = ranks
        self._rank, self._world_size, self._device = ranks.rank, ranks.world_size, device
        self._store = store
        self._max_new_tokens = max_new_tokens
        self._system_instruction = None if system_instruction is None else str(system_instruction)
        self._host_cache = False
        self._begin()

    @abc.abstractmethod
    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Asks the model.

        Args:
            questions: All that is not answered yet, in lm-eval's order.

        Yields:
            A batch of replies as soon as it is there: position of the question and its reply, each question once.
        """

    def _begin(self) -> None:
        """Counts of an evaluation start at nothing; one model may serve several."""
        self._tally, self._whole_tally = Tally(), Tally()
        self._found, self._asked, self._seconds = 0, 0, 0.0
        self._efforts: list[dict[str, Any]] = []

    def generate_until(self, requests: list[Instance], disable_tqdm: bool = False) -> list[str]:
        """Answers requests, from the store where it can be.

        lm-eval calls this once an evaluation, with the requests of all tasks, so the counts start anew here.

        Args:
            requests: lm-eval's instances.
            disable_tqdm: No progress bar.

        Returns:
            One text a request, in their order; a failure of the tool is a marked text, see :func:`dsb2_tasks.audio.failure`.
        """
        self._begin()
        read = [read_request(instance) for instance in requests]
        questions = [self._question(request) for request in read]
        texts: list[str | None] = [None] * len(requests)
        # A greedy answer is asked for once however often it is requested; a drawn one every time.
        places: dict[Any, list[int]] = {}
        for i, question in enumerate(questions):
            places.setdefault((question.key, i) if question.generation.sampling else question.key, []).append(i)
        pending = []
        for same in places.values():
            question = questions[same[0]]
            stored = self._store.get(question.key) if self._store and not question.generation.sampling else None
            if stored is None:
                pending.append(same)
            else:
                self._deliver(texts, same, read, question, stored)
        if self._store is not None:
            found = len(places) - len(pending)
            self._found += found
            log.info("response store: %d of %d answers found in %s", found, len(places), self._store.folder)

        started = time.monotonic()
        asked = [questions[same[0]] for same in pending]
        try:
            quiet = disable_tqdm or self.rank != 0 or not asked
            with Progress(self.name, [question.audio for question in asked], quiet=quiet) as progress:
                for replies in self.ask(asked) if asked else ():
                    self._keep(asked, replies)
                    for j, reply in replies:
                        self._deliver(texts, pending[j], read, asked[j], reply)
                    self._asked += len(replies)
                    progress.done(j for j, _ in replies)
        except KeyboardInterrupt as stopped:  # shown below the traceback, or in place of one
            kept = "none is kept, for resume=false" if self._store is None else "the same command goes on with the others"
            stopped.add_note(f"{self._found + self._asked} of {len(places)} requests were answered; {kept}")
            raise
        finally:
            self._seconds += time.monotonic() - started
            if self._store is not None:
                self._store.close()
        self._warn_of_failures()
        return _complete(texts)

    def _warn_of_failures(self) -> None:
        failures = self._tally.failures()
        if failures:
            log.warning(
                "%d requests could not be put to the model and are left out of the metrics; first: %s: %s",
                len(failures),
                failures[0].kind,
                failures[0].reason,
            )

    def _question(self, request: Request) -> Question:
        generation = read_generation(request.generation, self._max_new_tokens)
        chat = read_chat(request.prompt, self._system_instruction)
        preprocessing = {**self._preprocessing, "clips": [handle.get("channels") for handle in request.audio]}
        if self._preprocessing.get("long_audio") == "chunk":
            preprocessing["join"] = [rule_for(handle.get("task_kind")) for handle in request.audio[:1]]
        key = response_key(
            self.identity,
            {"turns": chat.turns, "reply_begun": chat.reply_begun},
            generation.settings,
            [handle["sha256"] for handle in request.audio],
            preprocessing,
        )
        return Question(key, chat, request.audio, generation)

    def _keep(self, asked: Sequence[Question], replies: Iterable[tuple[int, Answer | Failure]]) -> None:
        """Stores real greedy answers.  A failure is not stored: a repaired file shall be asked about."""
        if self._store is not None:
            new = [(asked[j], reply) for j, reply in replies if isinstance(reply, Answer) and not asked[j].generation.sampling]
            self._store.add(
                ((question.key, reply) for question, reply in new),
                {question.key: self._asked_about(question) for question, _ in new},
            )

    def _asked_about(self, question: Question) -> Asked:
        """What the answer can be found by without the model."""
        generation = question.generation
        settings = {"max_new_tokens": generation.max_new_tokens, "until": list(generation.until), **generation.options}
        before = question.chat.before
        if before:
            settings["turns_before"] = hashlib.sha256(json.dumps(before).encode()).hexdigest()[:12]
        if question.chat.reply_begun:
            settings["reply_begun"] = hashlib.sha256(question.chat.turns[-1][1].encode()).hexdigest()[:12]
        sha256s = [handle["sha256"] for handle in question.audio]
        return Asked(question_key(question.chat.text, sha256s), {**settings, **self._preprocessing})

    def _deliver(
        self, texts: list[str | None], same: list[int], read: list[Request], question: Question, reply: Answer | Failure
    ) -> None:
        text = reply.delivered if isinstance(reply, Answer) else failure(reply.kind, reply.reason)
        sampling = question.generation.sampling
        self._tally.note(f"{question.key}-{same[0]}" if sampling else question.key, reply, {read[i].task for i in same} - {""})
        for i in same:
            texts[i] = text
            if isinstance(reply, Answer) and not sampling:
                self.cache_hook.add_partial("generate_until", read[i].arguments, text)

    def loglikelihood(self, requests: list[Instance]) -> NoReturn:
        """Not offered."""
        self._generation_only()

    def loglikelihood_rolling(self, requests: list[Instance]) -> NoReturn:
        """Not offered."""
        self._generation_only()

    def _generation_only(self) -> NoReturn:
        raise NotOffered(
            f"model {self.name!r} answers in words and gives no log-likelihoods. All tasks of dsb2 are of output_type: "
            f"generate_until; a task of type multiple_choice or loglikelihood needs another model."
        )

    def set_cache_hook(self, cache_hook: CacheHook) -> None:
        """Takes lm-eval's ``--use_cache`` database, if it is ours: its keys do not say which model answered.

        lm-eval also keeps failures of the tool there; they are taken out, so that they are asked about again.

        Raises:
            SettingError: The database holds answers of another model.
        """
        database = cache_hook.dbdict
        if database is not None:
            self._begin()  # lm-eval may find all answers here and ask for none
            self._host_cache = any(key != _CACHE_OWNER for key in database)
            settings = {"system_instruction": self._system_instruction, "max_new_tokens": self._max_new_tokens}
            owner = json.dumps({"model": self.identity, "preprocessing": self._preprocessing, **settings}, sort_keys=True)
            if len(database) and database.get(_CACHE_OWNER) != owner:
                raise SettingError(
                    f"--use_cache: {getattr(database, 'filename', 'the database')} holds answers of another model or of other "
                    f"settings, which lm-eval would give out as those of this one; name another path"
                )
            database[_CACHE_OWNER] = owner
            for key in [key for key, text in database.items() if isinstance(text, str) and read_failure(text)]:
                del database[key]
        super().set_cache_hook(cache_hook)

    def apply_chat_template(self, chat_history: list[dict[str, str]], add_generation_prompt: bool = True) -> str:
        """A marked string that stands for the messages; the model's own template is applied when the clips are known."""
        return dump_chat(chat_history, add_generation_prompt)

    def chat_template(self, chat_template: bool | str = False) -> str:
        """The model's template, for lm-eval's records; empty where it is not known here.

        Raises:
            SettingError: ``--apply_chat_template`` names one.
        """
        if isinstance(chat_template, str):
            raise SettingError(f"--apply_chat_template {chat_template}: {self.name} uses the model's own one; leave the name out")
        return ""

    def all_gather(self, tensor: Any) -> Any:
        """Values of all ranks in rank order; a scalar becomes a vector."""
        return self._ranks.all_gather(tensor)

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        """Objects of all ranks on rank ``dst``, None elsewhere; mappings of rows (lm-eval's samples, metrics) joined into one."""
        gathered = self._ranks.gather_object(obj, dst)
        return [in_document_order(gathered)] if gathered is not None and isinstance(obj, dict) else gathered

    def barrier(self) -> None:
        """Waits for all ranks, and brings their counts to rank 0: lm-eval calls this after every kind of request."""
        self._ranks.barrier()
        gathered = self._ranks.gather_object((self._tally.export(), self.effort))
        if gathered is not None:
            self._whole_tally = Tally.merge(facts for facts, _ in gathered)
            self._efforts = [effort for _, effort in gathered]

    @property
    def counts(self) -> dict[str, Any]:
        """What befell the answers of this evaluation, of all ranks; the same for a run in one go and a resumed one.

        Answers that lm-eval took from ``--use_cache`` never reach the model, so nothing is known about them.
        """
        left_out = {"not_counted": "answers that lm-eval took from --use_cache"} if self._host_cache else {}
        return {**(self._whole_tally if self.world_size > 1 else self._tally).summary(), **left_out}

    @property
    def effort(self) -> dict[str, Any]:
        """What this evaluation took this process; not the same for a resumed run."""
        return {"answers_from_store": self._found, "answers_asked": self._asked, "seconds": round(self._seconds, 3)}

    @property
    def time(self) -> dict[str, Any]:
        """What this evaluation took all ranks: the sums of their numbers."""
        efforts = self._efforts or [self.effort]
        numbers = {name: [effort[name] for effort in efforts] for name in efforts[0]}
        return {**{name: round(sum(values), 3) for name, values in numbers.items()}, "ranks": self.world_size}

    @classmethod
    def create_from_arg_string(cls: type[T], arg_string: str, additional_config: dict[str, Any] | None = None) -> T:
        """As in lm-eval, but what ``--model_args`` names wins over ``--batch_size`` and ``--device`` instead of clashing."""
        from lm_eval.utils import simple_parse_args_string

        return cls.create_from_arg_obj(simple_parse_args_string(arg_string), additional_config)

    @classmethod
    def create_from_arg_obj(cls: type[T], arg_dict: dict[str, Any], additional_config: dict[str, Any] | None = None) -> T:
        """As in lm-eval, but what ``--model_args`` names wins over ``--batch_size`` and ``--device`` instead of clashing."""
        host = {name: value for name, value in (additional_config or {}).items() if value is not None}
        return cls(**{**host, **arg_dict})


def _complete(texts: Sequence[str | None]) -> list[str]:
    missing = [i for i, text in enumerate(texts) if text is None]
    if missing:
        raise RuntimeError(f"{len(missing)} requests were not answered (first: number {missing[0]}): a fault of the backend")
    return [text for text in texts if text is not None]
