"""Opens one data source in one of three places."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import logging
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dsb2_tasks.sources._prefetch import bring, fetched_folder, reason, unreachable
from dsb2_tasks.sources._rows import DataError, DatasetAudio, FolderAudio, ParquetAudio, Rows
from dsb2_tasks.spec import DataSource

if TYPE_CHECKING:
    import datasets
    import pyarrow as pa

log = logging.getLogger(__name__)

_METADATA_FILES = ("metadata.jsonl", "metadata.csv")
_SPLIT_NAMES = frozenset({"train", "training", "validation", "valid", "val", "dev", "test", "eval"})


def check_data(data: str) -> None:
    """Refuses what cannot be meant by ``data``, before anything is opened.

    Raises:
        DataError: It is neither ``hub`` nor ``samples`` nor a folder.
    """
    if data in ("hub", "samples"):
        return
    try:
        there = Path(data).expanduser().is_dir()
    except (OSError, RuntimeError, ValueError):  # a name that is too long, a ~user there is not, a NUL
        there = False
    if not there:
        raise DataError(f"data={data!r:.300} is neither 'hub' nor 'samples' nor an existing folder (in --metadata data=...)")


def open_rows(source: DataSource, data: str, base: Path, owner: str) -> Rows:
    """Opens the split of a data source.

    Args:
        source: The data set as the task names it.
        data: ``hub``, ``samples`` or a folder that mirrors the hub as ``<org>/<name>/``.  A source that is itself a
            folder beside the task file is read from there whatever this says.
        base: Folder of the task file.
        owner: Task name; keeps handles of two tasks' local folders apart.

    Returns:
        The rows; audio is read on demand.

    Raises:
        DataError: The data cannot be opened; the message says how else to get them.
    """
    if source.is_local:
        folder = (base / Path(source.path).expanduser()).resolve()
        return _open_folder(source, folder, f"{owner}/{Path(source.path).name}")
    if data == "hub":
        return _open_hub(source, owner)
    if data == "samples":
        return _open_samples(source)
    check_data(data)
    root = Path(data).expanduser()
    if _leads_out(source.path):
        raise DataError(f"data set name {source.path!r} leads out of the folder {root}")
    return _open_folder(source, (root / source.path).absolute(), source.path)


def _leads_out(path: str) -> bool:
    """Whether a relative path climbs out of its folder as written; links inside are the owner's business."""
    return "\0" in path or Path(path).is_absolute() or Path(os.path.normpath(path)).parts[:1] == (os.pardir,)


def _revision(folder: Path) -> str:
    """Names one folder in handles without its absolute path, so that two folders of one name are kept apart."""
    return f"local-{hashlib.sha256(str(folder).encode(errors='surrogatepass')).hexdigest()[:8]}"


def _open_hub(source: DataSource, owner: str) -> Rows:
    import datasets
    from huggingface_hub.constants import HF_HUB_CACHE

    try:
        folder = _fetched(source)
        if folder is None:
            dataset = datasets.load_dataset(source.path, source.config, split=source.split, revision=source.revision)
        else:
            dataset = datasets.load_dataset(str(folder), source.config, split=source.split)
    except Exception as error:  # the hub client raises a dozen unrelated types: offline, gated, gone, broken, no such split
        raise DataError(
            f"{owner}: data set {source.path!r} (revision {source.revision or 'main'}, split {source.split!r}) cannot be opened: "
            f"{reason(error, source.path)}\n"
            f"Ways out: with a connection, run again without HF_HUB_OFFLINE or fetch it once by 'dsb2 prefetch {owner}'; "
            f"without one, --metadata data=/folder (holding {source.path}/*.parquet or clips with metadata.jsonl), "
            f"or --metadata data=samples for the embedded samples (not results of the benchmark)"
        ) from None
    split = f"{source.config}/{source.split}" if source.config else source.split
    # Where datasets itself puts what it fetches; a path in a cell may lead there, and nowhere else.
    folders = tuple(map(Path, (HF_HUB_CACHE, datasets.config.HF_DATASETS_CACHE)))
    return _from_dataset(dataset, source.path, source.revision or "main", split, folders)


def _fetched(source: DataSource) -> Path | None:
    """Where a data set lies as a whole; None where datasets itself shall look for it."""
    import datasets

    # A repository of several configs may be a hundred times what is needed of it; datasets itself fetches the one.
    if datasets.config.HF_HUB_OFFLINE or source.config is not None:
        return fetched_folder(source)
    try:
        return bring(source)
    except Exception as error:
        if not unreachable(error):
            raise
        log.warning("%s: the hub cannot be reached; what lies in the cache of datasets is taken, if anything", source.path)
        return None


def _from_dataset(dataset: datasets.Dataset, repo: str, revision: str, split: str, folders: tuple[Path, ...]) -> Rows:
    import datasets

    audio = tuple(name for name, feature in dataset.features.items() if _is_audio(feature))
    for name in audio:
        if isinstance(dataset.features[name], datasets.Audio):
            dataset = dataset.cast_column(name, datasets.Audio(decode=False))
    text = [name for name in dataset.column_names if name not in audio]
    columns = dataset.select_columns(text).to_dict() if text else {}
    for name in text:
        if isinstance(feature := dataset.features[name], datasets.ClassLabel):
            columns[name] = [None if value is None else feature.int2str(value) for value in columns[name]]
    return Rows(repo, revision, split, columns, audio, DatasetAudio(dataset, repo, folders), len(dataset))


