"""Readers that take any text, by name; those that need options are added where they are tried."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dsb2_tasks import parse

ANY_TEXT: dict[str, Callable[[str], Any]] = {
    "extract_number": lambda text: parse.extract_number(text, lo=0, hi=10, unit="s", noun="phones"),
    "extract_text": parse.extract_text,
    "parse_spans": parse.parse_spans,
    "parse_notes": parse.parse_notes,
    "parse_beats": parse.parse_beats,
    "parse_pitches": parse.parse_pitches,
    "parse_slots": lambda text: parse.parse_slots(text, ["artist", "time"]),
    "parse_entities": parse.parse_entities,
    "parse_tags": parse.parse_tags,
}
