"""Clips as pictures: a coarse outline in text, waveform and spectrogram in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from dsb2_tasks.audio._errors import AudioSetupError

_BARS = " ▁▂▃▄▅▆▇█"
#: Levels further below the loudest are drawn as black.
_RANGE_DB = 80.0
#: Window of the spectrogram: resolves syllables and musical beats.
_WINDOW_SECONDS = 0.032
#: Points of a drawn waveform: more than a picture has columns.
_POINTS = 1000


def outline(samples: np.ndarray, width: int = 60) -> str:
    """The level over time in block characters, the loudest piece as the full block; silence is blank.

    Args:
        samples: Shape (channels, n).
        width: Characters, fewer where there are fewer samples.
    """
    level = np.abs(samples).max(axis=0)
    peaks = np.array([piece.max() for piece in np.array_split(level, min(width, len(level)))])
    steps = np.ceil(peaks / max(float(peaks.max()), np.finfo(np.float32).tiny) * (len(_BARS) - 1)).astype(int)
    return "".join(_BARS[step] for step in steps)


def draw(clips: Sequence[tuple[str, np.ndarray, int]], path: Path) -> None:
    """Draws waveform and spectrogram of clips, one below the other.

    Args:
        clips: Title, samples of shape (channels, n), and rate in Hz of each.
        path: File to write; its suffix names the format (png, svg, pdf).

    Raises:
        AudioSetupError: matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure  # not pyplot: no window system, no state
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] != "matplotlib":
            raise
        raise AudioSetupError('a picture needs matplotlib; run: pip install "dsb2-tasks[report]"') from error
    from scipy import signal

    figure = Figure(figsize=(10, 3.6 * len(clips)), layout="constrained")
    rows = figure.subplots(2 * len(clips), 1, squeeze=False)[:, 0]
    for (title, samples, rate), wave, spectrum in zip(clips, rows[::2], rows[1::2], strict=True):
        seconds = samples.shape[1] / rate
        for channel in samples:
            low, high = _envelope(channel)
            wave.fill_between(np.linspace(0, seconds, len(low)), low, high, linewidth=0.4, alpha=0.7)
        wave.set(title=title, xlim=(0, seconds), ylabel="amplitude")
        wave.title.set_parse_math(False)  # a data set's name may hold a $
        window = max(16, round(_WINDOW_SECONDS * rate))
        mono = np.pad(samples.mean(axis=0), (0, max(0, window - samples.shape[1])))
        _, _, power = signal.spectrogram(mono, rate, nperseg=window, noverlap=window // 2, scaling="spectrum")
        level = 10 * np.log10(np.maximum(power, 1e-12))
        floor = max(float(level.max()), -100.0) - _RANGE_DB
        extent = (0, seconds, 0, rate / 2)
        spectrum.imshow(level, origin="lower", aspect="auto", extent=extent, vmin=floor, cmap="magma", interpolation="nearest")
        spectrum.set(xlabel="seconds", ylabel="Hz", xlim=(0, seconds))
    figure.savefig(path)


def _envelope(channel: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest sample of each piece."""
    pieces = np.array_split(channel, min(_POINTS, len(channel)))
    return np.array([piece.min() for piece in pieces]), np.array([piece.max() for piece in pieces])
