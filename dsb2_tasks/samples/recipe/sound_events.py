"""Sound events: environmental sounds, animals, events with times, retrieval by caption."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from dsb2_tasks.samples._dataset import DataSet, Row, folds
from dsb2_tasks.samples._music import STYLES, play
from dsb2_tasks.samples._rooms import EFFECTS
from dsb2_tasks.samples._signal import Rng, Sound, decay, fitted, glide, noise, oscillate, placed, scaled
from dsb2_tasks.samples._sounds import bird, cry, make
from dsb2_tasks.samples._speech import TALKERS, padded, say
from dsb2_tasks.samples.recipe._texts import ENGLISH, listed

YES_NO = ("yes", "no")
#: Groups of ESC-50: the sounds of the samples, and all options.
_ESC: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "Animals": (
        listed("dog, rooster, frog, cow, insects"),
        listed("dog, rooster, pig, cow, frog, cat, hen, insects, sheep, crow"),
    ),
    "ExteriorAndUrbanNoises": (
        listed("siren, helicopter, church bells, car horn, train"),
        listed("helicopter, chainsaw, siren, car horn, engine, train, church bells, airplane, fireworks, hand saw"),
    ),
    "HumanAndNonSpeechSounds": (
        listed("crying baby, clapping, snoring, footsteps, coughing"),
        listed(
            "crying baby, sneezing, clapping, breathing, coughing, footsteps, laughing, brushing teeth, snoring, drinking "
            "or sipping"
        ),
    ),
    "InteriorAndDomesticSounds": (
        listed("door knock, clock alarm, keyboard typing, vacuum cleaner, glass breaking"),
        listed(
            "door knock, mouse click, keyboard typing, door or wood creaks, can opening, washing machine, vacuum cleaner, "
            "clock alarm, clock tick, glass breaking"
        ),
    ),
    "NaturalSoundscapesAndWaterSounds": (
        listed("rain, sea waves, crickets, thunderstorm, chirping birds"),
        listed(
            "rain, sea waves, crackling fire, crickets, chirping birds, water drops, wind, pouring water, toilet flush, "
            "thunderstorm"
        ),
    ),
}
_ESC_FOLDS = ("sheep", "wind", "laughing", "clock tick", "airplane")
#: Names in a data set for sounds that the workshop calls otherwise.
_SOUND_OF = {
    "coughing": "cough",
    "laughing": "laugh",
    "sneezing": "sneeze",
    "breathing": "breath",
    "dog bark": "dog",
    "engine idling": "engine",
    "clearthroat": "throat clearing",
    "doorslam": "door slam",
    "pageturn": "page turn",
    "keyboard": "keyboard typing",
    "knock": "door knock",
    "laughter": "laugh",
    "alarm_bell_ringing": "clock alarm",
    "running_water": "running water",
    "vacuum_cleaner": "vacuum cleaner",
    "electric_shaver_toothbrush": "electric shaver",
}


def heard(label: str, rng: Rng, seconds: float) -> Sound:
    """The sound that a label of a data set names; speech is spoken."""
    if label == "speech":
        return scaled(fitted(say(ENGLISH[int(rng.integers(len(ENGLISH)))], TALKERS[int(rng.integers(4))]), seconds))
    return make(_SOUND_OF.get(label, label), rng, seconds)


def _classes(rng: Rng, labels: Sequence[str], seconds: float = 1.8) -> Iterator[Row]:
    for label in labels:
        yield Row(label, (heard(label, rng, seconds),))


def _esc_fold(rng: Rng, fold: int) -> Iterator[Row]:
    yield from _classes(rng, _ESC_FOLDS[fold : fold + 1])


def _birds(rng: Rng) -> Iterator[Row]:
    for label, background in (("yes", "wind"), ("no", "wind"), ("yes", "train"), ("no", "footsteps")):
        x = 0.4 * make(background, rng, 2.2)
        yield Row(label, (x + 0.6 * make("chirping birds", rng, 2.2) if label == "yes" else x,))


_SPECIES = {
    "Great Tit": (3600, 4800, 0.3, 0.1),
    "Common Cuckoo": (520, 660, 0.8, 0.35),
    "Eurasian Blackbird": (1700, 2600, 0.45, 0.3),
    "Common Chiffchaff": (4200, 5600, 0.24, 0.07),
}


def _species(rng: Rng) -> Iterator[Row]:
    for name, shape in _SPECIES.items():
        yield Row(name, (scaled(bird(rng, 2.4, *shape) + 0.02 * noise(rng, 2.4)),))


_MOODS = {
    "Angry": ((300, 340, 280), 0.35, 0.9),
    "Happy": ((500, 750, 620), 0.01, 0.5),
    "Fighting": ((600, 950, 700), 0.3, 0.7),
    "Resting": ((26, 27, 26), 0.02, 1.8),
    "MotherCall": ((600, 700, 560), 0.01, 0.35),
}


def _cats(rng: Rng) -> Iterator[Row]:
    tract = ((900, 150), (1700, 200), (3200, 250))
    for mood, (pitch, rough, long) in _MOODS.items():
        call = cry(rng, long, pitch, tract, rough)
        yield Row(mood, (scaled(placed(1.9, [(0.05, call), (long + 0.15, call)])),))


def _effects(rng: Rng) -> Iterator[Row]:
    for number, (label, effect) in enumerate(EFFECTS.items()):
        x = fitted(play(STYLES["folk" if number % 2 else "rock"], 1.2, rng), 2.0)
        yield Row(label, (scaled(effect(rng, x)),))


def _events_set(rng: Rng) -> Iterator[Row]:
    for labels in (
        ("cough", "keyboard", "phone"),
        ("knock", "knock", "doorslam"),
        ("keys", "laughter"),
        ("speech", "pageturn", "drawer", "clearthroat"),
    ):
        parts = [(0.1 + 0.8 * i, heard(label, rng, 0.7)) for i, label in enumerate(labels)]
        x = placed(0.8 * len(labels) + 0.2, parts)
        yield Row(str(list(labels)), (x + 0.003 * noise(rng, len(x) / 22050),))


#: Events of a clip: (label, onset, offset).
_DOMESTIC = (
    (("dog", 0.5, 1.3), ("speech", 1.8, 3.2)),
    (("alarm_bell_ringing", 0.3, 1.5), ("cat", 2.0, 2.9)),
    (("running_water", 0.2, 2.6), ("dishes", 0.9, 2.0)),
    (("vacuum_cleaner", 0.8, 2.4),),
)


def _domestic(rng: Rng) -> Iterator[Row]:
    for events in _DOMESTIC:
        x = placed(3.4, [(on, heard(label, rng, off - on)) for label, on, off in events]) + 0.004 * noise(rng, 3.4, 50, 2000)
        yield Row("; ".join(f"{label}: {on:.2f}-{off:.2f}" for label, on, off in events), (x,))


#: Caption, its sound, onset, offset, and what is heard before and after.
_CAPTIONS = (
    ("a dog barks", "dog", 1.2, 2.4, "rain"),
    ("a church bell rings", "church bells", 0.6, 2.1, "wind"),
    ("someone knocks at a door", "door knock", 2.0, 2.9, "clock tick"),
    ("a siren passes by", "siren", 0.4, 1.9, "engine"),
)


def _captions(rng: Rng) -> Iterator[Row]:
    for caption, sound, on, off, background in _CAPTIONS:
        x = 0.1 * make(background, rng, 3.4) + placed(3.4, [(on, make(sound, rng, off - on))])
        yield Row(f"{on:.2f}-{off:.2f}", (x,), ask={"caption": caption})


_PLACES = (
    ("rain", "outdoors in the rain"),
    ("sea waves", "beach"),
    ("keyboard typing", "office"),
    ("train", "railway"),
    ("crickets", "meadow at night"),
)
_IMITATED = {
    "dog barking": ((500, 620, 330), 0.2, 0.25),
    "siren": ((500, 900, 500, 900), 0.9, 1.0),
    "cat meowing": ((420, 700, 420), 0.6, 0.8),
    "engine": ((75, 85, 80), 1.2, 1.4),
    "owl hooting": ((360, 380, 340), 0.5, 0.8),
}


def _imitations(rng: Rng, fold: int) -> Iterator[Row]:
    for name in list(_IMITATED)[2 * fold : 2 * fold + 2]:
        pitch, long, step = _IMITATED[name]
        voice = cry(rng, long, pitch, ((600, 90), (1100, 110), (2500, 160)), 0.02)
        yield Row(name, (scaled(placed(1.9, [(float(t), voice) for t in np.arange(0.05, 1.9, step)])),))


def _hives(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        yield Row("queen absent" if i % 2 else "queen present", (make("queenless beehive" if i % 2 else "beehive", rng, 2.0),))


def _music_or_speech(rng: Rng) -> Iterator[Row]:
    for i in range(4):
        yield Row(
            *(
                ("speech", (padded(say(ENGLISH[i], TALKERS[i])),))
                if i % 2
                else ("music", (play(STYLES[("classical", "sad")[i // 2]], 2.5, rng),))
            )
        )


def _percussion(kind: str, rng: Rng) -> Sound:
    """A strike of a percussion instrument of the Beijing opera."""
    if kind == "Bangu":
        return oscillate(620, 0.3, (1, 0.3)) * decay(0.3, 0.012) + 0.3 * noise(rng, 0.3, 800, 5000) * decay(0.3, 0.006)
    low, high, half = {"Naobo": (900, 9000, 0.18), "Daluo": (250, 300, 0.3), "Xiaoluo": (520, 800, 0.2)}[kind]
    if kind == "Naobo":
        return noise(rng, 1.2, low, high, 1) * decay(1.2, half)
    # The pitch of the big gong falls after the stroke, that of the small one rises.
    curve = glide(1.5, high, low, low) if kind == "Daluo" else glide(1.5, low, high, high)
    return sum(a * oscillate(curve * r, 1.5) for r, a in ((1, 1), (1.47, 0.6), (2.09, 0.5), (2.9, 0.3))) * decay(1.5, half)


OPERA = ("Bangu", "Naobo", "Daluo", "Xiaoluo")


def _opera(rng: Rng) -> Iterator[Row]:
    for kind in OPERA:
        yield Row(kind, (fitted(scaled(_percussion(kind, rng)), 1.2),))


def _opera_fold(rng: Rng, fold: int) -> Iterator[Row]:
    kind = OPERA[fold % 4]
    yield Row(kind, (fitted(scaled(_percussion(kind, rng)), 1.0 + 0.1 * fold),))


_STROKES = {"Thi": 1.0, "Ta": 2.0, "Dheem": 0.6, "Thom": 0.35, "Num": 1.5}
_TONICS = {"C": 48, "C#": 49, "D": 50, "D#": 51, "E": 52}


def mridangam(rng: Rng, ratio: float, tonic: float, rings: bool) -> Sound:
    """A stroke on a tuned drum: near-harmonic partials above the tonic, damped unless it rings."""
    base = 440 * 2 ** ((tonic - 69) / 12)
    partials = ((1, 1.0), (2, 0.7), (3, 0.4), (4, 0.2))
    body = sum(a * oscillate(base * r * ratio, 0.8) for r, a in partials) * decay(0.8, 0.12 if rings else 0.02)
    return scaled(body + 0.3 * noise(rng, 0.8, 300, 4000) * decay(0.8, 0.006))


def _stroke(rng: Rng, fold: int) -> Iterator[Row]:
    name = list(_STROKES)[fold]
    yield Row(name, (mridangam(rng, _STROKES[name], 50, name in ("Dheem", "Num")),))


def _tonic(rng: Rng, fold: int) -> Iterator[Row]:
    name = list(_TONICS)[fold]
    stroke = mridangam(rng, 1.0, _TONICS[name], rings=True)
    yield Row(name, (placed(1.6, [(0.0, stroke), (0.8, stroke)]),))


_WHICH = ("Which sound is in the clip? Answer with one of: {options}.", "Name the sound that you hear. Options: {options}.")

DATA_SETS = [
    *(
        DataSet(
            f"EnvironmentalSoundClassification_ESC50-{group}",
            partial(_classes, labels=labels),
            _WHICH,
            options,
            codec="ogg@44100",
        )
        for group, (labels, options) in _ESC.items()
    ),
    *folds(
        "HEAREnvironmentalSoundClassification_ESC50",
        5,
        _esc_fold,
        (
            "Which environmental sound is this? Name one of the fifty classes of ESC-50.",
            "Name the sound in the clip by its ESC-50 class.",
        ),
        codec="mp3@48000",
    ),
    DataSet(
        "EnvironmentalSoundClassification_UrbanSound8K-UrbanNoises",
        partial(_classes, labels=("siren", "jackhammer", "dog bark", "gun shot", "air conditioner")),
        ("Which urban sound is it? Answer with one of: {options}.", _WHICH[1]),
        (
            "air conditioner",
            "car horn",
            "children playing",
            "dog bark",
            "drilling",
            "engine idling",
            "gun shot",
            "jackhammer",
            "siren",
            "street music",
        ),
        codec="opus@48000",
    ),
    DataSet(
        "AnimalClassification_WaveSource-Test",
        partial(_classes, labels=("cat", "dog", "cow", "rooster", "crow")),
        ("Which animal is heard? Answer with one of: {options}.", "Name the animal. Options: {options}."),
        ("cat", "dog", "cow", "rooster", "crow"),
        codec="ulaw@8000",
    ),
    DataSet(
        "BirdSoundDetection_Warblrb10k",
        _birds,
        ("Can a bird be heard? Answer with one of: {options}.", "Is there any bird in the recording? Options: {options}."),
        YES_NO,
        codec="mp3@44100",
    ),
    DataSet(
        "CornellBirdcallIdentification",
        _species,
        ("Which bird calls? Answer with one of: {options}.", "Name the species of the bird. Options: {options}."),
        tuple(_SPECIES),
        codec="mp3@32000",
    ),
    DataSet(
        "CatEmotionClassification_CatSoundClassificationDataset-V2",
        _cats,
        ("In which mood is the cat? Answer with one of: {options}.", "Choose the mood of the cat. Options: {options}."),
        ("Angry", "Defence", "Fighting", "Happy", "HuntingMind", "Mating", "MotherCall", "Paining", "Resting", "Warning"),
    ),
    DataSet(
        "SoundEffectDetection_RemFx",
        _effects,
        ("Which effect was applied to the clip? Answer with one of: {options}.", "Name the audio effect. Options: {options}."),
        tuple(EFFECTS),
        codec="mp3@48000",
    ),
    DataSet(
        "HEARSoundEventDetection_DCASE2016Task2",
        _events_set,
        (
            "Name every sound event in the clip as a list such as ['cough', 'keys']. Classes: {options}.",
            "Which of these events occur? {options}. Answer with a list such as ['knock', 'phone'].",
        ),
        ("clearthroat", "cough", "doorslam", "drawer", "keyboard", "keys", "knock", "laughter", "pageturn", "phone", "speech"),
        codec="mp3@16000",
    ),
    DataSet(
        "DomesticEnvironmentSoundEventDetection_DESED-PublicEval",
        _domestic,
        (
            "List the sound events with their times in seconds, as in 'dog: 0.50-1.25; speech: 2.00-3.10'. Classes: {options}.",
            "Which events occur when? Write 'class: start-end' in seconds, separated by semicolons. Classes: {options}.",
        ),
        (
            "alarm_bell_ringing",
            "blender",
            "cat",
            "dishes",
            "dog",
            "electric_shaver_toothbrush",
            "frying",
            "running_water",
            "speech",
            "vacuum_cleaner",
        ),
        codec="mp3@16000",
    ),
    DataSet(
        "AudioSegmentRetrieval_Clotho",
        _captions,
        (
            "When does this happen: {caption}? Give start and end in seconds in the form 1.20-3.40.",
            "Find the part of the clip that fits the description '{caption}'. Answer with start-end in seconds, as in 0.50-2.00.",
        ),
        codec="mp3@22050",
    ),
    DataSet(
        "EnvironmentRecognition_ESC50",
        lambda rng: (Row(place, (make(sound, rng, 2.0),)) for sound, place in _PLACES),
        (
            "Where was this recorded? Answer with one of: {options}.",
            "Name the place that the sound belongs to. Options: {options}.",
        ),
        tuple(place for _, place in _PLACES),
    ),
    *folds(
        "HEARVocalImitationClassification_VocalImitations",
        3,
        _imitations,
        (
            "Which sound does the person imitate? Answer with one of: {options}.",
            "Name the sound that is imitated by voice. Options: {options}.",
        ),
        options=tuple(_IMITATED),
    ),
    DataSet(
        "HEARBeehiveStatesClassification_BeehiveStates",
        _hives,
        (
            "Is the queen bee present in this hive? Answer with one of: {options}.",
            "Judge the state of the hive by its sound. Options: {options}.",
        ),
        ("queen present", "queen absent"),
    ),
    DataSet(
        "HEARMusicSpeechClassification_MAESTRO_Librispeech",
        _music_or_speech,
        ("Is this music or speech? Answer with one of: {options}.", "Decide between music and speech. Options: {options}."),
        ("music", "speech"),
    ),
    DataSet(
        "InstrumentClassification_BeijingOperaInstrument",
        _opera,
        (
            "Which instrument of the Beijing opera is struck? Answer with one of: {options}.",
            "Name the percussion instrument. Options: {options}.",
        ),
        OPERA,
        codec="mp3@44100",
    ),
    *folds(
        "HEARPercussionInstrumentsClassification_BeijingOperaPercussion",
        5,
        _opera_fold,
        (
            "Which instrument of the Beijing opera is struck? Answer with one of: {options}.",
            "Name the percussion instrument. Options: {options}.",
        ),
        options=OPERA,
        codec="mp3@48000",
    ),
    *folds(
        "HEARPercussionInstrumentsStrokeClassification_MridangamStroke",
        5,
        _stroke,
        ("Which stroke of the mridangam is it? Answer with one of: {options}.", "Name the mridangam stroke. Options: {options}."),
        options=("Bheem", "Cha", "Dheem", "Dhin", "Num", "Ta", "Tha", "Tham", "Thi", "Thom"),
    ),
    *folds(
        "HEARPercussionInstrumentsTonicClassification_MridangamTonic",
        5,
        _tonic,
        (
            "What is the tonic of this mridangam? Answer with one of: {options}.",
            "Name the note to which the drum is tuned. Options: {options}.",
        ),
        options=("B", "C", "C#", "D", "D#", "E"),
    ),
]
