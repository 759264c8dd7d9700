"""The kind whose answer is audio: files that a model wrote, against reference clips that it never heard.

An answer names its clips one a line or as a JSON list, one for each reference, in any order.  Each is

* the path of a wav or flac file inside the folder that ``DSB2_GENERATION_DIR`` names (the working directory by default), or
* the bytes of such a file in base64, bare or as a ``data:`` URI.

Answers are the work of strangers: a path that leads elsewhere is not opened, and size, length, rate and channels are bounded
before anything is decoded.  Clips are mixed to mono and cut, or filled up with silence, to the length of the reference; voices
are aligned instead.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dsb2_tasks import metrics
from dsb2_tasks.audio import STORE, AudioError, RawAudio, decode, read_info, resample
from dsb2_tasks.hooks._kind import Case, Doc, Kind, LabelError, Scored
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import clean
from dsb2_tasks.spec import SpecError, TaskSpec

#: Environment variable: the folder that a model writes its clips to.
FOLDER = "DSB2_GENERATION_DIR"
#: Largest file, 5 minutes of float samples at 48 kHz.
MAX_BYTES = 64 << 20
MAX_CHANNELS, MAX_RATE = 2, 192_000
#: A clip may last this long beyond twice its reference.
_GRACE_SECONDS = 10.0

#: How the base64 of "RIFF" and of "fLaC" begins.
_ENCODED = ("UklGR", "ZkxhQ")
_DATA_URI = re.compile(r"data:[\w.+/-]*(?:;[\w.+=-]+)*;base64,")
_BASE64 = re.compile(r"[A-Za-z0-9+/]+={0,2}")
_SUFFIXES = (".wav", ".flac")


@dataclass(frozen=True, eq=False)
class Wave:
    """A decoded clip: mono float32 samples (n,) and their rate in Hz."""

    samples: np.ndarray
    rate: int

    def at(self, rate: int) -> np.ndarray:
        """Samples at another rate."""
        return resample(self.samples, self.rate, rate)

    @property
    def seconds(self) -> float:
        """Length."""
        return len(self.samples) / self.rate


class _Refused(Exception):
    """An answer is no audio; its text is the status."""


def _mono(raw: RawAudio, seconds: float | None = None) -> Wave:
    samples, rate = decode(raw, seconds=seconds)
    return Wave(samples.mean(axis=0, dtype=np.float32), rate)


def _told(handle: dict[str, Any]) -> Wave:
    """A clip of the data set; one that cannot be compared with is a fault of the data and never of the answer."""
    wave = _mono(STORE.read(handle))
    if metrics.silent(wave.samples):
        raise AudioError(f"{handle['repo']} row {handle['row']} column {handle['column']!r} is silent: nothing compares with it")
    return wave


def _fitted(samples: np.ndarray, length: int) -> np.ndarray:
    return np.pad(samples[:length], (0, max(0, length - len(samples))))


class Comparison:
    """References beside the clips of an answer, as many as these, and what every metric needs of them."""

    def __init__(self, references: Sequence[Wave], clips: Sequence[Wave], mixture: Wave | None) -> None:
        self._references, self._clips, self._mixture = references, clips, mixture

    def sides(self, rate: int | None = None) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """References and clips at a rate (that of the first reference by default), all as long as the longest reference."""
        rate = rate or self._references[0].rate
        references = [wave.at(rate) for wave in self._references]
        length = max(map(len, references))
        return [_fitted(x, length) for x in references], [_fitted(wave.at(rate), length) for wave in self._clips]

    def mixture(self) -> np.ndarray:
        """The clip that a model heard, in the form of :meth:`sides`."""
        if self._mixture is None:
            raise SpecError("dsb2.metric: an improvement needs a clip that a model hears, and dsb2.audio names none")
        references, _ = self.sides()
        return _fitted(self._mixture.at(self._references[0].rate), len(references[0]))

    def mean(self, measure: Callable[[np.ndarray, np.ndarray], float | None]) -> Row | None:
        """Row of a metric of one clip: the mean over sources, assigned as SI-SDR has it best."""
        references, clips = self.sides(metrics.MEASURED_RATE)
        best = metrics.si_sdr_separation(references, clips)
        if best is None:
            return None
        values = [measure(x, clips[j]) for x, j in zip(references, best.permutation, strict=True)]
        defined = [value for value in values if value is not None]
        return metrics.measure_row(float(np.mean(defined))) if len(defined) == len(values) else None

    @cached_property
    def voices(self) -> tuple[float, float | None] | None:
        """Distances of the voices; None where one cannot be taken apart."""
        (reference,), (clip,) = ([wave.at(metrics.MEASURED_RATE) for wave in side] for side in (self._references, self._clips))
        one, other = metrics.voice(reference), metrics.voice(clip)
        return None if one is None or other is None else metrics.voice_distances(one, other)


def _voice_row(index: int) -> Callable[[Case], Row | None]:
    return lambda case: None if case.value.voices is None else metrics.measure_row(case.value.voices[index])


def _improvement_row(case: Case) -> Row | None:
    references, clips = case.value.sides()
    return metrics.measure_row(metrics.si_sdri(references, clips, case.value.mixture()))


_ROWS: dict[str, Callable[[Case], Row | None]] = {
    "pesq_wb": lambda case: case.value.mean(metrics.pesq_wb),
    "pesq_nb": lambda case: case.value.mean(metrics.pesq_nb),
    "stoi": lambda case: case.value.mean(metrics.stoi),
    "estoi": lambda case: case.value.mean(metrics.estoi),
    "si_sdr": lambda case: metrics.decibel_row(metrics.si_sdr_separation(*case.value.sides())),
    "si_sdri": _improvement_row,
    "sdr_bsseval": lambda case: metrics.decibel_row(metrics.sdr_bsseval(*case.value.sides())),
    "mcd": _voice_row(0),
    "log_f0_rmse": _voice_row(1),
}


def _read_label(doc: Doc, spec: TaskSpec) -> tuple[dict[str, Any], ...]:
    """Handles of the references; what would make scoring fail later is told here, before a model is asked anything."""
    for name in (spec.metric, *spec.secondary):
        metrics.need_library(name)
        if name == "si_sdri" and not spec.audio:
            raise SpecError("dsb2.metric: si_sdri compares with the clip that a model hears, and dsb2.audio names none")
        if name in ("mcd", "log_f0_rmse") and len(spec.reference_audio) != 1:
            raise SpecError(f"dsb2.metric: {name} compares one voice with one, dsb2.reference_audio names several")
    return tuple(doc.get("dsb2_reference", ()))


def _handles(doc: Doc, spec: TaskSpec) -> tuple[dict[str, Any], ...]:
    """Handles of the references.

    Raises:
        LabelError: The document was made without its clips.
    """
    handles = _read_label(doc, spec)
    if not handles:
        raise LabelError("reference clips (dsb2_reference)", doc.get("dsb2_reference"))
    return handles


def _pieces(answer: str) -> list[str]:
    """The clips that an answer names, as paths or encoded files."""
    text = clean(answer)
    if text.startswith("["):
        try:
            listed = json.loads(text)
        except (ValueError, RecursionError):
            raise _Refused("text") from None
        if not all(isinstance(piece, str) for piece in listed):
            raise _Refused("text")
        return [piece.strip() for piece in listed]
    pieces: list[list[str]] = []
    for line in text.split("\n"):
        piece = line.strip(" \t\"'`")
        if pieces and _is_encoded(pieces[-1][0]) and not _is_encoded(piece) and _BASE64.fullmatch(piece):
            pieces[-1].append(piece)  # base64 is often written in lines of 76
        elif piece:
            pieces.append([piece])
    return ["".join(lines) for lines in pieces]


def _is_encoded(piece: str) -> bool:
    return piece.startswith((*_ENCODED, "data:"))


def _decoded_base64(piece: str) -> bytes:
    start = 0
    if piece.startswith("data:"):
        uri = _DATA_URI.match(piece[:200])
        if uri is None:
            raise _Refused("base64")
        start = uri.end()
    if (len(piece) - start) * 3 // 4 > MAX_BYTES:
        raise _Refused("too_large")
    try:
        return base64.b64decode("".join(piece[start:].split()), validate=True)
    except (binascii.Error, ValueError):
        raise _Refused("base64") from None


def _file(piece: str) -> bytes:
    """A file of the folder of generated clips; nothing outside of it is opened, links included."""
    if not piece.lower().endswith(_SUFFIXES):
        raise _Refused("text")
    root = Path(os.environ.get(FOLDER) or ".").resolve()
    try:
        path = (root / piece).resolve()
        if root not in path.parents:
            raise _Refused("outside")
        if not path.is_file():
            raise _Refused("no_file")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (OSError, ValueError, RuntimeError):  # unreadable; a name that no file can have; links in a circle
        raise _Refused("no_file") from None
    if len(data) > MAX_BYTES:
        raise _Refused("too_large")
    return data


def _clip(piece: str, longest: float) -> Wave:
    data = _decoded_base64(piece) if _is_encoded(piece) else _file(piece)
    if not (data[:4] == b"fLaC" or (data[:4] == b"RIFF" and data[8:12] == b"WAVE")):
        raise _Refused("format")
    raw = RawAudio(data, "the answer")
    try:
        info = read_info(raw)
        if info.channels > MAX_CHANNELS or info.rate > MAX_RATE:
            raise _Refused("format")
        if info.seconds > longest:
            raise _Refused("too_long")
        wave = _mono(raw)
    except AudioError:
        raise _Refused("undecodable") from None
    if metrics.silent(wave.samples):
        raise _Refused("silent")
    return wave


def _clips(answer: str, count: int, seconds: float) -> list[Wave]:
    """The clips of an answer.

    Args:
        answer: What the model said.
        count: How many are wanted.
        seconds: Length of the longest reference.

    Raises:
        _Refused: It is no audio that can be compared.
    """
    if len(answer) > count * (MAX_BYTES * 4 // 3 + 1000) * 1.02:  # line ends are 1 in 77
        raise _Refused("too_large")
    pieces = _pieces(answer)
    if not pieces:
        raise _Refused("empty")
    clips = [_clip(piece, 2 * seconds + _GRACE_SECONDS) for piece in pieces[: count + 1]]
    if len(pieces) != count:
        raise _Refused("count")
    return clips


def _described(clips: Sequence[Wave]) -> list[dict[str, float]]:
    return [{"seconds": round(wave.seconds, 3), "rate": wave.rate} for wave in clips]


def _read_answer(answer: str, doc: Doc, spec: TaskSpec) -> tuple[list[dict[str, float]] | None, str]:
    seconds = [STORE.info(handle).seconds for handle in _handles(doc, spec)]
    try:
        return _described(_clips(answer, len(seconds), max(seconds))), "ok"
    except _Refused as refusal:
        return None, str(refusal)


class Waveform(Kind):
    """Scores decoded clips; what a :class:`Scored` holds of them is their length and rate."""

    def score(self, answer: str, doc: Doc, spec: TaskSpec) -> Scored:
        """Reads the clips of one answer and measures them.

        Raises:
            AudioError: A reference, or the clip that it is compared with, cannot be read or measured.
        """
        handles = _handles(doc, spec)
        names = self.metrics(spec)
        references = [_told(handle) for handle in handles]
        mixture = _told(doc["audio"][0]) if doc["audio"] and "si_sdri" in names else None
        try:
            clips = _clips(answer, len(references), max(wave.seconds for wave in references))
        except _Refused as refusal:
            return Scored(dict.fromkeys(names), f"na:{refusal}", None)
        case = Case(references, Comparison(references, clips, mixture), answer, doc, spec)
        rows = {name: self.rows[name](case) for name in names}
        if rows[spec.metric] is None:
            perfect = Case(references, Comparison(references, references, mixture), answer, doc, spec)
            if self.rows[spec.metric](perfect) is None:
                place = f"{handles[0]['repo']} row {handles[0]['row']}"
                raise AudioError(f"{place}: {spec.metric} is not defined for the reference, it is too short or too quiet")
            return Scored(dict.fromkeys(names), "na:unmeasurable", None)
        return Scored(rows, "ok", _described(clips))

    def reference_answer(self, doc: Doc, spec: TaskSpec) -> str:
        """The references as base64, one a line, in float wav files that lose nothing."""
        import soundfile

        lines = []
        for handle in _handles(doc, spec):
            samples, rate = decode(STORE.read(handle))
            file = io.BytesIO()
            soundfile.write(file, samples.T, rate, format="WAV", subtype="FLOAT")
            lines.append(base64.b64encode(file.getvalue()).decode())
        return "\n".join(lines)


WAVEFORM = Waveform(name="waveform", read_label=_read_label, read_answer=_read_answer, rows=_ROWS, na=True)
