"""Handles: the plain JSON dicts that stand for clips in documents, requests, logs and cache keys.

A handle must be a plain ``dict`` of JSON values: lm-eval hashes, pickles and logs request arguments, and any other type
breaks one of these.  The sha256 of the file makes two clips with the same instruction two different requests.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from typing import Any

VERSION = 1
CHANNELS = ("mono", "keep")
_TEXTS = ("repo", "revision", "split", "column")
_KEYS = ("dsb2", "repo", "revision", "split", "row", "column", "sha256", "channels")
#: What is known about the task and may be absent: a backend sees handles and text, never a task.
_OPTIONAL = ("task_kind", "language")
_SHA256 = re.compile(r"[0-9a-f]{64}")


def make_handle(
    *,
    repo: str,
    revision: str,
    split: str,
    row: int,
    column: str,
    sha256: str,
    channels: str = "mono",
    task_kind: str | None = None,
    language: str | None = None,
) -> dict[str, Any]:
    """Makes the handle of one clip.

    Args:
        repo: Name of the data set, under which its source is registered with the store.
        revision: Commit, ``main``, ``samples`` or ``local``.
        split: Name of the split.
        row: Row within the split.
        column: Audio column.
        sha256: Lower-case hex digest of the undecoded file bytes.
        channels: ``mono``, or ``keep`` where the task asks about space.
        task_kind: Output kind of the task (``transcript``, ``choice`` ...); None leaves the key out.
        language: ISO 639-1 code of what is spoken, where known; None leaves the key out.

    Raises:
        ValueError: A value is off; the message names it.
    """
    handle = {
        "dsb2": VERSION,
        "repo": repo,
        "revision": revision,
        "split": split,
        "row": row,
        "column": column,
        "sha256": sha256,
        "channels": channels,
    }
    optional = {"task_kind": task_kind, "language": language}
    return check_handle({**handle, **{key: value for key, value in optional.items() if value is not None}})


def check_handle(obj: Any) -> dict[str, Any]:
    """Checks that an object is a handle, key by key.

    Returns:
        A plain dict with the same content.

    Raises:
        ValueError: It is not; the message names the first thing that is wrong.
    """
    if not isinstance(obj, Mapping):
        raise ValueError(f"an audio handle is a dict, not {type(obj).__name__}")
    for key in _KEYS:
        if key not in obj:
            raise ValueError(f"audio handle lacks the key {key!r}: {reprlib.repr(dict(obj))}")
    known = (*_KEYS, *_OPTIONAL)
    unknown = [key for key in obj if key not in known]
    if unknown:
        raise ValueError(f"audio handle has the unknown key {reprlib.repr(unknown[0])}; known are {', '.join(known)}")
    if type(obj["dsb2"]) is not int or obj["dsb2"] != VERSION:
        raise ValueError(f"audio handle is of version {reprlib.repr(obj['dsb2'])}; this dsb2-tasks reads version {VERSION}")
    for key in (*_TEXTS, *(key for key in _OPTIONAL if key in obj)):
        if not isinstance(obj[key], str) or not obj[key]:
            raise ValueError(f"audio handle: {key!r} must be a non-empty text, not {reprlib.repr(obj[key])}")
    if type(obj["row"]) is not int or obj["row"] < 0:
        raise ValueError(f"audio handle: 'row' must be a whole number from 0 up, not {reprlib.repr(obj['row'])}")
    if not isinstance(obj["sha256"], str) or not _SHA256.fullmatch(obj["sha256"]):
        raise ValueError(f"audio handle: 'sha256' must be 64 lower-case hex digits, not {reprlib.repr(obj['sha256'])}")
    if obj["channels"] not in CHANNELS:
        raise ValueError(f"audio handle: 'channels' must be one of {', '.join(CHANNELS)}, not {reprlib.repr(obj['channels'])}")
    return dict(obj)


def place(handle: Mapping[str, Any]) -> str:
    """Data set, row and column of a clip, for messages."""
    return f"{handle['repo']} ({handle['split']}, row {handle['row']}, {handle['column']})"
