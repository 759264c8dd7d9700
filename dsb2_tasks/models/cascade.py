"""``--model dsb2-cascade``: a speech recogniser, then an answer.  As yet the transcript is the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from dsb2_tasks.audio import AudioPolicy
from dsb2_tasks.models._args import ModelArgError, check_args, read_batch_size, read_choice, read_count, read_flag, read_seconds
from dsb2_tasks.models._asr import BACKENDS, RATE, load_recognizer
from dsb2_tasks.models._asr_clips import Transcripts
from dsb2_tasks.models._base import AudioLM, Question
from dsb2_tasks.models._cache import cache_folder
from dsb2_tasks.models._generation import cut
from dsb2_tasks.models._load import pick_device
from dsb2_tasks.models._ranks import Ranks
from dsb2_tasks.models._responses import Answer, ResponseStore
from dsb2_tasks.models._tally import Failure

_ARGUMENTS = (
    "asr",
    "asr_backend",
    "revision",
    "language",
    "beam_size",
    "compute_type",
    "llm",
    "device",
    "batch_size",
    "max_batch_size",
    "max_audio_seconds",
    "long_audio",
    "resume",
    "responses",
)
_AUTO_BATCH = 8


class Cascade(AudioLM):
    """A recogniser in front of nothing (``llm=none``): what was said is the answer, whatever the instruction asks.

    The answer to a request with several clips is their transcripts in clip order, a line each.  A request without audio has
    nothing to transcribe: its answer is the empty text, counted as ``no_audio``.  If one clip of a request cannot be read, the
    request is a recorded failure.

    A transcript is what the recogniser says for certain: settings that draw or steer an answer (``do_sample=true``,
    ``num_beams`` ... in ``--gen_kwargs``) are refused, ``until`` cuts it, and a task's token cap, meant for language models, does
    not touch it.
    """

    name = "dsb2-cascade"

    def __init__(
        self,
        asr: str = "demo",
        *,
        asr_backend: str = "auto",
        revision: str | None = None,
        language: str | None = None,
        beam_size: int = 5,
        compute_type: str = "auto",
        llm: str = "none",
        device: str | None = None,
        batch_size: int | str = 1,
        max_batch_size: int | None = None,
        max_audio_seconds: float | None = None,
        long_audio: str = "chunk",
        resume: bool = True,
        responses: str | None = None,
        **unknown: Any,
    ) -> None:
        """Loads the recogniser.  These are the names for ``--model_args``.

        Args:
            asr: ``demo`` (Whisper base, comes with ``dsb2-tasks[demo]``), a folder, or a name on the hub.
            asr_backend: ``faster-whisper``, ``transformers``, or ``auto`` to go by the model's files.
            revision: Branch, tag or commit of a hub name.
            language: ISO 639-1 code of all clips; by default each clip's language is detected, which on a CPU takes as long
                again as transcribing it.
            beam_size: Beams; 1 is greedy.
            compute_type: Number type: ``auto`` is int8 (faster-whisper) or float32 (transformers) on a CPU, float16 elsewhere.
            llm: ``none``.
            device: ``cuda``, ``cuda:N``, ``cpu``; the best there is by default.
            batch_size: Most clips at a time, or ``auto``.  transformers works on them together; faster-whisper takes them one
                by one and only writes them down together.
            max_batch_size: Upper bound for ``batch_size``.
            max_audio_seconds: Longest clip that is transcribed as a whole; no bound by default, for Whisper walks through long
                clips by itself.
            long_audio: What is done with a longer one: ``chunk`` it and join the texts, ``truncate`` it, or ``error``: the
                request counts as one whose audio cannot be read.
            resume: Whether transcripts are kept in, and taken from, the store.
            responses: Folder for the store instead of ``DSB2_CACHE`` or ``~/.cache/dsb2``.
            **unknown: Refused, with the nearest known name.

        Raises:
            ModelArgError: An argument is unknown or has a wrong value.
            RecognizerError: The recogniser cannot be had.
            DemoUnavailable: ``asr=demo`` and the demo packages are absent or not those that were pinned.
        """
        check_args(unknown, _ARGUMENTS, self.name)
        if llm != "none":
            raise ModelArgError(
                f"llm={llm!r}: a language model behind the recogniser is not built yet; llm=none is what there is"
            )
        read_choice("asr_backend", asr_backend, BACKENDS)
        read_choice("long_audio", long_audio, ("chunk", "truncate", "error"))
        if not read_flag("resume", resume) and responses is not None:
            raise ModelArgError(f"responses={responses!r} with resume=false: without resuming nothing is stored; leave one out")
        size = read_batch_size(batch_size, _AUTO_BATCH)
        size = size if max_batch_size is None else min(size, read_count("max_batch_size", max_batch_size))
        policy = AudioPolicy(
            rate=RATE,
            channels="mono",
            max_seconds=read_seconds("max_audio_seconds", max_audio_seconds),
            long_audio=long_audio,  # type: ignore[arg-type]  # checked above
        )
        beams = read_count("beam_size", beam_size)
        at = pick_device(None if device is None else str(device))
        ranks = Ranks(cpu=at.type == "cpu")
        self.asr = str(asr)
        self._recognizer = load_recognizer(
            self.asr,
            cache=cache_folder(),
            backend=asr_backend,
            revision=None if revision is None else str(revision),
            language=None if language is None else str(language),
            beam_size=beams,
            compute_type=str(compute_type),
            device=str(at),
        )
        identity = self._recognizer.identity
        place = Path(responses or cache_folder() / "responses")
        store = ResponseStore(place, identity, rank=ranks.rank) if resume else None
        self._transcripts = Transcripts(self._recognizer, policy, store, size)
        # Transcripts have their own store, by clip; there is nothing else to be kept.
        super().__init__(identity=identity, preprocessing=asdict(policy), ranks=ranks, device=at, store=None)

    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Transcribes the clips of all questions; a question is answered when its last clip is."""
        for question in questions:
            _check_generation(question)
        clips = {handle["sha256"]: handle for question in questions for handle in question.audio}
        waiting: dict[str, list[int]] = {}
        missing = [{handle["sha256"] for handle in question.audio} for question in questions]
        for i, hashes in enumerate(missing):
            for sha in hashes:
                waiting.setdefault(sha, []).append(i)
        silent = [(i, Answer("", ("no_audio",))) for i, hashes in enumerate(missing) if not hashes]
        if silent:
            yield list(silent)
        known: dict[str, Answer | Failure] = {}
        for heard in self._transcripts.hear(clips):
            known.update(heard)
            done = []
            for sha in heard:
                for i in waiting[sha]:
                    missing[i].discard(sha)
                    if not missing[i]:
                        done.append((i, _answer(questions[i], known)))
            if done:
                yield done

    @property
    def effort(self) -> dict[str, Any]:
        """What this run of this process took; not the same for a resumed run."""
        heard = self._transcripts
        return {
            "transcripts_from_store": heard.found,
            "transcripts_made": heard.made,
            "audio_hours": round(heard.seconds / 3600, 4),
            "real_time_factor": round(heard.work_seconds / heard.seconds, 3) if heard.seconds else None,
            "seconds": round(self._seconds, 3),
        }

    @property
    def tokenizer_name(self) -> str:
        """Name under which lm-eval keeps requests made with a chat template; a cascade of no language model has none."""
        return self.name

    def get_model_info(self) -> dict[str, Any]:
        """What the results file says about the model and about what befell its answers.

        All but the part ``time`` is the same for a run in one go and for one that was killed and resumed.
        """
        return {
            "dsb2_model": {
                "asr": self.asr,
                "llm": "none",
                **self.identity,
                "preprocessing": self._preprocessing,
                **self.counts,
                "time": {**self.effort, "ranks": self.world_size},
            },
        }


def _check_generation(question: Question) -> None:
    generation = question.generation
    if generation.sampling or generation.options:
        given = {**({"do_sample": True} if generation.sampling else {}), **generation.options}
        raise ValueError(
            f"generation settings {given} cannot be followed: with llm=none the answer is the transcript, which is always the "
            f"likeliest one; leave them out of --gen_kwargs (beams: --model_args beam_size=)"
        )


def _answer(question: Question, known: Mapping[str, Answer | Failure]) -> Answer | Failure:
    replies = [known[handle["sha256"]] for handle in question.audio]
    texts: list[str] = []
    events: list[str] = []
    windows = 1
    for reply in replies:
        if isinstance(reply, Failure):
            return reply
        texts.append(reply.text)
        events.extend(reply.events)
        windows = max(windows, reply.windows)
    return Answer(cut("\n".join(texts), question.generation.until), tuple(events), windows=windows)
