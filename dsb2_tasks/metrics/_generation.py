"""Audio against audio: quality, intelligibility, separation, spectral distortion.

Signals are one-dimensional arrays of two clips that begin together and have one rate; nothing here reads files or resamples.
A function gives None where its measure is not defined: one side is silent, or too short.  The libraries come with the
extra ``generation``.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import math
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dsb2_tasks.metrics._metric import Metric
from dsb2_tasks.metrics._stats import Floats, Row, mean

#: Rate in Hz at which quality, intelligibility and voices are measured.
MEASURED_RATE = 16_000
#: A lossless copy has an infinite signal-to-distortion ratio, which no mean can hold: ratios count within 100 dB of zero.
_MOST_DECIBELS = 100.0
#: Far below one step of 16 bits (3e-5).
_SILENCE = 1e-6
#: Mel-cepstra at 16 kHz as in common recipes of speech synthesis: order, frequency warping, seconds between frames.
_ORDER, _WARPING, _HOP = 23, 0.42, 0.005
#: pesq 0.0.4 writes past its tables, and kills the process, beyond 50 utterances; each takes 0.2 s of sound and 0.2 s of pause.
_LONGEST_PESQ = 18.0
_SHORTEST_VOICE, _SHORTEST_STOI = 0.05, 0.4
_DECIBELS = 10.0 / math.log(10.0) * math.sqrt(2.0)

_LIBRARIES = {
    "pesq_wb": "pesq",
    "pesq_nb": "pesq",
    "stoi": "pystoi",
    "estoi": "pystoi",
    "sdr_bsseval": "mir_eval.separation",
    "mcd": "pyworld",
    "log_f0_rmse": "pyworld",
}


class MissingLibrary(ImportError):
    """A metric needs a library that is not installed; the message names the extra that brings it."""


@dataclass(frozen=True)
class Separation:
    """Signal-to-distortion ratios of separated sources under the best assignment.

    Attributes:
        decibels: One value a reference.
        permutation: Which estimate belongs to each reference.
    """

    decibels: tuple[float, ...]
    permutation: tuple[int, ...]


def need_library(metric: str) -> None:
    """Imports what a metric is computed with, so that its absence shows before a model is asked.

    Raises:
        MissingLibrary: It is not installed.
    """
    if metric in _LIBRARIES:
        _library(_LIBRARIES[metric])


@lru_cache(maxsize=8)
def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if name == "pyworld" and error.name == "pkg_resources":
            return _compiled_world()
        raise MissingLibrary(
            f"{name} cannot be imported: {error.name} is not installed; metrics of generated audio need it, run: "
            f'pip install "dsb2-tasks[generation]"'
        ) from error


def _compiled_world() -> Any:
    """The compiled part of pyworld: up to 0.3.5 its ``__init__`` needs a part of setuptools that is gone since 81."""
    package = importlib.util.find_spec("pyworld")
    spec = importlib.machinery.PathFinder.find_spec("pyworld.pyworld", package.submodule_search_locations if package else None)
    if spec is None or spec.loader is None:
        raise MissingLibrary(
            'pyworld is broken: its compiled part is missing; install it again: pip install "dsb2-tasks[generation]"'
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def silent(samples: ArrayLike) -> bool:
    """Whether a clip holds nothing but a constant."""
    x = _signal(samples)
    return not x.size or bool(np.max(np.abs(x - x.mean())) < _SILENCE)


def _signal(samples: ArrayLike) -> Floats:
    return np.asarray(samples, dtype=np.float64).reshape(-1)


def _pair(reference: ArrayLike, hypothesis: ArrayLike) -> tuple[Floats, Floats] | None:
    """Both signals; None if one is silent."""
    x, y = _signal(reference), _signal(hypothesis)
    if len(x) != len(y):
        raise ValueError(f"signals of {len(x)} and {len(y)} samples cannot be compared sample by sample")
    return None if silent(x) or silent(y) else (x, y)


def pesq_wb(reference: ArrayLike, degraded: ArrayLike) -> float | None:
    """Wideband PESQ (ITU-T P.862.2) of 16 kHz signals, by the library pesq: 1.02 to 4.64.

    A clip longer than 18 s, for which the measure is not meant, is measured in equal pieces and gets their mean.

    Returns:
        None for less than 0.25 s, for a silent side, or where no utterance is found.
    """
    return _pesq(reference, degraded, "wb")


def pesq_nb(reference: ArrayLike, degraded: ArrayLike) -> float | None:
    """Narrowband PESQ (ITU-T P.862.1) of 16 kHz signals, by the library pesq: 1.02 to 4.55; None as in :func:`pesq_wb`."""
    return _pesq(reference, degraded, "nb")


def _pesq(reference: ArrayLike, degraded: ArrayLike, mode: str) -> float | None:
    library = _library("pesq")
    pair = _pair(reference, degraded)
    if pair is None:
        return None
    pieces = max(1, math.ceil(len(pair[0]) / (_LONGEST_PESQ * MEASURED_RATE)))
    values = [_pesq_piece(library, x, y, mode) for x, y in zip(*(np.array_split(side, pieces) for side in pair), strict=True)]
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None


def _pesq_piece(library: Any, reference: Floats, degraded: Floats, mode: str) -> float | None:
    if silent(reference) or silent(degraded):
        return None
    try:
        return float(library.pesq(MEASURED_RATE, reference.astype(np.float32), degraded.astype(np.float32), mode))
    except (library.NoUtterancesError, library.BufferTooShortError):
        return None


def stoi(reference: ArrayLike, degraded: ArrayLike) -> float | None:
    """Short-time objective intelligibility (Taal et al. 2011) of 16 kHz signals, by pystoi.

    Returns:
        A correlation, 1 at best; None for a silent side or less than 0.4 s of sound in the reference.
    """
    return _stoi(reference, degraded, extended=False)


def estoi(reference: ArrayLike, degraded: ArrayLike) -> float | None:
    """Extended STOI (Jensen and Taal 2016), otherwise as :func:`stoi`."""
    return _stoi(reference, degraded, extended=True)


def _stoi(reference: ArrayLike, degraded: ArrayLike, extended: bool) -> float | None:
    library = _library("pystoi")
    pair = _pair(reference, degraded)
    if pair is None or len(pair[0]) < _SHORTEST_STOI * MEASURED_RATE:
        return None
    with warnings.catch_warnings():
        # pystoi answers 1e-5 and a warning when too few frames are left.
        warnings.filterwarnings("error", message="Not enough STFT frames", category=RuntimeWarning)
        try:
            return float(library.stoi(*pair, MEASURED_RATE, extended=extended))
        except RuntimeWarning:
            return None


def si_sdr(reference: ArrayLike, estimate: ArrayLike) -> float | None:
    """Scale-invariant signal-to-distortion ratio (Le Roux et al. 2019) of zero-mean signals.

    Returns:
        Decibels; ``inf`` for a copy, ``-inf`` for an estimate without any of the reference, None for a silent side.
    """
    pair = _pair(reference, estimate)
    if pair is None:
        return None
    x, y = (side - side.mean() for side in pair)
    target = (x @ y) / (x @ x) * x
    rest = y - target
    with np.errstate(divide="ignore"):
        return float(10.0 * np.log10(np.divide(target @ target, rest @ rest)))


def si_sdr_separation(references: Sequence[ArrayLike], estimates: Sequence[ArrayLike]) -> Separation | None:
    """SI-SDR of each source under the assignment of estimates with the best mean; None if any side is silent."""
    from scipy.optimize import linear_sum_assignment

    table = [[si_sdr(x, y) for y in estimates] for x in references]
    if len(references) != len(estimates) or not table:
        raise ValueError(f"{len(references)} references and {len(estimates)} estimates cannot be assigned to each other")
    values = np.array(table, dtype=np.float64)  # None becomes nan
    if np.isnan(values).any():
        return None
    _, chosen = linear_sum_assignment(np.clip(values, -_MOST_DECIBELS, _MOST_DECIBELS), maximize=True)
    return Separation(tuple(float(values[i, j]) for i, j in enumerate(chosen)), tuple(int(j) for j in chosen))


def si_sdri(references: Sequence[ArrayLike], estimates: Sequence[ArrayLike], mixture: ArrayLike) -> float | None:
    """Improvement of SI-SDR: mean over sources under the best assignment, minus that of the mixture for every source.

    Returns:
        Decibels, each ratio taken within 100 dB of zero; None if any side is silent.
    """
    after, before = si_sdr_separation(references, estimates), si_sdr_separation(references, [mixture] * len(references))
    if after is None or before is None:
        return None
    return _mean_decibels(after) - _mean_decibels(before)


def _mean_decibels(separation: Separation) -> float:
    return float(np.mean(np.clip(separation.decibels, -_MOST_DECIBELS, _MOST_DECIBELS)))


def sdr_bsseval(references: Sequence[ArrayLike], estimates: Sequence[ArrayLike]) -> Separation | None:
    """BSSEval v3 signal-to-distortion ratios (Vincent et al. 2006; 512-tap filter) under the best assignment, by mir_eval.

    Returns:
        Decibels a source; None if any side is silent.
    """
    library = _library("mir_eval.separation")
    sides = [np.stack([_signal(x) for x in side]) for side in (references, estimates)]
    if any(silent(x) for side in sides for x in side):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mir_eval announces on every call that it will drop the module
        with np.errstate(all="ignore"):
            decibels, _, _, permutation = library.bss_eval_sources(*sides, compute_permutation=True)
    return Separation(tuple(map(float, decibels)), tuple(map(int, permutation)))


def decibel_row(separation: Separation | None) -> Row | None:
    """Row of ``si_sdr`` and ``sdr_bsseval``: the mean over sources, each within 100 dB of zero."""
    return None if separation is None else (_mean_decibels(separation),)


def measure_row(value: float | None) -> Row | None:
    """Row of the other metrics of generated audio: the clip's value."""
    return None if value is None else (float(value),)


