"""Notes, instruments, drums and small pieces of music."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dsb2_tasks.samples._signal import (
    Rng,
    Sound,
    decay,
    fitted,
    glide,
    hertz,
    hump,
    noise,
    oscillate,
    placed,
    resonate,
    scaled,
    times,
)


@dataclass(frozen=True)
class Instrument:
    """A timbre.

    Attributes:
        harmonics: Levels of the harmonics.
        half: Seconds in which a plucked or struck note halves its level; 0 for a held note.
        attack: Seconds of the onset.
        breath: Level of noise.
        vibrato: Depth in semitones.
        body: Resonances as (frequency, bandwidth).
    """

    harmonics: Sequence[float]
    half: float = 0.0
    attack: float = 0.01
    breath: float = 0.0
    vibrato: float = 0.0
    body: tuple[tuple[float, float], ...] = ()


_SAW = tuple(1 / k for k in range(1, 20))
_ODD = tuple(1 / k if k % 2 else 0.0 for k in range(1, 20))
INSTRUMENTS = {
    "piano": Instrument((1, 0.6, 0.35, 0.25, 0.15, 0.1, 0.05), half=0.35, attack=0.003),
    "guitar": Instrument((1, 0.8, 0.6, 0.35, 0.3, 0.2, 0.15, 0.1), half=0.22, attack=0.002, body=((200, 300),)),
    "ukulele": Instrument((1, 0.5, 0.4, 0.15), half=0.12, attack=0.002),
    "banjo": Instrument((0.7, 1, 0.9, 0.8, 0.6, 0.5, 0.4, 0.3), half=0.08, attack=0.001),
    "electricguitar": Instrument((1, 0.9, 0.8, 0.7, 0.6, 0.5, 0.45, 0.4, 0.3), half=0.9, attack=0.003),
    "bass": Instrument((1, 0.7, 0.3, 0.15), half=0.35, attack=0.004),
    "harp": Instrument((1, 0.3, 0.1), half=0.4, attack=0.002),
    "mallet": Instrument((1, 0, 0, 0.4), half=0.12, attack=0.001),
    "bell": Instrument((1, 0.2, 0.5, 0, 0.3), half=0.5, attack=0.001),
    "flute": Instrument((1, 0.25, 0.08), attack=0.06, breath=0.06, vibrato=0.15),
    "clarinet": Instrument(_ODD, attack=0.03, breath=0.01),
    "saxophone": Instrument(_SAW[:12], attack=0.03, breath=0.04, vibrato=0.25, body=((600, 200),)),
    "trumpet": Instrument((0.6, 1, 0.9, 0.7, 0.5, 0.4, 0.3, 0.2), attack=0.04, vibrato=0.1),
    "brass": Instrument((0.8, 1, 0.8, 0.5, 0.35, 0.2), attack=0.05),
    "violin": Instrument(_SAW, attack=0.08, breath=0.01, vibrato=0.3, body=((450, 200), (1200, 500))),
    "strings": Instrument(_SAW[:10], attack=0.15, breath=0.02, vibrato=0.2),
    "cello": Instrument(_SAW, attack=0.08, vibrato=0.25, body=((300, 200), (700, 300))),
    "organ": Instrument((1, 0.8, 0.3, 0.6, 0, 0.2, 0, 0.4), attack=0.01),
    "accordion": Instrument((1, 0.9, 0.7, 0.5, 0.4, 0.3), attack=0.05, vibrato=0.08),
    "synthesizer": Instrument(_SAW, attack=0.005),
    "pad": Instrument((1, 0.5, 0.3, 0.1), attack=0.4, vibrato=0.05),
    "voice": Instrument(_SAW, attack=0.06, vibrato=0.35, breath=0.01, body=((700, 100), (1150, 120), (2700, 200))),
    "sitar": Instrument((0.6, 0.8, 1, 0.9, 0.8, 0.6, 0.5, 0.4, 0.4), half=0.3, attack=0.002),
    "electricpiano": Instrument((1, 0.1, 0.3, 0, 0, 0, 0.15), half=0.4, attack=0.002),
}


def note(name: str, midi: float, seconds: float) -> Sound:
    """One note of an instrument, exactly so long, peak 0.6."""
    kind = INSTRUMENTS[name]
    t = times(seconds)
    pitch = hertz(midi) * 2 ** (kind.vibrato * np.minimum(t / 0.3, 1) * np.sin(2 * np.pi * 5.2 * t) / 12)
    x = oscillate(pitch, seconds, kind.harmonics)
    if kind.breath:
        x = x + kind.breath * 4 * noise(np.random.default_rng(int(midi)), seconds, 500, 6000)
    x = resonate(x, kind.body) + 0.3 * x if kind.body else x
    shape = hump(seconds, kind.attack, min(0.04, seconds / 4))
    return scaled(x * shape * (0.5 ** (t / kind.half) if kind.half else 1))


def chord(name: str, pitches: Sequence[float], seconds: float, strum: float = 0.0) -> Sound:
    """Several notes together, or one shortly after another."""
    parts = [(i * strum, note(name, p, seconds - i * strum)) for i, p in enumerate(pitches)]
    return scaled(placed(seconds, parts))


def triad(root: float, minor: bool) -> list[float]:
    return [root, root + (3 if minor else 4), root + 7]


def melody(name: str, notes: Sequence[tuple[float, float, float]], seconds: float) -> Sound:
    """Notes given as (onset, offset, MIDI pitch) in seconds."""
    return scaled(placed(seconds, [(on, note(name, pitch, off - on)) for on, off, pitch in notes]))


def drum(kind: str, rng: Rng) -> Sound:
    """One stroke: ``k`` kick, ``s`` snare, ``h`` hi-hat, ``t`` hand drum, ``c`` click."""
    if kind == "k":
        return oscillate(glide(0.25, 130, 45), 0.25) * decay(0.25, 0.05)
    if kind == "s":
        return 0.5 * noise(rng, 0.2, 300, 7000) * decay(0.2, 0.03) + 0.5 * oscillate(190, 0.2) * decay(0.2, 0.03)
    if kind == "h":
        return 0.3 * noise(rng, 0.08, 6000, 10_000) * decay(0.08, 0.015)
    if kind == "t":
        return (oscillate(glide(0.3, 240, 180), 0.3) + 0.3 * oscillate(360, 0.3)) * decay(0.3, 0.06)
    return oscillate(1000, 0.03, (1, 0.5)) * decay(0.03, 0.006, 0.001)


@dataclass(frozen=True)
class Style:
    """A caricature of a genre: who plays what, how fast.

    Attributes:
        tempo: Beats a minute.
        drums: One letter for each eighth note, ``.`` for none; empty for no drums.
        chords: Instrument of the accompaniment.
        lead: Instrument of the melody, or none.
        minor: Mode.
        swing: Delay of off-beats as a share of an eighth.
        drive: Distortion of the accompaniment.
        sustained: Whether chords are held instead of broken.
        steps: Degrees of the melody in semitones above the root.
    """

    tempo: float
    drums: str = ""
    chords: str = "piano"
    lead: str = ""
    minor: bool = False
    swing: float = 0.0
    drive: float = 0.0
    sustained: bool = False
    steps: tuple[int, ...] = field(default=(0, 4, 7, 12, 7, 4, 5, 2))


def play(style: Style, seconds: float, rng: Rng, root: float = 60) -> Sound:
    """A few bars in a style, going I - IV - V - I."""
    eighth = 30 / style.tempo
    roots = [root - 12 + step for step in (0, 5, 7, 0)]
    back: list[tuple[float, Sound]] = []
    top: list[tuple[float, Sound]] = []
    beats: list[tuple[float, Sound]] = []
    for i in range(int(seconds / eighth)):
        at = (i + (style.swing if i % 2 else 0)) * eighth
        base = roots[(i // 8) % 4]
        if style.sustained:
            if i % 8 == 0:
                back += [(at, note(style.chords, p, 8 * eighth)) for p in triad(base, style.minor)]
        elif style.drive:
            back.append((at, note(style.chords, base - 12, eighth) + note(style.chords, base - 5, eighth)))
        else:
            back.append((at, note(style.chords, triad(base, style.minor)[(0, 1, 2, 1)[i % 4]], 2 * eighth)))
        if style.lead and i % 2 == 0:
            step = style.steps[(i // 2) % len(style.steps)] - (
                1 if style.minor and style.steps[(i // 2) % len(style.steps)] == 4 else 0
            )
            top.append((at, note(style.lead, root + step, 2 * eighth)))
        letter = style.drums[i % len(style.drums)] if style.drums else "."
        if letter != ".":
            beats.append((at, drum(letter, rng)))
    accompaniment = placed(seconds, back)
    if style.drive:
        accompaniment = np.tanh(style.drive * accompaniment)
    return scaled(0.6 * scaled(accompaniment) + 0.5 * placed(seconds, top) + 0.8 * placed(seconds, beats))


def cadence(root: float, minor: bool, seconds: float, name: str = "piano") -> Sound:
    """I - IV - V - I in a key (the dominant is major in minor too), with the tonic in the bass at the end."""
    each = seconds / 4
    chords = [triad(root, minor), triad(root + 5, minor), triad(root + 7, False), triad(root, minor)]
    parts = [(i * each, chord(name, [c[0] - 24, *c], each)) for i, c in enumerate(chords)]
    return fitted(placed(seconds, parts), seconds)


STYLES = {
    "classical": Style(110, lead="violin", chords="piano"),
    "electronic": Style(128, "k.hhk.hh", "synthesizer", sustained=True, minor=True),
    "jazz": Style(140, "h.hhh.hh", "piano", "saxophone", swing=0.33, steps=(0, 3, 4, 7, 9, 10, 9, 7)),
    "metal": Style(180, "kksskkss", "electricguitar", minor=True, drive=8),
    "rock": Style(125, "khshkhsh", "electricguitar", drive=3),
    "world": Style(105, "t.tt.tt.", "sitar", "flute", steps=(0, 1, 4, 5, 7, 8, 11, 12)),
    "blues": Style(90, "h.shh.sh", "electricguitar", "saxophone", swing=0.33, steps=(0, 3, 5, 6, 7, 10, 7, 3)),
    "country": Style(120, "k.s.k.s.", "banjo", "guitar"),
    "disco": Style(118, "khkhkhkh", "electricguitar", "strings"),
    "hiphop": Style(88, "k.hskk.s", "bass", minor=True),
    "pop": Style(116, "khshkhsh", "piano", "voice"),
    "reggae": Style(76, ".hs..hs.", "organ", "bass"),
    "folk": Style(96, "", "guitar", "voice"),
    "experimental": Style(67, "t..c.t..", "bell", "clarinet", steps=(0, 1, 6, 11, 13, 8, 3, 2)),
    "instrumental": Style(84, "", "guitar", "flute"),
    "ambient": Style(60, "", "pad", "bell", sustained=True),
    "orchestral": Style(70, "", "strings", "brass", sustained=True),
    "techno": Style(135, "khkhkhks", "synthesizer", minor=True),
    "calm": Style(60, "", "harp", "flute"),
    "dark": Style(60, "k.......", "pad", "cello", minor=True, sustained=True),
    "happy": Style(140, "khshkhsh", "ukulele", "flute"),
    "sad": Style(58, "", "piano", "cello", minor=True),
    "epic": Style(100, "kkkskkks", "strings", "brass", minor=True, sustained=True),
}
