"""Texts of strangers in a prompt, so that they stay data.

Each is written as one JSON string on one line.  No text can end its string, begin a line of its own or bring a control token
of a chat template with it: quotes, line ends, ``<``, and brackets like those of ``[INST]`` are escaped, and so is every
character that does not print.  The judge still reads it: all other characters stand as they are, in any language.
"""

from __future__ import annotations

import json
import re

#: The longest text that a judge gets to read; of a longer one beginning and end are shown.
MOST_CHARACTERS = 16_000

_MARKUP = re.compile(r"<|\[(?=/?\w{1,40}\])")


def quoted(text: str) -> str:
    """A text as a JSON string; ``json.loads`` gives the text back (shortened if it is longer than a judge reads)."""
    body = _MARKUP.sub(lambda match: _escaped(match[0]), json.dumps(shortened(text), ensure_ascii=False))
    return body if body.isprintable() else "".join(char if char.isprintable() else _escaped(char) for char in body)


def _escaped(char: str) -> str:
    units = char.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[i : i + 4]}" for i in range(0, len(units), 4))


def quoted_list(texts: tuple[str, ...]) -> str:
    """Several texts as a JSON list on one line."""
    return f"[{', '.join(map(quoted, texts))}]"


def shortened(text: str) -> str:
    """The text, or beginning and end of one that is too long."""
    if len(text) <= MOST_CHARACTERS:
        return text
    half = MOST_CHARACTERS // 2
    return f"{text[:half]} [... {len(text) - 2 * half} characters left out ...] {text[-half:]}"
