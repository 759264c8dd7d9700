"""Named text normalisers: what two transcripts may differ in without counting as different.

Every normaliser is total: it takes any text, needs time linear in its length, and ends with words between single blanks.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_APOSTROPHES = str.maketrans(dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u0060\u00b4\uff07", "'"))
_STRAY_APOSTROPHE = re.compile(r"(?<![^\W\d_])'|'(?![^\W\d_])")
_BRACKETED = re.compile(r"\[[^\]]*\]|<[^>]*>")
#: Arabic madda and hamza above and below: marks that change the letter, where all others are vowel signs.
_ARABIC_LETTER_MARKS = "\u0653\u0654\u0655"
_TATWEEL = "\u0640"


class _Signs(dict[int, str | None]):
    """Translation table filled on demand: punctuation and symbols to blanks, invisible format characters out."""

    def __missing__(self, code: int) -> str | None:
        sign = chr(code)
        category = unicodedata.category(sign)
        if sign == "'":
            result: str | None = sign
        elif category[0] in "PS":
            result = " "
        else:
            result = None if category == "Cf" else sign
        self[code] = result
        return result


_SIGNS = _Signs()


def _blank_punctuation(text: str) -> str:
    """Blanks for punctuation and symbols; apostrophes stay, in one form."""
    return text.translate(_APOSTROPHES).translate(_SIGNS)


def _joined(text: str) -> str:
    return " ".join(text.split())


def _without_unclosed(text: str, openers: str, closers: str) -> str:
    """Blanks for brackets that nothing closes, for which a pattern of a bracket pair would search the rest again and again."""
    last = max(text.rfind(closer) for closer in closers) + 1
    return text[:last] + text[last:].translate(dict.fromkeys(map(ord, openers), " "))


def _none(text: str) -> str:
    return _joined(text)


def _official_port(text: str) -> str:
    """ASCII punctuation out, lower case: the rule of a public port of the authors' scorers."""
    return _joined(text.translate(_NO_PUNCTUATION).lower())


def _superb(text: str) -> str:
    """SUPERB's rule for out-of-domain speech: NFKC, upper case, blanks for punctuation other than apostrophes."""
    return _joined(_blank_punctuation(unicodedata.normalize("NFKC", text).upper()))


def _norm_multi(text: str) -> str:
    """Any language: case, punctuation, bracketed notes and width forms gone; accents and combining marks kept."""
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = _without_unclosed(_without_unclosed(text, "[", "]"), "<", ">")
    text = _blank_punctuation(_BRACKETED.sub(" ", text))
    return _joined(_STRAY_APOSTROPHE.sub(" ", text))


def _norm_ar(text: str) -> str:
    """Arabic: vowel signs and tatweel out, hamza and madda kept, then as any language."""
    text = unicodedata.normalize("NFKC", text).replace(_TATWEEL, "")
    kept = (c for c in text if c in _ARABIC_LETTER_MARKS or unicodedata.category(c) != "Mn")
    return _norm_multi("".join(kept))


def _norm_mixed(text: str) -> str:
    """Mandarin with other languages in it: simplified characters, then as any language."""
    return _norm_multi(to_simplified(text))


def _norm_zh(text: str) -> str:
    """Mandarin: as mixed text, without blanks."""
    return "".join(_norm_mixed(text).split())


@cache
def _simplifier() -> Any:
    from opencc import OpenCC

    return OpenCC("t2s")


def to_simplified(text: str) -> str:
    """Traditional to simplified Chinese characters (OpenCC t2s); other text stays."""
    if text.isascii():
        return text
    # half of a surrogate pair is no character and OpenCC takes only text that can be encoded
    return _simplifier().convert(text.encode("utf-8", "replace").decode("utf-8"))


@cache
def _whisper() -> Callable[[str], str]:
    from whisper_normalizer.english import EnglishTextNormalizer

    return EnglishTextNormalizer()


def _whisper_en(text: str) -> str:
    """Whisper's rules for English: contractions, numbers, titles, British spelling, fillers and bracketed notes made equal."""
    text = _joined(_without_unclosed(_without_unclosed(text, "<[", ">]"), "(", ")"))
    try:
        return _joined(_whisper()(text))
    except (AssertionError, ValueError):
        # Whisper's number rules end at numbers of more digits than Python converts (4300); no reference has one.
        return _norm_multi(text)


_INITIALS = re.compile(r"\b[a-z](?:\.\s?[a-z])+\b\.?")


def _hf_leaderboard(text: str) -> str:
    """The Open ASR leaderboard's additions to Whisper's English rules: U.S.A. is usa, Wi-Fi is wifi, ok is okay."""
    text = _INITIALS.sub(lambda match: re.sub(r"[.\s]", "", match.group()), text.lower())
    text = re.sub(r"\bwi[- ]fi\b", "wifi", text)
    return _whisper_en(re.sub(r"\bok\b", "okay", text))


#: Names of the normalisers with what each does.
NORMALIZERS: dict[str, Callable[[str], str]] = {
    "none": _none,
    "official_port": _official_port,
    "superb": _superb,
    "whisper_en": _whisper_en,
    "hf_leaderboard": _hf_leaderboard,
    "norm_multi": _norm_multi,
    "norm_ar": _norm_ar,
    "norm_mixed": _norm_mixed,
    "norm_zh": _norm_zh,
}


@lru_cache(maxsize=8192)
def normalize(name: str, text: str) -> str:
    """A text by a named normaliser, words between single blanks; remembered, since references come again and again.

    Args:
        name: One of :data:`NORMALIZERS`.
        text: Any text.

    Raises:
        KeyError: There is no such normaliser.
    """
    if name not in NORMALIZERS:
        raise KeyError(f"unknown text normaliser {name!r}; known: {', '.join(NORMALIZERS)}")
    return NORMALIZERS[name](text)


def default_normalizer(language: str | None) -> str:
    """The normaliser for a language.

    Args:
        language: ISO 639-1 code, a region may follow (``pt-BR``); None for text of no one language.

    Returns:
        ``whisper_en`` for English, ``norm_zh`` for Chinese, ``norm_ar`` for Arabic, ``norm_multi`` for all others and None.
    """
    code = re.split(r"[-_]", (language or "").lower())[0]
    return {"en": "whisper_en", "zh": "norm_zh", "cmn": "norm_zh", "yue": "norm_zh", "ar": "norm_ar"}.get(code, "norm_multi")
