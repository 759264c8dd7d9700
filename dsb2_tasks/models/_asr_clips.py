"""The transcript store: a clip is transcribed once, whatever task or prompt it goes with, and not again after a killed run."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from dsb2_tasks.audio import STORE, AudioError, AudioPolicy, Clip, prepare
from dsb2_tasks.models._ahead import Workers, ahead
from dsb2_tasks.models._asr import Recognizer
from dsb2_tasks.models._batching import make_batches
from dsb2_tasks.models._responses import Answer, ResponseStore, response_key
from dsb2_tasks.models._tally import Failure

log = logging.getLogger(__name__)

_DECODERS = 2
_PREFETCH = 2

#: sha256 of a clip and the language that the recogniser is told.
ClipKey = tuple[str, str | None]


class Transcripts:
    """A recogniser with its store.

    A transcript hangs on the content of the clip, the recogniser, the language it is told, and the preparation of the audio;
    neither on the task nor on the text that is asked beside it.  A clip that cannot be read is a :class:`Failure` and is not
    stored.

    Attributes:
        seconds: Audio transcribed by this process; clips that were found in the store are not counted.
    """

    def __init__(self, recognizer: Recognizer, policy: AudioPolicy, store: ResponseStore | None, batch_size: int) -> None:
        """Sets up the parts.

        Args:
            recognizer: Turns samples into text.
            policy: How clips are prepared; the recogniser's rate, mono.
            store: Where transcripts are kept; None to keep none.
            batch_size: Most clips decoded, transcribed and written at a time.
        """
        self._recognizer, self._policy, self._store = recognizer, policy, store
        self._batch_size = max(batch_size, recognizer.least_batch)
        self.begin()

    def begin(self) -> None:
        """Counts anew."""
        self.seconds, self.work_seconds = 0.0, 0.0
        self.found, self.made = 0, 0

    def hear(self, clips: Mapping[ClipKey, dict[str, Any]]) -> Iterator[dict[ClipKey, Answer | Failure]]:
        """Transcribes clips, those of the store first, then the longest first.

        Args:
            clips: One handle a key.

        Yields:
            Transcripts as soon as they are there and written; together each clip once.
        """
        found = {key: answer for key in clips if (answer := self._stored(key)) is not None}
        if self._store is not None:
            log.info("transcript store: %d of %d transcripts found in %s", len(found), len(clips), self._store.folder)
        self.found += len(found)
        if found:
            yield dict(found)
        missing = [key for key in clips if key not in found]
        try:
            if missing:
                yield from self._transcribe(missing, clips)
        finally:
            if self._store is not None:
                self._store.close()

    def _store_key(self, key: ClipKey) -> str:
        sha256, language = key
        return response_key(self._recognizer.identity, "transcript", {"language": language}, [sha256], asdict(self._policy))

    def _stored(self, key: ClipKey) -> Answer | None:
        return self._store.get(self._store_key(key)) if self._store is not None else None

    def _transcribe(
        self, missing: list[ClipKey], clips: Mapping[ClipKey, dict[str, Any]]
    ) -> Iterator[dict[ClipKey, Answer | Failure]]:
        with Workers(_DECODERS, "dsb2-decode") as pool:
            lengths = dict(zip(missing, pool.map(lambda key: _seconds(clips[key]), missing), strict=True))
            unreadable = {key: length for key, length in lengths.items() if isinstance(length, Failure)}
            if unreadable:
                yield dict(unreadable)
            readable = [(key, length) for key, length in lengths.items() if not isinstance(length, Failure)]
            batches = make_batches(
                [length for _, length in readable], [language for (_, language), _ in readable], size=self._batch_size
            )
            keys = ([readable[i][0] for i in batch] for batch in batches)
            for batch in ahead(pool, lambda key: self._prepare(clips[key]), keys, _PREFETCH):
                yield self._recognize(dict(batch))

    def _prepare(self, handle: dict[str, Any]) -> list[Clip] | Failure:
        try:
            # A recogniser is mono: what a spatial task would keep is no event here, and no reason to transcribe twice.
            return prepare({**handle, "channels": "mono"}, self._policy, STORE)
        except AudioError as error:
            return Failure("audio_error", error.reason)

    def _recognize(self, batch: Mapping[ClipKey, list[Clip] | Failure]) -> dict[ClipKey, Answer | Failure]:
        """Transcripts of clips of one language."""
        windows = [(key, clip) for key, made in batch.items() if not isinstance(made, Failure) for clip in made]
        texts: dict[ClipKey, list[str | Failure]] = {}
        started = time.monotonic()
        for first in range(0, len(windows), self._batch_size):
            part = windows[first : first + self._batch_size]
            (language,) = {language for (_, language), _ in part}
            said = self._recognizer.transcribe([clip.samples for _, clip in part], language)
            for (key, _), text in zip(part, said, strict=True):
                texts.setdefault(key, []).append(text)
        self.work_seconds += time.monotonic() - started
        self.seconds += sum(len(clip.samples) / clip.rate for _, clip in windows)
        replies = {key: made if isinstance(made, Failure) else _joined(made, texts[key]) for key, made in batch.items()}
        made = [(key, reply) for key, reply in replies.items() if isinstance(reply, Answer)]
        if self._store is not None:
            self._store.add((self._store_key(key), reply) for key, reply in made)
        self.made += len(made)
        return replies


def _joined(windows: Sequence[Clip], texts: Sequence[str | Failure]) -> Answer | Failure:
    """The transcript of one clip from those of its windows."""
    said: list[str] = []
    for text in texts:
        if isinstance(text, Failure):
            return text
        said.append(text)
    events = tuple(event for window in windows for event in window.events)
    return Answer(" ".join(filter(None, said)), events, windows=len(said))


def _seconds(handle: dict[str, Any]) -> float | Failure:
    try:
        return STORE.info(handle).seconds
    except AudioError as error:
        return Failure("audio_error", error.reason)
