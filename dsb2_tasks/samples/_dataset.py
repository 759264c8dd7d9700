"""The declarative form of a sample data set, and how it becomes a parquet file."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dsb2_tasks.samples._encode import Clip, encode
from dsb2_tasks.samples._signal import Rng, Sound

if TYPE_CHECKING:
    import pyarrow as pa

# Containers and rates are mixed on purpose, as in the real sets: the samples are also a test of decoding.
_CODECS = ("mp3@16000", "ogg@16000", "mp3@22050", "opus@16000", "mp3@24000", "ogg@22050", "mp3@16000", "ogg@24000")


@dataclass(frozen=True)
class Row:
    """One document.

    Attributes:
        label: The reference; None where ``more`` brings several label columns.
        clips: One signal for each audio column.
        more: Further columns by name.
        ask: Texts for the ``{placeholders}`` of the prompt.
    """

    label: str | int | bool | None
    clips: tuple[Sound | Clip, ...] = ()
    more: dict[str, str | None] = field(default_factory=dict)
    ask: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class DataSet:
    """One data set of the hub (or one fold or part) and how its samples are made.

    Attributes:
        name: Name on the hub, without the organisation.
        rows: Makes the documents; draws from the generator are the same at every build.
        prompts: Wordings of the instruction, used in turn.  ``{options}`` stands for the list of options.
        options: The choices that the instruction names.
        audio: Names of the audio columns.
        codec: ``format@rate`` of the files; one of a fixed rotation by default.
        file_columns: Names of the columns with file names, for the first audio columns.
        suffix: Whether file names carry one.
        first_prompt: Number of the first document's wording.
    """

    name: str
    rows: Callable[[Rng], Iterable[Row]]
    prompts: Sequence[str]
    options: Sequence[str] = ()
    audio: Sequence[str] = ("audio",)
    codec: str | None = None
    file_columns: Sequence[str] = ("file",)
    suffix: bool = True
    first_prompt: int = 0

    @property
    def path(self) -> str:
        """Place under the root of the samples, which is the name on the hub."""
        return f"DynamicSuperb/{self.name}"


def folds(
    name: str, count: int, rows: Callable[[Rng, int], Iterable[Row]], prompts: Sequence[str], **settings: Any
) -> list[DataSet]:
    """A task that comes in folds; ``rows`` gets the number of the fold, from 0."""

    def maker(fold: int) -> Callable[[Rng], Iterable[Row]]:
        return lambda rng: rows(rng, fold)

    return [DataSet(f"{name}-Fold{fold + 1}", maker(fold), prompts, first_prompt=fold, **settings) for fold in range(count)]


def table(data_set: DataSet) -> pa.Table:
    """Makes the documents of a data set.

    Returns:
        A table with file names, audio, instruction, label and further columns, and the description of its columns that
        ``datasets`` reads from the schema.
    """
    import pyarrow as pa

    seed = zlib.crc32(data_set.name.encode())
    codec = data_set.codec or _CODECS[seed % len(_CODECS)]
    documents = [_document(data_set, number, row, codec) for number, row in enumerate(data_set.rows(np.random.default_rng(seed)))]
    names = list(dict.fromkeys(key for document in documents for key in document))
    columns, features = {}, {}
    for name in names:
        values = [document.get(name) for document in documents]
        if name in data_set.audio:
            kind = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
            features[name] = {"_type": "Audio"}
        else:
            found = {type(value) for value in values if value is not None}
            kind = pa.int64() if found == {int} else pa.bool_() if found == {bool} else pa.string()
            features[name] = {"dtype": str(kind), "_type": "Value"}
        columns[name] = pa.array(values, kind)
    description = json.dumps({"info": {"features": features}})
    return pa.table(columns).replace_schema_metadata({"huggingface": description})


def _document(data_set: DataSet, number: int, row: Row, codec: str) -> dict[str, Any]:
    if len(row.clips) != len(data_set.audio):
        raise ValueError(f"{data_set.name} row {number}: {len(row.clips)} clips for the columns {list(data_set.audio)}")
    stem = f"{data_set.name.lower()}_{number:03d}"
    document: dict[str, Any] = {} if row.clips else {data_set.file_columns[0]: stem}
    for position, (column, clip) in enumerate(zip(data_set.audio, row.clips, strict=True)):
        data, suffix = encode(clip if isinstance(clip, Clip) else Clip(clip), codec)
        base = stem if len(row.clips) == 1 else f"{stem}_{position + 1}"
        if position < len(data_set.file_columns):
            document[data_set.file_columns[position]] = f"{base}.{suffix}" if data_set.suffix else base
        document[column] = {"bytes": data, "path": f"{base}.{suffix}"}
    prompt = data_set.prompts[(data_set.first_prompt + number) % len(data_set.prompts)]
    document["instruction"] = prompt.format(options=", ".join(data_set.options), **row.ask)
    if row.label is not None:
        document["label"] = row.label
    return {**document, **row.more}
