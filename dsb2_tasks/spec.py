"""The strict model of a task's ``dsb2:`` block: one place that says what a task YAML may hold.

A task file is read by humans first.  Everything that this suite adds to lm-eval's own keys stands under
``dsb2:``; what repeats stands under ``dsb2_base:`` and ``dsb2_template:`` of the included templates.  :func:`read_spec`
merges the three, refuses unknown keys with a suggestion, and names file and key of every fault.
"""

from __future__ import annotations

import difflib
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

OFFICIAL_SUITE = "dsb2-phase2"
EXTRA_SUITE = "dsb2-2025"
#: Five data sets whose answers are audio; outside the 180.
GENERATION_SUITE = "dsb2-generation"

Modality = Literal["speech", "music", "audio"]
Kind = Literal[
    "choice",
    "labels",
    "transcript",
    "phonemes",
    "translation",
    "slots",
    "entities",
    "spans",
    "tags",
    "turns",
    "events",
    "notes",
    "beats",
    "pitches",
    "number",
    "text",
    "waveform",
]

Normalizer = Literal[
    "none", "official_port", "superb", "whisper_en", "hf_leaderboard", "norm_multi", "norm_ar", "norm_mixed", "norm_zh"
]

#: The 17 domains of the paper: slug -> (modality, title).
DOMAINS: dict[str, tuple[Modality, str]] = {
    "speech_recognition": ("speech", "Speech Recognition"),
    "spoken_language_understanding": ("speech", "Spoken Language Understanding"),
    "phonetics_phonology_prosody": ("speech", "Phonetics, Phonology, and Prosody"),
    "speech_enhancement": ("speech", "Speech Enhancement"),
    "paralinguistics": ("speech", "Paralinguistics"),
    "speaker_and_language": ("speech", "Speaker and Language"),
    "safety_and_security": ("speech", "Safety and Security"),
    "speech_voice_hearing_disorder": ("speech", "Speech, Voice, and Hearing Disorder"),
    "music_classification": ("music", "Music Classification"),
    "harmony_and_pitch": ("music", "Harmony and Pitch"),
    "singing_analysis": ("music", "Singing Analysis"),
    "rhythm_analysis": ("music", "Rhythm Analysis"),
    "sound_event": ("audio", "Sound Event"),
    "spatial_audio": ("audio", "Spatial Audio"),
    "audio_safety": ("audio", "Safety"),
    "signal_characteristics": ("audio", "Signal Characteristics"),
    "quality_assessment": ("audio", "Quality Assessment"),
}


def _brief(text: str) -> str:
    """A text for a message, which may be of any length."""
    return text if len(text) <= 80 else text[:77] + "..."


@dataclass(frozen=True)
class KeyFault:
    """One fault of a ``dsb2:`` block: the way to its key (``("data", 0, "path")``), what is wrong, and what to do if known."""

    key: tuple[str | int, ...]
    cause: str
    fix: str = ""

    def __str__(self) -> str:
        way = ".".join(("dsb2", *(_brief(str(part)) for part in self.key)))
        return f"{way}: {self.cause}" + (f"; {self.fix}" if self.fix else "")


class SpecError(ValueError):
    """A task file is wrong; the message names file, key and fix.

    Attributes:
        faults: The same key by key, where the ``dsb2:`` block is wrong.
        line: Line of the file, counted from 1, where it is no YAML.
    """

    def __init__(self, message: str, *, faults: tuple[KeyFault, ...] = (), line: int | None = None) -> None:
        super().__init__(message)
        self.faults, self.line = faults, line


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


#: Bytes of a part of a path on any disk.
_LONGEST_PART = 255


class DataSource(_Strict):
    """One data set (or one fold or part) that a task reads.

    Attributes:
        path: Hub name ``org/name``, or a folder beginning with ``.`` or ``/`` (relative to the YAML file).
        revision: Full 40-digit commit where known; the hub's ``main`` otherwise.
        split: Split that is evaluated.
        config: Configuration (subset) name of the data set, if it has several.
        language: ISO 639-1 code of this part, where parts differ (overrides the task's ``language``).
    """

    path: str = Field(min_length=1)
    revision: str | None = Field(default=None, pattern=r"^[0-9a-f]{40}$")
    split: str = "test"
    config: str | None = None
    language: str | None = None

    @field_validator("path")
    @classmethod
    def _is_a_name(cls, path: str) -> str:
        seen = all(sign.isprintable() or unicodedata.category(sign) == "Zs" for sign in path)  # Zs: spaces of any width
        if not seen or any(len(part.encode()) > _LONGEST_PART for part in path.split("/")):
            raise ValueError(f"neither a data set nor a folder can have the name {path!r:.80}")
        return path

    @property
    def is_local(self) -> bool:
        """Whether ``path`` is a folder beside the YAML instead of a hub name."""
        return self.path.startswith((".", "/", "~"))


