"""Target ``answers``: whatever a model says is read and scored.

An input is an answer; after a record separator (U+001E) may follow options that the task offers, one after each.
"""

from __future__ import annotations

import json
import math
import random
import zlib
from collections.abc import Callable
from typing import Any

from dsb2_tasks import metrics, parse
from dsb2_tasks.audio import clean_answer, failure, read_failure
from dsb2_tasks.hooks import KINDS, LabelError
from dsb2_tasks.spec import TaskSpec

from ._target import Target, read_words, same_twice, spliced

_BASE = {"modality": "audio", "domain": "sound_event", "data": [{"path": "./clips"}]}
_PAIRS = "artist: the big fox, city: paris"
#: (kind, the metrics that are not counted, changes of the task, label).
_TASKS: tuple[tuple[str, frozenset[str], dict[str, Any], str], ...] = (
    ("choice", frozenset({"key_weighted"}), {"options": ["48", "60", "72"], "letters": True}, "60"),
    ("choice", frozenset({"pitch_acc", "chroma_acc"}), {"options": ["C major", "A minor", "C# minor"]}, "C# minor"),
    ("labels", frozenset(), {"options": ["dog", "cat", "cow"], "aliases": {"cow": ["cattle"]}}, "dog, cat"),
    ("transcript", frozenset(), {"language": "en"}, "the dog runs"),
    ("transcript", frozenset(), {"language": "zh"}, "我在听"),
    ("phonemes", frozenset(), {}, "HH AH0 L OW1"),
    ("translation", frozenset(), {"language": "de"}, "the dog runs over"),
    ("slots", frozenset(), {"options": ["artist", "city"]}, _PAIRS),
    ("entities", frozenset(), {}, "ORG: the fox, GPE: paris"),
    ("spans", frozenset(), {}, "0.5-1.2, 3.0-4.1"),
    ("tags", frozenset(), {}, "the dog runs / DET NOUN VERB"),
    ("turns", frozenset(), {}, "(spk1, 0.4, 5.2) (spk2, 1.0, 6.9)"),
    ("events", frozenset(), {"options": ["dog", "alarm bell"]}, "0.5-1.2 dog, 3.0-4.1 alarm bell"),
    ("notes", frozenset(), {}, "[(0.5, 1.0, 60), (1.0, 2.0, 64)]"),
    ("beats", frozenset(), {}, "[0.5, 1.0, 1.5]"),
    ("pitches", frozenset(), {}, "C4 D4 F#4"),
    ("number", frozenset(), {"number": {"minimum": 0, "maximum": 10, "unit": "s", "noun": ["steps"]}}, "7.5"),
    ("number", frozenset(), {}, "7"),
    ("text", frozenset(), {}, "a fox"),
)


def _spec(kind: str, without: frozenset[str], changes: dict[str, Any]) -> TaskSpec:
    first, *others = [name for name in KINDS[kind].rows if name not in without]
    return TaskSpec.model_validate({**_BASE, "kind": kind, "metric": first, "secondary": others, **changes})


def _doc(label: str) -> dict[str, Any]:
    return {"dsb2_prompt": "What?", "dsb2_label": [label], "dsb2_language": None, "audio": []}


_SCORED = [(_spec(kind, without, changes), _doc(label)) for kind, without, changes, label in _TASKS]
#: An input is scored by one in so many of them, which its bytes choose: all would take longer than all else.
_SHARE = 4
_OPTIONS = ("happy", "sad", "yes", "no", "one", "a", "C# minor", "[+back]", "2.0m", "no emotion", "MotherCall")
_READERS: dict[str, Callable[[str, tuple[str, ...]], tuple[Any, str]]] = {
    "choose_option": lambda text, options: parse.choose_option(text, options, aliases={options[0]: ["in tears"]}, letters=True),
    "choose_labels": lambda text, options: parse.choose_labels(text, options),
    "extract_number": lambda text, options: parse.extract_number(text, lo=0, hi=10, unit="s", noun="phones"),
    "extract_degrees": lambda text, options: parse.extract_number(text, lo=-180, hi=180, unit="deg", noun=options),
    "extract_any_number": lambda text, options: parse.extract_number(text),
    "extract_text": lambda text, options: parse.extract_text(text),
    "extract_transcript": lambda text, options: parse.extract_transcript(text),
    "parse_beats": lambda text, options: parse.parse_beats(text),
    "parse_entities": lambda text, options: parse.parse_entities(text, options),
    "parse_notes": lambda text, options: parse.parse_notes(text),
    "parse_pitches": lambda text, options: parse.parse_pitches(text),
    "parse_slots": lambda text, options: parse.parse_slots(text, options),
    "parse_slots_of_any_type": lambda text, options: parse.parse_slots(text),
    "parse_spans": lambda text, options: parse.parse_spans(text),
    "parse_tags": lambda text, options: parse.parse_tags(text, options),
    "parse_pos": lambda text, options: parse.parse_tags(text),
}


