"""From a question to what a model is given: clips decoded, fitted, cut into windows where they are long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dsb2_tasks.audio import STORE, AudioError, AudioPolicy, prepare
from dsb2_tasks.models._base import Question
from dsb2_tasks.models._control import unheard
from dsb2_tasks.models._responses import Answer
from dsb2_tasks.models._tally import Failure
from dsb2_tasks.models._windows import in_step, join_windows, rule_for, starts_of
from dsb2_tasks.models.adapters import Adapter
from dsb2_tasks.models.adapters.generic import Samples


@dataclass(frozen=True)
class Output:
    """What a model said one time.

    Attributes:
        text: The answer.
        capped: Whether it ended at the token cap.
    """

    text: str
    capped: bool


@dataclass(frozen=True)
class Prepared:
    """A question whose audio is decoded.

    Attributes:
        windows: Clips of each time the model is asked: one entry, or several for long audio in chunks.
        starts: Seconds into the clip at which each window begins; of several clips, into the first one.
        rule: How the answers to the windows are joined, see :func:`dsb2_tasks.models._windows.join_windows`.
        events: Of all clips, in order; each once a clip.
    """

    windows: list[list[Samples]]
    starts: tuple[float, ...]
    rule: str
    events: tuple[str, ...]

    def answer(self, outputs: Sequence[Output]) -> Answer:
        """The answer to the question out of those to its windows, in order."""
        text, joined = join_windows([output.text for output in outputs], self.starts, self.rule)
        capped = any(output.capped for output in outputs)
        return Answer(text, (*self.events, *joined), capped, len(outputs))


class Preparer:
    """Prepares questions; may be called from several threads."""

    def __init__(self, policy: AudioPolicy, adapter: Adapter, control: str = "real") -> None:
        """Keeps the settings.

        Args:
            policy: What the model takes.
            adapter: Says how many clips it takes, and whether it hears several as one.
            control: One of :data:`dsb2_tasks.models._control.CONTROLS`.
        """
        self._policy, self._adapter, self._control = policy, adapter, control

    def length(self, clips: Sequence[Samples]) -> float:
        """Seconds of prepared clips together."""
        return sum(clip.shape[-1] for clip in clips) / self._policy.rate

    def seconds(self, question: Question) -> float | Failure:
        """Length of audio that the model will be given at a time."""
        if self._control == "none":
            return 0.0
        longest = self._policy.max_seconds or float("inf")
        try:
            return sum(min(STORE.info(handle).seconds, longest) for handle in question.audio)
        except AudioError as error:
            return Failure("audio_error", error.reason)

    def prepare(self, question: Question) -> Prepared | Failure:
        """Reads, decodes and fits the clips of a question."""
        handles = () if self._control == "none" else question.audio
        number = len(handles)
        fewest, most = self._adapter.min_clips, self._adapter.max_clips
        if most is not None and number > most:
            return Failure("model_error", f"{number} clips; the model takes {most} a turn")
        if number < fewest:
            return Failure("model_error", f"{number} clips; the model needs {fewest} a turn")
        try:
            clips = [prepare(handle, self._policy, STORE) for handle in handles]
        except AudioError as error:
            return Failure("audio_error", error.reason)
        # What several windows of one clip share has befallen one clip.
        events = tuple(event for parts in clips for event in dict.fromkeys(e for window in parts for e in window.events))
        if self._adapter.joins and number > 1:
            events += ("joined",)
        heard = [
            [unheard(clip.samples, self._control, f"{handle['sha256']} {k}") for k, clip in enumerate(parts)]
            for handle, parts in zip(handles, clips, strict=True)
        ]
        starts = starts_of([[clip.start for clip in parts] for parts in clips])
        return Prepared(in_step(heard), starts, rule_for(handles[0].get("task_kind") if handles else None), events)
