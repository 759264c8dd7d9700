"""Reads and measures the committed samples."""

from __future__ import annotations

import io
from functools import cache
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import soundfile
from numpy.typing import NDArray

from dsb2_tasks import catalog, samples
from dsb2_tasks.spec import EXTRA_SUITE, GENERATION_SUITE, OFFICIAL_SUITE, TaskSpec

KNOWN = {
    name: task.spec
    for name, task in catalog.read_catalog([catalog.yaml_root()]).tasks.items()
    if task.spec.suite in (OFFICIAL_SUITE, EXTRA_SUITE, GENERATION_SUITE)
}


@cache
def rows(path: str) -> list[dict[str, Any]]:
    """Documents of a data set, by its name on the hub."""
    return pq.read_table(samples.root() / path / "test.parquet").to_pylist()


def documents(spec: TaskSpec) -> list[dict[str, Any]]:
    """Documents of all data sets of a task."""
    return [row for source in spec.data for row in rows(source.path)]


def clips(spec: TaskSpec, document: dict[str, Any]) -> list[dict[str, Any]]:
    """Audio cells of a document in clip order."""
    return [next(document[name] for name in names if name in document) for names in spec.audio_columns]


def references(spec: TaskSpec, document: dict[str, Any]) -> list[dict[str, Any]]:
    """Audio cells of the right answer, of tasks with audio as output."""
    return [next(document[name] for name in names if name in document) for names in spec.reference_columns]


def labels(spec: TaskSpec, document: dict[str, Any]) -> list[str]:
    """Labels of a document as text, until the first empty column; booleans in lower case."""
    found = []
    for column in spec.label_columns:
        value = document.get(column)
        if value is None:
            break
        found.append(str(value).lower() if isinstance(value, bool) else str(value))
    return found


def decode(cell: dict[str, Any]) -> tuple[NDArray[np.float64], int]:
    """Samples ``(channels, n)`` and rate of an audio cell."""
    x, rate = soundfile.read(io.BytesIO(cell["bytes"]), always_2d=True)
    return x.T, rate


def mono(document: dict[str, Any], column: str = "audio") -> tuple[NDArray[np.float64], int]:
    x, rate = decode(document[column])
    return x[0], rate


def power(x: NDArray[np.float64], rate: int, start: float, end: float) -> float:
    """Mean power between two times."""
    part = x[max(round(start * rate), 0) : round(end * rate)]
    return float(np.mean(part**2))


def pitch(x: NDArray[np.float64], rate: int, low: float = 50, high: float = 1200) -> float:
    """Fundamental frequency of a steady sound: first strong peak of the autocorrelation."""
    y = x - np.mean(x)
    r = np.fft.irfft(np.abs(np.fft.rfft(y, 2 * len(y))) ** 2)[: len(y)]
    first, last = int(rate / high), int(rate / low)
    strong = 0.9 * np.max(r[first:last])
    peaks = [lag for lag in range(first, last) if r[lag] >= strong and r[lag] >= r[lag - 1] and r[lag] >= r[lag + 1]]
    lag = peaks[0]
    a, b, c = r[lag - 1 : lag + 2]
    return rate / (lag + 0.5 * (a - c) / (a - 2 * b + c))
