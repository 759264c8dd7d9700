"""What the samples hold: one module a family of tasks, each with a table of data sets."""

from __future__ import annotations

from dsb2_tasks.samples.recipe import (
    enhancement,
    generation,
    language,
    music,
    paralinguistics,
    phonetics,
    recognition,
    security,
    singing,
    sound_events,
    spatial,
    speakers,
)

FAMILIES = (
    enhancement,
    recognition,
    language,
    phonetics,
    paralinguistics,
    speakers,
    security,
    sound_events,
    music,
    singing,
    spatial,
    generation,
)
