"""Any rate in, right pitch, right length, no aliases, flat passband: measured, not trusted."""

from __future__ import annotations

import logging
import subprocess
import sys
import time
from importlib.metadata import version
from pathlib import Path

import numpy as np
import pytest
import scipy.signal
from _audio_files import noise, pitch, rms, tone
from packaging.version import Version

from dsb2_tasks.audio import AudioSetupError, ensure_torchaudio
from dsb2_tasks.audio._resample import MAX_TERM, QUALITY, ratio, resample

RATES = [8000, 11025, 12000, 16000, 22050, 24000, 32000, 37800, 44100, 48000, 88200, 96000, 192000, 768000]
ODD = [7999, 8001, 8012, 11127, 15999, 16001, 22254, 44056, 44099, 44101, 47999, 97656]


def gain(old: int, new: int, hertz: float) -> float:
    """Level of a tone after resampling, in dB to what it was, without the ends."""
    result = resample(tone(old, 1.0, hertz=hertz, level=1.0)[:, 0], old, new)
    return 20 * np.log10(rms(result[new // 4 : -new // 4]) * 2**0.5 + 1e-12)


@pytest.mark.parametrize("new", [16000, 24000])
@pytest.mark.parametrize("old", RATES)
def test_pitch_level_and_length(old: int, new: int) -> None:
    for frames in (old, old - 1, 3 * old // 7):
        result = resample(tone(old, frames / old)[:, 0], old, new)
        assert result.dtype == np.float32 and len(result) == round(frames * new / old)
    result = resample(tone(old)[:, 0], old, new)
    assert pitch(result, new) == pytest.approx(440, rel=1e-3)
    assert gain(old, new, 440) == pytest.approx(0, abs=0.01)


@pytest.mark.parametrize("old", ODD)
def test_odd_rates_are_exact_to_a_few_parts_in_ten_thousand(old: int) -> None:
    assert abs(ratio(old, 16000) / (16000 / old) - 1) <= 1 / (2 * MAX_TERM)
    assert max(ratio(old, 16000).as_integer_ratio()) <= MAX_TERM
    started = time.perf_counter()
    result = resample(tone(old, 3.0)[:, 0], old, 16000)
    assert time.perf_counter() - started < 5  # exact, 44099 Hz would take half a minute and gigabytes
    assert len(result) == round(3 * old * 16000 / old)
    assert pitch(result, 16000) == pytest.approx(440, rel=1e-3)


@pytest.mark.parametrize("old", [r for r in RATES if r > 16000])
def test_what_lies_above_the_new_nyquist_frequency_is_gone(old: int) -> None:
    for hertz in [8100, 8500, 9000, 10000, 11000, *np.linspace(12000, old / 2 - 100, 9)]:
        if hertz < old / 2:
            assert gain(old, 16000, hertz) < -90


@pytest.mark.parametrize("old", [8000, 11025])
def test_going_up_makes_no_images(old: int) -> None:
    result = resample(tone(old, 1.0, hertz=1000, level=1.0)[:, 0], old, 16000)[4000:12000]
    spectrum = np.abs(np.fft.rfft(result * np.blackman(len(result))))
    above = spectrum[round(len(spectrum) * old / 16000) :]
    assert 20 * np.log10(above.max() / spectrum.max()) < -90


@pytest.mark.parametrize("old", RATES)
def test_passband_is_flat_to_nine_tenths(old: int) -> None:
    edge = 0.9 * min(old, 16000) / 2
    for hertz in np.linspace(100, edge, 7):
        assert gain(old, 16000, hertz) == pytest.approx(0, abs=0.1)


@pytest.mark.parametrize("old", [8000, 11025, 22050, 44100, 48000])
def test_agrees_with_scipy_on_a_band_limited_signal(old: int) -> None:
    smooth = scipy.signal.firwin(255, 0.8 * min(old, 16000) / 2, fs=old)
    wave = scipy.signal.lfilter(smooth, 1, noise(2 * old)[:, 0]).astype(np.float32)
    ours = resample(wave, old, 16000)
    exact = ratio(old, 16000)
    theirs = scipy.signal.resample_poly(wave.astype(np.float64), exact.numerator, exact.denominator, window=("kaiser", 12.0))
    middle = slice(1000, -1000)
    assert rms(ours) == pytest.approx(rms(theirs), rel=0.01)
    assert rms(ours[middle] - theirs[: len(ours)][middle]) < 0.02 * rms(ours)


@pytest.mark.parametrize("old", [8000, 44100, 48000, 96000])
def test_is_torchaudio(old: int) -> None:
    import torch

    wave = noise(old, 2).T
    theirs = ensure_torchaudio().functional.resample(torch.from_numpy(wave.copy()), old, 16000, **QUALITY).numpy()
    np.testing.assert_allclose(resample(wave, old, 16000), theirs[:, :16000], atol=2e-6)


def test_channels_are_resampled_apart_and_input_is_left_alone() -> None:
    wave = noise(8000, 3).T
    before = wave.copy()
    both = resample(wave, 44100, 16000)
    assert both.shape == (3, round(8000 * 16000 / 44100))
    np.testing.assert_allclose(both[2], resample(wave[2], 44100, 16000), atol=1e-6)
    np.testing.assert_array_equal(wave, before)


@pytest.mark.parametrize("frames", [1, 2, 5, 370])
@pytest.mark.parametrize("old", [8000, 44100, 96000, 44099])
def test_a_few_samples(old: int, frames: int) -> None:
    result = resample(np.ones(frames, np.float32), old, 16000)
    assert len(result) == round(frames * 16000 / old) and np.isfinite(result).all()


def test_same_rate_is_the_same_array() -> None:
    wave = noise(100)[:, 0]
    assert resample(wave, 16000, 16000) is wave


def test_long_clips_take_memory_in_proportion() -> None:
    source = (
        "import resource, numpy as np\n"
        "from dsb2_tasks.audio._resample import resample\n"
        "wave = np.zeros(44100 * 600, np.float32); wave[:] = 0.1\n"
        "resample(wave[:44100], 44100, 16000)\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "resample(wave, 44100, 16000)\n"
        "print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 / (wave.nbytes / 2**20))\n"
    )
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 3  # times the size of the clip


def test_without_torchaudio_only_clips_of_another_rate_need_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torchaudio", None)
    assert len(resample(noise(100)[:, 0], 16000, 16000)) == 100
    with pytest.raises(AudioSetupError, match=r'torchaudio is not installed; run: pip install "dsb2-tasks\[hf\]"'):
        resample(noise(100)[:, 0], 8000, 16000)


GUARD = """
import logging, sys
logging.basicConfig(level=logging.WARNING, format="LOG %(message)s", stream=sys.stdout)
try:
    import torchaudio
    print("HEALTHY")
except OSError:
    print("BROKEN")
from dsb2_tasks.audio import ensure_torchaudio
one, two = ensure_torchaudio(), ensure_torchaudio()
import torch, torchaudio
assert one is two is torchaudio is sys.modules["torchaudio"]
assert torchaudio.functional.resample(torch.zeros(1, 441), 44100, 16000).shape == (1, 160)
torchaudio.transforms.MelSpectrogram()(torch.zeros(1, 8000))
from torchaudio._extension import utils
assert utils._load_lib.__name__ == "_load_lib", "the loader was not put back"
import numpy as np
import transformers.audio_utils
from transformers import WhisperFeatureExtractor
assert getattr(transformers.audio_utils, "torchaudio", torchaudio) is torchaudio  # 5.0 does not import it
features = WhisperFeatureExtractor()(np.zeros(16000, np.float32), sampling_rate=16000, return_tensors="np")
assert features["input_features"].shape == (1, 80, 3000)
print("DONE")
"""


def run(source: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


@pytest.mark.slow
def test_guard_mends_a_broken_installation_and_leaves_a_sound_one_alone() -> None:
    lines = run(GUARD)
    state, warnings = lines[0], [line for line in lines if line.startswith("LOG torchaudio")]
    assert lines[-1] == "DONE" and state in ("HEALTHY", "BROKEN")
    assert len(warnings) == (state == "BROKEN")
    for line in warnings:
        assert "compiled library" in line and "To mend it: install builds of torch and torchaudio" in line


@pytest.mark.slow
@pytest.mark.skipif(Version(version("torchaudio")) < Version("2.11"), reason="before 2.11 torchaudio requires the torch it fits")
def test_guard_mends_every_way_in_which_the_library_can_fail() -> None:
    """Whatever this machine's torchaudio does, make its loader raise what other broken installations raise."""
    lines = run(
        "import sys, logging, torch\n"
        "logging.basicConfig(level=logging.WARNING, format='LOG %(message)s', stream=sys.stdout)\n"
        "from dsb2_tasks.audio import ensure_torchaudio\n"
        "real = torch.ops.load_library\n"
        "for error in (OSError('undefined symbol'), RuntimeError('other CUDA'), ImportError('Failed to load libtorchaudio')):\n"
        "    for name in [m for m in sys.modules if m.split('.')[0] == 'torchaudio']: del sys.modules[name]\n"
        "    def fail(path): raise error\n"
        "    torch.ops.load_library = fail\n"
        "    ensure_torchaudio().functional.resample(torch.zeros(1, 441), 44100, 16000)\n"
        "    assert torch.ops.load_library is fail\n"
        "    torch.ops.load_library = real\n"
    )
    for word, line in zip(("undefined symbol", "other CUDA", "Failed to load"), lines, strict=True):
        assert word in line


def test_guard_says_what_is_wrong_when_nothing_helps(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in [m for m in sys.modules if m.split(".")[0] == "torchaudio"]:
        monkeypatch.delitem(sys.modules, name)
    package = tmp_path / "torchaudio"
    package.mkdir()
    (package / "__init__.py").write_text("raise OSError('libfoo.so.3: cannot open')")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(
        AudioSetupError, match=r"torchaudio does not import \(libfoo.so.3: cannot open\); install builds of torch"
    ):
        ensure_torchaudio()


def test_guard_logs_once(caplog: pytest.LogCaptureFixture) -> None:
    ensure_torchaudio()
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        ensure_torchaudio()
    assert caplog.records == []
