"""Environmental sounds, animals, machines and human noises, each made from noise, tones and a simple vocal tract."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dsb2_tasks.samples._signal import (
    Rng,
    Sound,
    band,
    decay,
    fitted,
    glide,
    hump,
    jittered,
    noise,
    oscillate,
    placed,
    repeated,
    resonate,
    scaled,
    times,
)

Maker = Callable[[Rng, float], Sound]
SOUNDS: dict[str, Maker] = {}


def sound(name: str) -> Callable[[Maker], Maker]:
    """Registers the maker of a sound."""

    def register(maker: Maker) -> Maker:
        SOUNDS[name] = maker
        return maker

    return register


def make(name: str, rng: Rng, seconds: float) -> Sound:
    """The named sound, exactly so long, at a peak of 0.6."""
    return scaled(fitted(SOUNDS[name](rng, seconds), seconds))


_SAW = tuple(1 / k for k in range(1, 25))
_AH = ((730, 90), (1090, 110), (2440, 160))
_EE = ((290, 60), (2300, 120), (3000, 160))
_OO = ((300, 60), (870, 100), (2240, 160))
_EH = ((530, 80), (1840, 120), (2480, 160))


def cry(
    rng: Rng, seconds: float, pitch: tuple[float, ...], formants: tuple[tuple[float, float], ...], rough: float = 0.05
) -> Sound:
    """A voiced call: gliding pitch with some roughness through a vocal tract."""
    curve = glide(seconds, *pitch) * (1 + rough * noise(rng, seconds, 20, 120))
    return resonate(oscillate(curve, seconds, _SAW), formants) * hump(seconds, 0.03, 0.06)


def puff(rng: Rng, seconds: float, low: float, high: float, attack: float = 0.02) -> Sound:
    """A breath of noise."""
    return noise(rng, seconds, low, high) * hump(seconds, attack, seconds - attack)


def knock(rng: Rng, pitch: float, half: float = 0.03) -> Sound:
    """A blow on something solid."""
    body = oscillate(pitch, 0.25, (1, 0.5, 0.3)) + 0.5 * oscillate(pitch * 1.52, 0.25)
    return (body + 0.4 * noise(rng, 0.25, 100, 4000)) * decay(0.25, half)


def motor(rng: Rng, seconds: float, pitch: float, rough: float, low: float = 60, high: float = 5000) -> Sound:
    """A running engine: harmonics of a slightly unsteady speed and its noise."""
    curve = pitch * (1 + 0.02 * np.sin(2 * np.pi * 0.7 * times(seconds)) + 0.004 * noise(rng, seconds, 20, 60))
    return 0.5 * oscillate(curve, seconds, _SAW) + rough * noise(rng, seconds, low, high)


# Animals -------------------------------------------------------------------------------------------------------------


@sound("dog")
def _dog(rng: Rng, seconds: float) -> Sound:
    bark = 0.8 * cry(rng, 0.18, (500, 620, 330), _AH, 0.15) + 0.1 * puff(rng, 0.18, 400, 4000)
    return repeated(bark, jittered(rng, 0.05, 0.45, seconds - 0.15), seconds)


@sound("cat")
def _cat(rng: Rng, seconds: float) -> Sound:
    meow = cry(rng, 0.7, (450, 720, 650, 420), ((900, 150), (1700, 200), (3200, 250)), 0.01)
    return repeated(meow, jittered(rng, 0.05, 1.1, max(seconds - 0.6, 0.1)), seconds)


@sound("rooster")
def _rooster(rng: Rng, seconds: float) -> Sound:
    parts = [(0.05, 0.15, (600, 800)), (0.25, 0.15, (700, 900)), (0.45, 0.2, (900, 1000)), (0.7, 0.9, (950, 1150, 1050, 600))]
    return placed(seconds, [(at, cry(rng, long, pitch, _EH, 0.08)) for at, long, pitch in parts])


@sound("hen")
def _hen(rng: Rng, seconds: float) -> Sound:
    return repeated(cry(rng, 0.12, (420, 520, 400), _EH, 0.1), jittered(rng, 0.05, 0.3, seconds - 0.1), seconds)


@sound("cow")
def _cow(rng: Rng, seconds: float) -> Sound:
    return cry(rng, min(seconds, 1.8), (110, 150, 145, 120, 95), ((400, 90), (900, 120), (2200, 200)), 0.03)


@sound("sheep")
def _sheep(rng: Rng, seconds: float) -> Sound:
    bleat = cry(rng, 0.8, (300, 330, 290), _EH, 0.05) * (1 + 0.7 * np.sin(2 * np.pi * 11 * times(0.8)))
    return repeated(bleat, jittered(rng, 0.05, 1.1, seconds - 0.6), seconds)


@sound("pig")
def _pig(rng: Rng, seconds: float) -> Sound:
    grunt = cry(rng, 0.22, (95, 120, 80), _OO, 0.35) + 0.2 * puff(rng, 0.22, 200, 2500)
    return repeated(grunt, jittered(rng, 0.05, 0.4, seconds - 0.2), seconds)


@sound("frog")
def _frog(rng: Rng, seconds: float) -> Sound:
    croak = cry(rng, 0.3, (160, 190), _AH, 0.02) * (np.sin(2 * np.pi * 28 * times(0.3)) > -0.2)
    return repeated(croak, jittered(rng, 0.05, 0.55, seconds - 0.2), seconds)


@sound("crow")
def _crow(rng: Rng, seconds: float) -> Sound:
    return repeated(cry(rng, 0.35, (520, 600, 480), _AH, 0.3), jittered(rng, 0.05, 0.6, seconds - 0.3), seconds)


@sound("insects")
def _insects(rng: Rng, seconds: float) -> Sound:
    wings = oscillate(220 * (1 + 0.05 * np.sin(2 * np.pi * 0.6 * times(seconds))), seconds, _SAW[:12])
    return wings * (0.6 + 0.4 * np.sin(2 * np.pi * 0.9 * times(seconds)))


@sound("crickets")
def _crickets(rng: Rng, seconds: float) -> Sound:
    chirp = oscillate(4300, 0.15) * (np.sin(2 * np.pi * 32 * times(0.15)) > 0) * hump(0.15)
    return repeated(chirp, jittered(rng, 0.02, 0.3, seconds, 0.05), seconds) + 0.01 * noise(rng, seconds)


def bird(rng: Rng, seconds: float, low: float, high: float, step: float, long: float) -> Sound:
    """Whistled syllables that sweep between two frequencies."""
    up, down = oscillate(glide(long, low, high), long), oscillate(glide(long, high, low, high * 0.9), long)
    return repeated([up * hump(long), down * hump(long)], jittered(rng, 0.05, step, seconds - long), seconds)


@sound("chirping birds")
def _birds(rng: Rng, seconds: float) -> Sound:
    return (
        bird(rng, seconds, 2500, 4200, 0.27, 0.12) + 0.5 * bird(rng, seconds, 3800, 5200, 0.41, 0.08) + 0.01 * noise(rng, seconds)
    )


# Weather and water ---------------------------------------------------------------------------------------------------


@sound("rain")
def _rain(rng: Rng, seconds: float) -> Sound:
    drops = placed(seconds, [(float(t), puff(rng, 0.01, 2000, 9000, 0.001)) for t in rng.uniform(0, seconds, int(60 * seconds))])
    return 0.3 * noise(rng, seconds, 800, 9000, 1) + drops


@sound("sea waves")
def _waves(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 80, 4000, 1) * (0.15 + np.sin(np.pi * times(seconds) / max(seconds, 2.5)) ** 2)


@sound("wind")
def _wind(rng: Rng, seconds: float) -> Sound:
    gusts = 0.5 + 0.5 * np.sin(2 * np.pi * 0.45 * times(seconds))
    return noise(rng, seconds, 60, 500, 1) * (0.4 + gusts) + 0.5 * noise(rng, seconds, 500, 900, 3) * gusts


@sound("thunderstorm")
def _thunder(rng: Rng, seconds: float) -> Sound:
    clap = noise(rng, seconds, 30, 250, 1) * decay(seconds, 0.45, 0.05) * (1 + 0.7 * np.sin(2 * np.pi * 6 * times(seconds)))
    return clap + 0.05 * _rain(rng, seconds)


@sound("water drops")
def _drops(rng: Rng, seconds: float) -> Sound:
    drop = oscillate(glide(0.12, 900, 1900), 0.12) * decay(0.12, 0.02)
    return repeated(drop, jittered(rng, 0.1, 0.5, seconds - 0.1), seconds)


@sound("pouring water")
def _pouring(rng: Rng, seconds: float) -> Sound:
    count = int(45 * seconds)
    moments = zip(rng.uniform(0, seconds, count), rng.uniform(400, 1500, count), strict=True)
    bubbles = [(float(t), oscillate(glide(0.05, f, f * 1.5), 0.05) * decay(0.05, 0.01)) for t, f in moments]
    return placed(seconds, bubbles) + 0.1 * noise(rng, seconds, 800, 6000)


@sound("running water")
def _running(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 500, 7000, 1) + 0.5 * _pouring(rng, seconds)


@sound("toilet flush")
def _flush(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 150, 5000, 1) * glide(seconds, 0.1, 1, 0.9, 0.5, 0.2)


@sound("crackling fire")
def _fire(rng: Rng, seconds: float) -> Sound:
    count = int(18 * seconds)
    moments = zip(rng.uniform(0, seconds, count), rng.exponential(1, count), strict=True)
    cracks = [(float(t), float(level) * puff(rng, 0.008, 1500, 9000, 0.001)) for t, level in moments]
    return placed(seconds, cracks) + 0.06 * noise(rng, seconds, 60, 600)


# Machines and things -------------------------------------------------------------------------------------------------


@sound("siren")
def _siren(rng: Rng, seconds: float) -> Sound:
    return oscillate(950 + 350 * np.sin(2 * np.pi * 0.8 * times(seconds)), seconds, (1, 0.4, 0.25, 0.1))


@sound("car horn")
def _horn(rng: Rng, seconds: float) -> Sound:
    honk = (oscillate(415, 0.5, _SAW[:12]) + oscillate(523, 0.5, _SAW[:12])) * hump(0.5)
    return repeated(honk, [0.05, 0.75, 1.45], seconds)


@sound("engine")
def _engine(rng: Rng, seconds: float) -> Sound:
    return motor(rng, seconds, 48, 0.15, 60, 1200)


@sound("helicopter")
def _helicopter(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 60, 1500, 1) * (0.15 + np.maximum(np.sin(2 * np.pi * 12 * times(seconds)), 0) ** 3)


@sound("airplane")
def _airplane(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 60, 900, 1) * glide(seconds, 0.4, 1, 0.5) + 0.1 * oscillate(
        glide(seconds, 240, 200), seconds, _SAW[:6]
    )


@sound("train")
def _train(rng: Rng, seconds: float) -> Sound:
    beat = [t + d for t in np.arange(0.05, seconds, 0.7).tolist() for d in (0, 0.14)]
    return repeated(knock(rng, 150, 0.04), beat, seconds) + 0.15 * noise(rng, seconds, 50, 700, 1)


@sound("chainsaw")
def _chainsaw(rng: Rng, seconds: float) -> Sound:
    return motor(rng, seconds, 115, 0.3, 500, 7000) * glide(seconds, 0.6, 1, 0.7, 1)


@sound("drilling")
def _drilling(rng: Rng, seconds: float) -> Sound:
    return motor(rng, seconds, 160, 0.25, 1500, 8000) * (1 + 0.4 * np.sin(2 * np.pi * 32 * times(seconds)))


@sound("jackhammer")
def _jackhammer(rng: Rng, seconds: float) -> Sound:
    return repeated(knock(rng, 220, 0.012), list(np.arange(0.02, seconds, 0.055)), seconds) + 0.05 * noise(rng, seconds)


@sound("vacuum cleaner")
def _vacuum(rng: Rng, seconds: float) -> Sound:
    return motor(rng, seconds, 240, 0.5, 300, 6000)


@sound("air conditioner")
def _air(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 80, 2500, 1) + 0.3 * oscillate(100, seconds, (1, 0.6, 0.3))


@sound("blender")
def _blender(rng: Rng, seconds: float) -> Sound:
    return motor(rng, seconds, 310, 0.3, 800, 8000) * glide(seconds, 0.4, 1, 1)


@sound("electric shaver")
def _shaver(rng: Rng, seconds: float) -> Sound:
    return oscillate(100, seconds, _SAW) * (1 + 0.3 * noise(rng, seconds, 20, 60)) + 0.1 * noise(rng, seconds, 2000, 9000)


@sound("washing machine")
def _washing(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 60, 900, 1) * (0.4 + np.sin(np.pi * 1.1 * times(seconds)) ** 2) + 0.3 * oscillate(
        50, seconds, (1, 0.5)
    )


@sound("frying")
def _frying(rng: Rng, seconds: float) -> Sound:
    return _fire(rng, seconds) * 0.3 + 0.6 * noise(rng, seconds, 3000, 10_000, 2)


@sound("clock tick")
def _ticks(rng: Rng, seconds: float) -> Sound:
    tick, tock = knock(rng, 2100, 0.004), knock(rng, 1700, 0.004)
    return repeated([tick, tock], list(np.arange(0.1, seconds - 0.05, 0.5)), seconds)


@sound("clock alarm")
def _alarm(rng: Rng, seconds: float) -> Sound:
    beep = oscillate(2050, 0.08, (1, 0, 0.3)) * hump(0.08, 0.004, 0.004)
    return repeated(beep, [t + d for t in np.arange(0, seconds, 0.6).tolist() for d in (0.0, 0.12, 0.24)], seconds)


@sound("phone")
def _phone(rng: Rng, seconds: float) -> Sound:
    ring = (oscillate(440, 0.8) + oscillate(480, 0.8)) * (1 + np.sin(2 * np.pi * 20 * times(0.8))) * hump(0.8)
    return repeated(ring, list(np.arange(0.02, seconds, 1.2)), seconds)


@sound("church bells")
def _bells(rng: Rng, seconds: float) -> Sound:
    def strike(pitch: float) -> Sound:
        partials = ((0.5, 0.6), (1, 1), (1.2, 0.5), (1.5, 0.4), (2, 0.6), (2.7, 0.3))
        return sum(a * oscillate(pitch * r, 1.6) for r, a in partials) * decay(1.6, 0.4)

    return repeated([strike(520), strike(440)], list(np.arange(0.05, seconds, 0.8)), seconds)


@sound("door knock")
def _door(rng: Rng, seconds: float) -> Sound:
    starts = [t + d for t in np.arange(0.1, seconds, 1.4).tolist() for d in (0, 0.22, 0.44)]
    return repeated(knock(rng, 180, 0.02), starts, seconds)


@sound("door slam")
def _slam(rng: Rng, seconds: float) -> Sound:
    return placed(seconds, [(0.02, knock(rng, 70, 0.05) + 0.6 * puff(rng, 0.25, 60, 2500, 0.002))])


@sound("drawer")
def _drawer(rng: Rng, seconds: float) -> Sound:
    return placed(seconds, [(0, 0.3 * puff(rng, 0.4, 300, 3000, 0.2)), (0.4, knock(rng, 260, 0.015))])


@sound("keys")
def _keys(rng: Rng, seconds: float) -> Sound:
    jingle = [(oscillate(f, 0.15) + oscillate(f * 1.37, 0.15)) * decay(0.15, 0.02) for f in (4200, 5100, 6100, 4700)]
    return repeated(jingle, jittered(rng, 0.02, 0.09, seconds - 0.05, 0.4), seconds)


@sound("page turn")
def _page(rng: Rng, seconds: float) -> Sound:
    return puff(rng, min(seconds, 0.5), 1500, 9000, 0.2) * (1 + 0.8 * noise(rng, min(seconds, 0.5), 20, 60))


@sound("mouse click")
def _mouse(rng: Rng, seconds: float) -> Sound:
    return repeated(knock(rng, 2800, 0.003), [t + d for t in np.arange(0.1, seconds, 0.7).tolist() for d in (0, 0.09)], seconds)


@sound("keyboard typing")
def _typing(rng: Rng, seconds: float) -> Sound:
    return repeated([knock(rng, 1500, 0.005), knock(rng, 1250, 0.005)], jittered(rng, 0.05, 0.14, seconds - 0.05, 0.4), seconds)


@sound("dishes")
def _dishes(rng: Rng, seconds: float) -> Sound:
    clink = [(oscillate(f, 0.3) + 0.6 * oscillate(f * 1.9, 0.3)) * decay(0.3, 0.04) for f in (2300, 1800, 2900)]
    return repeated(clink, jittered(rng, 0.02, 0.25, seconds - 0.15, 0.3), seconds)


@sound("glass breaking")
def _glass(rng: Rng, seconds: float) -> Sound:
    moments = zip(rng.exponential(0.15, 40), rng.uniform(2500, 8000, 40), strict=True)
    shards = [(float(0.05 + t), oscillate(float(f), 0.2) * decay(0.2, 0.02)) for t, f in moments]
    return placed(seconds, [(0.05, 2 * puff(rng, 0.1, 1500, 10_000, 0.002)), *shards])


@sound("gun shot")
def _gun(rng: Rng, seconds: float) -> Sound:
    shot = noise(rng, 0.6, 60, 6000, 1) * decay(0.6, 0.05, 0.001)
    return repeated(shot, [0.1, 1.1], seconds)


@sound("fireworks")
def _fireworks(rng: Rng, seconds: float) -> Sound:
    bang = noise(rng, 0.4, 40, 900, 1) * decay(0.4, 0.06, 0.002)
    whistle = 0.2 * oscillate(glide(0.5, 1800, 3200), 0.5) * hump(0.5, 0.2, 0.1)
    return placed(seconds, [(0.1, whistle), (0.6, bang), (1.1, whistle), (1.6, bang)]) + 0.1 * _fire(rng, seconds)


# People --------------------------------------------------------------------------------------------------------------


@sound("cough")
def _cough(rng: Rng, seconds: float) -> Sound:
    one = puff(rng, 0.3, 300, 5000, 0.008) + 0.8 * cry(rng, 0.3, (260, 200, 150), _AH, 0.3)
    return repeated(one, jittered(rng, 0.05, 0.55, max(seconds - 0.25, 0.1)), seconds)


@sound("throat clearing")
def _throat(rng: Rng, seconds: float) -> Sound:
    one = resonate(noise(rng, 0.5, 80, 3000), _AH) * (1 + np.sin(2 * np.pi * 38 * times(0.5))) * hump(0.5, 0.1, 0.2)
    return repeated(one, [0.05, 0.75], seconds)


@sound("sneeze")
def _sneeze(rng: Rng, seconds: float) -> Sound:
    breath_in = 0.3 * puff(rng, 0.5, 800, 3500, 0.4)
    return placed(
        seconds, [(0.05, breath_in), (0.6, 2 * puff(rng, 0.35, 1500, 9000, 0.01)), (0.6, cry(rng, 0.2, (420, 300), _EE, 0.1))]
    )


@sound("sniff")
def _sniff(rng: Rng, seconds: float) -> Sound:
    return repeated(puff(rng, 0.25, 1500, 7000, 0.15), jittered(rng, 0.05, 0.5, seconds - 0.2), seconds)


@sound("sigh")
def _sigh(rng: Rng, seconds: float) -> Sound:
    long = min(seconds, 1.5) - 0.05
    return placed(seconds, [(0.05, resonate(puff(rng, long, 200, 5000, 0.2), _AH) + 0.15 * cry(rng, long, (230, 180, 140), _AH))])


@sound("breath")
def _breath(rng: Rng, seconds: float) -> Sound:
    return repeated(
        [puff(rng, 0.7, 800, 5000, 0.5), 0.7 * puff(rng, 0.8, 300, 3000, 0.2)], list(np.arange(0.05, seconds, 1.0)), seconds
    )


@sound("yawn")
def _yawn(rng: Rng, seconds: float) -> Sound:
    long = min(seconds, 1.9)
    return cry(rng, long, (180, 260, 300, 200, 130), _AH, 0.02) + 0.2 * puff(rng, long, 300, 4000, 0.8)


@sound("laugh")
def _laugh(rng: Rng, seconds: float) -> Sound:
    starts = np.arange(0.05, min(seconds - 0.15, 1.8), 0.2).tolist()
    return placed(
        seconds, [(t, cry(rng, 0.13, (320 - 60 * t, 250 - 50 * t), _AH, 0.03) + 0.1 * puff(rng, 0.13, 500, 5000)) for t in starts]
    )


@sound("cry")
def _weep(rng: Rng, seconds: float) -> Sound:
    sob = cry(rng, 0.6, (330, 420, 300), _AH, 0.05) * (1 + 0.5 * np.sin(2 * np.pi * 8 * times(0.6)))
    return repeated(sob, jittered(rng, 0.05, 0.8, seconds - 0.4), seconds)


@sound("crying baby")
def _baby(rng: Rng, seconds: float) -> Sound:
    wail = cry(rng, 0.8, (400, 560, 540, 380), ((1100, 120), (2800, 200), (4500, 300)), 0.03)
    return repeated(wail, jittered(rng, 0.05, 1.0, seconds - 0.5), seconds)


@sound("scream")
def _scream(rng: Rng, seconds: float) -> Sound:
    long = min(seconds, 1.6)
    return cry(rng, long, (800, 1250, 1200, 950), ((1100, 100), (1800, 120), (3000, 160)), 0.06)


@sound("snoring")
def _snore(rng: Rng, seconds: float) -> Sound:
    one = resonate(noise(rng, 1.0, 60, 1200), _OO) * (1 + np.sin(2 * np.pi * 26 * times(1.0))) * hump(1.0, 0.4, 0.3)
    return repeated(one, list(np.arange(0.05, seconds, 1.5)), seconds)


@sound("clapping")
def _clap(rng: Rng, seconds: float) -> Sound:
    return repeated(
        [puff(rng, 0.06, 700, 5000, 0.001), puff(rng, 0.06, 900, 6000, 0.001)],
        jittered(rng, 0.05, 0.2, seconds - 0.05, 0.2),
        seconds,
    )


@sound("footsteps")
def _steps(rng: Rng, seconds: float) -> Sound:
    step = knock(rng, 110, 0.02) + 0.3 * fitted(puff(rng, 0.15, 800, 4000), 0.25)
    return repeated(step, jittered(rng, 0.1, 0.5, seconds - 0.2, 0.03), seconds)


@sound("brushing teeth")
def _brushing(rng: Rng, seconds: float) -> Sound:
    return noise(rng, seconds, 2500, 9000) * (0.1 + np.abs(np.sin(2 * np.pi * 2.4 * times(seconds))) ** 3)


@sound("beehive")
def _hive(rng: Rng, seconds: float) -> Sound:
    bees = sum(oscillate(225 * (1 + 0.03 * rng.standard_normal()), seconds, _SAW[:8]) for _ in range(6))
    return bees * (1 + 0.2 * noise(rng, seconds, 20, 60)) + 0.4 * noise(rng, seconds, 100, 900)


@sound("queenless beehive")
def _roar(rng: Rng, seconds: float) -> Sound:
    bees = sum(oscillate(265 * (1 + 0.12 * rng.standard_normal()), seconds, _SAW[:8]) for _ in range(8))
    moan = 1 + 0.6 * np.sin(2 * np.pi * 1.7 * times(seconds))
    return bees * moan + 1.5 * band(noise(rng, seconds, 100, 4000), 200, 3000)
