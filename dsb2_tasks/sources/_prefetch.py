"""Data sets fetched ahead: whole snapshots of the hub at the task's revision, opened from disk from then on.

Offline, ``datasets`` takes whatever it has prepared last of a data set, of any revision, and says so in a log line.  So what
is fetched here is written down (a record beside the hub's own cache of the data set: commit, files, sizes), and is opened
only where every file of the record is there in full.
"""

from __future__ import annotations

import errno
import json
import shutil
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dsb2_tasks.sources._rows import DataError
from dsb2_tasks.spec import DataSource

_T = TypeVar("_T")

#: Seconds before each further attempt, to ask and to fetch.
_ASK_WAITS, _FETCH_WAITS = (1.0, 3.0), (2.0, 8.0, 30.0)
_TIMEOUT_SECONDS = 20.0
_AT_ONCE = 8


@dataclass(frozen=True)
class Remote:
    """What the hub says of one data set at one revision.

    Attributes:
        path: Name on the hub.
        revision: Revision that the task names; None for the hub's ``main``.
        commit: The commit that this is.
        files: Size in bytes of every file.
    """

    path: str
    revision: str | None
    commit: str
    files: dict[str, int]

    @property
    def label(self) -> str:
        """Name and revision for people."""
        return _label(self.path, self.revision)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())

    @property
    def missing(self) -> int:
        """Bytes of the files that are not here yet."""
        folder = _folder(self.path) / "snapshots" / self.commit
        return sum(size for name, size in self.files.items() if _length(folder / name) != size)


def plan(sources: Iterable[DataSource], done: Callable[[], object] = lambda: None) -> tuple[list[Remote], dict[str, str]]:
    """Asks the hub for commit and sizes of data sets.

    Args:
        sources: Data sources; those of one data set and revision are asked for once, local folders not at all.
        done: Called after each.

    Returns:
        What there is, in order; and for every data set that cannot be had its name and why.

    Raises:
        DataError: ``HF_HUB_OFFLINE`` is set.
    """
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        raise DataError("HF_HUB_OFFLINE is set, so nothing can be fetched; unset it for this command")
    wanted = list(dict.fromkeys((source.path, source.revision) for source in sources if not source.is_local))

    def ask(name: tuple[str, str | None]) -> Remote | str:
        try:
            return _insist(lambda: _ask(*name), _ASK_WAITS)
        except Exception as error:  # whatever the hub's client raises: the other sets go on
            return _reason(error)
        finally:
            done()

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        answers = list(pool.map(ask, wanted))
    found = [answer for answer in answers if isinstance(answer, Remote)]
    return found, {_label(*name): answer for name, answer in zip(wanted, answers, strict=True) if isinstance(answer, str)}


def _ask(path: str, revision: str | None) -> Remote:
    from huggingface_hub import HfApi

    info = HfApi().dataset_info(path, revision=revision, files_metadata=True, timeout=_TIMEOUT_SECONDS)
    files = {file.rfilename: int(file.size or 0) for file in info.siblings or ()}
    if not info.sha or not files:
        raise DataError("the hub names no commit or no files of it")
    return Remote(path, revision, info.sha, files)


def fetch(remote: Remote) -> None:
    """Fetches what is missing of a data set; goes on where an earlier attempt stopped.

    Raises:
        DataError: It cannot be fetched; the message says why.
    """
    from huggingface_hub import snapshot_download

    folder = _folder(remote.path) / "snapshots" / remote.commit
    try:
        if remote.missing:
            _insist(
                lambda: snapshot_download(remote.path, repo_type="dataset", revision=remote.commit, max_workers=_AT_ONCE),
                _FETCH_WAITS,
            )
    except Exception as error:  # the hub client raises a dozen unrelated types
        raise DataError(_reason(error)) from error
    short = [name for name, size in remote.files.items() if _length(folder / name) != size]
    if short:
        raise DataError(f"{len(short)} of {len(remote.files)} files are not of the size that the hub states, first: {short[0]}")
    record = _record(remote.path, remote.revision)
    record.parent.mkdir(exist_ok=True)
    temporary = record.with_suffix(".part")
    temporary.write_text(json.dumps({"commit": remote.commit, "files": remote.files}))
    temporary.replace(record)


def free_bytes() -> int:
    """Room on the disk of the hub's cache."""
    from huggingface_hub import constants

    folder = Path(constants.HF_HUB_CACHE)
    return shutil.disk_usage(next(place for place in (folder, *folder.parents) if place.exists())).free


def fetched_folder(source: DataSource) -> Path | None:
    """Where a data set lies that :func:`fetch` has fetched, if all of it is still there.

    One without a revision may have changed on the hub, so it is taken from disk only where the hub is not asked.
    """
    from huggingface_hub import constants

    record = _record(source.path, source.revision)
    if not record.is_file() or (source.revision is None and not constants.HF_HUB_OFFLINE):
        return None
    try:
        told: dict[str, Any] = json.loads(record.read_text())
        folder = _folder(source.path) / "snapshots" / told["commit"]
        complete = all(_length(folder / name) == size for name, size in told["files"].items())
    except (ValueError, KeyError, TypeError, AttributeError):
        raise DataError(f"{record} is damaged; delete it, and fetch again by 'dsb2 prefetch'") from None
    return folder if complete else None


def _folder(path: str) -> Path:
    from huggingface_hub import constants
    from huggingface_hub.file_download import repo_folder_name

    return Path(constants.HF_HUB_CACHE) / repo_folder_name(repo_id=path, repo_type="dataset")


def _record(path: str, revision: str | None) -> Path:
    return _folder(path) / "dsb2" / f"{revision or 'main'}.json"


def _length(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def _label(path: str, revision: str | None) -> str:
    return f"{path} ({revision[:8]})" if revision else path


def _insist(call: Callable[[], _T], waits: Iterable[float]) -> _T:
    """Tries again after a while, unless the answer will not change: not there, not allowed, no room."""
    for wait in waits:
        try:
            return call()
        except Exception as error:
            status = getattr(getattr(error, "response", None), "status_code", None)
            final = status is not None and 400 <= status < 500 and status not in (408, 429)
            if final or isinstance(error, (DataError, ValueError)) or getattr(error, "errno", None) == errno.ENOSPC:
                raise
            time.sleep(wait)
    return call()


def _reason(error: Exception) -> str:
    told = " ".join(str(error).split())[:300]
    return told if isinstance(error, DataError) else f"{type(error).__name__}: {told}"
