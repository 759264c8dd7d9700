"""Metrics: reference and value to a row of sufficient statistics, rows to a corpus number with its standard error.

Three steps, kept apart so that a number can be computed again from saved results::

    from dsb2_tasks import metrics

    row = metrics.error_rate_row(metrics.words("a b c"), metrics.words("a x c"))  # (1, 3), one row a sample
    wer = metrics.get("wer")
    wer.aggregate([row, (0, 2)]), wer.stderr([row, (0, 2)])

Row functions take what a parser read; text goes through :func:`normalize` first.  Nothing here knows of tasks, models,
lm-eval or audio, and heavy libraries are imported when first needed.
"""

from __future__ import annotations

import difflib
from dataclasses import replace

from dsb2_tasks.metrics import _diarization, _events, _generation, _labels, _music, _regression, _slu, _text
from dsb2_tasks.metrics._diarization import der_row, jer_row
from dsb2_tasks.metrics._events import event_class_row, event_row, overlap_row, segment_error_row, segment_row
from dsb2_tasks.metrics._generation import (
    MEASURED_RATE,
    MissingLibrary,
    Separation,
    Voice,
    decibel_row,
    estoi,
    mcd,
    mcd_dtw,
    measure_row,
    need_library,
    pesq_nb,
    pesq_wb,
    sdr_bsseval,
    si_sdr,
    si_sdr_separation,
    si_sdri,
    silent,
    stoi,
    voice,
    voice_distances,
)
from dsb2_tasks.metrics._labels import (
    accuracy_row,
    chroma_row,
    class_row,
    mmau_string_match,
    phase1_row,
    pitch_row,
    set_row,
    text_row,
)
from dsb2_tasks.metrics._metric import Metric, scaled
from dsb2_tasks.metrics._music import beat_row, chord_row, key_row, melody_scores, note_row
from dsb2_tasks.metrics._normalize import NORMALIZERS, default_normalizer, normalize, to_simplified
from dsb2_tasks.metrics._regression import clipped_row, number_row, pearson_from_sums
from dsb2_tasks.metrics._slu import (
    combined_type,
    entity_label_row,
    entity_row,
    frame_row,
    official_tag_row,
    slot_type_row,
    slot_value_row,
    word_hit_row,
)
from dsb2_tasks.metrics._stats import Row
from dsb2_tasks.metrics._text import (
    bleu_row,
    bleu_tokenizer,
    capped_row,
    characters,
    chrf_row,
    error_rate_row,
    mixed,
    mostly_ideographs,
    phones,
    strip_punctuation,
    words,
)

__all__ = [
    "MEASURED_RATE",
    "NORMALIZERS",
    "Metric",
    "MissingLibrary",
    "Row",
    "Separation",
    "UnknownMetric",
    "Voice",
    "accuracy_row",
    "beat_row",
    "bleu_row",
    "bleu_tokenizer",
    "capped_row",
    "characters",
    "chord_row",
    "chrf_row",
    "chroma_row",
    "class_row",
    "clipped_row",
    "combined_type",
    "decibel_row",
    "default_normalizer",
    "der_row",
    "entity_label_row",
    "entity_row",
    "error_rate_row",
    "estoi",
    "event_class_row",
    "event_row",
    "frame_row",
    "get",
    "jer_row",
    "key_row",
    "mcd",
    "mcd_dtw",
    "measure_row",
    "melody_scores",
    "mixed",
    "mmau_string_match",
    "mostly_ideographs",
    "names",
    "need_library",
    "normalize",
    "note_row",
    "number_row",
    "official_tag_row",
    "overlap_row",
    "pearson_from_sums",
    "pesq_nb",
    "pesq_wb",
    "phase1_row",
    "phones",
    "pitch_row",
    "scaled",
    "sdr_bsseval",
    "segment_error_row",
    "segment_row",
    "set_row",
    "si_sdr",
    "si_sdr_separation",
    "si_sdri",
    "silent",
    "slot_type_row",
    "slot_value_row",
    "stoi",
    "strip_punctuation",
    "text_row",
    "to_simplified",
    "voice",
    "voice_distances",
    "word_hit_row",
    "words",
]

_FAMILIES = (_text, _labels, _slu, _diarization, _events, _music, _regression, _generation)
_JUDGED = "judge_"
_METRICS: dict[str, Metric] = {metric.name: metric for family in _FAMILIES for metric in family.METRICS}


class UnknownMetric(KeyError):
    """No metric has this name; the message suggests near ones."""

    def __str__(self) -> str:
        return str(self.args[0])


def get(name: str) -> Metric:
    """The metric of a name.

    ``<metric>_scaled`` gives the N/A-scaled form of a metric, ``judge_<metric>`` the metric over values that a judge extracted.

    Raises:
        UnknownMetric: There is none; the message suggests near names.
    """
    if name in _METRICS:
        return _METRICS[name]
    if name.startswith(_JUDGED) and name.removeprefix(_JUDGED).removesuffix("_scaled") in _METRICS:
        return replace(get(name.removeprefix(_JUDGED)), name=name)
    base = name.removesuffix("_scaled")
    if base != name and base in _METRICS:
        return scaled(_METRICS[base])
    near = difflib.get_close_matches(name, _METRICS, n=3, cutoff=0.6)
    hint = f"did you mean {', '.join(map(repr, near))}?" if near else f"known: {', '.join(names())}"
    raise UnknownMetric(f"unknown metric {name!r}; {hint}")


def names() -> list[str]:
    """Names of all metrics, sorted."""
    return sorted(_METRICS)
