"""Data sets fetched ahead: whole snapshots of the hub at the task's revision, opened from disk from then on.

Offline, ``datasets`` takes whatever it has prepared last of a data set, of any revision, and says so in a log line.  So what
is fetched here is written down (a record beside the hub's own cache of the data set: commit, files, sizes), and is opened
only where every file of the record is there in full.
"""

from __future__ import annotations

import errno
import json
import logging
import os
import re
import shutil
import time
import uuid
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from dsb2_tasks.endpoint import read_retry_after
from dsb2_tasks.sources._rows import DataError
from dsb2_tasks.spec import DataSource

log = logging.getLogger(__name__)

_T = TypeVar("_T")

#: Seconds before each further attempt, to ask and to fetch; the hub may ask for more, up to the length of its own windows.
_ASK_WAITS, _FETCH_WAITS, _LONGEST_WAIT = (1.0, 3.0), (2.0, 8.0, 30.0), 300.0
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
        return label(self)

    @property
    def folder(self) -> Path:
        """Where its files lie, or will."""
        return _folder(self.path) / "snapshots" / self.commit

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(self.files.values())

    @property
    def missing(self) -> int:
        """Bytes of the files that are not here yet."""
        return sum(size for name, size in self.files.items() if _length(self.folder / name) != size)


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
            return _insist(name[0], lambda: _ask(*name), _ASK_WAITS)
        except Exception as error:  # whatever the hub's client raises: the other sets go on
            return reason(error, name[0])
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
    if outside := [name for name in files if Path(name).is_absolute() or ".." in Path(name).parts]:
        raise DataError(f"the hub names a file that leads out of the data set: {outside[0]!r}")
    return Remote(path, revision, info.sha, files)


def fetch(remote: Remote) -> None:
    """Fetches what is missing of a data set; goes on where an earlier attempt stopped.

    Raises:
        DataError: It cannot be fetched; the message says why.
    """
    from huggingface_hub import snapshot_download

    def download() -> None:
        _drop_wrong(remote)
        snapshot_download(remote.path, repo_type="dataset", revision=remote.commit, max_workers=_AT_ONCE)
        if wrong := _drop_wrong(remote):
            raise DataError(
                f"{len(wrong)} of {len(remote.files)} files are not of the size that the hub states, first: {wrong[0]}"
            )

    try:
        if remote.missing:
            _insist(remote.path, download, _FETCH_WAITS)
    except Exception as error:  # the hub client raises a dozen unrelated types
        raise DataError(reason(error, remote.path)) from error
    record = _record(remote.path, remote.revision)
    record.parent.mkdir(exist_ok=True)
    temporary = record.with_name(f"{uuid.uuid4().hex}.part")  # several ranks may write at once
    temporary.write_text(json.dumps({"commit": remote.commit, "files": remote.files}))
    temporary.replace(record)


def bring(source: DataSource) -> Path:
    """Where a data set lies, fetched first if it is not here in full.

    Raises:
        Exception: It cannot be had; of any type that the hub's client raises.
    """
    folder = fetched_folder(source)
    if folder is not None:
        return folder
    remote = _insist(source.path, lambda: _ask(source.path, source.revision), _ASK_WAITS)
    if remote.missing:
        log.info("fetching %s: %.1f MB", remote.label, remote.missing / 1e6)
    if remote.missing or os.access(_folder(remote.path), os.W_OK):  # caches that many share may be for reading alone
        fetch(remote)
    return remote.folder


def _drop_wrong(remote: Remote) -> list[str]:
    """Removes files that are not of the size that the hub states: its client takes what lies there for whole."""
    lengths = {name: _length(remote.folder / name) for name in remote.files}
    wrong = [name for name, size in remote.files.items() if lengths[name] != size]
    for name in wrong:
        if lengths[name] is None:
            continue  # another rank may have fetched it by now
        for file in ((remote.folder / name).resolve(), remote.folder / name):  # what the link leads to, and the link
            file.unlink(missing_ok=True)
    return wrong


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


def label(source: DataSource | Remote) -> str:
    """Name and revision of a data set for people."""
    return _label(source.path, source.revision)


def _label(path: str, revision: str | None) -> str:
    return f"{path} ({revision[:8]})" if revision else path


def _insist(path: str, call: Callable[[], _T], waits: Iterable[float]) -> _T:
    """Tries again after a while, unless the answer will not change: not there, not allowed, no room."""
    for wait in waits:
        try:
            return call()
        except Exception as error:
            status = _status(_behind(error))
            refused = status is not None and 400 <= status < 500 and status not in (408, 429)
            wrong = isinstance(error, ValueError) and not isinstance(error, json.JSONDecodeError)
            if refused or wrong or getattr(error, "errno", None) == errno.ENOSPC:
                raise
            wait = max(wait, min(_asked_to_wait(_behind(error)), _LONGEST_WAIT))
            log.warning("%s: %s; trying again in %.0f s", path, reason(error), wait)
            time.sleep(wait)
    return call()


def _behind(error: BaseException) -> BaseException:
    """What the hub's client met; it says only that a file is not here either."""
    from huggingface_hub.utils import LocalEntryNotFoundError

    return error.__cause__ if isinstance(error, LocalEntryNotFoundError) and error.__cause__ else error


def _status(error: BaseException) -> int | None:
    return getattr(getattr(error, "response", None), "status_code", None)


def unreachable(error: BaseException) -> bool:
    """Whether nobody answered at all.  The hub's client has changed its HTTP library more than once; these names have stayed."""
    return any(kind.__name__ in ("TransportError", "ConnectionError") for kind in type(_behind(error)).__mro__)


def _asked_to_wait(error: BaseException) -> float:
    """Seconds that the hub asks for: what is left of its window (``RateLimit: "api";r=0;t=55``), or ``Retry-After``."""
    headers = getattr(getattr(error, "response", None), "headers", {})
    left = re.search(r"\br=0;t=(\d{1,6})\b", headers.get("RateLimit", ""))
    return float(left[1]) if left else read_retry_after(headers.get("Retry-After"), time.time()) or 0.0


def reason(error: BaseException, path: str | None = None) -> str:
    """Why a data set cannot be had, in one line; with its name also what to do where that is known."""
    from huggingface_hub.utils import GatedRepoError, RepositoryNotFoundError, RevisionNotFoundError

    if isinstance(error, DataError):
        return str(error)
    error = _behind(error)
    if isinstance(error, json.JSONDecodeError):
        return "what answers in the hub's place sends no JSON (a proxy, or a page to log in at?)"
    told = f"{type(error).__name__}: {' '.join(str(error).split())[:300].rstrip('.')}"
    if path is None:
        return told
    if isinstance(error, RevisionNotFoundError):
        return f"{told}. The hub no longer has this revision; a newer dsb2-tasks may name another one"
    if isinstance(error, GatedRepoError) or _status(error) in (401, 403):
        from huggingface_hub import constants

        where = f"{constants.ENDPOINT}/datasets/{path}"
        return f"{told}. Accept its terms at {where}, and log in: 'hf auth login', or a token in HF_TOKEN"
    if isinstance(error, RepositoryNotFoundError):
        return f"{told}. It is gone, renamed or private; to one that is private log in: 'hf auth login', or a token in HF_TOKEN"
    return told
