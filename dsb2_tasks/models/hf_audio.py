"""``--model hf-audio``: an audio language model of transformers on this machine."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dsb2_tasks.audio import STORE, AudioError, AudioPolicy, Clip, prepare
from dsb2_tasks.models import _load
from dsb2_tasks.models._ahead import ahead
from dsb2_tasks.models._args import ModelArgError, check_args, read_batch_size, read_choice, read_count, read_flag, read_seconds
from dsb2_tasks.models._base import AudioLM, Question
from dsb2_tasks.models._batching import make_batches
from dsb2_tasks.models._cache import cache_folder
from dsb2_tasks.models._canary import check_hearing
from dsb2_tasks.models._generation import Generation, cut
from dsb2_tasks.models._ranks import Ranks
from dsb2_tasks.models._responses import Answer, ResponseStore
from dsb2_tasks.models._tally import Failure
from dsb2_tasks.models.adapters.generic import Samples

log = logging.getLogger(__name__)

DEFAULT_MODEL = "Qwen/Qwen2-Audio-7B-Instruct"
_ARGUMENTS = (
    "pretrained",
    "revision",
    "dtype",
    "device",
    "device_map",
    "attn_implementation",
    "batch_size",
    "max_batch_size",
    "max_audio_seconds_per_batch",
    "max_new_tokens",
    "long_audio",
    "max_audio_seconds",
    "system_instruction",
    "audio_position",
    "prefetch",
    "resume",
    "responses",
    "trust_remote_code",
)
_AUTO_BATCH = {"cpu": 4, "cuda": 16}
_DECODERS = 4


@dataclass(frozen=True)
class _Prepared:
    """A question whose audio is decoded.

    Attributes:
        windows: Clips of each time the model is asked: one entry, or several for long audio in chunks.
        events: Of all clips, in order; each once a clip.
    """

    windows: list[list[Samples]]
    events: tuple[str, ...]


@dataclass(frozen=True)
class _Output:
    text: str
    capped: bool


class HFAudio(AudioLM):
    """Any audio language model that transformers' Auto classes know; tried families are in :mod:`dsb2_tasks.models.adapters`.

    Requests are batched by audio length and generation settings; the clips of the next batches are decoded while the model
    works.  Greedy answers do not depend on the batch, up to the rounding of half-precision numbers.  A batch that runs out of
    memory is halved and asked again; any other error of the model ends the run, with every answer so far in the response store.
    A clip that cannot be read is a recorded failure of that request alone.
    """

    name = "hf-audio"

    def __init__(
        self,
        pretrained: str = DEFAULT_MODEL,
        *,
        revision: str | None = None,
        dtype: str = "auto",
        device: str | None = None,
        device_map: str | None = None,
        attn_implementation: str | None = None,
        batch_size: int | str = 1,
        max_batch_size: int | None = None,
        max_audio_seconds_per_batch: float | None = None,
        max_new_tokens: int | None = None,
        long_audio: str = "truncate",
        max_audio_seconds: float | None = None,
        system_instruction: str | None = None,
        audio_position: str = "before",
        prefetch: int = 2,
        resume: bool = True,
        responses: str | None = None,
        trust_remote_code: bool = False,
        **unknown: Any,
    ) -> None:
        """Loads the model.  These are the names for ``--model_args``.

        Args:
            pretrained: Hub name, folder, or ``tiny`` for a random 1 MB model made on the spot.
            revision: Branch, tag or commit of a hub name.
            dtype: ``auto``, ``float32``, ``float16`` or ``bfloat16``; ``auto`` is float32 on a CPU, else as stored.
            device: ``cuda``, ``cuda:N``, ``cpu`` ...; the best there is by default.
            device_map: As in transformers, for a model larger than a device; ``device`` is then not used.
            attn_implementation: As in transformers.
            batch_size: Most requests a batch, or ``auto``: 16 on a GPU, 4 on a CPU, halved where memory runs out.
            max_batch_size: Upper bound for ``batch_size``.
            max_audio_seconds_per_batch: Most audio a batch, counted as padded.
            max_new_tokens: Token cap of all tasks, instead of their own.
            long_audio: What is done with a clip longer than the window: ``truncate`` it, ask by ``chunk`` and join the answers
                with a newline, or ``error``: the request counts as one whose audio cannot be read.
            max_audio_seconds: The window; by default what the model's feature extractor keeps (30 s for Qwen2-Audio).
            system_instruction: Text of a system turn.  (lm-eval's ``--system_instruction`` joins it to the prompt unless
                ``--apply_chat_template`` is on.)
            audio_position: Clips ``before`` or ``after`` the text.
            prefetch: Batches that are decoded ahead; 0 for none.
            resume: Whether answers are kept in, and taken from, the response store.
            responses: Folder for response stores instead of ``DSB2_CACHE`` or ``~/.cache/dsb2``.
            trust_remote_code: Whether code that comes with the model may run.
            **unknown: Refused, with the nearest known name.

        Raises:
            ModelArgError: An argument is unknown or has a wrong value.
            ModelUnavailable: The model cannot be loaded.
        """
        check_args(unknown, _ARGUMENTS, self.name)
        read_choice("dtype", dtype, _load.DTYPES)
        read_choice("long_audio", long_audio, ("truncate", "chunk", "error"))
        self._position = read_choice("audio_position", audio_position, ("before", "after"))
        self._seconds_per_batch = read_seconds("max_audio_seconds_per_batch", max_audio_seconds_per_batch)
        window = read_seconds("max_audio_seconds", max_audio_seconds)
        cap = None if max_new_tokens is None else read_count("max_new_tokens", max_new_tokens)
        self._prefetch = 0 if prefetch in (0, "0") else read_count("prefetch", prefetch)
        if not read_flag("resume", resume) and responses is not None:
            raise ModelArgError(f"responses={responses!r} with resume=false: without resuming nothing is stored; leave one out")
        at = _load.pick_device(None if device is None else str(device))
        size = read_batch_size(batch_size, _AUTO_BATCH.get(at.type, 1))
        self._batch_size = size if max_batch_size is None else min(size, read_count("max_batch_size", max_batch_size))

        ranks = Ranks(cpu=at.type == "cpu")
        loaded = _load.load(
            str(pretrained),
            device=at,
            revision=None if revision is None else str(revision),
            dtype=dtype,
            device_map=device_map,
            attn_implementation=attn_implementation,
            trust_remote_code=read_flag("trust_remote_code", trust_remote_code),
        )
        self._model, self._adapter = loaded.model, loaded.adapter
        self._policy = AudioPolicy(
            rate=self._adapter.rate,
            channels=self._adapter.channels,
            max_seconds=self._adapter.window_seconds if window is None else window,
            long_audio=long_audio,  # type: ignore[arg-type]  # checked above
        )
        root = Path(responses) if responses is not None else cache_folder() / "responses"
        store = ResponseStore(root, loaded.identity, rank=ranks.rank) if resume else None
        self.pretrained = str(pretrained)
        self._halvings = 0
        self._heard = False
        super().__init__(
            identity=loaded.identity,
            preprocessing={**asdict(self._policy), "audio_position": self._position},
            ranks=ranks,
            device=at,
            store=store,
            max_new_tokens=cap,
            system_instruction=system_instruction,
        )

    # ------------------------------------------------------------------ asking

    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Decodes ahead in threads and asks the model batch by batch, longest first.

        Raises:
            AudioNotHeard: The model's inputs do not depend on the audio.
            RuntimeError: The model failed; the message holds its reason.
        """
        if not self._heard and any(question.audio for question in questions):
            check_hearing(self._adapter, self._model)
            self._heard = True
        with ThreadPoolExecutor(_DECODERS, thread_name_prefix="dsb2-decode") as pool:
            try:
                lengths = list(pool.map(self._length, questions))
                unreadable = [(i, length) for i, length in enumerate(lengths) if isinstance(length, Failure)]
                if unreadable:
                    yield list(unreadable)
                readable = [i for i, length in enumerate(lengths) if not isinstance(length, Failure)]
                batches = make_batches(
                    [float(lengths[i]) for i in readable],  # type: ignore[arg-type]
                    [(questions[i].generation.group, questions[i].chat.reply_begun) for i in readable],
                    size=self._batch_size,
                    max_seconds=self._seconds_per_batch,
                )
                indices = ([readable[j] for j in batch] for batch in batches)
                for batch in ahead(pool, lambda i: self._prepare(questions[i]), indices, self._prefetch):
                    yield self._answer(questions, batch)
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _length(self, question: Question) -> float | Failure:
        """Seconds that the model will be given at a time."""
        longest = self._policy.max_seconds or float("inf")
        try:
            return sum(min(STORE.info(handle).seconds, longest) for handle in question.audio)
        except AudioError as error:
            return Failure("audio_error", error.reason)

    def _prepare(self, question: Question) -> _Prepared | Failure:
        limit = self._adapter.max_clips
        if limit is not None and len(question.audio) > limit:
            return Failure("model_error", f"{len(question.audio)} clips; the model takes {limit} a turn")
        try:
            clips = [prepare(handle, self._policy, STORE) for handle in question.audio]
        except AudioError as error:
            return Failure("audio_error", error.reason)
        # What several windows of one clip share has befallen one clip.
        events = tuple(event for parts in clips for event in dict.fromkeys(e for window in parts for e in window.events))
        return _Prepared(_windows(clips), events)

    def _answer(
        self, questions: Sequence[Question], batch: Sequence[tuple[int, _Prepared | Failure]]
    ) -> list[tuple[int, Answer | Failure]]:
        """Replies to one batch of questions that share generation settings."""
        # One entry each time the model is asked: (question, clips).
        times = [(i, clips) for i, made in batch if isinstance(made, _Prepared) for clips in made.windows]
        outputs: dict[int, list[_Output]] = {}
        done = 0
        while done < len(times):
            part = times[done : done + self._batch_size]
            answers = self._generate_if_it_fits([questions[i] for i, _ in part], [clips for _, clips in part])
            if answers is None:
                self._halve(len(part))
                continue
            for (i, _), output in zip(part, answers, strict=True):
                outputs.setdefault(i, []).append(output)
            done += len(part)
        return [(i, made if isinstance(made, Failure) else _joined(made, outputs[i])) for i, made in batch]

    def _generate_if_it_fits(self, questions: Sequence[Question], clips: Sequence[list[Samples]]) -> list[_Output] | None:
        """Asks the model; None if memory ran out and fewer requests at once may do."""
        try:
            return self._generate(questions, clips)
        except Exception as error:
            if not _out_of_memory(error):
                raise RuntimeError(self._stopped(len(clips), error)) from error
            if len(clips) == 1:
                raise RuntimeError(
                    f"{self._stopped(1, error)} One request alone does not fit into memory: lower max_audio_seconds or "
                    f"max_new_tokens, or take a smaller dtype or device_map=auto."
                ) from error
        return None

    def _halve(self, size: int) -> None:
        """Lowers the batch size for the rest of the run.  The error is gone by now, and its frames hold no tensors."""
        import torch

        if torch.cuda.is_available():
            torch.cuda.empty_cache()
        self._halvings += 1
        self._batch_size = size // 2
        log.warning("out of memory with %d requests at once; going on with %d", size, self._batch_size)

    def _stopped(self, size: int, error: Exception) -> str:
        kept = "; the answers so far are in the response store and will not be asked for again" if self._store is not None else ""
        return f"the model failed on a batch of {size}: {type(error).__name__}: {error}{kept}."

    def _generate(self, questions: Sequence[Question], clips: Sequence[list[Samples]]) -> list[_Output]:
        """Answers of the model to one batch, in order."""
        import torch

        generation = questions[0].generation
        conversations = [
            self._adapter.messages(question.chat, parts, self._position)  # type: ignore[arg-type]  # checked in __init__
            for question, parts in zip(questions, clips, strict=True)
        ]
        inputs = self._adapter.inputs(conversations, reply_begun=questions[0].chat.reply_begun)
        inputs = inputs.to(self._model.device, dtype=self._model.dtype)  # floating point parts alone change their type
        with torch.inference_mode():
            output = self._model.generate(**inputs, **self._options(generation))
        return [self._read(tokens, generation) for tokens in self._adapter.new_tokens(output, inputs).tolist()]

    def _options(self, generation: Generation) -> dict[str, Any]:
        """Keywords of ``generate``."""
        options: dict[str, Any] = {
            "max_new_tokens": generation.max_new_tokens,
            "do_sample": generation.sampling,
            "pad_token_id": self._pad_token,
        }
        if not generation.sampling:
            # A model may come with sampling settings of its own, about which transformers would warn at every batch.
            options |= {"temperature": 1.0, "top_p": 1.0, "top_k": 50}
        if generation.until:
            options |= {"stop_strings": list(generation.until), "tokenizer": self._adapter.tokenizer}
        return {**options, **generation.options}

    @property
    def _ends(self) -> list[int]:
        ends = self._model.generation_config.eos_token_id
        return [ends] if isinstance(ends, int) else list(ends or [])

    @property
    def _pad_token(self) -> int | None:
        pad = self._adapter.tokenizer.pad_token_id
        return pad if pad is not None else next(iter(self._ends), None)

    def _read(self, tokens: list[int], generation: Generation) -> _Output:
        """Text of one row: up to its end token, the rest is padding."""
        ends = [tokens.index(end) for end in self._ends if end in tokens]
        whole = self._adapter.text(tokens[: min(ends, default=len(tokens))])
        text = cut(whole, generation.until)
        filled = len(tokens) >= generation.max_new_tokens and tokens[-1] != self._pad_token
        return _Output(text, capped=not ends and filled and text == whole)

    # ------------------------------------------------------------------ for lm-eval

    @property
    def tokenizer_name(self) -> str:
        """Name under which lm-eval keeps requests made with the chat template."""
        return self.pretrained.replace("/", "__")

    def chat_template(self, chat_template: bool | str = False) -> str:
        """The model's template, for lm-eval's records."""
        if isinstance(chat_template, str):
            raise ValueError(f"--apply_chat_template {chat_template}: {self.name} uses the model's own one; leave the name out")
        return self._adapter.chat_template

    def get_model_info(self) -> dict[str, Any]:
        """What the results file says about the model and about what befell its answers.

        All but the part ``time`` is the same for a run in one go and for one that was killed and resumed.
        """
        identity = dict(self.identity)
        identity["chat_template_sha256"] = hashlib.sha256(identity.pop("chat_template").encode()).hexdigest()
        return {
            "model_num_parameters": sum(parameter.numel() for parameter in self._model.parameters()),
            "model_dtype": identity["dtype"],
            "dsb2_model": {
                "pretrained": self.pretrained,
                **identity,
                "preprocessing": self._preprocessing,
                "system_instruction": self._system_instruction,
                "max_new_tokens": self._max_new_tokens,
                **self.counts,
                "time": {**self.effort, "out_of_memory_halvings": self._halvings, "ranks": self.world_size},
            },
        }


def _joined(made: _Prepared, outputs: Sequence[_Output]) -> Answer:
    text = "\n".join(output.text for output in outputs)
    return Answer(text, made.events, any(output.capped for output in outputs), len(outputs))


def _windows(clips: Sequence[Sequence[Clip]]) -> list[list[Samples]]:
    """Clips of each time the model is asked.

    With long audio in chunks a clip has several windows; the k-th time holds the k-th window of every clip, and the last one of
    a clip that has fewer.
    """
    times = max((len(parts) for parts in clips), default=1)
    return [[parts[min(k, len(parts) - 1)].samples for parts in clips] for k in range(times)]


def _out_of_memory(error: Exception) -> bool:
    """Whether a GPU's or a CPU's allocator gave up; PyTorch has a class for the first case only."""
    text = str(error).lower()
    return isinstance(error, RuntimeError) and ("out of memory" in text or "can't allocate memory" in text)