class NumberSpec(_Strict):
    """What a number task asks for.

    Attributes:
        minimum: Smallest value that the prompt allows, in the task's unit; None where it states none.
        maximum: Largest value that the prompt allows.
        integer: Whether references are whole numbers.
        unit: Unit of the reference: ``s`` seconds, ``m`` metres, ``deg`` degrees, ``percent``, None for a bare count or score.
        noun: Words that may follow the number in an answer ("6 phones").
    """

    minimum: float | None = Field(default=None, allow_inf_nan=False)
    maximum: float | None = Field(default=None, allow_inf_nan=False)
    integer: bool = False
    unit: Literal["s", "m", "deg", "percent"] | None = None
    noun: tuple[str, ...] = ()


class TaskSpec(_Strict):
    """Everything about one task that lm-eval's own keys do not say.

    Attributes:
        suite: ``dsb2-phase2`` for the 180, ``dsb2-2025`` for the seven extras, ``dsb2-generation`` for the five with audio as
            output, any other name for community tasks.
        instance: Official instance name, if the task is of an official list.
        modality: speech, music or audio.
        domain: One of :data:`DOMAINS`; community tasks may name their own.
        kind: Output kind: how an answer is read.
        metric: Primary metric.
        metric_assumed: True where only the name of the authors' metric function is known, not its form.
        secondary: Further metrics, in the order shown.
        data: Data sets read as one, in order.
        audio: Audio columns in clip order; an inner list holds alternative names of the same clip.
        reference_audio: Audio columns with the right answer (kind ``waveform``), one a source, written like ``audio``; a model
            never hears them.
        channels: ``mono`` mixes down for mono models, ``keep`` marks spatial tasks.
        instruction: Column that holds the instruction.
        prompt: Fixed instruction for data without such a column.
        context: Text columns shown below the instruction unless it already contains them.
        hidden: Columns that a model must never see.
        label: Reference column, or several that are read until the first empty one.
        options: The closed set of labels (choice, labels), types (slots, entities) or tags (tags); ``labels`` takes the
            distinct labels of the split; None means open.
        aliases: Further accepted wordings per option.
        letters: Whether the prompt letters its options.
        language: ISO 639-1 code of the speech or text, where it is one language.
        normalizer: Name of a text normaliser; None chooses by language.
        number: Form of the number asked for (kind ``number``).
        rows: Number of rows of the split, where known.
        licence: Licence of the data as far as known, ``unknown`` otherwise.
        source: Where the facts of this file come from.
        confidence: How well the facts are backed.
        author_metric: Name of the metric function in the authors' own code.
        replaced: Earlier or differently named data sets; never read.
        note: Anything a user of the task must know.
        citation: What to cite.
    """

    suite: str = Field(default="community", pattern=r"^[a-z0-9][a-z0-9._-]*$")
    instance: str | None = None
    modality: Modality
    domain: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    kind: Kind
    metric: str
    metric_assumed: bool = False
    secondary: tuple[str, ...] = ()
    data: tuple[DataSource, ...] = Field(min_length=1)
    audio: tuple[str | tuple[str, ...], ...] = ("audio",)
    reference_audio: tuple[str | tuple[str, ...], ...] = ()
    channels: Literal["mono", "keep"] = "mono"
    instruction: str = "instruction"
    prompt: str | None = None
    context: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    label: str | tuple[str, ...] = "label"
    options: tuple[str, ...] | Literal["labels"] | None = None
    aliases: dict[str, tuple[str, ...]] = Field(default_factory=dict)
    letters: bool = False
    language: str | None = None
    normalizer: Normalizer | None = None
    number: NumberSpec | None = None
    rows: int | None = Field(default=None, ge=1)
    licence: str = "unknown"
    source: str = ""
    confidence: Literal["high", "medium", "low"] = "medium"
    author_metric: str | None = None
    replaced: tuple[str, ...] = ()
    note: str | None = None
    citation: str | None = None

    @field_validator("options", mode="before")
    @classmethod
    def _options_are_text(cls, value: Any) -> Any:
        # YAML reads yes, no, on, off and digits as booleans and numbers; an option is always text, so say which one to quote.
        if isinstance(value, list):
            for item in value:
                if not isinstance(item, str):
                    raise ValueError(f"option {item!r} is a {type(item).__name__}, not text: put it in quotes")
        return value

    @model_validator(mode="after")
    def _consistent(self) -> TaskSpec:
        if self.domain in DOMAINS and DOMAINS[self.domain][0] != self.modality:
            raise ValueError(f"domain {self.domain!r} belongs to modality {DOMAINS[self.domain][0]!r}, not {self.modality!r}")
        if self.suite in (OFFICIAL_SUITE, EXTRA_SUITE) and self.domain not in DOMAINS:
            raise ValueError(f"domain {self.domain!r} is none of the 17: {', '.join(sorted(DOMAINS))}")
        if (self.kind == "waveform") != bool(self.reference_audio):
            raise ValueError("kind 'waveform' and the key 'reference_audio' (columns with the right audio) need each other")
        if told := {c for names in self.audio_columns for c in names} & {c for names in self.reference_columns for c in names}:
            raise ValueError(f"columns in audio and in reference_audio, so a model would hear the answer: {sorted(told)}")
        if isinstance(self.options, tuple):
            if len(set(self.options)) != len(self.options):
                twice = sorted(option for option, times in Counter(self.options).items() if times > 1)
                raise ValueError(f"options listed twice: {_some(twice)}")
            unknown = sorted(set(self.aliases) - set(self.options))
            if unknown:
                raise ValueError(f"aliases for what is no option: {_some(unknown)}")
        return self

    @property
    def audio_columns(self) -> tuple[tuple[str, ...], ...]:
        """Clip positions in order, each a tuple of alternative column names."""
        return _alternatives(self.audio)

    @property
    def reference_columns(self) -> tuple[tuple[str, ...], ...]:
        """Reference clips in order, each a tuple of alternative column names."""
        return _alternatives(self.reference_audio)

    @property
    def has_audio(self) -> bool:
        """Whether documents have clips, to hear or to compare with."""
        return bool(self.audio or self.reference_audio)

    @property
    def label_columns(self) -> tuple[str, ...]:
        """Label columns in reading order."""
        return (self.label,) if isinstance(self.label, str) else self.label


