"""Measures of generated audio against the libraries, closed forms, and what is left undefined."""

from __future__ import annotations

import itertools
import math
import sys
import warnings
from collections.abc import Callable

import numpy as np
import pytest
from _sounds import needs_libraries, speechlike

from dsb2_tasks import metrics
from dsb2_tasks.metrics import _generation

pytestmark = needs_libraries
RNG = np.random.default_rng(5)
X = speechlike(1)
NOISE = RNG.standard_normal(len(X))


@pytest.mark.parametrize("level", [0.003, 0.03, 0.3])
def test_quality_and_intelligibility_are_the_libraries_own(level: float) -> None:
    import pesq
    import pystoi

    y = X + level * NOISE
    assert metrics.pesq_wb(X, y) == pytest.approx(pesq.pesq(16000, np.float32(X), np.float32(y), "wb"), abs=1e-9)
    assert metrics.pesq_nb(X, y) == pytest.approx(pesq.pesq(16000, np.float32(X), np.float32(y), "nb"), abs=1e-9)
    assert metrics.stoi(X, y) == pytest.approx(pystoi.stoi(X, y, 16000), abs=1e-9)
    assert metrics.estoi(X, y) == pytest.approx(pystoi.stoi(X, y, 16000, extended=True), abs=1e-9)


def test_a_copy_has_the_best_value_of_every_metric() -> None:
    for name, measure in (("pesq_wb", metrics.pesq_wb), ("pesq_nb", metrics.pesq_nb), ("stoi", metrics.stoi)):
        assert measure(X, X) == pytest.approx(metrics.get(name).best, abs=1e-6)
    assert metrics.estoi(X, X) == pytest.approx(1.0, abs=1e-6)
    assert metrics.si_sdr(X, X) == math.inf
    for separation in (metrics.si_sdr_separation([X], [X]), metrics.sdr_bsseval([X], [X])):
        assert metrics.decibel_row(separation) == (100.0,)
    one = metrics.voice(X)
    assert metrics.voice_distances(one, one) == (0.0, 0.0)


def test_quality_of_a_long_clip_is_the_mean_of_its_pieces() -> None:
    long = np.concatenate([speechlike(seed, 15.0) for seed in range(2)])
    noisy = long + 0.01 * RNG.standard_normal(len(long))
    halves = [metrics.pesq_wb(*pair) for pair in zip(np.split(long, 2), np.split(noisy, 2), strict=True)]
    assert metrics.pesq_wb(long, noisy) == pytest.approx(np.mean(halves), abs=1e-9)


def test_many_utterances_do_not_kill_the_process() -> None:
    burst = np.concatenate([speechlike(2, 0.4), np.zeros(8000)])
    speech = np.tile(burst, 70)  # pesq itself crashes beyond 50 utterances
    assert 1.0 < metrics.pesq_wb(speech, speech + 0.01 * RNG.standard_normal(len(speech))) < 4.64


def test_ratio_is_scale_and_offset_invariant_and_exact() -> None:
    y = X + 0.05 * NOISE
    assert metrics.si_sdr(X, 7 * y + 3) == pytest.approx(metrics.si_sdr(X, y), abs=1e-9)
    assert metrics.si_sdr(2 * X - 1, y) == pytest.approx(metrics.si_sdr(X, y), abs=1e-9)
    t = np.arange(1000) / 1000
    sine, cosine = np.sin(2 * np.pi * 5 * t), np.cos(2 * np.pi * 5 * t)
    assert metrics.si_sdr(sine, sine + 0.1 * cosine) == pytest.approx(20.0, abs=1e-9)
    assert metrics.si_sdr(sine, cosine) < -200
    assert metrics.decibel_row(metrics.si_sdr_separation([sine], [cosine])) == (-100.0,)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_assignment_is_the_best_of_all(count: int) -> None:
    sources = [speechlike(seed, 0.3) for seed in range(count)]
    mix = RNG.dirichlet(np.full(count, 0.3), size=count)
    estimates = list(mix @ np.array(sources) + 0.01 * RNG.standard_normal((count, len(sources[0]))))
    found = metrics.si_sdr_separation(sources, estimates)
    means = [
        np.mean([metrics.si_sdr(x, estimates[j]) for x, j in zip(sources, order, strict=True)])
        for order in itertools.permutations(range(count))
    ]
    assert np.mean(found.decibels) == pytest.approx(max(means), abs=1e-9)
    assert sorted(found.permutation) == list(range(count))
    for x, j, value in zip(sources, found.permutation, found.decibels, strict=True):
        assert metrics.si_sdr(x, estimates[j]) == value


def test_improvement_is_over_the_mixture() -> None:
    sources = [speechlike(1), speechlike(2)]
    mixture = sources[0] + sources[1]
    assert metrics.si_sdri(sources, [mixture, mixture], mixture) == 0.0
    better = [sources[1] + 0.1 * sources[0], sources[0] + 0.1 * sources[1]]
    expected = np.mean(metrics.si_sdr_separation(sources, better).decibels) - np.mean(
        [metrics.si_sdr(x, mixture) for x in sources]
    )
    assert metrics.si_sdri(sources, better, mixture) == pytest.approx(expected, abs=1e-9) and expected > 10
    assert math.isfinite(metrics.si_sdri(sources, sources, mixture))


