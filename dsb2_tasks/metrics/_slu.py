"""Spoken language understanding: slots, named entities and where they are, part-of-speech tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from dsb2_tasks.metrics._intervals import length, shared, union
from dsb2_tasks.metrics._metric import Metric
from dsb2_tasks.metrics._normalize import normalize
from dsb2_tasks.metrics._stats import Floats, Row, Totals, error_rate, mean_f, micro_f
from dsb2_tasks.metrics._text import characters, error_rate_row, strip_punctuation, words

Pairs = Iterable[Sequence[str]]

#: Types of the OntoNotes scheme to the seven that SLUE-VoxPopuli scores; None: not scored.
_COMBINED: dict[str, str | None] = {
    **dict.fromkeys(("DATE", "TIME"), "WHEN"),
    **dict.fromkeys(("CARDINAL", "ORDINAL", "QUANTITY", "MONEY", "PERCENT"), "QUANT"),
    **dict.fromkeys(("GPE", "LOC"), "PLACE"),
    **dict.fromkeys(("FAC", "EVENT", "WORK_OF_ART", "PRODUCT", "LANGUAGE"), None),
}


def slot_type_row(reference: Pairs, hypothesis: Pairs) -> Row:
    """Row of ``slot_type_f1``: counts of slot types as sets (SUPERB).

    Args:
        reference: (type, value) pairs.
        hypothesis: (type, value) pairs.

    Returns:
        (types in both, types of the reference, types of the hypothesis).
    """
    wanted, given = ({kind.casefold() for kind, _ in pairs} for pairs in (reference, hypothesis))
    return (len(wanted & given), len(wanted), len(given))


def slot_value_row(reference: Pairs, hypothesis: Pairs, casefold: bool = True) -> Row:
    """Row of ``slot_value_cer`` (SUPERB): edits against the closest hypothesis value of the same type.

    A hypothesis value may serve several reference values, one of a type that is missing is wholly deleted, and additional
    hypothesis slots cost nothing.

    Args:
        reference: (type, value) pairs.
        hypothesis: (type, value) pairs.
        casefold: Whether case is ignored in values; types always ignore it.

    Returns:
        (edits, characters of the reference values), blanks counted.
    """
    fold = str.casefold if casefold else str
    given: dict[str, list[list[str]]] = {}
    for kind, value in hypothesis:
        given.setdefault(kind.casefold(), []).append(characters(fold(value)))
    edits = total = 0
    for kind, value in reference:
        wanted = characters(fold(value))
        edits += min(error_rate_row(wanted, candidate)[0] for candidate in given.get(kind.casefold(), [[]]))
        total += len(wanted)
    return (edits, total)


def combined_type(kind: str) -> str | None:
    """The combined type of SLUE-VoxPopuli for an entity type; None for types that it does not score."""
    name = kind.strip().upper().replace(" ", "_")
    return _COMBINED.get(name, name)


def entity_row(reference: Pairs, hypothesis: Pairs) -> Row:
    """Row of ``ner_f1``: (type, phrase) pairs as multisets, types combined, phrases without case and punctuation.

    Args:
        reference: (type, phrase) pairs.
        hypothesis: (type, phrase) pairs.

    Returns:
        (pairs in both, pairs of the reference, pairs of the hypothesis).
    """
    return _multiset_row(_entities(reference), _entities(hypothesis))


def entity_label_row(reference: Pairs, hypothesis: Pairs) -> Row:
    """Row of ``ner_label_f1``: as :func:`entity_row` with the phrases left out."""
    wanted, given = (Counter(kind for kind, _ in _entities(side).elements()) for side in (reference, hypothesis))
    return _multiset_row(wanted, given)


def _entities(pairs: Pairs) -> Counter[tuple[str, str]]:
    typed = ((combined_type(kind), phrase) for kind, phrase in pairs)
    return Counter((kind, normalize("norm_multi", phrase)) for kind, phrase in typed if kind)


def _multiset_row(wanted: Counter, given: Counter) -> Row:
    return ((wanted & given).total(), wanted.total(), given.total())


def frame_row(reference: Iterable[Sequence[float]], hypothesis: Iterable[Sequence[float]], resolution: float = 0.01) -> Row:
    """Row of ``nel_frame_f1`` (SLUE): frames covered by entity spans on either side.

    Args:
        reference: (start, end, ...) spans in seconds.
        hypothesis: (start, end, ...) spans in seconds.
        resolution: Length of a frame in seconds; a time falls into frame ``int(time / resolution)``.

    Returns:
        (frames in both, frames of the reference, frames of the hypothesis).
    """
    wanted, given = (
        union((int(start / resolution), int(end / resolution)) for start, end, *_ in side) for side in (reference, hypothesis)
    )
    return (int(shared(wanted, given)), int(length(wanted)), int(length(given)))


def word_hit_row(
    aligned: Iterable[tuple[float, float, bool]], hypothesis: Iterable[Sequence[float]], threshold: float = 0.8
) -> Row:
    """Row of ``nel_word_f1`` (SLUE): a word counts as marked when enough of it is covered by a hypothesis span.

    Args:
        aligned: (start, end, is part of an entity) of every reference word, in seconds.
        hypothesis: (start, end, ...) spans in seconds.
        threshold: Share of a word that must be covered.

    Returns:
        (entity words marked, entity words, words marked).
    """
    spans = union(hypothesis)
    hits = wanted = given = 0
    for start, end, entity in aligned:
        marked = end > start and shared([(start, end)], spans) >= threshold * (end - start) - 1e-9
        hits, wanted, given = hits + (marked and entity), wanted + entity, given + marked
    return (hits, wanted, given)


def official_tag_row(reference: str, answer: str) -> Row:
    """Row of ``pos_official_wer``: WER of the whole strings without ASCII punctuation, case kept.

    So the words of the label's own template count; a right answer in another template cannot reach zero.
    """
    return error_rate_row(words(strip_punctuation(reference)), words(strip_punctuation(answer)))


def _accuracy_of_errors(totals: Floats) -> Floats:
    return np.maximum(0.0, 1.0 - totals[..., 0] / np.where(totals[..., 1] > 0, totals[..., 1], 1.0))


_COUNTS = ("true_positives", "reference", "hypothesis")
_EDITS = ("edits", "reference_length")

METRICS = (
    Metric("slot_type_f1", True, 1.0, _COUNTS, "fraction", mean_f()),
    Metric("slot_value_cer", False, 0.0, _EDITS, "fraction", Totals(2, lambda t: t[..., 0] / t[..., 1])),
    Metric("ner_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("ner_label_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("nel_frame_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("nel_word_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("pos_tag_error_rate", False, 0.0, _EDITS, "fraction", error_rate()),
    Metric("pos_tag_accuracy", True, 1.0, _EDITS, "fraction", Totals(2, _accuracy_of_errors)),
    Metric("pos_official_wer", False, 0.0, _EDITS, "fraction", error_rate()),
    Metric("pos_transcription_wer", False, 0.0, _EDITS, "fraction", error_rate()),
)
