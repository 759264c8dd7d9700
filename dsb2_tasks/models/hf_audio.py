"""``--model hf-audio``: an audio language model of transformers on this machine."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from dsb2_tasks.audio import AudioPolicy
from dsb2_tasks.models import _load
from dsb2_tasks.models._args import (
    ModelArgError,
    check_args,
    read_batch_size,
    read_choice,
    read_count,
    read_flag,
    read_seconds,
)
from dsb2_tasks.models._base import AudioLM, Question
from dsb2_tasks.models._cache import store_folder
from dsb2_tasks.models._canary import check_hearing
from dsb2_tasks.models._control import CONTROLS
from dsb2_tasks.models._generator import Generator
from dsb2_tasks.models._pipeline import ModelStopped, Pipeline
from dsb2_tasks.models._preparing import Preparer
from dsb2_tasks.models._ranks import Ranks
from dsb2_tasks.models._responses import Answer, ResponseStore, check_writable
from dsb2_tasks.models._sizing import BatchSize, room_on_gpu
from dsb2_tasks.models._tally import Failure
from dsb2_tasks.models.adapters import Adapter

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
    "max_new_tokens_per_batch",
    "max_new_tokens",
    "long_audio",
    "max_audio_seconds",
    "system_instruction",
    "audio",
    "audio_position",
    "prefetch",
    "resume",
    "responses",
    "trust_remote_code",
    "quantization",
    "peft",
    "adapter",
)
#: First size of ``batch_size=auto``, and up to where it grows on a GPU; elsewhere it stays.
_AUTO_START, _AUTO_MOST = 4, 256
_SHORTEST = AudioPolicy().min_seconds


class HFAudio(AudioLM):
    """Any audio language model that transformers' Auto classes know; tried families are in :mod:`dsb2_tasks.models.adapters`.

    Requests are batched by audio length and generation settings; the clips of the next batches are decoded, and made into inputs,
    while the model works.  Greedy answers do not depend on the batch, up to the rounding of half-precision numbers.  A batch that
    runs out of memory is halved and asked again; any other error of the model ends the run, with every answer so far in the
    response store.  A clip that cannot be read is a recorded failure of that request alone.
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
        max_new_tokens_per_batch: int | None = None,
        max_new_tokens: int | None = None,
        long_audio: str = "truncate",
        max_audio_seconds: float | None = None,
        system_instruction: str | None = None,
        audio: str = "real",
        audio_position: str = "before",
        prefetch: int = 2,
        resume: bool = True,
        responses: str | None = None,
        trust_remote_code: bool = False,
        quantization: str | None = None,
        peft: str | None = None,
        adapter: str | None = None,
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
            batch_size: Most requests a batch, or ``auto``: on a GPU found on the run's own first batches, by doubling from 4 for
                as long as memory allows and a request takes less time; 4 elsewhere.  Halved where memory runs out.
            max_batch_size: Upper bound for ``batch_size``; 256 for ``auto``.
            max_audio_seconds_per_batch: Most audio a batch, counted as padded.
            max_new_tokens_per_batch: Most tokens a batch may be answered with: requests times their token cap.
            max_new_tokens: Token cap of all tasks, instead of their own.
            long_audio: What is done with a clip longer than the window: ``truncate`` it, ask by ``chunk``, cut at the quietest
                place in the last second, and join the answers (:func:`dsb2_tasks.models._windows.join_windows`), or ``error``:
                the request counts as one whose audio cannot be read.
            max_audio_seconds: The window; by default what the model's feature extractor keeps (30 s for Qwen2-Audio).
            system_instruction: Text of a system turn.  (lm-eval's ``--system_instruction`` joins it to the prompt unless
                ``--apply_chat_template`` is on.)
            audio: ``real``; or a control: ``none`` asks without clips, ``silence`` and ``noise`` (white, -20 dB below full scale)
                put something of the same length in the place of every clip.
            audio_position: Clips ``before`` or ``after`` the text.
            prefetch: Batches that are made ready ahead; 0 for none.
            resume: Whether answers are kept in, and taken from, the response store.
            responses: Folder for response stores instead of ``DSB2_CACHE`` or ``~/.cache/dsb2``.
            trust_remote_code: Whether code that comes with the model may run.
            quantization: ``4bit`` or ``8bit``, by bitsandbytes.
            peft: Folder or hub name of fine-tuned weights (LoRA and the like) to put into the model.
            adapter: ``module:Class`` of an adapter of one's own.
            **unknown: Refused, with the nearest known name.

        Raises:
            ModelArgError: An argument is unknown or has a wrong value.
            ModelUnavailable: The model cannot be loaded.
            StoreError: The response store cannot be written to.
        """
        check_args(unknown, _ARGUMENTS, self.name)
        read_choice("dtype", dtype, _load.DTYPES)
        read_choice("long_audio", long_audio, ("truncate", "chunk", "error"))
        if quantization is not None:
            read_choice("quantization", quantization, _load.QUANTIZATIONS)
        control = read_choice("audio", audio, CONTROLS)
        position = read_choice("audio_position", audio_position, ("before", "after"))
        seconds_per_batch = read_seconds("max_audio_seconds_per_batch", max_audio_seconds_per_batch)
        tokens_per_batch = _count("max_new_tokens_per_batch", max_new_tokens_per_batch)
        window = read_seconds("max_audio_seconds", max_audio_seconds, least=_SHORTEST)
        cap = _count("max_new_tokens", max_new_tokens)
        most = _count("max_batch_size", max_batch_size)
        self._prefetch = 0 if prefetch in (0, "0") else read_count("prefetch", prefetch)
        root = store_folder(resume, responses)
        if root is not None:
            check_writable(root)
        at = _load.pick_device(None if device is None else str(device))
        size = read_batch_size(batch_size, 0)  # 0: auto

        ranks = Ranks(cpu=at.type == "cpu")
        loaded = _load.load(
            str(pretrained),
            device=at,
            revision=None if revision is None else str(revision),
            dtype=dtype,
            device_map=device_map,
            attn_implementation=attn_implementation,
            trust_remote_code=read_flag("trust_remote_code", trust_remote_code),
            quantization=quantization,
            peft=None if peft is None else str(peft),
            adapter=None if adapter is None else str(adapter),
        )
        self._model, self._adapter = loaded.model, loaded.adapter
        if control == "none" and self._adapter.min_clips:
            raise ModelArgError(f"audio=none: adapter {self._adapter.name!r} asks about clips alone; take audio=silence or noise")
        self._policy = AudioPolicy(
            rate=self._adapter.rate,
            channels=self._adapter.channels,
            max_seconds=self._adapter.window_seconds if window is None else window,
            long_audio=long_audio,  # type: ignore[arg-type]  # checked above
        )
        self._control = control
        self._sizes = _sizes(size, most, self._adapter, self._model.device)
        self._pipeline = Pipeline(
            Preparer(self._policy, self._adapter, control),
            Generator(self._model, self._adapter, position),  # type: ignore[arg-type]  # checked above
            self._sizes,
            prefetch=self._prefetch,
            max_seconds=seconds_per_batch,
            max_tokens=tokens_per_batch,
        )
        store = ResponseStore(root, loaded.identity, rank=ranks.rank) if root is not None else None
        self.pretrained = str(pretrained)
        self._heard = control != "real"  # then there is nothing to be heard
        super().__init__(
            identity=loaded.identity,
            preprocessing={
                **asdict(self._policy),
                "audio_position": position,
                **({} if control == "real" else {"audio": control}),
            },
            ranks=ranks,
            device=at,
            store=store,
            max_new_tokens=cap,
            system_instruction=system_instruction,
        )

    # ------------------------------------------------------------------ asking

    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Makes batches ready in threads and asks the model batch by batch, longest first.

        Raises:
            AudioNotHeard: The model's inputs do not depend on the audio.
            ModelStopped: The model failed; the message holds its reason.
        """
        if not self._heard and any(question.audio for question in questions):
            check_hearing(self._adapter, self._model)
            self._heard = True
        try:
            yield from self._pipeline.run(questions)
        except ModelStopped as error:
            if not self._store:
                raise
            raise ModelStopped(
                f"{error}; the answers so far are in the response store: the same command goes on from there"
            ) from error

    # ------------------------------------------------------------------ for lm-eval

    @property
    def tokenizer_name(self) -> str:
        """Name under which lm-eval keeps requests made with the chat template."""
        return self.pretrained.replace("/", "__")

    def chat_template(self, chat_template: bool | str = False) -> str:
        """The model's template, for lm-eval's records."""
        super().chat_template(chat_template)
        return self._adapter.chat_template

    def _begin(self) -> None:
        super()._begin()
        self._sizes.halvings = 0

    @property
    def effort(self) -> dict[str, Any]:
        """What this evaluation took this process; not the same for a resumed run."""
        return {**super().effort, "out_of_memory_halvings": self._sizes.halvings}

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
                "audio": self._control,
                "preprocessing": self._preprocessing,
                "system_instruction": self._system_instruction,
                "max_new_tokens": self._max_new_tokens,
                **self.counts,
                "time": {**self.time, "batch_size": self._sizes.size},
            },
        }


def _count(name: str, value: object) -> int | None:
    return None if value is None else read_count(name, value)


def _sizes(size: int, most: int | None, adapter: Adapter, device: Any) -> BatchSize:
    """The batch size as told, or, where ``size`` is 0, one that grows on a GPU."""
    if adapter.alone:
        if size != 1:
            log.info("adapter %s asks about one request at a time, whatever the batch size: padding would be heard", adapter.name)
        return BatchSize(1)
    if size:
        return BatchSize(size if most is None else min(size, most))
    bound = _AUTO_MOST if most is None else most
    start = min(_AUTO_START, bound)
    return BatchSize(start, most=bound, fits=room_on_gpu(device)) if device.type == "cuda" else BatchSize(start)
