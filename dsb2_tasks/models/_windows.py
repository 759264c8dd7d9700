"""One answer out of those to the windows of a long clip.

What can be done hangs on the output kind, which a handle names; no task is known here.  Where nothing sound can be done the
answer to the first window stands, and is counted as such.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dsb2_tasks.parse import parse_beats, parse_notes, parse_spans

#: Counted among the audio events: the answer is that to the first window alone ...
FIRST = "window_rule_first"
#: ... or leaves out a window whose answer names no time that can be read.
UNREAD = "window_unread"

T = TypeVar("T")

_RULES = {
    **dict.fromkeys(("transcript", "phonemes", "translation", "text", "pitches"), "text"),
    **dict.fromkeys(("labels", "slots", "entities"), "lines"),
    **dict.fromkeys(("turns", "events", "spans"), "spans"),
    "notes": "notes",
    "beats": "beats",
    "choice": "vote",
    # A count adds up and a quality is a mean, and a number alone does not say which it is; tags stand beside a sentence.
    **dict.fromkeys(("number", "tags", "waveform"), "first"),
}


def in_step(clips: Sequence[Sequence[T]]) -> list[list[T]]:
    """Windows of several clips, time by time: the k-th of every clip, and the last one of a clip that has fewer.

    Without clips a model is asked once, about none.
    """
    times = max((len(windows) for windows in clips), default=1)
    return [[windows[min(k, len(windows) - 1)] for windows in clips] for k in range(times)]


def starts_of(clips: Sequence[Sequence[float]]) -> tuple[float, ...]:
    """Where each time begins: seconds into the first clip."""
    return tuple(time[0] if time else 0.0 for time in in_step(clips))


def rule_for(kind: str | None) -> str:
    """How answers of an output kind are joined; the first stands where the kind is not known."""
    return _RULES.get(kind or "", "first")


def join_windows(texts: Sequence[str], starts: Sequence[float], rule: str) -> tuple[str, tuple[str, ...]]:
    """Joins the answers to the windows of one clip.

    * ``text``: one behind the other, with blanks.
    * ``lines``: one a line (names of what is in the clip: a name that comes twice counts once).
    * ``spans``, ``notes``, ``beats``: times are moved by the window's start.  The answer becomes a JSON list of
      [start, end, label], [onset, offset, pitch] or times in seconds.  A window whose answer holds nothing readable adds nothing
      and is counted; names (``spk1``) are not matched across windows.
    * ``vote``: what most windows say, case and outer blanks aside; the earliest of equals.
    * anything else: the first.

    Args:
        texts: Answers, in order.
        starts: Where each window begins, in seconds of the clip.
        rule: From :func:`rule_for`.

    Returns:
        The answer, and what is to be counted about it.
    """
    if len(texts) == 1:
        return texts[0], ()
    if rule == "text":
        return " ".join(text.strip() for text in texts if text.strip()), ()
    if rule == "lines":
        return "\n".join(text.strip() for text in texts if text.strip()), ()
    if rule == "vote":
        votes = Counter(text.strip().casefold() for text in texts)
        return next(text for text in texts if votes[text.strip().casefold()] == max(votes.values())), ()
    if rule in _TIMED:
        return _moved(texts, starts, *_TIMED[rule])
    return texts[0], (FIRST,)


def _moved(
    texts: Sequence[str], starts: Sequence[float], read: Callable[[str], tuple[Any, str]], move: Callable[[Any, float], Any]
) -> tuple[str, tuple[str, ...]]:
    found = [read(text)[0] for text in texts]
    unread = tuple(UNREAD for value in found if value is None)
    if len(unread) == len(texts):
        return texts[0], (FIRST, *unread)
    moved = [move(item, start) for value, start in zip(found, starts, strict=True) for item in value or ()]
    return json.dumps(moved, ensure_ascii=False), unread


def _times(item: Sequence[Any], start: float) -> list[Any]:
    begin, end, *rest = item
    return [round(begin + start, 3), round(end + start, 3), *rest]


_TIMED: dict[str, tuple[Callable[[str], tuple[Any, str]], Callable[[Any, float], Any]]] = {
    "spans": (parse_spans, _times),
    "notes": (parse_notes, _times),
    "beats": (parse_beats, lambda time, start: round(time + start, 3)),
}