@dataclass(frozen=True, eq=False)
class Voice:
    """A voice taken apart, a frame every 5 ms.

    Attributes:
        cepstra: Mel-cepstra, shape (frames, 24); column 0 is the level.
        f0: Fundamental frequency in Hz, 0 where unvoiced, shape (frames,).
    """

    cepstra: Floats
    f0: Floats


def voice(samples: ArrayLike) -> Voice | None:
    """Takes a 16 kHz signal apart with WORLD, by pyworld: DIO, StoneMask and CheapTrick.

    Returns:
        None if it is silent or shorter than 50 ms.
    """
    world = _library("pyworld")
    x = np.ascontiguousarray(_signal(samples))
    if silent(x) or len(x) < _SHORTEST_VOICE * MEASURED_RATE:
        return None
    rough, times = world.dio(x, MEASURED_RATE, frame_period=1000 * _HOP)
    f0 = world.stonemask(x, rough, times, MEASURED_RATE)
    power = world.cheaptrick(x, f0, times, MEASURED_RATE)
    quefrency = np.fft.irfft(np.log(power))[:, : power.shape[1]]
    quefrency[:, 0] /= 2
    return Voice(quefrency @ _warped(power.shape[1]), f0)


@lru_cache(maxsize=2)
def _warped(size: int) -> Floats:
    """Matrix (size, 24) from cepstra to mel-cepstra: Oppenheim's recursion for an all-pass warped frequency axis."""
    result = np.zeros((size, _ORDER + 1))
    for unit in np.eye(size)[::-1]:
        last = result.copy()
        result[:, 0] = unit + _WARPING * last[:, 0]
        result[:, 1] = (1 - _WARPING**2) * last[:, 0] + _WARPING * last[:, 1]
        for m in range(2, _ORDER + 1):
            result[:, m] = last[:, m - 1] + _WARPING * (last[:, m] - result[:, m - 1])
    return result


