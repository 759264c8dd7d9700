"""What a judge is asked about, and what it says."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from dsb2_tasks.parse import clean
from dsb2_tasks.spec import NumberSpec

Status = Literal["accepted", "rejected", "extracted", "na", "unusable", "failed"]


class JudgeError(RuntimeError):
    """A judge cannot be asked: it is named wrongly, not there, or the kind of task has none.  The message names the fix."""


def _reads_any(text: str) -> bool:
    return True


@dataclass(frozen=True)
class JudgeItem:
    """One answer to be judged; :func:`dsb2_tasks.judge.item_for` makes it.

    Attributes:
        kind: Output kind of the task.
        instruction: What the model got to read.
        reference: The right answer: one text, or the members of a set (kind ``labels``).
        answer: The model's answer without thinking blocks and special tokens.
        options: Names that the values to be extracted may have, where they are a closed set.
        number: Form of the number asked for (kind ``number``).
        reads: Whether the task's own kind can read an extracted text.
    """

    kind: str
    instruction: str
    reference: tuple[str, ...]
    answer: str
    options: tuple[str, ...] | None = None
    number: NumberSpec | None = None
    reads: Callable[[str], bool] = field(default=_reads_any, compare=False, repr=False)


@dataclass(frozen=True)
class Verdict:
    """What became of one item.

    Attributes:
        status: ``accepted`` or ``rejected``; ``extracted`` or ``na`` (the answer holds no usable value); ``unusable`` (the
            reply is no verdict by the rules of the contract); ``failed`` (no reply came).  The last two say nothing about the
            answer: they are left out and counted, see :func:`dsb2_tasks.judge.coverage`.
        value: The extracted text; None for every other status.
        explanation: The judge's reasons, or why there is no verdict; at most 1000 characters.
    """

    status: Status
    value: str | None = None
    explanation: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "explanation", clean(self.explanation)[:1000])

    @property
    def usable(self) -> bool:
        """Whether it says something about the answer."""
        return self.status not in ("unusable", "failed")


@dataclass(frozen=True)
class Contract:
    """Prompt and parser of a judge; one is nothing without the other.

    Attributes:
        name: As in :data:`dsb2_tasks.judge.CONTRACTS`.
        version: Goes up with every change of prompt or parser; part of the key of stored verdicts.
        about: One line for people.
        prompt: The text of the one user turn.
        read: The verdict in a judge's reply, given whether the reply was cut off; never raises.
        most_tokens: Length of a reply, by output kind.
    """

    name: str
    version: int
    about: str
    prompt: Callable[[JudgeItem], str]
    read: Callable[[str, bool, JudgeItem], Verdict]
    most_tokens: Callable[[str], int]
