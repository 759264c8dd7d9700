"""Music: chords, keys, notes, beats, instruments, genres, tags, moods."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from dsb2_tasks.samples._dataset import DataSet, Row, folds
from dsb2_tasks.samples._music import STYLES, Style, cadence, chord, drum, melody, note, play, triad
from dsb2_tasks.samples._rooms import in_room
from dsb2_tasks.samples._signal import Rng, Sound, fitted, placed, scaled
from dsb2_tasks.samples.recipe._texts import listed

_SECONDS = 3.0


def _chords(rng: Rng) -> Iterator[Row]:
    for label, name, root in (("major", "piano", 60), ("minor", "guitar", 57), ("major", "guitar", 52), ("minor", "piano", 62)):
        pitches = triad(root, label == "minor")
        yield Row(label, (chord(name, [root - 12, *pitches], 1.8, strum=0.02 if name == "guitar" else 0.0),))


_KEYS = (("C", 60), ("A", 57), ("Eb", 63), ("Gb", 66))


def _keys(rng: Rng) -> Iterator[Row]:
    for i, (name, root) in enumerate(_KEYS):
        yield Row(f"{name} {'minor' if i % 2 else 'major'}", (cadence(root, i % 2 == 1, 3.2, "organ" if i > 1 else "piano"),))


#: Notes of a piano clip as (onset, offset, MIDI pitch).
NOTES = (
    ((0.1, 0.6, 60), (0.6, 1.1, 64), (1.1, 1.9, 67)),
    ((0.2, 1.2, 48), (0.2, 0.7, 64), (0.7, 1.2, 65)),
    ((0.05, 0.45, 72), (0.55, 0.95, 71), (1.05, 1.9, 69)),
    ((0.3, 0.8, 55), (0.8, 1.3, 62), (0.8, 1.8, 67)),
    ((0.15, 0.9, 57), (0.95, 1.3, 60), (1.3, 1.95, 64)),
)


def _transcribed(rng: Rng, fold: int) -> Iterator[Row]:
    notes = NOTES[fold]
    yield Row(str([tuple(n) for n in notes]), (melody("piano", notes, 2.1),))


def beats(tempo: float, first: float, seconds: float) -> list[float]:
    """Times of the beats of a clip, in seconds, to the hundredth."""
    return [round(first + n * 60 / tempo, 2) for n in range(int((seconds - first - 0.05) * tempo / 60) + 1)]


def _beats(rng: Rng, tempi: Sequence[float], listed: bool) -> Iterator[Row]:
    for i, tempo in enumerate(tempi):
        at = beats(tempo, 0.2 + 0.07 * i, _SECONDS)
        steps = (0, 4, 7, 12)
        piano = placed(_SECONDS, [(t, note("piano", 48 + steps[n % 4], min(0.6, _SECONDS - t))) for n, t in enumerate(at)])
        accents = placed(_SECONDS, [(t, 0.3 * drum("c", rng)) for t in at])
        text = ", ".join(f"{t:.2f}" for t in at)
        yield Row(f"[{text}]" if listed else text, (piano + accents,))


def _notes(rng: Rng) -> Iterator[Row]:
    for name, midi in (("piano", 60), ("flute", 72), ("bass", 40), ("organ", 67)):
        yield Row(str(midi), (note(name, midi, 1.5),))


def _sources(rng: Rng) -> Iterator[Row]:
    for label, name in (
        ("acoustic", "violin"),
        ("electronic", "electricpiano"),
        ("synthetic", "synthesizer"),
        ("acoustic", "flute"),
    ):
        x = note(name, 60, 1.5)
        yield Row(label, (fitted(in_room(rng, x, "small"), 1.6) if label == "acoustic" else x,))


_FAMILIES = {
    "flute": ("flute", 76),
    "guitar": ("guitar", 55),
    "brass": ("trumpet", 62),
    "mallet": ("mallet", 72),
    "organ": ("organ", 60),
    "bass": ("bass", 36),
}


def _families(rng: Rng) -> Iterator[Row]:
    for label, (name, midi) in _FAMILIES.items():
        yield Row(label, (note(name, midi, 1.5),))


def together(names: Sequence[str], rng: Rng) -> Sound:
    """Instruments that play a short phrase at the same time; drums and percussion give the beat."""
    parts: list[tuple[float, Sound]] = []
    for number, name in enumerate(names):
        if name in ("drums", "cymbals", "percussion", "beat", "drummachine", "bongo"):
            pattern = {"cymbals": "hhhh", "percussion": "tttt", "bongo": "tttt"}.get(name, "khsh")
            parts += [(0.3 * i, drum(pattern[i % 4], rng)) for i in range(8)]
            continue
        base = {"bass": 36, "cello": 43, "doublebass": 36}.get(name, 60 if number % 2 else 67)
        parts += [(0.6 * i, 0.7 * note(_SAME.get(name, name), base + step, 0.6)) for i, step in enumerate((0, 4, 7, 4))]
    return scaled(placed(2.4, parts))


_SAME = {
    "mallet_percussion": "mallet",
    "acousticguitar": "guitar",
    "keyboard": "electricpiano",
    "doublebass": "bass",
    "viola": "violin",
    "synth": "synthesizer",
}
_COMBINATIONS = (("piano", "violin"), ("bass", "drums", "guitar"), ("flute",), ("organ", "voice"))
_MTG_INSTRUMENTS = (
    ("piano",),
    ("bass", "drums", "electricguitar"),
    ("flute", "harp"),
    ("strings", "violin"),
    ("drummachine", "synthesizer"),
)


def _combinations(rng: Rng) -> Iterator[Row]:
    for names in _COMBINATIONS:
        yield Row(", ".join(names), (together(names, rng),))


def _mtg_instruments(rng: Rng, fold: int) -> Iterator[Row]:
    names = _MTG_INSTRUMENTS[fold]
    yield Row(", ".join(names), (together(names, rng),))


def _styled(rng: Rng, pairs: Sequence[tuple[str, str]]) -> Iterator[Row]:
    """One piece for each (label, name of a style)."""
    for label, style in pairs:
        yield Row(label, (play(STYLES[style], _SECONDS, rng, 58 + int(rng.integers(5))),))


def _styled_fold(rng: Rng, fold: int, pairs: Sequence[tuple[str, str]]) -> Iterator[Row]:
    yield from _styled(rng, pairs[fold : fold + 1])


def _moods(rng: Rng) -> Iterator[Row]:
    styles = {
        "joyful activation": STYLES["happy"],
        "sadness": STYLES["sad"],
        "calmness": STYLES["calm"],
        "power": STYLES["metal"],
        "tension": Style(150, "t.......", "strings", minor=True, sustained=True, lead="violin", steps=(0, 1, 0, 1, 6, 1, 0, 1)),
    }
    for label, style in styles.items():
        yield Row(label, (play(style, _SECONDS, rng),))


_GENRE_PROMPTS = ("Which genre is this music? Answer with one of: {options}.", "Name the genre of the piece. Options: {options}.")
_TAG_PROMPTS = (
    "Select all {what} that fit the music, separated by commas, out of: {{options}}.",
    "Which of these {what} describe the piece? {{options}}. Name each that applies, with commas.",
)


def _tag_prompts(what: str) -> tuple[str, ...]:
    return tuple(prompt.format(what=what) for prompt in _TAG_PROMPTS)


_TOP50 = listed(
    "alternative, ambient, atmospheric, chillout, classical, dance, downtempo, easylistening, electronic, experimental, "
    "folk, funk, hiphop, house, indie, instrumentalpop, jazz, lounge, metal, newage, orchestral, pop, popfolk, poprock, "
    "reggae, rock, soundtrack, techno, trance, triphop, world, acousticguitar, bass, computer, drummachine, drums, "
    "electricguitar, electricpiano, guitar, keyboard, piano, strings, synthesizer, violin, voice, emotional, energetic, "
    "film, happy, relaxing"
)
_MOOD_TAGS = listed(
    "action, calm, christmas, dark, deep, dramatic, dream, emotional, energetic, epic, film, fun, happy, love, "
    "meditative, melancholic, party, positive, powerful, relaxing, romantic, sad, slow, soft, space, sport, summer, "
    "upbeat, uplifting"
)
_MTG_GENRES = listed(
    "ambient, blues, classical, country, disco, electronic, folk, funk, hiphop, house, jazz, metal, orchestral, pop, "
    "reggae, rock, singersongwriter, soundtrack, swing, symphonic, techno, trance, world"
)
_MTG_INSTRUMENT_TAGS = listed(
    "accordion, acousticguitar, bass, bell, bongo, cello, clarinet, drummachine, drums, electricguitar, electricpiano, "
    "flute, guitar, harp, keyboard, organ, pad, percussion, piano, saxophone, strings, synthesizer, trumpet, ukulele, "
    "viola, violin, voice"
)
_OPENMIC = listed(
    "accordion, banjo, bass, cello, clarinet, cymbals, drums, flute, guitar, mallet_percussion, mandolin, organ, piano, "
    "saxophone, synthesizer, trombone, trumpet, ukulele, violin, voice"
)
_MAGNA = listed(
    "guitar, classical, slow, techno, strings, drums, electronic, rock, fast, piano, ambient, beat, violin, vocal, synth, "
    "female, indian, opera, male, singing, vocals, no vocals, harpsichord, loud, quiet, flute, woman, male vocal, no "
    "vocal, pop, soft, sitar, solo, man, classic, choir, voice, new age, dance, male voice, female vocal, beats, harp, "
    "cello, no voice, weird, country, metal, female voice, choral"
)
_24_KEYS = [
    f"{name} {mode}" for mode in ("major", "minor") for name in ("C", "Db", "D", "Eb", "E", "F", "Gb", "G", "Ab", "A", "Bb", "B")
]

DATA_SETS = [
    DataSet(
        "ChordClassification_AcousticGuitarAndPiano",
        _chords,
        ("Is the chord major or minor? Answer with one of: {options}.", "Name the quality of the chord. Options: {options}."),
        ("major", "minor"),
        codec="mp3@44100",
    ),
    DataSet(
        "MARBLEKeyDetection_Giantstepskey",
        _keys,
        ("In which key is the music? Answer with one of: {options}.", "Name the key of the clip. Options: {options}."),
        tuple(_24_KEYS),
        codec="mp3@44100",
    ),
    *folds(
        "HEARMusicTranscription_MAESTRO-5hr",
        5,
        _transcribed,
        (
            "List the piano notes as (onset, offset, MIDI pitch), times in seconds, as in [(0.5, 1.0, 60), (1.0, 1.5, 64)].",
            "Transcribe the clip: a list of (start, end, pitch), seconds and MIDI numbers, as in [(0.25, 0.75, 72)].",
        ),
        codec="ogg@44100",
    ),
    DataSet(
        "MusicBeatTracking_ASAP",
        partial(_beats, tempi=(90, 120, 72, 150), listed=False),
        (
            "Give the times of the beats in seconds, separated by commas.",
            "When do the beats fall? List them in seconds with commas.",
        ),
        codec="mp3@44100",
    ),
    DataSet(
        "MARBLEBeatTracking_ASAP_MAESTRO",
        partial(_beats, tempi=(100, 66, 132, 84), listed=True),
        (
            "List the beat times in seconds, as in [0.52, 1.04, 1.57].",
            "Track the beat: answer with a list of times in seconds, as in [0.4, 0.9].",
        ),
        codec="ogg@22050",
    ),
    DataSet(
        "InstrumentPitchClassification_Nsynth",
        _notes,
        ("Which MIDI pitch has the note? Answer with one of: {options}.", "Name the pitch as a MIDI number. Options: {options}."),
        ("40", "60", "67", "72"),
        codec="flac@16000",
    ),
    DataSet(
        "InstrumentSourceClassification_Nsynth",
        _sources,
        (
            "What is the source of the note? Answer with one of: {options}.",
            "Is the instrument acoustic, electronic or synthetic? Options: {options}.",
        ),
        ("acoustic", "electronic", "synthetic"),
        codec="mp3@16000",
    ),
    DataSet(
        "InstrumentClassification_Nsynth",
        _families,
        (
            "To which family does the instrument belong? Answer with one of: {options}.",
            "Name the instrument family. Options: {options}.",
        ),
        ("bass", "brass", "flute", "guitar", "keyboard", "mallet", "organ", "reed", "string", "vocal"),
        codec="ogg@16000",
    ),
    DataSet(
        "InstrumentCombinationRecognition-OpenMIC-2018",
        _combinations,
        _tag_prompts("instruments"),
        _OPENMIC,
        codec="ogg@44100",
    ),
    *folds(
        "MARBLEInstrumentClassification_MTGInstrument",
        5,
        _mtg_instruments,
        _tag_prompts("instruments"),
        options=_MTG_INSTRUMENT_TAGS,
        codec="mp3@44100",
    ),
    DataSet(
        "HEARMusicGenreClassification_ISMIR04",
        partial(
            _styled,
            pairs=(
                ("classical", "classical"),
                ("electronic", "electronic"),
                ("jazz_blues", "jazz"),
                ("metal_punk", "metal"),
                ("world", "world"),
            ),
        ),
        _GENRE_PROMPTS,
        ("classical", "electronic", "jazz_blues", "metal_punk", "rock_pop", "world"),
        codec="mp3@22050",
    ),
    DataSet(
        "MARBLEGenreClassification_GTZAN",
        partial(
            _styled,
            pairs=(("blues", "blues"), ("disco", "disco"), ("metal", "metal"), ("reggae", "reggae"), ("country", "country")),
        ),
        _GENRE_PROMPTS,
        ("blues", "classical", "country", "disco", "hiphop", "jazz", "metal", "pop", "reggae", "rock"),
        codec="ogg@22050",
    ),
    DataSet(
        "MusicGenreClassification_FMA",
        partial(
            _styled,
            pairs=(
                ("Rock", "rock"),
                ("Folk", "folk"),
                ("Hip-Hop", "hiphop"),
                ("Electronic", "techno"),
                ("Instrumental", "instrumental"),
            ),
        ),
        _GENRE_PROMPTS,
        ("Electronic", "Experimental", "Folk", "Hip-Hop", "Instrumental", "International", "Pop", "Rock"),
        codec="mp3@44100",
    ),
    *folds(
        "MARBLEGenreClassification_MTG-Genre",
        5,
        partial(
            _styled_fold,
            pairs=(
                ("jazz", "jazz"),
                ("electronic, techno", "techno"),
                ("metal, rock", "metal"),
                ("ambient", "ambient"),
                ("reggae", "reggae"),
            ),
        ),
        _tag_prompts("genres"),
        options=_MTG_GENRES,
        codec="mp3@22050",
    ),
    *folds(
        "MARBLEMusicTagging_MTGTop50",
        5,
        partial(
            _styled_fold,
            pairs=(
                ("classical, piano, violin", "classical"),
                ("electronic, synthesizer, techno", "techno"),
                ("drums, electricguitar, metal", "metal"),
                ("ambient, relaxing", "ambient"),
                ("guitar, instrumentalpop", "instrumental"),
            ),
        ),
        _tag_prompts("tags"),
        options=_TOP50,
        codec="ogg@22050",
    ),
    *folds(
        "MARBLEEmotionDetection_MTGMoodTheme",
        5,
        partial(
            _styled_fold,
            pairs=(
                ("happy, upbeat", "happy"),
                ("sad, slow", "sad"),
                ("epic, powerful", "epic"),
                ("calm, relaxing, soft", "calm"),
                ("dark, deep", "dark"),
            ),
        ),
        _tag_prompts("moods and themes"),
        options=_MOOD_TAGS,
        codec="opus@24000",
    ),
    DataSet(
        "MARBLEMusicTagging_MagnaTagATune",
        partial(
            _styled,
            pairs=(
                ("classical, violin, piano", "classical"),
                ("techno, electronic, fast, beat", "techno"),
                ("slow, cello, piano", "sad"),
                ("flute, harp, soft, quiet", "calm"),
                ("metal, loud, fast, drums", "metal"),
            ),
        ),
        _tag_prompts("tags"),
        _MAGNA,
        codec="mp3@16000",
    ),
    DataSet(
        "EmotionClassificaitonInSongs_EMOTIFY",
        _moods,
        (
            "Which emotion does the song evoke? Answer with one of: {options}.",
            "Choose the feeling that fits the song. Options: {options}.",
        ),
        ("amazement", "solemnity", "tenderness", "nostalgia", "calmness", "power", "joyful activation", "tension", "sadness"),
        codec="mp3@44100",
    ),
]
