"""Target ``audio``: a handle that a stranger wrote, and a file that a stranger calls audio.

An input that begins with ``{`` or ``[`` is a handle in JSON, any other one a file.
"""

from __future__ import annotations

import hashlib
import json
import random
from typing import Any

import numpy as np

from dsb2_tasks.audio import (
    AudioError,
    AudioPolicy,
    AudioStore,
    RawAudio,
    check_handle,
    decode,
    make_handle,
    prepare,
    read_info,
)

from ._target import Target, changed_json, read_words, same_twice, spliced

_POLICIES = (AudioPolicy(max_seconds=1.0, long_audio="chunk"), AudioPolicy(rate=8000, channels="keep", max_seconds=0.5))


class _OneFile:
    """A data set of one file."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    def read(self, row: int, column: str) -> RawAudio:
        if row:
            raise AudioError(f"there is no row {row}")
        return RawAudio(self.data, column)


def _store(data: bytes) -> AudioStore:
    store = AudioStore()
    store.register("Org/Set", "main", "test", _OneFile(data))
    return store


_HANDLES = _store(b"no audio")


def check(data: bytes) -> None:
    """A handle is refused with a ``ValueError``, a file with an :class:`AudioError`; anything else is audio as promised."""
    if data[:1] in (b"{", b"["):
        try:
            value = json.loads(data)
        except (ValueError, RecursionError):
            return
        _check_handle(value)
    else:
        _check_file(data)


def _check_handle(value: Any) -> None:
    try:
        handle = check_handle(value)
    except ValueError as error:
        assert len(str(error)) < 10_000 and type(error) is ValueError
        return
    assert check_handle(handle) == handle == value
    assert make_handle(**{key: item for key, item in handle.items() if key != "dsb2"}) == handle
    json.dumps(handle, allow_nan=False)
    for read in (_HANDLES.read, _HANDLES.info):
        try:
            read(handle)
        except AudioError:
            pass
        except KeyError as error:
            assert type(error).__name__ == "UnknownSourceError" and "no audio source is registered" in str(error)


def _check_file(data: bytes) -> None:
    raw = RawAudio(data, "clip.x")
    try:
        info = same_twice(lambda: read_info(raw))
        assert 1 <= info.channels <= 64 and 100 <= info.rate <= 768_000 and info.frames >= 1
        samples, rate = decode(raw)
    except AudioError as error:
        assert "clip.x" in error.reason and "\n" not in error.reason
        return
    assert samples.dtype == np.float32 and samples.shape[0] == info.channels and samples.shape[1] >= 1 and rate == info.rate
    assert np.isfinite(samples).all()
    np.testing.assert_array_equal(decode(raw)[0], samples)
    handle = make_handle(
        repo="Org/Set",
        revision="main",
        split="test",
        row=0,
        column="audio",
        sha256=hashlib.sha256(data).hexdigest(),
        channels="keep",
    )
    store = _store(data)
    for policy in _POLICIES:
        try:
            clips = prepare(handle, policy, store)
        except AudioError:
            continue  # a piece of a damaged file may be unreadable where the whole is not
        for clip in clips:
            assert clip.samples.dtype == np.float32 and clip.rate == policy.rate and np.isfinite(clip.samples).all()
            assert 0 < clip.samples.shape[-1] <= round((policy.max_seconds or 0) * policy.rate) + 1


def _mutate(data: bytes, rnd: random.Random) -> bytes:
    """A handle with one value changed; of a file, one number of its header."""
    if data[:1] in (b"{", b"["):
        return changed_json(data, _WORDS, rnd)
    if len(data) < 8 or rnd.random() < 0.2:
        return spliced(data, _WORDS, rnd)
    at, size = rnd.randrange(min(len(data), 200)), rnd.choice([1, 2, 4])
    number = rnd.choice([0, 1, 0x7F, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, len(data), rnd.randrange(1 << 32)])
    return data[:at] + (number % (1 << 8 * size)).to_bytes(size, rnd.choice(["little", "big"])) + data[at + size :]


_WORDS = read_words("audio")

AUDIO = Target("audio", check, _WORDS, _mutate, most=8192)
