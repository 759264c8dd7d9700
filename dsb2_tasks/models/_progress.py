"""One progress bar a run: requests, time left, hours of audio."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Any

from tqdm import tqdm

from dsb2_tasks.audio import STORE, AudioError


class Progress:
    """A bar on a terminal; elsewhere nothing is written.

    The time left counts requests.  Backends ask about the longest clips first, so it errs on the long side.
    """

    def __init__(self, name: str, audio: Sequence[Sequence[Mapping[str, Any]]], *, quiet: bool) -> None:
        """Shows an empty bar.

        Args:
            name: What works.
            audio: Handles of each request's clips.
            quiet: No bar even on a terminal.
        """
        self._audio = audio
        self._bar = tqdm(total=len(audio), desc=name, unit="request", disable=True if quiet else None)
        self._started, self._seconds = time.monotonic(), 0.0

    def done(self, places: Iterable[int]) -> None:
        """Counts requests, by their places, as answered."""
        if self._bar.disable:
            return
        places = list(places)
        self._seconds += sum(_length(handle) for place in places for handle in self._audio[place])
        times = self._seconds / max(time.monotonic() - self._started, 1e-9)
        self._bar.set_postfix_str(f"{self._seconds / 3600:.2f} h of audio, {times:.0f} h an hour", refresh=False)
        self._bar.update(len(places))

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.close()


def _length(handle: Mapping[str, Any]) -> float:
    try:
        return STORE.info(handle).seconds
    except AudioError:  # counted as a failure by whoever asks about it
        return 0.0