def _is_audio(feature: Any) -> bool:
    """Whether a column holds clips: datasets' Audio, or the bare ``{bytes, path}`` it is stored as."""
    return type(feature).__name__ == "Audio" or (isinstance(feature, dict) and set(feature) == {"bytes", "path"})


def _open_samples(source: DataSource) -> Rows:
    import pyarrow.parquet as pq

    from dsb2_tasks import samples

    path = samples.root() / source.path / "test.parquet"
    if not path.is_file():
        raise DataError(f"there are no embedded samples of {source.path!r}; use --metadata data=hub or data=/folder")
    schema = pq.read_schema(path)
    audio = tuple(field.name for field in schema if _is_audio_struct(field.type))
    columns = pq.read_table(path, columns=[name for name in schema.names if name not in audio]).to_pydict()
    rows = pq.read_metadata(path).num_rows
    return Rows(source.path, "samples", source.split, columns, audio, ParquetAudio(path, source.path), rows)


def _is_audio_struct(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return pa.types.is_struct(kind) and {f.name for f in kind} == {"bytes", "path"}


def _open_folder(source: DataSource, folder: Path, repo: str) -> Rows:
    if not folder.is_dir():
        raise DataError(
            f"data set {source.path!r}: folder {folder} does not exist; it would hold parquet files of split "
            f"{source.split!r}, or clips with {' or '.join(_METADATA_FILES)}"
        )
    root = folder / source.config if source.config and (folder / source.config).is_dir() else folder
    for place in (root / source.split, root):
        for name in _METADATA_FILES:
            if (place / name).is_file():
                return _open_clips(place / name, repo, _revision(root), source.split)
    files = _parquet_files(root, source.split)
    if not files:
        raise DataError(
            f"data set {source.path!r}: {folder} holds neither parquet files of split {source.split!r} nor clips with "
            f"{' or '.join(_METADATA_FILES)}"
        )
    import datasets

    if not sys.stderr.isatty():
        datasets.disable_progress_bars()
    paths = [str(f) for f in files]
    try:
        dataset = datasets.load_dataset("parquet", data_files={source.split: paths}, split=source.split)
    except Exception as error:  # pyarrow, datasets and OS errors alike mean: this file is no readable parquet
        cause = error.__cause__ or error
        raise DataError(f"data set {source.path!r}: {', '.join(paths)} cannot be read: {type(cause).__name__}: {cause}") from None
    return _from_dataset(dataset, repo, _revision(root), source.split, (root,))


def _parquet_files(root: Path, split: str) -> list[Path]:
    """Parquet files of a split: by file name (``test-00000-of-00001``), by folder name, or all if none names a split."""
    files = sorted(root.rglob("*.parquet"))

    known = {*_SPLIT_NAMES, split.casefold()}

    def named(path: Path) -> set[str]:
        names = [path.stem, *(p.name for p in path.parents if root in p.parents)]
        return {part for name in names for part in re.split(r"[-_.\s]", name.casefold())} & known

    wanted = [f for f in files if split.casefold() in named(f)]
    return wanted or [f for f in files if not named(f)]


def _open_clips(metadata: Path, repo: str, revision: str, split: str) -> Rows:
    records = _read_metadata(metadata)
    names = list(dict.fromkeys(key for record in records for key in record))
    folder = metadata.parent
    columns: dict[str, list[Any]] = {}
    audio: dict[str, list[str | None]] = {}
    for name in names:
        values = [record.get(name) for record in records]
        if name == "file_name":
            audio["audio"] = values
        elif name.endswith("_file_name"):
            audio[name.removesuffix("_file_name")] = values
        else:
            columns[name] = values
    if not audio:
        raise DataError(f"{metadata}: column 'file_name' is missing; found {', '.join(names) or 'no columns'}")
    for column, values in audio.items():
        for row, value in enumerate(values):
            if value and _leads_out(str(value)):
                raise DataError(f"{metadata}: row {row}: {value!r} (clip {column!r}) leads out of the folder {folder}")
    return Rows(repo, revision, split, columns, tuple(audio), FolderAudio(folder, audio, repo), len(records))


def _read_metadata(path: Path) -> list[dict[str, Any]]:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as UTF-8 text ({error})") from None
    if path.suffix == ".csv":
        return _read_csv(path, text)
    records = []
    for number, line in enumerate(text.split("\n"), 1):  # not splitlines: JSON text may hold U+2028 and its like
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise DataError(f"{path}: line {number}: not valid JSON ({error})") from None
        if not isinstance(record, dict):
            raise DataError(f"{path}: line {number}: an object is needed, found {type(record).__name__}")
        records.append(record)
    return records


def _read_csv(path: Path, text: str) -> list[dict[str, Any]]:
    reader = csv.DictReader(io.StringIO(text, newline=""))
    records = []
    try:
        for record in reader:
            if None in record:
                raise DataError(f"{path}: line {reader.line_num}: more cells than the header has columns")
            records.append(dict(record))
    except csv.Error as error:
        raise DataError(f"{path}: line {reader.line_num}: not valid CSV ({error})") from None
    return records