def check(data: bytes) -> None:
    """No reader and no kind raises, and what they give is of the promised kind."""
    answer, *more = data.decode("utf-8", "surrogateescape").split("\x1e")
    options = tuple(dict.fromkeys(filter(str.strip, more[:20]))) or _OPTIONS
    for name, read in _READERS.items():
        value, status = same_twice(lambda read=read: read(answer, options))  # type: ignore[misc]
        assert isinstance(status, str) and status, name
        _is_value(name, value, options)
    assert same_twice(lambda: parse.match_option(answer, options)) in (None, *options)
    assert parse.choose_option(answer, options) == parse.choose_option(answer, options[::-1])
    assert parse.read_pitch(answer) in (None, *range(128))
    _is_cleaned(answer)
    for spec, doc in _SCORED[zlib.crc32(data) % _SHARE :: _SHARE]:
        _is_scored(answer, spec, doc)
        _is_label(answer, spec)


def _is_value(name: str, value: Any, options: tuple[str, ...]) -> None:
    json.dumps(value, allow_nan=False)
    if name == "choose_option":
        assert value in (None, *options)
    elif name == "choose_labels":
        assert set(value) <= set(options) and len(set(value)) == len(value)
    elif name.startswith("extract_") and name not in ("extract_text", "extract_transcript"):
        assert value is None or (isinstance(value, float) and math.isfinite(value))
    elif name.startswith("extract_"):
        assert value is None or isinstance(value, str)
    elif name in ("parse_spans", "parse_notes"):
        assert all(0 <= entry[0] < entry[1] < math.inf for entry in value or ())


def _is_cleaned(answer: str) -> None:
    cleaned = parse.clean(answer)
    cleaned.encode()  # no lone surrogates
    assert cleaned == cleaned.strip()
    told = clean_answer(answer)
    assert read_failure(told) is None and clean_answer(told) == told
    assert read_failure(failure("model_error", answer)) == ("model_error", " ".join(answer.split()))


def _is_scored(answer: str, spec: TaskSpec, doc: dict[str, Any]) -> None:
    kind = KINDS[spec.kind]
    scored = kind.score(answer, doc, spec)
    assert set(scored.statistics) == set(kind.metrics(spec)) and scored.status
    json.dumps(scored.value, allow_nan=False)
    for name, row in scored.statistics.items():
        saved = json.loads(json.dumps(row, allow_nan=False))
        value = metrics.get(name).aggregate([saved])
        assert isinstance(value, float), (name, row)
        assert row is None or not math.isnan(value) or len(row) > 1 or name in ("pcc",), (name, row)


def _is_label(label: str, spec: TaskSpec) -> None:
    """A row of a data set that holds this text as its label is refused, or a perfect answer to it can be told and scored."""
    kind, doc = KINDS[spec.kind], _doc(label)
    try:
        kind.read_label(doc, spec)
    except LabelError:
        return
    kind.score(kind.reference_answer(doc, spec), doc, spec)


def _mutate(data: bytes, rnd: random.Random) -> bytes:
    """Words of an answer in another order, doubled or dropped; a line more."""
    words = data.split(b" ")
    at = rnd.randrange(len(words))
    how = rnd.randrange(5)
    if how == 0:
        rnd.shuffle(words)
    elif how == 1:
        words[at : at + 1] = [words[at], words[at]]
    elif how == 2:
        words.insert(at, rnd.choice(_WORDS).encode("utf-8", "surrogatepass"))
    elif how == 3:
        del words[at]
    else:
        return spliced(data, _WORDS, rnd)
    return b" ".join(words)


_WORDS = read_words("answers")

ANSWERS = Target("answers", check, _WORDS, _mutate, most=2048)