def _some(names: list[str]) -> str:
    """Names for a message, not all of thousands."""
    return ", ".join(f"{name!r:.80}" for name in names[:10]) + (f" and {len(names) - 10} more" if len(names) > 10 else "")


def _alternatives(columns: tuple[str | tuple[str, ...], ...]) -> tuple[tuple[str, ...], ...]:
    return tuple((c,) if isinstance(c, str) else c for c in columns)


def _suggestion(name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.6)
    return f"did you mean {near[0]!r}?" if near else f"known keys: {', '.join(sorted(known))}"


#: Faults of one file that a message names.
_MOST_FAULTS = 20
_NESTED: dict[str, type[BaseModel]] = {"data": DataSource, "number": NumberSpec}


def read_spec(config: dict[str, Any], where: str | Path) -> TaskSpec:
    """Builds the specification of a task from its YAML mapping.

    Args:
        config: The mapping of the task file after includes are merged; read are ``dsb2_template`` (from the
            template) and ``dsb2`` (from the task itself, which wins).
        where: File name for messages.

    Returns:
        The checked specification.

    Raises:
        SpecError: A key is unknown, missing or has a wrong value; the message lists every fault with file, key and,
            for unknown keys, the nearest known one.
    """
    own = config.get("dsb2")
    if not isinstance(own, dict):
        raise SpecError(f"{where}: key 'dsb2' is missing or no mapping; a dsb2 task needs a 'dsb2:' block")
    merged = dict(own)
    for block in ("dsb2_template", "dsb2_base"):
        given = config.get(block) or {}
        if not isinstance(given, dict):
            raise SpecError(f"{where}: {block}: a mapping is needed, found {type(given).__name__}")
        merged = {**given, **merged}
    try:
        return TaskSpec.model_validate(merged)
    except ValidationError as error:
        faults = tuple(_key_fault(detail) for detail in error.errors())
        more = [f"{where}: {len(faults) - _MOST_FAULTS} more faults"] if len(faults) > _MOST_FAULTS else []
        raise SpecError("\n".join([*(f"{where}: {fault}" for fault in faults[:_MOST_FAULTS]), *more]), faults=faults) from None


def _nearest(given: object, expected: str) -> str | None:
    """The choice that a wrong value is nearest to; ``expected`` is pydantic's list of them: ``'a', 'b' or 'c'``."""
    near = difflib.get_close_matches(str(given)[:80], re.findall(r"'([^']*)'", expected), n=1)
    return near[0] if near else None


def _key_fault(detail: ErrorDetails) -> KeyFault:
    key = detail["loc"]
    if detail["type"] == "extra_forbidden":
        model = _NESTED.get(str(key[0]), TaskSpec) if len(key) > 1 else TaskSpec
        return KeyFault(key, "unknown key", _suggestion(str(key[-1]), list(model.model_fields)))
    if detail["type"] == "missing":
        return KeyFault(key, "key is missing")
    shown = _brief(repr(detail.get("input")))
    if detail["type"] == "literal_error" and (near := _nearest(detail["input"], detail["ctx"]["expected"])):
        return KeyFault(key, f"{detail['msg']} (value: {shown})", f"did you mean {near!r}?")
    value = f" (value: {shown})" if key else ""  # a fault of several keys together names them itself
    return KeyFault(key, detail["msg"].removeprefix("Value error, ") + value)
