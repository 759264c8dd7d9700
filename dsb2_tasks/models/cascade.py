"""``--model dsb2-cascade``: a speech recogniser, then a language model that reads its transcripts in place of the audio."""

from __future__ import annotations

import inspect
import logging
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from dsb2_tasks.audio import AudioPolicy
from dsb2_tasks.compat import Request
from dsb2_tasks.models._args import (
    ModelArgError,
    SettingError,
    check_args,
    read_batch_size,
    read_choice,
    read_count,
    read_seconds,
)
from dsb2_tasks.models._asr import RATE, load_recognizer
from dsb2_tasks.models._asr_clips import ClipKey, Transcripts
from dsb2_tasks.models._base import AudioLM, Question
from dsb2_tasks.models._cache import cache_folder, store_folder
from dsb2_tasks.models._cascade_prompt import TEMPLATE, make_prompt
from dsb2_tasks.models._generation import cut
from dsb2_tasks.models._llm import TextModel
from dsb2_tasks.models._load import pick_device
from dsb2_tasks.models._ranks import Ranks
from dsb2_tasks.models._responses import Answer, ResponseStore, response_key
from dsb2_tasks.models._tally import Failure

log = logging.getLogger(__name__)

_AUTO_BATCH = 8
_DETECT = "detect"
_SHORTENINGS = 8


