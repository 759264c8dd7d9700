"""The store: finds the file behind a handle.  It holds sources and a few numbers per clip, never audio."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any, Protocol

from dsb2_tasks.audio._decode import AudioInfo, RawAudio, read_info
from dsb2_tasks.audio._errors import AudioError
from dsb2_tasks.audio._handle import check_handle, place

#: Entries of about 200 bytes; more than the suite's 36,000 clips.
_INFO_ENTRIES = 65_536


class AudioSource(Protocol):
    """Gives the undecoded file of one clip; read from several threads at once."""

    def read(self, row: int, column: str) -> RawAudio:
        """Reads the file of one clip.

        Raises:
            AudioError: There is no such file, or it cannot be read.
        """


class UnknownSourceError(KeyError):
    """A handle names a data set that this process has not opened."""

    def __str__(self) -> str:
        return str(self.args[0])


class AudioStore:
    """Sources by data set, revision and split.  All methods may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sources: dict[tuple[str, str, str], AudioSource] = {}
        self._info: OrderedDict[str, AudioInfo] = OrderedDict()

    def register(self, repo: str, revision: str, split: str, source: AudioSource) -> None:
        """Makes a source known; one registered earlier under the same names is replaced."""
        with self._lock:
            self._sources[repo, revision, split] = source

    def read(self, handle: Mapping[str, Any]) -> RawAudio:
        """Reads the file of a clip and checks that it is the one that the handle was made for.

        Raises:
            AudioError: The file cannot be read or has changed since the document was made.
            UnknownSourceError: No source is registered for the handle (a ``KeyError``).
            ValueError: It is no handle.
        """
        handle = check_handle(handle)
        key = (handle["repo"], handle["revision"], handle["split"])
        with self._lock:
            source = self._sources.get(key)
            known = sorted({repo for repo, _, _ in self._sources})
        if source is None:
            raise UnknownSourceError(
                f"no audio source is registered for {handle['repo']!r}, revision {handle['revision']!r}, "
                f"split {handle['split']!r} (registered: {', '.join(known) or 'none'}); "
                f"load the task in this process first, its documents register their clips"
            )
        try:
            raw = source.read(handle["row"], handle["column"])
        except (LookupError, OverflowError, ValueError) as error:  # a handle out of a file may name any row and column
            raise AudioError(f"{place(handle)}: the data set has no such clip ({error})") from error
        digest = hashlib.sha256(raw.data).hexdigest()
        if digest != handle["sha256"]:
            raise AudioError(
                f"{place(handle)}: the file has changed (its sha256 begins with {digest[:12]}, "
                f"the document was made from {handle['sha256'][:12]})"
            )
        return raw

    def info(self, handle: Mapping[str, Any]) -> AudioInfo:
        """Length, rate and channels as the file's header states them; decodes nothing, remembered per sha256.

        Raises:
            AudioError: The file cannot be read or is no audio.
            UnknownSourceError: No source is registered for the handle.
        """
        digest = check_handle(handle)["sha256"]
        with self._lock:
            found = self._info.get(digest)
            if found is not None:
                self._info.move_to_end(digest)
                return found
        found = read_info(self.read(handle))
        with self._lock:
            self._info[digest] = found
            if len(self._info) > _INFO_ENTRIES:
                self._info.popitem(last=False)
        return found


#: The store of this process: tasks register their data here, backends read from it.
STORE = AudioStore()
