"""Kinds whose answer is text: transcripts, phonemes, translations. The raw answer is scored, so nothing is N/A."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from dsb2_tasks import metrics
from dsb2_tasks.hooks._kind import Case, Doc, Kind, LabelError, label_text
from dsb2_tasks.metrics import Row
from dsb2_tasks.parse import clean, extract_transcript
from dsb2_tasks.spec import TaskSpec

_Tokens = Callable[[str], list[str]]

#: Languages written without blanks between words: their word error rate counts characters, as no word is marked.
_UNSPACED = frozenset({"zh", "cmn", "yue", "ja", "th", "lo", "my", "km"})


def language_of(case: Case) -> str | None:
    """Language of a document: that of its data set, else that of the task."""
    return case.doc.get("dsb2_language") or case.spec.language


def _is_unspaced(case: Case) -> bool:
    language = language_of(case)
    if language is None:
        return metrics.mostly_ideographs(case.reference)
    return re.split("[-_]", language.lower())[0] in _UNSPACED


def _read_raw(answer: str, doc: Doc, spec: TaskSpec) -> tuple[str, str]:
    text = clean(answer)
    return text, "ok" if text else "empty"


def _profiles(
    unit: str, tokens: Callable[[Case], _Tokens], names: Callable[[Case, str], str]
) -> dict[str, Callable[[Case], Row]]:
    """Rows of one edit rate in all its profiles.

    Args:
        unit: Name of the rate.
        tokens: Cuts a normalised text into the rate's tokens.
        names: Normaliser for a case and a profile ("", "official" or "superb").
    """

    def row(case: Case, profile: str, hypothesis: str) -> Row:
        cut, name = tokens(case), names(case, profile)
        return metrics.error_rate_row(*(cut(metrics.normalize(name, text)) for text in (case.reference, hypothesis)))

    return {
        unit: lambda case: row(case, "", case.value),
        f"{unit}_clean": lambda case: row(case, "", extract_transcript(case.answer)[0] or ""),
        f"{unit}_capped": lambda case: metrics.capped_row(row(case, "", case.value)),
        f"{unit}_official": lambda case: row(case, "official", case.value),
        f"{unit}_superb": lambda case: row(case, "superb", case.value),
    }


def _default(case: Case) -> str:
    if case.spec.normalizer is not None:
        return case.spec.normalizer
    language = language_of(case)
    return metrics.default_normalizer("zh" if language is None and _is_unspaced(case) else language)


def _normalizer(case: Case, profile: str) -> str:
    return {"official": "official_port", "superb": "superb"}.get(profile) or _default(case)


def _mixed_normalizer(case: Case, profile: str) -> str:
    return _normalizer(case, profile) if profile else case.spec.normalizer or "norm_mixed"


def _solid(text: str) -> list[str]:
    """Characters without blanks."""
    return metrics.characters("".join(text.split()))


TRANSCRIPT = Kind(
    name="transcript",
    read_label=lambda doc, spec: label_text(doc, "the words that are said"),
    read_answer=_read_raw,
    rows={
        **_profiles("wer", lambda case: _solid if _is_unspaced(case) else metrics.words, _normalizer),
        **_profiles("cer", lambda case: _solid if _is_unspaced(case) else metrics.characters, _normalizer),
        **_profiles("mer_mixed", lambda case: metrics.mixed, _mixed_normalizer),
    },
    na=False,
    parsed=False,
)


def _read_phonemes(doc: Doc, spec: TaskSpec) -> str:
    expected = "phoneme symbols separated by blanks, such as 'HH AH L OW'"
    text = label_text(doc, expected)
    symbols = metrics.phones(text)
    if not symbols or any(len(symbol) > 4 for symbol in symbols):
        raise LabelError(expected, text)
    return text


def _phone_row(case: Case, hypothesis: str) -> Row:
    return metrics.error_rate_row(metrics.phones(case.reference), metrics.phones(hypothesis))


def _official_phones(texts: Iterable[str]) -> list[list[str]]:
    return [metrics.words(metrics.normalize("official_port", text)) for text in texts]


PHONEMES = Kind(
    name="phonemes",
    read_label=_read_phonemes,
    read_answer=_read_raw,
    rows={
        "per": lambda case: _phone_row(case, case.value),
        "per_clean": lambda case: _phone_row(case, extract_transcript(case.answer)[0] or ""),
        "per_capped": lambda case: metrics.capped_row(_phone_row(case, case.value)),
        # SUPERB's own vocabulary has the stress digits.
        "per_superb": lambda case: metrics.error_rate_row(
            metrics.phones(case.reference, strip_stress=False), metrics.phones(case.value, strip_stress=False)
        ),
        "per_official": lambda case: metrics.error_rate_row(*_official_phones((case.reference, case.value))),
    },
    na=False,
    parsed=False,
)


def _bleu_row(case: Case) -> Row:
    # The target's script decides, since a task's language may be that of its speech.
    tokenizer = metrics.bleu_tokenizer("zh" if metrics.mostly_ideographs(case.reference) else None)
    return metrics.bleu_row(case.reference, case.value, tokenizer)


TRANSLATION = Kind(
    name="translation",
    read_label=lambda doc, spec: label_text(doc, "a sentence in the target language"),
    read_answer=_read_raw,
    rows={
        "bleu": _bleu_row,
        "chrf": lambda case: metrics.chrf_row(case.reference, case.value, word_order=0),
        "chrf++": lambda case: metrics.chrf_row(case.reference, case.value),
    },
    na=False,
    parsed=False,
)
