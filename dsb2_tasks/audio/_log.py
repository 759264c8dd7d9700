"""Counts what the audio policy did, for the results."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Sequence

from dsb2_tasks.audio._prepare import Clip


class AudioLog:
    """Counts clips and events; may be fed from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._clips = 0
        self._seconds = 0.0
        self._events: Counter[str] = Counter()

    def add(self, what: Clip | Sequence[Clip] | str) -> None:
        """Counts one clip with its events, or a bare event such as ``audio_error``.

        The windows that one long clip was cut into go in as one list, as :func:`prepare` returns them: they are one
        clip, and an event that several of them share counts once.
        """
        with self._lock:
            if isinstance(what, str):
                self._events[what] += 1
                return
            windows = [what] if isinstance(what, Clip) else list(what)
            if windows:
                self._clips += 1
                self._seconds += windows[0].seconds
                self._events.update({event for window in windows for event in window.events})

    def summary(self) -> dict[str, int | float]:
        """``clips``, ``seconds`` (before any cut), and how many clips met each event, by name; JSON-able."""
        with self._lock:
            return {"clips": self._clips, "seconds": round(self._seconds, 3), **dict(sorted(self._events.items()))}
