"""Transcripts, phonemes and translations: edit rates on named token units, BLEU and chrF."""

from __future__ import annotations

import re
import string
from collections import Counter
from collections.abc import Hashable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from dsb2_tasks.metrics._metric import Metric
from dsb2_tasks.metrics._stats import Floats, Row, Totals, error_rate

#: CJK ideographs: the unified block, extension A, compatibility forms, the zero, and the supplementary planes 2 and 3.
_IDEOGRAPH = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\u3007\U00020000-\U0002ffff"
_MIXED = re.compile(f"[{_IDEOGRAPH}]|[^\\s{_IDEOGRAPH}]+")
_STRESS = re.compile(r"(?<=[A-Z])[0-2]$")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_TO_BLANKS = str.maketrans(dict.fromkeys(string.punctuation, " "))


def words(text: str) -> list[str]:
    """Tokens between blanks: the unit of WER."""
    return text.split()


def characters(text: str) -> list[str]:
    """Characters, blanks between words included and outer ones not: the unit of CER."""
    return list(text.strip())


def mixed(text: str) -> list[str]:
    """Every CJK ideograph alone, every other run as one word: the unit of MER on code-switched speech."""
    return _MIXED.findall(text)


def phones(text: str, strip_stress: bool = True) -> list[str]:
    """Phoneme symbols: punctuation and slashes out, upper case, and ARPAbet stress digits off unless told otherwise."""
    symbols = text.translate(_TO_BLANKS).upper().split()
    return [_STRESS.sub("", symbol) for symbol in symbols] if strip_stress else symbols


def mostly_ideographs(text: str) -> bool:
    """Whether more than half of the letters of a text are CJK ideographs, so that CER is its rate."""
    letters = [c for c in text if c.isalpha()]
    return 2 * len(re.findall(f"[{_IDEOGRAPH}]", text)) > len(letters)


def error_rate_row(reference: Sequence[Hashable], hypothesis: Sequence[Hashable]) -> Row:
    """Statistics of an edit rate.

    Args:
        reference: Tokens of the reference.
        hypothesis: Tokens of the hypothesis.

    Returns:
        (edits, reference length) with the Levenshtein distance of rapidfuzz, the engine of jiwer.
    """
    from rapidfuzz.distance import Levenshtein

    return (Levenshtein.distance(reference, hypothesis), len(reference))


def capped_row(row: Row) -> Row:
    """An edit row whose edits are at most the reference length, so that one endless answer cannot decide the corpus."""
    return (min(row[0], row[1]), row[1])


def strip_punctuation(text: str) -> str:
    """A text without ASCII punctuation."""
    return text.translate(_NO_PUNCTUATION)


@lru_cache(maxsize=8)
def _bleu(tokenize: str, lowercase: bool) -> Any:
    from sacrebleu.metrics import BLEU

    return BLEU(tokenize=tokenize, lowercase=lowercase)


def bleu_tokenizer(language: str | None) -> str:
    """The sacrebleu tokeniser for a target language: ``zh`` for Chinese, ``13a`` otherwise."""
    return "zh" if language and language.lower().split("-")[0] in ("zh", "cmn", "yue") else "13a"


def bleu_row(reference: str, hypothesis: str, tokenize: str = "13a", lowercase: bool = False) -> Row:
    """The ten counts of BLEU (Papineni et al. 2002) as sacrebleu counts them; case and punctuation are kept.

    Args:
        reference: Reference translation.
        hypothesis: Translation to score; may be empty.
        tokenize: sacrebleu's tokeniser.
        lowercase: Whether case is ignored.

    Returns:
        (matches of order 1-4, n-grams of order 1-4, hypothesis length, reference length).
    """
    score = _bleu(tokenize, lowercase).corpus_score([hypothesis], [[reference]])
    return (*score.counts, *score.totals, score.sys_len, score.ref_len)