def mcd(reference: ArrayLike, hypothesis: ArrayLike) -> float:
    """Mel-cepstral distortion of cepstra that belong together frame by frame, in dB.

    ``10 / ln 10 * sqrt(2 * sum (c - c')^2)``, mean over frames; coefficient 0 (the level) is left out.

    Args:
        reference: Cepstra of shape (frames, coefficients) or of one frame.
        hypothesis: Cepstra of the same shape.
    """
    x, y = (np.atleast_2d(np.asarray(side, dtype=np.float64)) for side in (reference, hypothesis))
    return float(np.mean(_DECIBELS * np.linalg.norm(x[:, 1:] - y[:, 1:], axis=1)))


def mcd_dtw(reference: ArrayLike, hypothesis: ArrayLike) -> float:
    """Mel-cepstral distortion after dynamic time warping: mean over the path of least total distance.

    Args:
        reference: Cepstra of shape (frames, coefficients).
        hypothesis: Cepstra of shape (other frames, coefficients).
    """
    x, y = (np.atleast_2d(np.asarray(side, dtype=np.float64))[:, 1:] for side in (reference, hypothesis))
    cost, steps = _along_best_path(len(x), len(y), lambda i, j: np.linalg.norm(x[i] - y[j], axis=1)[:, None])
    return float(_DECIBELS * cost / steps)


