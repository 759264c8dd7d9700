"""The words that an answer quotes, without what the model says about them."""

from __future__ import annotations

import re
from typing import Any

from dsb2_tasks.parse._clean import clean
from dsb2_tasks.parse._literal import Pairs, read_groups

_FIELDS = ("transcription", "transcript", "translation", "text", "answer")
_QUOTES = {'"': '"', "“": "”", "„": "“”", "«": "»", "'": "'", "‘": "’", "「": "」", "『": "』"}
#: A lead-in speaks about the answer: one of these words, at most this many characters, no line end.
_LEAD_WORDS = re.compile(
    r"\b(?:transcri(?:ption|pt|bed)|translat(?:ion|es|ed)|text|lyrics|sentence|utterance|words|answer|phonemes?|sequence"
    r"|(?:the|this) (?:\w+ )?(?:speaker|audio|recording|speech|clip|person|voice|man|woman|singer|narrator)"
    r"|here(?:'s| is| are)|sure|certainly|transkri\w+|trans?cri\w+|übersetzung|tradu\w+)\b"
    r"|内容|音频|语音|録音|录音|转录|转写|文本|翻译|译文|说的是",
    re.IGNORECASE,
)
_LEAD = re.compile(r"([^\n:：\"“„«「『]{1,200}?)\s*([:：]|(?=[\"“„«「『])|(?<=\s)(?=['‘]\w))\s*")
_REFUSAL_OPENING = re.compile(
    r"(?:(?:i'?m|i am|we are|we're)\s+(?:very |really |so )?(?:sorry|unable|not able|afraid)|(?:my )?apologies|sorry"
    r"|i apologi[sz]e|unfortunately|i (?:can ?not|can't|could not|couldn't|do not|don't|am not able|was unable|was not able)"
    r"|as an? (?:ai|\w+ model|language))\b",
    re.IGNORECASE,
)
_REFUSAL_WORD = re.compile(
    r"\b(?:audio|recording|file|clip|sound|listen(?:ing)?|transcri\w+|translat\w+|assist\w*|process\w*|help (?:you|with)"
    r"|language model)\b",
    re.IGNORECASE,
)
_ANSWER_CUE = re.compile(r"\banswer\s*(?:is\b\s*:?|[:=])", re.IGNORECASE)
_SENTENCE = re.compile(r"[^.!?\n]+")
_AFTER_QUOTE = " \t\n.,!?;*"
_FENCE = re.compile(r"^`{3}\w*")


def extract_transcript(answer: str) -> tuple[str | None, str]:
    """Reads the transcript (or translation) out of an answer.

    In this order: a refusal has none; a field "transcription", "transcript", "translation", "text" or "answer" of a JSON
    object; what follows a lead-in that ends in a colon or is followed by quoted text; what stands in quotation marks round the
    whole answer; the whole answer.

    Args:
        answer: A model's answer.

    Returns:
        The text and ``json``, ``preamble``, ``quoted`` or ``whole``; or None and ``empty`` or ``refusal``.
    """
    text = _FENCE.sub("", clean(answer)).removesuffix("```").replace("**", "").strip()
    if not text:
        return None, "empty"
    if _is_refusal(text):
        return None, "refusal"
    if text[0] in "{[" and (field := _field(read_groups(text, limit=1))) is not None:
        return field, "json"
    lead = _LEAD.match(text)
    if lead is not None and _LEAD_WORDS.search(lead[1]):
        rest = text[lead.end() :]
        quoted = _unquoted(rest)
        if quoted is not None:
            return quoted, "preamble"
        if lead[2]:
            return (rest, "preamble") if rest else (None, "empty")
    whole = _unquoted(text)
    return (text, "whole") if whole is None else (whole, "quoted")


def _is_refusal(text: str) -> bool:
    """A refusing opening and a word of audio or help in the same of the first three sentences."""
    start = text[:600].replace("’", "'")
    for sentence in _SENTENCE.findall(start)[:3]:
        if _REFUSAL_OPENING.match(sentence.strip()) and _REFUSAL_WORD.search(sentence):
            return True
    return False


def _field(groups: list[Any]) -> str | None:
    for group in groups:
        pairs = next((item for item in (group, *group) if isinstance(item, Pairs)), Pairs())
        known = {str(key).strip().lower(): value for key, value in pairs}
        for name in _FIELDS:
            if isinstance(known.get(name), str):
                return str(known[name]).strip()
    return None


def _unquoted(text: str) -> str | None:
    """The inside of quotation marks round a whole text; None if there are none, or if they close before its end."""
    closers = _QUOTES.get(text[:1])
    if closers is None:
        return None
    body = text[1:].rstrip(_AFTER_QUOTE)
    if not body or body[-1] not in closers or any(closer in body[:-1] for closer in closers if closer not in "'’"):
        return None
    return body[:-1].strip()


def extract_text(answer: str) -> tuple[str | None, str]:
    """Reads a short free answer: what follows the last "answer is" or "answer:", else as :func:`extract_transcript`."""
    text, status = extract_transcript(answer)
    if text is None or status == "json":
        return text, status
    cues = list(_ANSWER_CUE.finditer(text))
    rest = text[cues[-1].end() :].strip() if cues else ""
    if not rest:
        return text, status
    return _unquoted(rest) or rest, "preamble"