def _bleu_score(totals: Floats) -> Floats:
    """BLEU with sacrebleu's ``exp`` smoothing: the k-th order without a match counts as ``1 / 2^k`` matches.

    sacrebleu's own function takes one set of whole numbers; standard errors and bootstraps need many, weighted ones.
    """
    match, ngrams = totals[..., :4], totals[..., 4:8]
    given, wanted = totals[..., 8], totals[..., 9]
    smoothed = np.where(match > 0, match, 0.5 ** np.cumsum(match <= 0, axis=-1))
    some = (match > 0).any(axis=-1) & (ngrams > 0).all(axis=-1)
    with np.errstate(all="ignore"):
        precision = np.exp(np.log(smoothed / ngrams).mean(axis=-1))
        brevity = np.exp(np.minimum(0.0, 1 - wanted / given))
    return np.where(some, 100 * brevity * precision, 0.0)


def chrf_row(reference: str, hypothesis: str, word_order: int = 2) -> Row:
    """Counts of chrF (Popović 2015), chrF++ with ``word_order=2`` (Popović 2017), as sacrebleu counts them.

    Args:
        reference: Reference translation.
        hypothesis: Translation to score.
        word_order: Longest word n-gram; 0 gives chrF.

    Returns:
        For each order, characters 1-6 and then words: (hypothesis n-grams, reference n-grams, matches).
    """
    row: list[int] = []
    sides: list[tuple[Sequence[str], Sequence[str], int]]
    sides = [(_without_blanks(reference), _without_blanks(hypothesis), n) for n in range(1, 7)]
    sides += [(_loose_punctuation(reference), _loose_punctuation(hypothesis), n) for n in range(1, word_order + 1)]
    for ref, hyp, n in sides:
        wanted, given = _ngrams(ref, n), _ngrams(hyp, n)
        # n-grams of an order that the reference has not are no evidence either way
        row += [given.total() if wanted else 0, wanted.total(), (wanted & given).total()]
    return tuple(row)


def _without_blanks(text: str) -> str:
    return "".join(text.split())


def _loose_punctuation(text: str) -> list[str]:
    """Words with one leading or trailing sign taken off, the trailing one first."""
    tokens: list[str] = []
    for word in text.split():
        if len(word) > 1 and word[-1] in string.punctuation:
            tokens += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in string.punctuation:
            tokens += [word[0], word[1:]]
        else:
            tokens.append(word)
    return tokens


def _ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[i:] for i in range(n)), strict=False))


def _chrf_score(totals: Floats) -> Floats:
    """F with beta = 2 of precision and recall averaged over the orders that both sides have."""
    given, wanted, match = totals[..., 0::3], totals[..., 1::3], totals[..., 2::3]
    used = (given > 0) & (wanted > 0)
    orders = np.maximum(used.sum(axis=-1), 1)
    precision = np.where(used, match / np.where(used, given, 1.0), 0.0).sum(axis=-1) / orders
    recall = np.where(used, match / np.where(used, wanted, 1.0), 0.0).sum(axis=-1) / orders
    below = 4 * precision + recall
    return np.where(below > 0, 100 * 5 * precision * recall / np.where(below > 0, below, 1.0), 0.0)


def _edit_metric(name: str) -> Metric:
    return Metric(name, False, 0.0, ("edits", "reference_length"), "fraction", error_rate())


def _chrf_metric(name: str, orders: int) -> Metric:
    fields = tuple(f"{side}_{n}" for n in range(1, orders + 1) for side in ("hypothesis", "reference", "match"))
    return Metric(name, True, 100.0, fields, "points", Totals(len(fields), _chrf_score))


_BLEU_FIELDS = (
    *(f"match_{n}" for n in range(1, 5)),
    *(f"ngrams_{n}" for n in range(1, 5)),
    "hypothesis_length",
    "reference_length",
)

#: Profiles of an edit rate beside its default: lead-in stripped, edits capped, the authors' text rule, SUPERB's text rule.
PROFILES = ("", "_clean", "_capped", "_official", "_superb")

METRICS = (
    *(_edit_metric(f"{unit}{profile}") for unit in ("wer", "cer", "mer_mixed", "per") for profile in PROFILES),
    Metric("bleu", True, 100.0, _BLEU_FIELDS, "points", Totals(10, _bleu_score)),
    _chrf_metric("chrf", 6),
    _chrf_metric("chrf++", 8),
)
