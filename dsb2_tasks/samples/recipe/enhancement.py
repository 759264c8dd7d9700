"""Speech enhancement: noise, its level, reverberation, processed speech."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dsb2_tasks.samples._dataset import DataSet, Row
from dsb2_tasks.samples._music import STYLES, play
from dsb2_tasks.samples._rooms import add_noise, denoised, in_room
from dsb2_tasks.samples._signal import Rng, Sound, chain, noise
from dsb2_tasks.samples._sounds import make
from dsb2_tasks.samples._speech import LJ, TALKERS, Voice, say
from dsb2_tasks.samples.recipe._texts import ENGLISH

LEVELS = {"zero": 0, "five": 5, "ten": 10, "fifteen": 15, "clean": None}
_CORPORA: dict[str, tuple[Voice, ...]] = {"LJSpeech": (LJ,), "VCTK": TALKERS}
_NOISE_PROMPTS = (
    "Is the speech in this clip clean, or was noise added to it? Answer with one of: {options}.",
    "Listen to the recording and tell whether its speech is clean or noisy. Options: {options}.",
)
_LEVEL_PROMPTS = (
    "How many decibels is the speech above the noise in this clip? Choose one of: {options}.",
    "Estimate the signal-to-noise ratio of the recording in decibels. Answer with one word out of: {options}.",
)
_REVERB_PROMPTS = (
    "Is this speech free of reverberation (clean), or does it carry the sound of a room (noisy)? Answer with one of: {options}.",
    "Tell whether the recording is clean or disturbed by reverberation. Options: {options}.",
)


def disturbance(kind: str, rng: Rng) -> Sound:
    """Two seconds of a kind of noise: gaussian, music, noise (of the environment) or speech (babble)."""
    if kind == "gaussian":
        return noise(rng, 2.0)
    if kind == "music":
        return play(STYLES["rock"], 2.0, rng)
    if kind == "noise":
        return make(str(rng.choice(["rain", "vacuum cleaner", "train", "drilling"])), rng, 2.0)
    lines = [say(ENGLISH[i], TALKERS[i % len(TALKERS)]) for i in (17, 20, 23)]
    shortest = min(len(line) for line in lines)
    return np.sum([line[:shortest] for line in lines], axis=0)


def _noisy_or_clean(rng: Rng, corpus: str, kind: str) -> Iterator[Row]:
    voices = _CORPORA[corpus]
    for i in range(4):
        speech = say(ENGLISH[i], voices[i % len(voices)])
        if i % 2:
            yield Row("clean", (speech,))
        else:
            yield Row("noisy", (add_noise(speech, disturbance(kind, rng), snr=4 + 3 * i / 2),))


def _levels(rng: Rng, kind: str) -> Iterator[Row]:
    for i, (label, snr) in enumerate(LEVELS.items()):
        speech = say(ENGLISH[i + 4], TALKERS[i % len(TALKERS)])
        yield Row(label, (speech if snr is None else add_noise(speech, disturbance(kind, rng), snr),))


def _rooms(rng: Rng, corpus: str, room: str) -> Iterator[Row]:
    voices = _CORPORA[corpus]
    for i in range(4):
        speech = say(ENGLISH[i + 9], voices[(i + 2) % len(voices)])
        yield Row("clean", (speech,)) if i % 2 else Row("noisy", (in_room(rng, speech, room),))


def _enhanced(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        snr = (5, 8, 3, 10)[i]
        speech = say(ENGLISH[i + 13], TALKERS[i])
        noisy = add_noise(speech, disturbance("noise" if i % 2 else "gaussian", rng), snr)
        more: dict[str, str | None] = {"speech file": f"speech_{i}.wav", "noise file": f"noise_{i}.wav", "SNR": str(snr)}
        yield Row("no", (noisy,), more) if i % 2 else Row("yes", (denoised(noisy),), more)


def _genuine(rng: Rng, first: int, voices: tuple[Voice, ...]) -> Iterator[Row]:
    for i in range(4):
        speech = say(ENGLISH[first + i], voices[i % len(voices)])
        # Played backwards it keeps spectrum and level, but is speech no more.
        yield Row("no", (speech[::-1].copy(),)) if i % 2 else Row("yes", (chain([speech], lead=0.1, tail=0.1)[0],))


def _noise_name(corpus: str, kind: str) -> str:
    join = "-" if (corpus, kind) == ("VCTK", "Gaussian") else "_"
    return f"NoiseDetection_{corpus}{join}MUSAN-{kind}"


_KINDS = ("Gaussian", "Music", "Noise", "Speech")
DATA_SETS = [
    *(
        DataSet(_noise_name(c, k), partial(_noisy_or_clean, corpus=c, kind=k.lower()), _NOISE_PROMPTS, ("clean", "noisy"))
        for c in _CORPORA
        for k in _KINDS
    ),
    *(
        DataSet(f"NoiseSNRLevelPrediction_VCTK_MUSAN-{k}", partial(_levels, kind=k.lower()), _LEVEL_PROMPTS, tuple(LEVELS))
        for k in _KINDS
    ),
    *(
        DataSet(
            f"ReverberationDetection_{c}_RirsNoises-{room.title()}Room",
            partial(_rooms, corpus=c, room=room),
            _REVERB_PROMPTS,
            ("clean", "noisy"),
        )
        for c in _CORPORA
        for room in ("large", "medium", "small")
    ),
    DataSet(
        "EnhancementDetection_LibriTTS-TestClean_WHAM",
        _enhanced,
        (
            "Was this speech processed by a speech enhancement system? Answer with one of: {options}.",
            "Decide whether noise was removed from the recording by an enhancement program. Options: {options}.",
        ),
        ("yes", "no"),
        codec="mp3@24000",
    ),
    *(
        DataSet(
            f"SpeechDetection_{corpus}",
            partial(_genuine, first=first, voices=voices),
            (
                "Does the clip contain genuine, unaltered speech? Answer with one of: {options}.",
                "Is what you hear real speech that was not tampered with? Options: {options}.",
            ),
            ("yes", "no"),
        )
        for corpus, first, voices in (
            ("LJSpeech", 17, (LJ,)),
            ("LibriSpeech-TestClean", 4, TALKERS),
            ("LibriSpeech-TestOther", 20, TALKERS[3:]),
        )
    ),
]
