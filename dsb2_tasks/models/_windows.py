"""One answer out of those to the windows of a long clip.

What can be done hangs on the output kind, which a handle names; no task is known here.  Where nothing sound can be done the
answer to the first window stands, and is counted as such.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from dsb2_tasks.parse import (
    after_cue,
    clean,
    extract_text,
    extract_transcript,
    parse_beats,
    parse_notes,
    parse_pitches,
    parse_spans,
)

#: Counted among the audio events: the answer is that to the first window alone ...
FIRST = "window_rule_first"
#: ... or there is a window of whose answer nothing can be read: thinking without an end, a refusal, no time.
UNREAD = "window_unread"

T = TypeVar("T")

_RULES = {
    **dict.fromkeys(("transcript", "phonemes", "translation"), "text"),
    "text": "answers",
    "labels": "lines",
    **dict.fromkeys(("slots", "entities"), "entries"),
    **dict.fromkeys(("turns", "events", "spans"), "spans"),
    "notes": "notes",
    "pitches": "pitches",
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

    Thinking, answer tags and what a model says about its answer belong to each window, so each is read before it is joined.

    * ``text``, ``answers``: one behind the other, with blanks, in the words that the first window's answer has around its own:
      of several lead-ins one stays, as in the answer to a clip of one window.  A refusal stays where it stands.
    * ``lines``: one a line (names of what is in the clip: a name that comes twice counts once), or a JSON list where an
      answer has brackets, for a reader takes the first list that it finds.
    * ``entries``: one a line, without those that say that there are none, where others say more.
    * ``spans``, ``notes``, ``beats``: times are moved by the window's start.  The answer becomes a JSON list of
      [start, end, label], [onset, offset, pitch] or times in seconds.  A window whose answer holds nothing readable adds nothing
      and is counted; names (``spk1``) are not matched across windows.  So are ``pitches``, which have no times.
    * ``vote``: what most windows say, thinking, case and outer blanks aside; the earliest of equals.
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
    if rule in _SAID:
        return _said(texts, _SAID[rule])
    if rule in _LISTED:
        return _listed(texts, _LISTED[rule])
    if rule == "vote":
        return _voted(texts)
    if rule in _TIMED:
        return _moved(texts, starts, *_TIMED[rule])
    return texts[0], (FIRST,)


def _said(texts: Sequence[str], read: Callable[[str], tuple[str | None, str]]) -> tuple[str, tuple[str, ...]]:
    found = [read(text) for text in texts]
    unread = _unread(texts, [value is None for value, _ in found])
    if len(unread) == len(texts):
        return texts[0], (FIRST, *unread)
    parts = [clean(text) if status == "refusal" else (value or "") for text, (value, status) in zip(texts, found, strict=True)]
    joined = " ".join(part.strip() for part in parts if part.strip())
    whole, first = next(((clean(text), value) for text, (value, _) in zip(texts, found, strict=True) if value), ("", ""))
    before, own, behind = whole.rpartition(first) if first else ("", "", "")
    around = before + joined + behind
    return around if own and read(around)[0] == joined else joined, unread


def _listed(texts: Sequence[str], join: Callable[[Sequence[str]], str]) -> tuple[str, tuple[str, ...]]:
    cleaned = [_FENCE.sub("", clean(text)).strip() for text in texts]
    unread = _unread(texts, [not text for text in cleaned])
    if len(unread) == len(texts):
        return texts[0], (FIRST, *unread)
    return join([text for text in cleaned if text]), unread


def _names(texts: Sequence[str]) -> str:
    # The reader of labels looks behind the last "answer is" of the whole answer alone.
    answers = [after_cue(text) for text in texts]
    if not any(_BRACKET.search(answer) for answer in answers):
        return "\n".join(answers)
    return json.dumps([name for answer in answers for name in _items(answer)], ensure_ascii=False, indent=0)


def _items(text: str) -> list[str]:
    """The names of a JSON list, else the lines of a text."""
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if isinstance(listed, list) and all(isinstance(name, str) for name in listed):
        return listed
    return [line.strip() for line in text.splitlines() if line.strip()]


def _entries(texts: Sequence[str]) -> str:
    return "\n".join([text for text in texts if not _NONE.fullmatch(text)] or texts)


def _voted(texts: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    ballots = [clean(text).casefold() for text in texts]
    unread = tuple(UNREAD for ballot in ballots if not ballot)
    votes = Counter(filter(None, ballots))
    if not votes:
        return texts[0], (FIRST, *unread)
    most = max(votes.values())
    return next(text for text, ballot in zip(texts, ballots, strict=True) if votes[ballot] == most), unread


def _unread(texts: Sequence[str], unusable: Sequence[bool]) -> tuple[str, ...]:
    """One event for each window that says something, of which nothing can be read."""
    return tuple(UNREAD for text, not_read in zip(texts, unusable, strict=True) if not_read and text.strip())


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


_FENCE = re.compile(r"^`{3}\w*|`{3}$")
_BRACKET = re.compile(r"[\[({]")
_NONE = re.compile(
    r"\W*+(?:(?:there (?:are|is) )?(?:none|nothing|no (?:named )?(?:entities|slots)\b[^\n:]*+))?+\W*+", re.IGNORECASE
)
_SAID = {"text": extract_transcript, "answers": extract_text}
_LISTED = {"lines": _names, "entries": _entries}
_TIMED: dict[str, tuple[Callable[[str], tuple[Any, str]], Callable[[Any, float], Any]]] = {
    "spans": (parse_spans, _times),
    "notes": (parse_notes, _times),
    "pitches": (parse_pitches, lambda pitch, start: pitch),
    "beats": (parse_beats, lambda time, start: round(time + start, 3)),
}
