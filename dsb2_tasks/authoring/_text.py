"""A task file as text, with a comment wherever a person has to look."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

_ORDER = (
    "kind",
    "metric",
    "modality",
    "domain",
    "language",
    "audio",
    "reference_audio",
    "instruction",
    "prompt",
    "label",
    "options",
)
_CHECK = {
    "metric": "what systems are compared by",
    "audio": "clips in the order that the instruction speaks of them",
    "reference_audio": "the right clips; a model never hears them",
    "prompt": "say what to answer, and in which form",
    "label": "the column with the right answer",
    "options": "all that may be answered? Those without a row too",
    "number": "add minimum, maximum, unit (s, m, deg, percent) and noun where the instruction states them",
}


def write_text(name: str, block: dict[str, Any], guesses: Sequence[str], others: Sequence[str]) -> str:
    """The YAML of a task.

    Args:
        name: Task name.
        block: The ``dsb2:`` block.
        guesses: What was guessed; stands at the top.
        others: Further text columns of the data, which may be shown as context.
    """
    lines = ["# Written by 'dsb2 new'. Lines with 'check' are for you: correct them, then delete the word."]
    lines += [f"# check: guessed {_comment(guess)}" for guess in guesses]
    lines += [f"task: {_value(name)}", "class: !function dsb2_tasks.task.DSB2Task", "metadata: {version: 1}", "dsb2:"]
    for key in sorted(block, key=lambda key: _ORDER.index(key) if key in _ORDER else len(_ORDER)):
        told = f"  # check: {_CHECK[key]}" if key in _CHECK else ""
        lines.append(f"  {key}: {_value(block[key])}{told}")
    if "language" not in block:
        lines.append(
            "  # language: en          # check: ISO 639-1 code, where speech or text is of one language; chooses the normaliser"
        )
    if others:
        shown = ", ".join(_comment(_value(column)) for column in others)
        lines.append(f"  # context: [{shown}]  # check: columns that a model should read below the instruction")
    lines.append("  licence: unknown        # check: licence of the data")
    lines.append("  source: ''              # check: where the data come from")
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    """A value on one line, quoted where YAML would read something else."""
    text = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**9)
    if not text.replace("\n", "").isprintable():  # PyYAML does not read back the line ends of Unicode; overrides would mislead
        text = yaml.safe_dump(value, default_flow_style=True, width=10**9)
    return text.removesuffix("\n...\n").strip()


def _comment(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)
