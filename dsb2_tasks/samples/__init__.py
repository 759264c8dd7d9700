"""Embedded sample data: a few synthetic documents for each task, in the form of the real data sets.

They show that a task loads, asks and scores; they are not data of the benchmark, and scores on them mean nothing.
``python -m dsb2_tasks.samples.build`` makes them again from the recipe in this package.
"""

from __future__ import annotations

from pathlib import Path

#: Grows whenever any document changes.
VERSION = 1

LICENCE = (
    "Synthetic samples made by the recipe in dsb2_tasks/samples; dedicated to the public domain under CC0-1.0. "
    "Speech is output of espeak-ng; the licence of that program (GPL-3.0-or-later) does not extend to its output."
)


def root() -> Path:
    """Folder of the samples, with ``<org>/<name>/test.parquet`` for each data set."""
    return Path(__file__).resolve().parent / "data"
