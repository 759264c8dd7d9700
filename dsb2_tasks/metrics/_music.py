"""Notes, beats, keys, chords, pitch contours, by mir_eval, and sequences of pitches."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np

from dsb2_tasks.metrics._metric import Metric, mean_metric
from dsb2_tasks.metrics._stats import Row, error_rate, mean_f, micro_f

Note = tuple[float, float, float]

#: What a note without length is given, since mir_eval refuses it.
_SHORTEST_NOTE = 0.01
_TONICS = {"c": 0, "d": 2, "e": 4, "f": 5, "g": 7, "a": 9, "b": 11}
_SHARPS = ("C", "C#", "D", "D#", "E", "F", "F#", "G", "G#", "A", "A#", "B")
_KEY = re.compile(r"\s*([a-g])\s*[- ]?(#|♯|sharp|b|♭|flat)?\s*[-: _]?\s*(major|maj|minor|min|m)?\s*", re.IGNORECASE)


def note_row(
    reference: Iterable[Note], hypothesis: Iterable[Note], onset: float = 0.05, offset_ratio: float | None = None
) -> Row:
    """Row of ``note_f1`` (onset and pitch) and, with ``offset_ratio=0.2``, of ``note_f1_offset``.

    Args:
        reference: (onset, offset, MIDI pitch) notes, times in seconds.
        hypothesis: (onset, offset, MIDI pitch) notes, times in seconds.
        onset: Seconds that onsets may differ; pitches may differ by 50 cents.
        offset_ratio: Share of the reference's length that offsets may differ, at least 50 ms; None: not compared.

    Returns:
        (matched pairs, reference notes, hypothesis notes).
    """
    from mir_eval.transcription import match_notes
    from mir_eval.util import midi_to_hz

    wanted, given = _notes(reference), _notes(hypothesis)
    candidates = given[_has_neighbour(given[:, 0], wanted[:, 0], onset + 1e-3)] if len(wanted) else given[:0]
    if not len(candidates):
        return (0, len(wanted), len(given))
    pairs = match_notes(
        wanted[:, :2],
        midi_to_hz(wanted[:, 2]),
        candidates[:, :2],
        midi_to_hz(candidates[:, 2]),
        onset_tolerance=onset,
        offset_ratio=offset_ratio,
    )
    return (len(pairs), len(wanted), len(given))


def _notes(notes: Iterable[Note]) -> np.ndarray:
    array = np.array([note[:3] for note in notes], dtype=np.float64).reshape(-1, 3)
    array[:, 1] = np.maximum(array[:, 1], array[:, 0] + _SHORTEST_NOTE)
    return array


def _has_neighbour(times: np.ndarray, others: np.ndarray, distance: float) -> np.ndarray:
    """Which times have another within a distance: mir_eval compares all pairs, and a long answer is mostly out of reach."""
    others = np.sort(others)
    return np.searchsorted(others, times - distance) < np.searchsorted(others, times + distance, side="right")


def beat_row(reference: Iterable[float], hypothesis: Iterable[float], tolerance: float = 0.07, trim: float = 0.0) -> Row:
    """Row of ``beat_f``: beats matched one to one within a tolerance.

    Args:
        reference: Times in seconds, any order; repeats count once.
        hypothesis: Times in seconds, any order; repeats count once.
        tolerance: Seconds that a beat may be off.
        trim: Seconds at the beginning that are left out on both sides; MIREX takes 5, which half empties a short clip.

    Returns:
        (matched pairs, reference beats, hypothesis beats).
    """
    from mir_eval.util import match_events

    sides = (np.unique(np.array(list(side), dtype=np.float64)) for side in (reference, hypothesis))
    wanted, given = (times[times >= trim] if trim else times for times in sides)
    return (len(match_events(wanted, given, tolerance)), len(wanted), len(given))


def key_row(reference: str, hypothesis: str | None) -> Row:
    """Row of ``key_weighted`` (MIREX): same key 1, a fifth above 0.5, relative 0.3, parallel 0.2, anything else 0.

    Args:
        reference: Key such as ``C# minor``, ``Db major``, ``A:min``, ``E♭ major``; a tonic alone is major.
        hypothesis: Key in any such form; None or no key scores 0.
    """
    from mir_eval.key import weighted_score

    wanted, given = _key(reference), _key(hypothesis or "")
    if wanted is None:
        raise ValueError(f"reference {reference!r} is no key such as 'C# minor'")
    return (float(weighted_score(wanted, given)) if given else 0.0,)


def _key(text: str) -> str | None:
    found = _KEY.fullmatch(text)
    if not found:
        return None
    tonic, accidental, mode = found.groups()
    shift = {"#": 1, "♯": 1, "sharp": 1, "b": -1, "♭": -1, "flat": -1}.get((accidental or "").lower(), 0)
    minor = mode is not None and (mode == "m" or mode.lower().startswith("min"))
    return f"{_SHARPS[(_TONICS[tonic.lower()] + shift) % 12]} {'minor' if minor else 'major'}"


def chord_row(reference: str, hypothesis: str) -> Row | None:
    """Row of ``chord_majmin``: (1,) if both chords agree as major or minor triads, in Harte's notation (``C:maj7``).

    Returns:
        None where the reference is neither major nor minor, which the measure leaves out; (0,) for a hypothesis that is no chord.
    """
    from mir_eval.chord import InvalidChordException, majmin, validate_chord_label

    try:
        validate_chord_label(hypothesis)
    except InvalidChordException:
        return (0.0,)
    score = float(majmin([reference], [hypothesis])[0])
    return (score,) if score >= 0 else None


def melody_scores(reference: Sequence[float], hypothesis: Sequence[float], hop: float = 0.01) -> dict[str, float]:
    """The five melody measures of mir_eval for two frame-wise contours.

    Args:
        reference: Frequency in Hz of each frame, 0 where unvoiced.
        hypothesis: Frequency in Hz of each frame, 0 where unvoiced.
        hop: Seconds between frames.
    """
    from mir_eval.melody import evaluate

    sides = [np.asarray(side, dtype=np.float64) for side in (reference, hypothesis)]
    scores = evaluate(*(array for side in sides for array in (np.arange(len(side)) * hop, side)))
    return {name: float(value) for name, value in scores.items()}


_COUNTS = ("matched", "reference", "hypothesis")

# mir_eval gives two empty sides 0
METRICS = (
    *(Metric(name, True, 1.0, _COUNTS, "fraction", mean_f(empty=0.0)) for name in ("note_f1", "note_f1_offset", "beat_f")),
    *(
        Metric(f"{name}_micro", True, 1.0, _COUNTS, "fraction", micro_f(empty=0.0))
        for name in ("note_f1", "note_f1_offset", "beat_f")
    ),
    mean_metric("key_weighted", "score"),
    mean_metric("chord_majmin", "correct"),
    Metric("pitch_seq_error_rate", False, 0.0, ("edits", "reference_length"), "fraction", error_rate()),
)
