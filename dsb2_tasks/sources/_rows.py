"""What every kind of source gives: text columns in memory, audio bytes on demand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsb2_tasks.audio import AudioError, AudioSource, RawAudio

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa


#: Bytes of the largest clip that is read: as many samples as are decoded at once, 32 bits each, and room for a head.
_MOST_BYTES = (1 << 31) + (1 << 20)


class DataError(RuntimeError):
    """Data cannot be opened or have another shape than the task says; the message names data set, place and fix."""


@dataclass(frozen=True)
class Rows:
    """One split of one data set.

    Attributes:
        repo: Name that handles carry; never an absolute path.
        revision: Commit, ``main``, ``samples`` or ``local``.
        split: Name of the split.
        columns: Text columns by name, each with one value a row.
        audio_columns: Names of the audio columns.
        audio: Reads the file bytes of one clip.
    """

    repo: str
    revision: str
    split: str
    columns: dict[str, list[Any]]
    audio_columns: tuple[str, ...]
    audio: AudioSource
    length: int

    def __len__(self) -> int:
        return self.length


def raw_audio(value: Any, place: str, folders: Sequence[Path] = ()) -> RawAudio:
    """The bytes behind one cell of an audio column.

    Args:
        value: ``{"bytes": ..., "path": ...}`` as datasets stores audio, or a path.
        place: Data set, row and column for messages.
        folders: Folders that a path may lie in; relative ones start from the first.  Data are strangers' work, so a path
            that leads anywhere else, or to a device, is not opened.

    Raises:
        AudioError: The cell is empty, or its file cannot or must not be read.
    """
    if isinstance(value, Mapping):
        data, path = value.get("bytes"), value.get("path")
    else:
        data, path = None, value
    if data is not None:
        if not isinstance(data, bytes):  # bytes() makes a billion zeros of the number 10**9
            raise AudioError(f"{place}: the cell's bytes are of type {type(data).__name__}")
        return RawAudio(data, Path(str(path)).name if path else "")
    if not path:
        raise AudioError(f"{place}: the cell holds neither bytes nor a path")
    try:
        file = Path(*folders[:1], str(path))
        if ".." in file.parts or not any(file.absolute().is_relative_to(folder.absolute()) for folder in folders):
            raise AudioError(f"{place}: the cell holds no bytes, and its path {str(path)!r} leads out of the data set's folder")
        if not file.is_file():
            raise FileNotFoundError(0, "no such file")
        size = file.stat().st_size
        if size > _MOST_BYTES:
            raise AudioError(f"{place}: {str(path)!r} has {size} bytes, more than the {_MOST_BYTES} that are read of a clip")
        # Files of the system, to which a link may lead, state no size; some of them wait, and none is a clip.
        return RawAudio(file.read_bytes() if size else b"", file.name)
    except (OSError, ValueError) as error:
        raise AudioError(f"{place}: {str(path)!r} cannot be read ({getattr(error, 'strerror', None) or error})") from None


class DatasetAudio:
    """Clips of a ``datasets.Dataset`` whose audio columns are cast to ``decode=False`` (memory-mapped, not in memory)."""

    def __init__(self, dataset: datasets.Dataset, name: str, folders: Sequence[Path]) -> None:
        self._columns = {column: dataset.select_columns([column]) for column in dataset.column_names}
        self._name, self._folders = name, folders

    def read(self, row: int, column: str) -> RawAudio:
        """Reads the file bytes of one clip."""
        return raw_audio(self._columns[column][row][column], f"{self._name} row {row} column {column!r}", self._folders)


class ParquetAudio:
    """Clips of one small parquet file, read again when asked: the embedded samples, some 50 kB each."""

    def __init__(self, path: Path, name: str) -> None:
        self._path, self._name = path, name

    def read(self, row: int, column: str) -> RawAudio:
        """Reads the file bytes of one clip."""
        return raw_audio(_parquet_column(self._path, column)[row].as_py(), f"{self._name} row {row} column {column!r}")


@lru_cache(maxsize=8)
def _parquet_column(path: Path, column: str) -> pa.ChunkedArray:
    import pyarrow.parquet as pq

    return pq.read_table(path, columns=[column]).column(column)


class FolderAudio:
    """Clips of a folder, named in its metadata file; every path was checked to lie inside the folder."""

    def __init__(self, folder: Path, paths: dict[str, list[str | None]], name: str) -> None:
        self._folder, self._paths, self._name = folder, paths, name

    def read(self, row: int, column: str) -> RawAudio:
        """Reads the file bytes of one clip."""
        return raw_audio(self._paths[column][row], f"{self._name} row {row} column {column!r}", (self._folder,))
