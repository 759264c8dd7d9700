"""Clips to transcripts: every clip once, however many requests hold it, and never again after a killed run."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from typing import Any

from dsb2_tasks.audio import STORE, AudioError, AudioPolicy, Clip, prepare
from dsb2_tasks.models._ahead import ahead
from dsb2_tasks.models._asr import Recognizer
from dsb2_tasks.models._batching import make_batches
from dsb2_tasks.models._responses import Answer, ResponseStore, response_key
from dsb2_tasks.models._tally import Failure

log = logging.getLogger(__name__)

_DECODERS = 2
_PREFETCH = 2


class Transcripts:
    """A recogniser with its store.

    A transcript hangs on the content of the clip, the recogniser and the preparation of the audio; neither on the task nor on
    the text that is asked beside it.  A clip that cannot be read is a :class:`Failure` and is not stored.

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
        self._recognizer, self._policy, self._store, self._batch_size = recognizer, policy, store, batch_size
        self.seconds, self.work_seconds = 0.0, 0.0
        self.found, self.made = 0, 0

    def hear(self, clips: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Answer | Failure]]:
        """Transcribes clips, those of the store first, then the longest first.

        Args:
            clips: One handle a content, by sha256.

        Yields:
            Transcripts by sha256 as soon as they are there and written; together each clip once.
        """
        found = {sha: answer for sha in clips if (answer := self._stored(sha)) is not None}
        if self._store is not None:
            log.info("transcript store: %d of %d transcripts found in %s", len(found), len(clips), self._store.folder)
        self.found += len(found)
        if found:
            yield dict(found)
        missing = [sha for sha in clips if sha not in found]
        try:
            if missing:
                yield from self._transcribe(missing, clips)
        finally:
            if self._store is not None:
                self._store.close()

    def _key(self, sha: str) -> str:
        return response_key(self._recognizer.identity, "transcript", {}, [sha], asdict(self._policy))

    def _stored(self, sha: str) -> Answer | None:
        return self._store.get(self._key(sha)) if self._store is not None else None

    def _transcribe(self, missing: list[str], clips: Mapping[str, dict[str, Any]]) -> Iterator[dict[str, Answer | Failure]]:
        with ThreadPoolExecutor(_DECODERS, thread_name_prefix="dsb2-decode") as pool:
            try:
                lengths = dict(zip(missing, pool.map(lambda sha: _seconds(clips[sha]), missing), strict=True))
                unreadable = {sha: length for sha, length in lengths.items() if isinstance(length, Failure)}
                if unreadable:
                    yield dict(unreadable)
                readable = [sha for sha in missing if sha not in unreadable]
                batches = make_batches([float(lengths[sha]) for sha in readable], [0] * len(readable), size=self._batch_size)  # type: ignore[arg-type]
                for batch in ahead(pool, lambda i: self._prepare(clips[readable[i]]), batches, _PREFETCH):
                    yield self._recognize({readable[i]: made for i, made in batch})
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _prepare(self, handle: dict[str, Any]) -> list[Clip] | Failure:
        try:
            # A recogniser is mono: what a spatial task would keep is no event here, and no reason to transcribe twice.
            return prepare({**handle, "channels": "mono"}, self._policy, STORE)
        except AudioError as error:
            return Failure("audio_error", error.reason)

    def _recognize(self, batch: Mapping[str, list[Clip] | Failure]) -> dict[str, Answer | Failure]:
        windows = [(sha, clip) for sha, made in batch.items() if not isinstance(made, Failure) for clip in made]
        texts: dict[str, list[str]] = {}
        started = time.monotonic()
        for first in range(0, len(windows), self._batch_size):
            part = windows[first : first + self._batch_size]
            for (sha, _), text in zip(part, self._recognizer.transcribe([clip.samples for _, clip in part]), strict=True):
                texts.setdefault(sha, []).append(text)
        self.work_seconds += time.monotonic() - started
        self.seconds += sum(len(clip.samples) / clip.rate for _, clip in windows)
        replies: dict[str, Answer | Failure] = {}
        for sha, made in batch.items():
            if isinstance(made, Failure):
                replies[sha] = made
            else:
                said = texts[sha]
                events = tuple(event for clip in made for event in clip.events)
                replies[sha] = Answer(" ".join(filter(None, said)), events, windows=len(said))
        if self._store is not None:
            self._store.add((self._key(sha), reply) for sha, reply in replies.items() if isinstance(reply, Answer))
        self.made += len(texts)
        return replies


def _seconds(handle: dict[str, Any]) -> float | Failure:
    try:
        return STORE.info(handle).seconds
    except AudioError as error:
        return Failure("audio_error", error.reason)
