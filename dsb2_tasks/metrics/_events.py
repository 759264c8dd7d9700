"""Sound events in time, and stretches of time found by a query."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dsb2_tasks.metrics._intervals import length, shared, union
from dsb2_tasks.metrics._metric import Metric, mean_metric
from dsb2_tasks.metrics._stats import Floats, Macro, Row, Totals, mean_of, micro_f

Event = tuple[float, float, str]

#: Times are read from text: a difference is within a collar up to this many seconds of rounding.
_ROUNDING = 1e-6


def event_row(
    reference: Iterable[Event],
    hypothesis: Iterable[Event],
    onset_collar: float = 0.2,
    offset_share: float | None = 0.2,
    offset_collar: float = 0.2,
) -> Row:
    """Row of ``event_f1``: events matched one to one, as many as possible (Mesaros et al. 2016).

    Two events match if their labels agree (case, blanks and underscores ignored), their onsets differ by at most the collar
    and, unless switched off, their offsets by at most the larger of a collar and a share of the reference's length.

    Args:
        reference: (onset, offset, label) events in seconds.
        hypothesis: (onset, offset, label) events in seconds.
        onset_collar: Seconds that onsets may differ.
        offset_share: Share of the reference's length that offsets may differ (DCASE: 0.2); None: offsets are not compared (HEAR).
        offset_collar: Seconds that offsets may always differ.

    Returns:
        (matched pairs, reference events, hypothesis events).
    """
    counts = _counts_by_label(reference, hypothesis, onset_collar, offset_share, offset_collar)
    return tuple(sum(column) for column in zip((0, 0, 0), *counts.values(), strict=True))


def event_class_row(
    reference: Iterable[Event],
    hypothesis: Iterable[Event],
    onset_collar: float = 0.2,
    offset_share: float | None = 0.2,
    offset_collar: float = 0.2,
) -> Row:
    """Row of ``event_f1_macro``: the counts of :func:`event_row` for each label.

    Returns:
        (label, matched pairs, reference events, hypothesis events, label, ...), flat, labels sorted.
    """
    counts = _counts_by_label(reference, hypothesis, onset_collar, offset_share, offset_collar)
    return tuple(entry for label in sorted(counts) for entry in (label, *counts[label]))


def _counts_by_label(
    reference: Iterable[Event], hypothesis: Iterable[Event], onset_collar: float, offset_share: float | None, offset_collar: float
) -> dict[str, tuple[int, int, int]]:
    wanted, given = _by_label(reference), _by_label(hypothesis)
    counts = {}
    for label in wanted.keys() | given.keys():
        one, other = wanted.get(label, _NO_TIMES), given.get(label, _NO_TIMES)
        pairs = _candidates(one, other, onset_collar, offset_share, offset_collar)
        counts[label] = (_matched(*pairs, len(one), len(other)), len(one), len(other))
    return counts


_NO_TIMES = np.empty((0, 2))


def _label(text: str) -> str:
    return " ".join(text.replace("_", " ").casefold().split())


def _by_label(events: Iterable[Event]) -> dict[str, Floats]:
    """Times (n, 2) of each label, in the order of their onsets."""
    times: dict[str, list[tuple[float, float]]] = {}
    for onset, offset, label in events:
        times.setdefault(_label(label), []).append((onset, offset))
    return {label: np.array(sorted(pairs), dtype=np.float64) for label, pairs in times.items()}


def _candidates(
    one: Floats, other: Floats, onset_collar: float, offset_share: float | None, offset_collar: float
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Index pairs of events that may be matched; both sides are sorted by onset."""
    first = np.searchsorted(other[:, 0], one[:, 0] - onset_collar - _ROUNDING, side="left")
    last = np.searchsorted(other[:, 0], one[:, 0] + onset_collar + _ROUNDING, side="right")
    left = np.repeat(np.arange(len(one)), last - first)
    right = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)] or [np.arange(0)])
    if offset_share is not None:
        allowed = np.maximum(offset_collar, offset_share * (one[left, 1] - one[left, 0])) + _ROUNDING
        close = np.abs(one[left, 1] - other[right, 1]) <= allowed
        left, right = left[close], right[close]
    return left, right


def _matched(left: NDArray[np.intp], right: NDArray[np.intp], n_left: int, n_right: int) -> int:
    """Size of the largest one-to-one matching."""
    if not len(left):
        return 0
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    graph = csr_array((np.ones(len(left), dtype=np.int8), (left, right)), shape=(n_left, n_right))
    return int((maximum_bipartite_matching(graph, perm_type="column") >= 0).sum())


def segment_row(
    reference: Iterable[Event], hypothesis: Iterable[Event], duration: float | None = None, resolution: float = 1.0
) -> Row:
    """Row of ``segment_f1``: labels that are active somewhere in each segment of fixed length (Mesaros et al. 2016).

    Args:
        reference: (onset, offset, label) events in seconds.
        hypothesis: (onset, offset, label) events in seconds.
        duration: Length of the recording in seconds, beyond which nothing is scored; None: up to the last offset.
        resolution: Length of a segment in seconds.

    Returns:
        (active in both, active in the reference, active in the hypothesis), summed over segments and labels.
    """
    counts = [
        (repeat * both, repeat * n_ref, repeat * n_hyp)
        for repeat, both, n_ref, n_hyp in _segments(reference, hypothesis, duration, resolution)
    ]
    return tuple(sum(column) for column in zip((0, 0, 0), *counts, strict=True))


