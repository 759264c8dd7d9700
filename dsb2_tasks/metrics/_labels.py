"""One label out of a set, sets of labels, and whole-text comparisons."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from dsb2_tasks.metrics._metric import Metric, mean_metric, rate
from dsb2_tasks.metrics._normalize import normalize
from dsb2_tasks.metrics._stats import Floats, Macro, Row, mean_f, mean_of, micro_f


def accuracy_row(reference: str, prediction: str | None) -> Row:
    """(1,) if the prediction is the reference, else (0,); no usable answer (None) is wrong, once."""
    return (float(prediction == reference),)


def class_row(reference: str, prediction: str | None) -> Row:
    """Row of macro-F1 and balanced accuracy: (reference, prediction); no usable answer is the empty label, never a class."""
    return (reference, prediction or "")


def set_row(reference: Iterable[str], prediction: Iterable[str] | None) -> Row:
    """Row of all metrics on sets of labels: (labels in both, labels of the reference, labels predicted).

    Args:
        reference: Labels; order and repeats do not matter.
        prediction: Labels; None (no usable answer) counts as the empty set.
    """
    wanted, given = set(reference), set(() if prediction is None else prediction)
    return (len(wanted & given), len(wanted), len(given))


def phase1_row(reference: str, answer: str) -> Row:
    """Row of ``phase1_exact``: the whole answer against the label, case ignored, nothing trimmed (arXiv 2309.09510)."""
    return (float(answer.lower() == reference.lower()),)


def text_row(reference: str, answer: str, normalizer: str = "norm_multi") -> Row:
    """Row of ``text_accuracy``: (1,) if both texts are equal but for case, punctuation and blanks (or another normaliser)."""
    return (float(normalize(normalizer, answer) == normalize(normalizer, reference)),)


def mmau_string_match(answer: str, reference: str, options: Sequence[str]) -> bool:
    """MMAU's rule for free answers: every word of the right option is there and no word that only other options have.

    Args:
        answer: The model's answer.
        reference: The right option.
        options: All options.
    """
    given, wanted = _word_set(answer), _word_set(reference)
    foreign = set().union(*(_word_set(option) for option in options if option != reference)) - wanted
    return bool(wanted) and wanted <= given and not foreign & given


def _word_set(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.lower()))


def pitch_row(reference: int, prediction: int | None) -> Row:
    """Row of ``pitch_acc``: (1,) if the MIDI number is the same."""
    return (float(prediction == reference),)


def chroma_row(reference: int, prediction: int | None) -> Row:
    """Row of ``chroma_acc``: (1,) if the MIDI numbers agree but for octaves."""
    return (float(prediction is not None and prediction % 12 == reference % 12),)


def _exact(counts: Floats) -> Floats:
    return ((counts[:, 0] == counts[:, 1]) & (counts[:, 0] == counts[:, 2])).astype(np.float64)


def _jaccard(counts: Floats) -> Floats:
    union = counts[:, 1] + counts[:, 2] - counts[:, 0]
    return np.where(union > 0, counts[:, 0] / np.where(union > 0, union, 1.0), 1.0)


def _confusions(row: Row) -> Iterator[tuple[str, float, float, float]]:
    reference, prediction = row[:2]
    hit = float(reference == prediction)
    yield reference, hit, 1.0, hit
    if not hit:
        yield prediction, 0.0, 0.0, 1.0


_PAIR = ("reference", "prediction")
_COUNTS = ("true_positives", "reference_labels", "predicted_labels")

METRICS = (
    mean_metric("accuracy", "correct"),
    mean_metric("phase1_exact", "correct"),
    mean_metric("text_accuracy", "correct"),
    mean_metric("pitch_acc", "correct"),
    mean_metric("chroma_acc", "correct"),
    mean_metric("mmau_string_match", "correct"),
    mean_metric("judge_accuracy", "accepted"),
    mean_metric("judge_coverage", "usable"),
    Metric("macro_f1", True, 1.0, _PAIR, "fraction", Macro(_confusions, (2, 0, 0), (0, 1, 1))),
    Metric("balanced_accuracy", True, 1.0, _PAIR, "fraction", Macro(_confusions, (1, 0, 0), (0, 1, 0))),
    Metric("multilabel_exact", True, 1.0, _COUNTS, "fraction", mean_of(_exact, 3)),
    Metric("multilabel_micro_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("multilabel_sample_f1", True, 1.0, _COUNTS, "fraction", mean_f()),
    Metric("multilabel_jaccard", True, 1.0, _COUNTS, "fraction", mean_of(_jaccard, 3)),
    rate("na_rate"),
    rate("unparsed_rate"),
    rate("audio_error_rate"),
)
