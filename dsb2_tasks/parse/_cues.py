"""The words of "the answer is most likely ...", behind which an answer stands."""

from __future__ import annotations

import re

from dsb2_tasks.parse._tokens import word_set

ANSWER_WORDS = word_set("answer prediction label category class")
MODALS = word_set("should would could might must may will most likely probably definitely clearly therefore thus")
IS = word_set("is was be")
_CUE = re.compile(
    rf"\b(?:{'|'.join(sorted(ANSWER_WORDS))})\b(?:\W{{0,4}}[:=]"
    rf"|(?:\s+(?:{'|'.join(sorted(MODALS))})){{0,4}}\s+(?:{'|'.join(sorted(IS))})\b:?)|\banswer\W{{0,4}}\n",
    re.IGNORECASE,
)


def after_cue(text: str) -> str:
    """What follows the last cue of a text; the whole text where nothing is said behind one."""
    cues = list(_CUE.finditer(text))
    rest = text[cues[-1].end() :].strip() if cues else ""
    return rest if re.search(r"\w", rest) else text
