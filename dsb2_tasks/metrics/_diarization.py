"""Who spoke when: diarization and Jaccard error rate, by pyannote.metrics."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dsb2_tasks.metrics._metric import Metric
from dsb2_tasks.metrics._stats import Floats, Row, Totals

Turn = tuple[float, float, str]


def der_row(
    reference: Iterable[Turn],
    hypothesis: Iterable[Turn],
    duration: float | None = None,
    collar: float = 0.0,
    skip_overlap: bool = False,
) -> Row:
    """Components of the diarization error rate of one recording, under the best one-to-one map of speakers.

    Args:
        reference: (start, end, speaker) turns in seconds; overlapping turns of one speaker count once.
        hypothesis: (start, end, speaker) turns in seconds.
        duration: Length of the recording in seconds; what lies beyond is not scored. None: up to the last turn.
        collar: Seconds around every reference boundary that are not scored, **total** width: 0.5 is md-eval's ``-c 0.25``.
        skip_overlap: Whether overlapped reference speech is not scored.

    Returns:
        (missed, false alarm, confused, total reference speaker time) in seconds.
    """
    from pyannote.metrics.diarization import DiarizationErrorRate

    metric = DiarizationErrorRate(collar=collar, skip_overlap=skip_overlap)
    parts = _components(metric, reference, hypothesis, duration)
    return tuple(float(parts[name]) for name in ("missed detection", "false alarm", "confusion", "total"))


def jer_row(reference: Iterable[Turn], hypothesis: Iterable[Turn], duration: float | None = None) -> Row:
    """Components of the Jaccard error rate of one recording: (sum of the speakers' errors, reference speakers)."""
    from pyannote.metrics.diarization import JaccardErrorRate

    parts = _components(JaccardErrorRate(), reference, hypothesis, duration)
    return (float(parts["speaker error"]), int(parts["speaker count"]))


def _components(metric: Any, reference: Iterable[Turn], hypothesis: Iterable[Turn], duration: float | None) -> dict[str, float]:
    from pyannote.core import Segment, Timeline

    wanted, given = _annotation(reference), _annotation(hypothesis)
    end = (
        max((side.get_timeline().extent().end for side in (wanted, given) if side), default=0.0) if duration is None else duration
    )
    return metric.compute_components(wanted, given, uem=Timeline([Segment(0.0, end)]))


def _annotation(turns: Iterable[Turn]) -> Any:
    from pyannote.core import Annotation, Segment

    annotation = Annotation()
    for number, (start, end, speaker) in enumerate(turns):
        annotation[Segment(start, end), number] = str(speaker)
    return annotation.support()


def _error_share(totals: Floats) -> Floats:
    errors, time = totals[..., :3].sum(axis=-1), totals[..., 3]
    # as pyannote has it: errors without any reference speech are an error rate of one
    return np.where(time > 0, errors / np.where(time > 0, time, 1.0), (errors > 0).astype(np.float64))


def _speaker_mean(totals: Floats) -> Floats:
    speakers = totals[..., 1]
    return np.where(speakers > 0, totals[..., 0] / np.where(speakers > 0, speakers, 1.0), 1.0)


METRICS = (
    Metric("der", False, 0.0, ("missed", "false_alarm", "confused", "reference_time"), "fraction", Totals(4, _error_share)),
    Metric("jer", False, 0.0, ("speaker_error", "reference_speakers"), "fraction", Totals(2, _speaker_mean)),
)