def voice_distances(reference: Voice, hypothesis: Voice) -> tuple[float, float | None]:
    """Mel-cepstral distortion in dB and root mean square error of ln F0, along the path that aligns the cepstra.

    The second counts frames where both are voiced; None if there is none.
    """
    x, y = reference.cepstra[:, 1:], hypothesis.cepstra[:, 1:]
    tones = [np.log(np.where(side.f0 > 0, side.f0, np.nan)) for side in (reference, hypothesis)]

    def cell(i: Any, j: Any) -> Floats:
        error = (tones[0][i] - tones[1][j]) ** 2
        both = np.isfinite(error)
        return np.stack([np.linalg.norm(x[i] - y[j], axis=1), np.where(both, error, 0.0), both], axis=1)

    cost, squares, voiced, steps = _along_best_path(len(x), len(y), cell)
    return float(_DECIBELS * cost / steps), float(np.sqrt(squares / voiced)) if voiced else None


def _along_best_path(n: int, m: int, cell: Callable[[Any, Any], Floats]) -> Floats:
    """Dynamic time warping with steps (1, 1), (1, 0), (0, 1), one anti-diagonal at a time.

    Args:
        n: Frames of one side.
        m: Frames of the other.
        cell: Indices of cells to what they add, shape (cells, k); column 0 is the distance that is made small.

    Returns:
        The k sums along the best path, and its number of cells.
    """
    width = cell(np.zeros(1, int), np.zeros(1, int)).shape[1] + 1
    before, last = (np.full((n + 1, width), np.inf) for _ in range(2))  # row i + 1 is cell (i, diagonal - i)
    before[0] = 0.0
    for diagonal in range(n + m - 1):
        i = np.arange(max(0, diagonal - m + 1), min(n, diagonal + 1))
        ways = np.stack([before[i], last[i], last[i + 1]])
        best = ways[np.argmin(ways[..., 0], axis=0), np.arange(len(i))]
        before, last = last, np.full((n + 1, width), np.inf)
        last[i + 1] = best + np.column_stack([cell(i, diagonal - i), np.ones(len(i))])
    return last[n]


def _higher(name: str, best: float, unit: str) -> Metric:
    return Metric(name, True, best, ("value",), unit, mean())


METRICS = (
    _higher("pesq_wb", 4.6438885, "MOS-LQO"),
    _higher("pesq_nb", 4.5486383, "MOS-LQO"),
    _higher("stoi", 1.0, "fraction"),
    _higher("estoi", 1.0, "fraction"),
    _higher("si_sdr", _MOST_DECIBELS, "dB"),
    _higher("si_sdri", _MOST_DECIBELS, "dB"),  # of a mixture at 0 dB; from another it rises as far as that leaves room
    _higher("sdr_bsseval", _MOST_DECIBELS, "dB"),
    Metric("mcd", False, 0.0, ("value",), "dB", mean()),
    Metric("log_f0_rmse", False, 0.0, ("value",), "ln Hz", mean()),
)
