"""Words and signs of an answer, as options are compared with it."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

# Combining marks are no \w for Python, but a phone with a diacritic or a Hindi word is one word.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u0900-\u0963\u0980-\u0df3"
_MARKS += "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff"
#: Characters that stand for a word each: Han, kana.
IDEOGRAPHS = "\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_LETTER = rf"[\w#♯♭{_MARKS}]"
_SIGNED = r"(?:(?<![\w)\]])[+\-](?=\w))?+"
_TOKEN = re.compile(
    rf"\n|[{IDEOGRAPHS}]|{_SIGNED}\d++(?:\.\d++)?+|{_SIGNED}(?:(?![{IDEOGRAPHS}\d]){_LETTER})(?:(?![{IDEOGRAPHS}]){_LETTER})*+"
    rf"(?:'(?:(?![{IDEOGRAPHS}]){_LETTER})++)*+|\S"
)
_DASHES = re.compile("[‐‑‒–—−]")
_JOINER = re.compile(r"(?<=[\w#♯♭])[-/](?=\w)")
_SKIPPED = re.compile("[_\ufe0e\ufe0f\u200d]")
_APOSTROPHES = re.compile("[’ʼ‘`´](?=[a-zA-Z])")
_CJK_SIGNS = str.maketrans("。、【】", ".,[]")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z][a-z])")


@dataclass(frozen=True)
class Tokens:
    r"""A text as words with what stands between them.

    Attributes:
        words: Normalised words: NFKC, casefolded, ``'s`` dropped, numbers without trailing zeros, a sign kept in front.
        surfaces: The same words as written.
        gaps: Signs before each word, and after the last: ``len(words) + 1`` strings without blanks; a line end is ``\n``.
    """

    words: tuple[str, ...]
    surfaces: tuple[str, ...]
    gaps: tuple[str, ...]


def _word(token: str) -> str | None:
    """The normal form of a word, None for a sign."""
    if not token.strip("#"):
        return None
    if len(token) == 1 and not token.isalnum():
        category = unicodedata.category(token)
        if token.isascii() or category[0] in "PZC" or category in ("Sm", "Sc"):
            return None
    word = unicodedata.normalize("NFKC", token).casefold().replace("♯", "#").replace("♭", "b")
    word = word.removesuffix("'s")
    if "." in word and word.lstrip("+-").replace(".", "", 1).isdigit():
        word = word.rstrip("0").rstrip(".")
    return word


def _sign(token: str) -> str:
    """A sign in its ASCII form, where it has one of one character: full-width brackets, colons and stops."""
    ascii_form = unicodedata.normalize("NFKC", token).translate(_CJK_SIGNS)
    return ascii_form if len(ascii_form) == 1 and ascii_form.isascii() else token


def tokenize(text: str) -> Tokens:
    """Cuts a text into words; linear in its length."""
    text = _DASHES.sub("-", unicodedata.normalize("NFC", text))
    text = _SKIPPED.sub(" ", _APOSTROPHES.sub("'", text))
    tokens = _TOKEN.findall(_JOINER.sub(" ", text))
    known = {token: _word(token) for token in set(tokens)}
    signs = {token: _sign(token) for token, word in known.items() if word is None}
    words: list[str] = []
    surfaces: list[str] = []
    gaps: list[str] = []
    gap = ""
    for token in tokens:
        word = known[token]
        if word is None:
            if len(gap) < 16:  # what matters of a gap stands at its ends; a ruler of 1,000 dashes is one gap
                gap += signs[token]
            else:
                gap = gap[:15] + signs[token]
            continue
        words.append(word)
        surfaces.append(token)
        gaps.append(gap)
        gap = ""
    gaps.append(gap)
    return Tokens(tuple(words), tuple(surfaces), tuple(gaps))


def word_set(text: str) -> frozenset[str]:
    """The words of a text between blanks, for tables of words."""
    return frozenset(text.split())


def split_camel(text: str) -> str:
    """``MotherCall`` as two words."""
    return _CAMEL.sub(" ", text)
