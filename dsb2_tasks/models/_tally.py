"""What befell the answers of a run, for the results file.

Facts are kept by response key, so an answer that was found in the store counts as the one that was just given, and a document
that lm-eval asks about twice (it pads short ranks) counts once: a run that was killed and resumed ends with the same numbers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
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


class Tally:
    """Counts of one process, or of all ranks together after :meth:`merge`."""

    def __init__(self) -> None:
        self._facts: dict[str, Answer | Failure] = {}

    def note(self, key: str, reply: Answer | Failure) -> None:
        """Notes how one request ended."""
        kept = reply if isinstance(reply, Failure) else Answer("", reply.events, reply.capped, reply.windows)
        self._facts[key] = kept

    def failures(self) -> list[Failure]:
        """The failures so far, in the order noted."""
        return [fact for fact in self._facts.values() if isinstance(fact, Failure)]

    def export(self) -> dict[str, Answer | Failure]:
        """The facts without the texts, to be sent to another rank."""
        return dict(self._facts)

    @classmethod
    def merge(cls, exported: Iterable[dict[str, Answer | Failure]]) -> Tally:
        """The tally of several ranks together."""
        whole = cls()
        for facts in exported:
            whole._facts.update(facts)
        return whole

    def summary(self) -> dict[str, Any]:
        """Counts, JSON-able, in a fixed order."""
        answers = [fact for fact in self._facts.values() if isinstance(fact, Answer)]
        failures = self.failures()
        events = Counter(event for answer in answers for event in answer.events)
        return {
            "answers": len(answers),
            "answers_at_token_cap": sum(answer.capped for answer in answers),
            "answers_from_windows": sum(answer.windows > 1 for answer in answers),
            "audio_events": dict(sorted(events.items())),
            "failures": dict(sorted(Counter(failure.kind for failure in failures).items())),
        }