def segment_error_row(
    reference: Iterable[Event], hypothesis: Iterable[Event], duration: float | None = None, resolution: float = 1.0
) -> Row:
    """Row of ``segment_er``: (substituted, deleted, inserted, active in the reference); arguments as :func:`segment_row`."""
    counts = []
    for repeat, both, n_ref, n_hyp in _segments(reference, hypothesis, duration, resolution):
        missed, added = n_ref - both, n_hyp - both
        swapped = min(missed, added)
        counts.append((repeat * swapped, repeat * (missed - swapped), repeat * (added - swapped), repeat * n_ref))
    return tuple(sum(column) for column in zip((0, 0, 0, 0), *counts, strict=True))


def _segments(
    reference: Iterable[Event], hypothesis: Iterable[Event], duration: float | None, resolution: float
) -> Iterator[tuple[int, int, int, int]]:
    """Runs of equal segments: (their number, labels active in both, in the reference, in the hypothesis).

    Runs and not segments are walked, so that an answer with an offset in the far future costs nothing.
    """
    limit = math.inf if duration is None else math.ceil(duration / resolution - _ROUNDING)
    activity = [_active(side, resolution, limit) for side in (reference, hypothesis)]
    edges = sorted({edge for side in activity for spans in side.values() for span in spans for edge in span})
    starts = np.array(edges[:-1], dtype=np.float64)
    masks = [{label: _covered(starts, spans) for label, spans in side.items()} for side in activity]
    nothing = np.zeros(len(starts), dtype=bool)
    wanted, given = (sum((m.astype(int) for m in side.values()), nothing.astype(int)) for side in masks)
    both = sum(((m & masks[1].get(label, nothing)).astype(int) for label, m in masks[0].items()), nothing.astype(int))
    for i in range(len(starts)):
        yield int(edges[i + 1] - edges[i]), int(both[i]), int(wanted[i]), int(given[i])


def _active(events: Iterable[Event], resolution: float, limit: float) -> dict[str, list[tuple[float, float]]]:
    """Numbers of the segments in which each label is active, as unions of half-open runs."""
    runs: dict[str, list[tuple[float, float]]] = {}
    for onset, offset, label in events:
        run = (math.floor(onset / resolution + _ROUNDING), min(limit, math.ceil(offset / resolution - _ROUNDING)))
        runs.setdefault(_label(label), []).append(run)
    return {label: union(spans) for label, spans in runs.items()}


def _covered(starts: Floats, spans: Sequence[tuple[float, float]]) -> NDArray[np.bool_]:
    """Which of the runs that begin at ``starts`` lie inside disjoint sorted spans."""
    if not spans:
        return np.zeros(len(starts), dtype=bool)
    bounds = np.array(spans, dtype=np.float64)
    place = np.searchsorted(bounds[:, 0], starts, side="right") - 1
    return (place >= 0) & (starts < bounds[np.maximum(place, 0), 1])


def overlap_row(reference: Iterable[Sequence[float]], hypothesis: Iterable[Sequence[float]]) -> Row:
    """Row of ``segment_iou`` and ``recall_at_iou``: intersection over union of the time that either side covers.

    Args:
        reference: (start, end, ...) spans in seconds.
        hypothesis: (start, end, ...) spans in seconds.

    Returns:
        (IoU,): 1 when both are empty, 0 when one is.
    """
    wanted, given = union(reference), union(hypothesis)
    common = shared(wanted, given)
    whole = length(wanted) + length(given) - common
    return (common / whole if whole > 0 else 1.0,)


def _entries(row: Row) -> Iterator[tuple[Any, ...]]:
    for i in range(0, len(row), 4):
        yield tuple(row[i : i + 4])


def _error_share(totals: Floats) -> Floats:
    wanted = totals[..., 3]
    return np.where(wanted > 0, totals[..., :3].sum(axis=-1) / np.where(wanted > 0, wanted, 1.0), np.nan)


def _recall(name: str, threshold: float) -> Metric:
    return Metric(name, True, 1.0, ("iou",), "fraction", mean_of(lambda c: (c[:, 0] >= threshold - 1e-9).astype(np.float64), 1))


_COUNTS = ("matched", "reference", "hypothesis")

METRICS = (
    Metric("event_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("event_f1_onset", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("event_f1_macro", True, 1.0, ("label", *_COUNTS), "fraction", Macro(_entries, (2, 0, 0), (0, 1, 1))),
    Metric("segment_f1", True, 1.0, _COUNTS, "fraction", micro_f()),
    Metric("segment_er", False, 0.0, ("substituted", "deleted", "inserted", "reference"), "fraction", Totals(4, _error_share)),
    mean_metric("segment_iou", "iou"),
    _recall("recall_at_iou", 0.5),
    _recall("recall_at_iou_0.7", 0.7),
)
