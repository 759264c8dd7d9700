"""What befell the answers of a run, for the results file.

Facts are kept by response key, so an answer that was found in the store counts as the one that was just given, and a document
that lm-eval asks about twice (it pads short ranks) counts once: a run that was killed and resumed ends with the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from dsb2_tasks.models._responses import Answer


@dataclass(frozen=True)
class Failure:
    """The tool could not ask the model; never scored as an answer, never stored.

    Attributes:
        kind: As in :func:`dsb2_tasks.audio.failure`.
        reason: Short text.
    """

    kind: str
    reason: str


@dataclass
class Fact:
    """How one question ended, without the text, and the tasks that asked it."""

    reply: Answer | Failure
    tasks: set[str] = field(default_factory=set)


class Tally:
    """Counts of one process, or of all ranks together after :meth:`merge`."""

    def __init__(self) -> None:
        self._facts: dict[str, Fact] = {}

    def note(self, key: str, reply: Answer | Failure, tasks: Iterable[str] = ()) -> None:
        """Notes how one request ended."""
        kept = reply if isinstance(reply, Failure) else replace(reply, text="")
        known = self._facts.get(key)
        self._facts[key] = Fact(kept, {*tasks, *(known.tasks if known else ())})

    def failures(self) -> list[Failure]:
        """The failures so far, in the order noted."""
        return [fact.reply for fact in self._facts.values() if isinstance(fact.reply, Failure)]

    def export(self) -> dict[str, Fact]:
        """The facts, to be sent to another rank."""
        return dict(self._facts)

    @classmethod
    def merge(cls, exported: Iterable[dict[str, Fact]]) -> Tally:
        """The tally of several ranks together."""
        whole = cls()
        for facts in exported:
            for key, fact in facts.items():
                whole.note(key, fact.reply, fact.tasks)
        return whole

    def summary(self) -> dict[str, Any]:
        """Counts, JSON-able, in a fixed order."""
        answers = [(fact.reply, fact.tasks) for fact in self._facts.values() if isinstance(fact.reply, Answer)]
        events = Counter(event for answer, _ in answers for event in answer.events)
        capped = Counter(task for answer, tasks in answers if answer.capped for task in tasks)
        return {
            "answers": len(answers),
            "answers_at_token_cap": sum(answer.capped for answer, _ in answers),
            "answers_at_token_cap_by_task": dict(sorted(capped.items())),
            "answers_from_windows": sum(answer.windows > 1 for answer, _ in answers),
            "audio_events": dict(sorted(events.items())),
            "failures": dict(sorted(Counter(failure.kind for failure in self.failures()).items())),
        }
