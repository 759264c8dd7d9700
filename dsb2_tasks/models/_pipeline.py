"""From questions to answers: clips are decoded and made into inputs in threads, while the model works on the batch before."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dsb2_tasks.models._ahead import Workers, ahead, one_ahead
from dsb2_tasks.models._base import Question
from dsb2_tasks.models._batching import cut_batches, make_batches
from dsb2_tasks.models._generator import Generator, out_of_memory
from dsb2_tasks.models._preparing import Output, Prepared, Preparer
from dsb2_tasks.models._responses import Answer
from dsb2_tasks.models._sizing import BatchSize
from dsb2_tasks.models._tally import Failure
from dsb2_tasks.models.adapters.generic import Samples

_DECODERS = 4
#: Clips of a batch that are named, and characters of an error that are told, where the model fails.
_NAMED, _REASON = 4, 500
Replies = list[tuple[int, Answer | Failure]]


class ModelStopped(RuntimeError):
    """The model failed on a batch; the message holds the size and the reason."""


@dataclass(frozen=True)
class _Time:
    """One time the model is asked: a question, or one window of it."""

    place: int
    window: int
    question: Question
    clips: list[Samples]


@dataclass(frozen=True)
class _Part:
    """What goes to the model together, made ready; ``inputs`` is an error where that failed.

    ``failed`` and ``made`` are of the questions that this part is the first one of.
    """

    failed: Replies
    made: dict[int, Prepared]
    times: list[_Time] = field(default_factory=list)
    inputs: Any = None


class Pipeline:
    """One model at work."""

    def __init__(
        self,
        preparer: Preparer,
        generator: Generator,
        sizes: BatchSize,
        *,
        prefetch: int,
        max_seconds: float | None = None,
        max_tokens: int | None = None,
    ) -> None:
        """Takes its parts.

        Args:
            preparer: Questions to clips.
            generator: Clips to answers.
            sizes: Most requests a batch.
            prefetch: Batches made ready ahead of the one the model works on; 0 for none.
            max_seconds: Most audio a batch, counted as padded.
            max_tokens: Most tokens a batch may be answered with.
        """
        self._preparer, self._generator, self._sizes = preparer, generator, sizes
        self._prefetch, self._max_seconds, self._max_tokens = prefetch, max_seconds, max_tokens

    def run(self, questions: Sequence[Question]) -> Iterator[Replies]:
        """Answers questions, longest first.

        Yields:
            Replies by the place of their question, as soon as they are there.

        Raises:
            ModelStopped: The model failed.
        """
        with Workers(_DECODERS, "dsb2-decode") as decoders, Workers(1, "dsb2-encode") as encoder:
            parts = self._parts(questions, decoders)
            yield from self._answers(one_ahead(encoder, parts) if self._prefetch else parts)

    def _parts(self, questions: Sequence[Question], decoders: Workers) -> Iterator[_Part]:
        """Everything that is to be asked, made ready in order; runs beside the model."""
        lengths = list(decoders.map(self._preparer.seconds, questions))
        unreadable: Replies = [(i, n) for i, n in enumerate(lengths) if isinstance(n, Failure)]
        if unreadable:
            yield _Part(unreadable, {})
        readable = [(i, n) for i, n in enumerate(lengths) if not isinstance(n, Failure)]
        batches = cut_batches(
            [seconds for _, seconds in readable],
            # Processors refuse a batch in which only some have clips.
            [(questions[i].generation.group, questions[i].chat.reply_begun, bool(questions[i].audio)) for i, _ in readable],
            size=lambda: self._sizes.size,
            max_seconds=self._max_seconds,
            tokens=[questions[i].generation.max_new_tokens for i, _ in readable],
            max_tokens=self._max_tokens,
        )
        indices = ([readable[j][0] for j in batch] for batch in batches)
        depth = max(self._prefetch - 1, 0)  # one more is with the encoder
        for batch in ahead(decoders, lambda i: self._preparer.prepare(questions[i]), indices, depth):
            failed: Replies = [(i, made) for i, made in batch if isinstance(made, Failure)]
            made = {i: made for i, made in batch if isinstance(made, Prepared)}
            times = [_Time(i, k, questions[i], clips) for i, one in made.items() for k, clips in enumerate(one.windows)]
            for part in self._cut(times):
                yield _Part(failed, made, part, self._encoded(part))
                failed, made = [], {}
            if failed:
                yield _Part(failed, {})

    def _cut(self, times: Sequence[_Time]) -> Iterator[list[_Time]]:
        """A batch as it is, unless long clips made several windows of it."""
        batches = make_batches(
            [self._preparer.length(one.clips) for one in times],
            [0] * len(times),
            size=self._sizes.size,
            max_seconds=self._max_seconds,
            tokens=[one.question.generation.max_new_tokens for one in times],
            max_tokens=self._max_tokens,
        )
        return ([times[j] for j in batch] for batch in batches)

    def _encoded(self, times: Sequence[_Time]) -> Any:
        """Model inputs; an error is handed on, to be met where one of the model is."""
        try:
            return self._generator.encode([one.question for one in times], [one.clips for one in times])
        except Exception as error:
            return error

    def _answers(self, parts: Iterator[_Part]) -> Iterator[Replies]:
        """Asks the model; a question is answered when its last window is."""
        open_: dict[int, tuple[Prepared, dict[int, Output]]] = {}
        for part in parts:
            if part.failed:
                yield part.failed
            open_ |= {i: (made, {}) for i, made in part.made.items()}
            for times, outputs in self._outputs(part.times, part.inputs) if part.times else ():
                done: Replies = []
                for one, output in zip(times, outputs, strict=True):
                    made, given = open_[one.place]
                    given[one.window] = output
                    if len(given) == len(made.windows):
                        done.append((one.place, made.answer([given[k] for k in range(len(given))])))
                        del open_[one.place]
                if done:
                    yield done

    def _outputs(self, times: list[_Time], inputs: Any = None) -> Iterator[tuple[list[_Time], list[Output]]]:
        """What the model says to a part, in as many goes as memory allows."""
        size = self._sizes.size
        if len(times) > size:
            for start in range(0, len(times), size):
                yield from self._outputs(times[start : start + size])
            return
        outputs = self._generate_if_it_fits(times, self._encoded(times) if inputs is None else inputs)
        if outputs is not None:
            yield times, outputs
        else:
            _free_memory()
            self._sizes.ran_out(len(times))
            yield from self._outputs(times)

    def _generate_if_it_fits(self, times: Sequence[_Time], inputs: Any) -> list[Output] | None:
        """Asks the model; None if memory ran out and fewer requests at once may do."""
        generation = times[0].question.generation
        try:
            if isinstance(inputs, Exception):
                raise inputs
            started = time.monotonic()
            outputs = self._generator.generate(inputs, generation)
            self._sizes.took(len(times), time.monotonic() - started, generation.group)
            return outputs
        except Exception as error:
            if not out_of_memory(error):
                raise ModelStopped(
                    f"the model failed on a batch of {len(times)} ({self._told(times)}): {_reason(error)}"
                ) from error
            if len(times) == 1:
                raise ModelStopped(
                    f"one request alone does not fit into memory ({self._told(times)}, at most {generation.max_new_tokens} new "
                    f"tokens; {_reason(error)}): lower max_audio_seconds or max_new_tokens, or take a smaller dtype or "
                    f"device_map=auto"
                ) from error
        return None

    def _told(self, times: Sequence[_Time]) -> str:
        """What a batch is made of, for messages."""
        clips = list(dict.fromkeys(f"{clip['repo']} row {clip['row']}" for one in times for clip in one.question.audio))
        more = f" and {len(clips) - _NAMED} more" if len(clips) > _NAMED else ""
        longest = max(self._preparer.length(one.clips) for one in times)
        return f"{', '.join(clips[:_NAMED])}{more}: {longest:.1f} s of audio" if clips else "without clips"


def _reason(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())[:_REASON]}"


def _free_memory() -> None:
    """Gives memory back.  The error is gone by now, and its frames hold no tensors."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.empty_cache()
