"""Clips for a page: found by their handle, small enough to embed, with a picture of their wave."""

from __future__ import annotations

import base64
import io
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.audio import STORE, AudioError, RawAudio, check_handle, decode, read_info
from dsb2_tasks.sources import DataError, open_rows
from dsb2_tasks.spec import TaskSpec

#: A file of up to this size that browsers play is embedded as it is.
_AS_IT_IS = 200_000
_RATE = 16_000
#: Of a clip that is written anew, what is kept.
_SECONDS = 30.0
_BARS, _HEIGHT = 160, 40


@dataclass(frozen=True)
class ShownClip:
    """One clip of a page.

    Attributes:
        name: Data set, row and column.
        uri: ``data:`` URI of the audio; None if it is left out.
        wave: SVG path of the wave in a field of 320 by 40; empty without audio.
        seconds: Length of the clip; nan if not known.
        note: What was changed, or why there is nothing to hear; empty if nothing needs to be said.
    """

    name: str
    uri: str | None
    wave: str
    seconds: float
    note: str


@dataclass
class Clips:
    """Finds and embeds clips up to a total size.

    Attributes:
        budget: Bytes that may still be embedded.
        left_out: Clips left out because of it.
    """

    budget: int
    left_out: int = 0
    _problems: dict[str, str] = field(default_factory=dict)

    def open(self, task: str, spec: TaskSpec, data: str, folder: Path) -> None:
        """Makes the clips of a task known to the store; why that fails is told beside each clip.

        Args:
            task: Name of the task.
            spec: Its specification.
            data: ``hub``, ``samples`` or a folder.
            folder: Folder of the task file.
        """
        for source in spec.data:
            try:
                rows = open_rows(source, data, folder, task)
            except (DataError, OSError, RuntimeError) as error:  # also a name that no folder has, somebody's home that is none
                self._problems[source.path] = next(iter(str(error).splitlines()), "")
            else:
                STORE.register(rows.repo, rows.revision, rows.split, rows.audio)

    def show(self, handle: Mapping[str, Any]) -> ShownClip:
        """One clip; never fails because of what the handle or the file holds."""
        try:
            known = check_handle(handle)
        except ValueError as error:
            return ShownClip("clip", None, "", math.nan, f"not to be found: {error}")
        name = f"{known['repo']}, row {known['row']}, {known['column']}"
        try:
            raw = STORE.read(known)
            info = read_info(raw)
            samples, rate = decode(raw, seconds=_SECONDS)
        except KeyError as error:  # no source under this name
            return ShownClip(name, None, "", math.nan, f"not to be found: {self._problems.get(known['repo']) or error}")
        except AudioError as error:
            return ShownClip(name, None, "", math.nan, f"cannot be read: {error}")
        kind = _kind(raw)
        if kind and len(raw.data) <= _AS_IT_IS and info.channels <= 2:
            data, note = raw.data, ""
        else:
            kind, data = "audio/flac", _small(samples.mean(axis=0), rate)
            changes = ["16 kHz"] if rate > _RATE else []
            changes += ["mixed down to one channel"] if info.channels > 1 else []
            changes += [f"first {_SECONDS:.0f} s of {info.seconds:.1f} s"] if info.seconds > _SECONDS else []
            note = ", ".join(changes)
        if len(data) > self.budget:
            self.left_out += 1
            return ShownClip(name, None, "", info.seconds, "left out: the clips of this page have reached their size limit")
        self.budget -= len(data)
        uri = f"data:{kind};base64,{base64.b64encode(data).decode()}"
        return ShownClip(name, uri, _wave(samples.mean(axis=0)), info.seconds, note)


def _kind(raw: RawAudio) -> str | None:
    """The media type of what every browser plays, told by the first bytes."""
    head = raw.data[:12]
    if head[:4] == b"fLaC":
        return "audio/flac"
    if head[:4] == b"OggS":
        return "audio/ogg"
    if head[:3] == b"ID3" or (len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2):
        return "audio/mpeg"
    return None


def _small(mono: NDArray[np.float32], rate: int) -> bytes:
    """Flac of 16 bit, at most 16 kHz."""
    import soundfile
    from scipy.signal import resample_poly

    if rate > _RATE:
        common = math.gcd(rate, _RATE)
        mono, rate = resample_poly(mono, _RATE // common, rate // common), _RATE
    file = io.BytesIO()
    soundfile.write(file, np.clip(mono, -1, 1), rate, format="FLAC", subtype="PCM_16")
    return file.getvalue()


def _wave(mono: NDArray[np.float32]) -> str:
    """One stroke for each stretch of the clip, from its lowest to its highest sample, at the scale of the loudest."""
    loudest = float(np.abs(mono).max())
    middle = _HEIGHT / 2
    scale = (middle - 1) / loudest if loudest else 0.0
    strokes = []
    for i, part in enumerate(np.array_split(mono, min(_BARS, len(mono)))):
        top, bottom = middle - scale * float(part.max()), middle - scale * float(part.min())
        strokes.append(f"M{2 * i + 1} {top:.0f}V{max(bottom, top + 1):.0f}")
    return "".join(strokes)