class Cascade(AudioLM):
    """A recogniser and a text model of lm-eval, the baseline of the paper with ``asr=openai/whisper-large-v3``.

    The language model reads the transcripts of a request's clips in clip order, then the instruction; the words around them are
    :data:`dsb2_tasks.models._cascade_prompt.TEMPLATE`.  A clip without speech is said to be one.  A request without audio is the
    instruction alone.  A transcript for which the model's context is too small loses its end (event ``transcript_truncated``).

    Tasks that ask for a transcript get the recogniser's (``asr_tasks=transcript``) unless the language model shall write it
    again (``asr_tasks=llm``).  With ``llm=none`` the transcript is the answer, whatever the instruction asks; several clips are a
    line each, and a request without audio is answered by the empty text (event ``no_audio``).

    If one clip of a request cannot be read, or the language model fails on it, the request is a recorded failure.  A transcript
    is what the recogniser says for certain: where it is the answer, settings that draw or steer one (``do_sample=true``,
    ``num_beams`` ... in ``--gen_kwargs``) are refused, ``until`` cuts it, and a task's token cap does not touch it.
    """

    name = "dsb2-cascade"

    def __init__(
        self,
        asr: str = "demo",
        *,
        asr_revision: str | None = None,
        asr_key_env: str | None = None,
        asr_tasks: str = "transcript",
        language: str | None = None,
        audio: str = "real",
        beam_size: int | None = None,
        compute_type: str | None = None,
        llm: str | None = "none",
        llm_args: str | Mapping[str, Any] | None = None,
        device: str | None = None,
        batch_size: int | str = 1,
        max_batch_size: int | None = None,
        max_audio_seconds: float | None = None,
        long_audio: str = "chunk",
        resume: bool = True,
        responses: str | None = None,
        **beside: Any,
    ) -> None:
        """Loads both models.  These are the names for ``--model_args``.

        Args:
            asr: ``demo`` (Whisper base, comes with ``dsb2-tasks[demo]``); a folder or a name on the hub (Whisper, in the form of
                transformers or CTranslate2); ``faster-whisper:`` with a size, folder or hub name; or a server with OpenAI's
                transcription API, ``api:MODEL@http://host/v1``.
            asr_revision: Branch, tag or commit of a hub name.
            asr_key_env: Environment variable that holds the key of the server; ``OPENAI_API_KEY`` by default.
            asr_tasks: Where the task asks for a transcript: ``transcript`` is the answer, or ``llm`` reads it like any other.
            language: ISO 639-1 code of all clips, or ``detect``.  By default a clip's language is the one that its task states,
                and is detected where it states none.
            audio: ``real``; or ``none``, a control: the language model reads the instructions of all tasks without transcripts.
            beam_size: Beams of Whisper, 5 by default; 1 is greedy.
            compute_type: Number type of Whisper: by default int8 (faster-whisper) or float32 (transformers) on a CPU, float16
                elsewhere.
            llm: A text model of lm-eval by its name for ``--model`` (``hf``, ``vllm``, ``local-chat-completions`` ...), ``demo``
                (SmolLM2-135M) or ``none``.
            llm_args: Arguments for it: ``NAME=VALUE;NAME=VALUE``, a JSON text, or a mapping.
            device: ``cuda``, ``cuda:N``, ``cpu``; the best there is by default.
            batch_size: Most clips, and prompts, at a time, or ``auto``: 8 clips; prompts as the language model likes (``hf``: 8).
                faster-whisper takes clips one by one and only writes them down together.
            max_batch_size: Upper bound for ``batch_size``.
            max_audio_seconds: Longest clip that is transcribed as a whole; no bound by default, for Whisper walks through long
                clips by itself.
            long_audio: What is done with a longer one: ``chunk`` it and join the texts, ``truncate`` it, or ``error``: the
                request counts as one whose audio cannot be read.
            resume: Whether transcripts and answers are kept in, and taken from, the stores.
            responses: Folder for the stores instead of ``DSB2_CACHE`` or ``~/.cache/dsb2``.
            **beside: Arguments of the language model that its constructor names (``pretrained``, ``dtype``, ``revision``,
                ``base_url`` ...); any other is refused, with the nearest known name.

        Raises:
            ModelArgError: An argument is unknown or has a wrong value.
            RecognizerError: The recogniser cannot be had.
            ModelUnavailable: The language model cannot be loaded.
            DemoUnavailable: A demo model is asked for and its packages are absent or not those that were pinned.
            EndpointError: The address of the recogniser's server is none.
        """
        alone = llm in (None, "none")
        if alone:
            check_args([*beside, *([] if llm_args is None else ["llm_args"])], set(_ARGUMENTS) - {"llm_args"}, self.name)
        read_choice("long_audio", long_audio, ("chunk", "truncate", "error"))
        self._transcript_answers = read_choice("asr_tasks", asr_tasks, ("transcript", "llm")) == "transcript"
        root = store_folder(resume, responses)
        self._control = _read_control(audio, alone=alone)
        size = read_batch_size(batch_size, _AUTO_BATCH)
        size = size if max_batch_size is None else min(size, read_count("max_batch_size", max_batch_size))
        policy = AudioPolicy(
            rate=RATE,
            channels="mono",
            max_seconds=read_seconds("max_audio_seconds", max_audio_seconds, least=AudioPolicy.min_seconds),
            long_audio=long_audio,  # type: ignore[arg-type]  # checked above
        )
        at = pick_device(None if device is None else str(device))
        ranks = Ranks(cpu=at.type == "cpu")
        self._recognizer = load_recognizer(
            str(asr),
            cache=cache_folder(),
            revision=None if asr_revision is None else str(asr_revision),
            beam_size=None if beam_size is None else read_count("beam_size", beam_size),
            compute_type=None if compute_type is None else str(compute_type),
            key_env=None if asr_key_env is None else str(asr_key_env),
            device=str(at),
        )
        self._language = None if language is None else str(language)
        if self._language not in (None, _DETECT) and self._recognizer.languages is not None:
            read_choice("language", self._language, [*sorted(self._recognizer.languages), _DETECT])
        self._told: set[str] = set()
        host = {"device": str(at), "batch_size": batch_size, "max_batch_size": max_batch_size}
        self._llm = None if alone else TextModel(str(llm), llm_args, beside, host, _ARGUMENTS)
        self.asr, self.llm = self._recognizer.name, "none" if alone else str(llm)

        heard = ResponseStore(root / "transcripts", self._recognizer.identity, rank=ranks.rank) if root is not None else None
        self._transcripts = Transcripts(self._recognizer, policy, heard, size)
        identity = {"name": self.name, "recognizer": self._recognizer.identity, "language": self._language or "of the task"}
        if self._llm is not None:
            identity |= {"language_model": self._llm.identity, "prompt_template": TEMPLATE, "asr_tasks": asr_tasks}
        # Without a language model the transcripts are all there is to be kept.
        store = ResponseStore(root, identity, rank=ranks.rank) if root is not None and self._llm is not None else None
        preprocessing = {**asdict(policy), **({} if self._control == "real" else {"audio": self._control})}
        super().__init__(identity=identity, preprocessing=preprocessing, ranks=ranks, device=at, store=store)

    # ------------------------------------------------------------------ asking

    def _begin(self) -> None:
        super()._begin()
        self._transcripts.begin()

    def _question(self, request: Request) -> Question:
        """A question whose key also says what the handles do: the language told, and whether the transcript is the answer."""
        question = super()._question(request)
        told = {"languages": [key[1] for key in self._keys(question)], "transcript": self._is_transcript(question)}
        return replace(question, key=response_key(self.identity, question.key, told, [], {}))

    def _is_transcript(self, question: Question) -> bool:
        """Whether the transcript is the answer."""
        if self._llm is None:
            return True
        kinds = {handle.get("task_kind") for handle in question.audio}
        return self._transcript_answers and kinds == {"transcript"}

    def _keys(self, question: Question) -> list[ClipKey]:
        return [(handle["sha256"], self._language_of(handle)) for handle in question.audio]

    def _language_of(self, handle: Mapping[str, Any]) -> str | None:
        """The language that the recogniser is told of a clip; None lets it hear for itself."""
        if self._language is not None:
            return None if self._language == _DETECT else self._language
        code = handle.get("language")
        known = self._recognizer.languages
        if code is None or known is None or code in known:
            return code
        if code not in self._told:
            self._told.add(code)
            log.warning("asr=%s does not know the language %r that a task states, and is not told it", self.asr, code)
        return None

    def ask(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Transcribes the clips of all questions, then asks the language model about those that it is to answer."""
        if self._control == "none":
            questions = [replace(question, audio=()) for question in questions]
        for question in questions:
            if self._is_transcript(question):
                _check_generation(question)
        to_read: list[tuple[int, list[Answer]]] = []
        for heard in self._hear(questions):
            done: list[tuple[int, Answer | Failure]] = []
            for i, replies in heard:
                failed = next((reply for reply in replies if isinstance(reply, Failure)), None)
                transcripts = [reply for reply in replies if isinstance(reply, Answer)]
                if failed is not None:
                    done.append((i, failed))
                elif self._is_transcript(questions[i]):
                    done.append((i, _transcript(questions[i], transcripts)))
                else:
                    to_read.append((i, transcripts))
            if done:
                yield done
        yield from self._read(questions, sorted(to_read, key=lambda pair: pair[0]))

    def _hear(self, questions: Sequence[Question]) -> Iterator[list[tuple[int, list[Answer | Failure]]]]:
        """Questions with the transcripts of their clips in order, some at a time, as soon as the last clip is transcribed."""
        keys = [self._keys(question) for question in questions]
        clips = {key: handle for i, question in enumerate(questions) for key, handle in zip(keys[i], question.audio, strict=True)}
        missing = [set(of_question) for of_question in keys]
        waiting: dict[ClipKey, list[int]] = {}
        for i, of_question in enumerate(missing):
            for key in of_question:
                waiting.setdefault(key, []).append(i)
        yield [(i, []) for i, of_question in enumerate(missing) if not of_question]
        known: dict[ClipKey, Answer | Failure] = {}
        for heard in self._transcripts.hear(clips):
            known.update(heard)
            complete = []
            for key in heard:
                for i in waiting[key]:
                    missing[i].discard(key)
                    if not missing[i]:
                        complete.append((i, [known[one] for one in keys[i]]))
            yield complete

    def _read(
        self, questions: Sequence[Question], to_read: Sequence[tuple[int, list[Answer]]]
    ) -> Iterator[list[tuple[int, Answer | Failure]]]:
        """Answers of the language model."""
        if self._llm is None or not to_read:
            return
        prompts, asked, failed = [], [], []
        for i, transcripts in to_read:
            prompt, shortened = self._prompt(questions[i], [transcript.text for transcript in transcripts])
            if prompt is None:
                failed.append((i, Failure("model_error", "the instruction alone exceeds the language model's context")))
            else:
                events = [*_events(transcripts), *(["transcript_truncated"] if shortened else [])]
                prompts.append((prompt, questions[i].generation))
                asked.append((i, Answer("", tuple(events), windows=_windows(transcripts))))
        if failed:
            yield list(failed)
        log.info("asking the language model %d prompts", len(prompts))
        for replies in self._llm.answer(prompts):
            done: list[tuple[int, Answer | Failure]] = []
            for j, reply in replies:
                i, answer = asked[j]
                text = "" if isinstance(reply, Failure) else cut(reply, questions[i].generation.until)
                done.append((i, reply if isinstance(reply, Failure) else replace(answer, text=text)))
            yield done

    def _prompt(self, question: Question, transcripts: Sequence[str]) -> tuple[Any | None, bool]:
        """What the language model is given, and whether transcripts lost their end; None if nothing of them would fit."""
        assert self._llm is not None
        prompt = self._rendered(question, transcripts)
        if not self._llm.too_long(prompt, question.generation):
            return prompt, False
        best, low, high = None, 0.0, 1.0  # shares of the transcripts that fit and that do not
        for _ in range(_SHORTENINGS):
            share = (low + high) / 2 if best is not None else 0.0
            prompt = self._rendered(question, [text[: int(len(text) * share)] for text in transcripts])
            if self._llm.too_long(prompt, question.generation):
                if best is None:
                    break
                high = share
            else:
                best, low = prompt, share
        return best, True

    def _rendered(self, question: Question, transcripts: Sequence[str]) -> Any:
        assert self._llm is not None
        chat = question.chat
        last = len(chat.before)
        turns = [
            (role, make_prompt(text, transcripts)) if i == last else (role, text) for i, (role, text) in enumerate(chat.turns)
        ]
        return self._llm.render(turns, chat.reply_begun)

    # ------------------------------------------------------------------ for lm-eval

    @property
    def effort(self) -> dict[str, Any]:
        """What this evaluation took this process; not the same for a resumed run."""
        heard = self._transcripts
        return {
            **super().effort,
            "transcripts_from_store": heard.found,
            "transcripts_made": heard.made,
            "audio_seconds": round(heard.seconds, 3),
            "recognizer_seconds": round(heard.work_seconds, 3),
        }

    @property
    def tokenizer_name(self) -> str:
        """Name under which lm-eval keeps requests made with a chat template; they hold none of the language model's."""
        return self.name

    def get_model_info(self) -> dict[str, Any]:
        """What the results file says about the models and about what befell their answers.

        All but the part ``time`` is the same for a run in one go and for one that was killed and resumed.
        """
        # lm-eval's models do not say whether an answer ended at the token cap.
        unknown = {} if self._llm is None else {"answers_at_token_cap": None}
        return {
            "dsb2_model": {
                "asr": self.asr,
                "llm": self.llm,
                **self.identity,
                "audio": self._control,
                "preprocessing": self._preprocessing,
                **self.counts,
                **unknown,
                "time": self.time,
            },
        }


def _read_control(audio: object, *, alone: bool) -> str:
    if audio in ("silence", "noise"):
        raise ModelArgError(f"audio={audio!r}: what a recogniser makes up out of it is no control; take audio=none")
    control = read_choice("audio", audio, ("real", "none"))
    if control == "none" and alone:
        raise ModelArgError("audio='none' with llm=none: without audio there is no transcript, and nobody else to answer")
    return control


def _check_generation(question: Question) -> None:
    generation = question.generation
    if generation.sampling or generation.options:
        given = {**({"do_sample": True} if generation.sampling else {}), **generation.options}
        raise SettingError(
            f"generation settings {given} cannot be followed where the transcript is the answer (llm=none, or tasks that ask for "
            f"one), which is always the likeliest one; leave them out of --gen_kwargs (beams: --model_args beam_size=), or let "
            f"the language model answer: asr_tasks=llm"
        )


def _transcript(question: Question, transcripts: Sequence[Answer]) -> Answer:
    """The answer that the transcripts are."""
    if not transcripts:
        return Answer("", ("no_audio",))
    text = "\n".join(transcript.text for transcript in transcripts)
    return Answer(cut(text, question.generation.until), _events(transcripts), windows=_windows(transcripts))


def _events(transcripts: Sequence[Answer]) -> tuple[str, ...]:
    return tuple(event for transcript in transcripts for event in transcript.events)


def _windows(transcripts: Sequence[Answer]) -> int:
    return max((transcript.windows for transcript in transcripts), default=1)


_ARGUMENTS = tuple(name for name in inspect.signature(Cascade.__init__).parameters if name not in ("self", "beside"))