def test_bsseval_is_mir_evals() -> None:
    sources = [speechlike(1, 0.5), speechlike(2, 0.5)]
    estimates = [sources[1] + 0.3 * sources[0], sources[0] + 0.1 * NOISE[:8000]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from mir_eval.separation import bss_eval_sources

        decibels, _, _, order = bss_eval_sources(np.array(sources), np.array(estimates))
    found = metrics.sdr_bsseval(sources, estimates)
    assert found.decibels == pytest.approx(tuple(decibels), abs=1e-9) and found.permutation == tuple(order) == (1, 0)


def test_distortion_leaves_the_level_out_and_warps_time() -> None:
    frames = RNG.standard_normal((9, 5))
    moved = frames + np.array([4.0, 0, 0, 0, 0])
    assert metrics.mcd(frames, moved) == 0.0
    other = frames + 0.1
    assert metrics.mcd(frames, other) == pytest.approx(10 / math.log(10) * math.sqrt(2 * 4 * 0.01), abs=1e-12)
    assert metrics.mcd_dtw(frames, np.repeat(frames, 3, axis=0)) == 0.0
    assert metrics.mcd_dtw(frames, other) <= metrics.mcd(frames, other)


def test_warping_finds_the_cheapest_path() -> None:
    for n, m in ((1, 1), (1, 6), (6, 1), (7, 12), (12, 7)):
        x, y = RNG.standard_normal((n, 4)), RNG.standard_normal((m, 4))
        distance = np.linalg.norm(x[:, None, 1:] - y[None, :, 1:], axis=2)
        total = np.full((n + 1, m + 1), np.inf)
        total[0, 0] = 0
        for i, j in itertools.product(range(n), range(m)):
            total[i + 1, j + 1] = distance[i, j] + min(total[i, j], total[i, j + 1], total[i + 1, j])
        cost, steps = _generation._along_best_path(n, m, lambda i, j, d=distance: d[i, j][:, None])
        assert cost == pytest.approx(total[n, m], abs=1e-12) and max(n, m) <= steps <= n + m - 1
        assert metrics.mcd_dtw(x, y) == pytest.approx(10 / math.log(10) * math.sqrt(2) * cost / steps, abs=1e-12)


def test_warped_frequency_is_the_all_pass_expansion() -> None:
    a = _generation._WARPING
    closed = [a, *((1 - a * a) * (-a) ** (m - 1) for m in range(1, 24))]
    matrix = _generation._warped(513)
    assert matrix[1] == pytest.approx(closed, abs=1e-12)
    assert matrix[0] == pytest.approx([1.0, *[0.0] * 23], abs=1e-12)


def test_pitch_error_is_that_of_an_interval() -> None:
    t = np.arange(16000) / 16000

    def sung(hertz: float) -> np.ndarray:
        return 0.2 * sum(np.sin(2 * np.pi * k * hertz * t) / k for k in range(1, 20))

    one, other = metrics.voice(sung(200)), metrics.voice(sung(200 * 2 ** (3 / 12)))
    distortion, error = metrics.voice_distances(one, other)
    assert error == pytest.approx(math.log(2) * 3 / 12, abs=0.01) and distortion > 1
    assert metrics.voice_distances(one, metrics.voice(0.1 * NOISE[:16000]))[1] is None or error > 0


PAIRS = (metrics.pesq_wb, metrics.pesq_nb, metrics.stoi, metrics.estoi, metrics.si_sdr)


@pytest.mark.parametrize("measure", PAIRS, ids=lambda measure: measure.__name__)
def test_silence_is_undefined(measure: Callable[..., float | None]) -> None:
    nothing = np.zeros_like(X)
    for silence in (nothing, nothing + 0.5):
        assert measure(X, silence) is None and measure(silence, X) is None
    with pytest.raises(ValueError, match=r"24000 and 23999 samples"):
        measure(X, X[:-1])
    assert metrics.measure_row(None) is None


def test_silent_sources_are_undefined() -> None:
    nothing = np.zeros_like(X)
    assert metrics.si_sdr_separation([X, nothing], [X, X]) is None
    assert metrics.si_sdri([X], [nothing], X) is None
    assert metrics.sdr_bsseval([X, X + NOISE], [X, nothing]) is None
    assert metrics.decibel_row(None) is None
    assert metrics.voice(nothing) is None
    with pytest.raises(ValueError, match="2 references and 1 estimates"):
        metrics.si_sdr_separation([X, X], [X])


@pytest.mark.parametrize("samples", [1, 30, 250, 799, 3999])
def test_too_short_is_undefined_and_never_raises(samples: int) -> None:
    x, y = X[:samples], X[:samples] + 0.1 * NOISE[:samples]
    assert metrics.pesq_wb(x, y) is None and metrics.pesq_nb(x, y) is None and metrics.stoi(x, y) is None
    assert (metrics.voice(x) is None) == (samples < 800)


def test_a_missing_library_is_named_with_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, library in (("pesq_wb", "pesq"), ("stoi", "pystoi"), ("mcd", "pyworld")):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, library, None)
            _generation._library.cache_clear()
            with pytest.raises(metrics.MissingLibrary, match=rf'{library} .*pip install "dsb2-tasks\[generation\]"'):
                metrics.need_library(name)
    _generation._library.cache_clear()
    metrics.need_library("wer")
