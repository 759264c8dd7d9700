"""Handles are plain JSON, survive every trip, and find their file; the store holds no audio."""

from __future__ import annotations

import copy
import gc
import json
import pickle
import string
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from _audio_files import MemorySource, Shelf, encode, tone
from hypothesis import given
from hypothesis import strategies as st

from dsb2_tasks.audio import AudioError, AudioInfo, AudioStore, check_handle, make_handle

GOOD = {"repo": "Org/Set", "revision": "main", "split": "test", "row": 3, "column": "audio", "sha256": "0a" * 32}
names = st.text(min_size=1, max_size=30).filter(lambda s: s.isprintable())


@given(
    repo=names,
    revision=names,
    split=names,
    row=st.integers(0, 2**40),
    column=names,
    sha256=st.text("0123456789abcdef", min_size=64, max_size=64),
    channels=st.sampled_from(["mono", "keep"]),
    task_kind=names,
    language=names,
)
def test_handles_survive_json_pickle_and_copy(**fields: Any) -> None:
    handle = make_handle(**fields)
    assert type(handle) is dict and handle["dsb2"] == 1
    for trip in (json.loads(json.dumps(handle)), pickle.loads(pickle.dumps(handle)), copy.deepcopy(handle), check_handle(handle)):
        assert trip == handle and type(trip) is dict
    assert {key: handle[key] for key in fields} == fields


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"row": -1}, "'row'.*-1"),
        ({"row": True}, "'row'.*True"),
        ({"row": 1.0}, "'row'.*1.0"),
        ({"repo": ""}, "'repo'"),
        ({"column": None}, "'column'.*None"),
        ({"sha256": "0A" * 32}, "sha256"),
        ({"sha256": "0a" * 31}, "sha256"),
        ({"sha256": b"0a" * 32}, "sha256"),
        ({"channels": "stereo"}, "channels.*mono, keep.*'stereo'"),
        ({"task_kind": ""}, "'task_kind'"),
        ({"language": None}, "'language'.*None"),
        ({"dsb2": 2}, "version 2"),
        ({"dsb2": True}, "version True"),
        ({"bytes": b""}, "unknown key 'bytes'"),
    ],
)
def test_check_names_what_is_wrong(change: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        check_handle({**make_handle(**GOOD), **change})


def test_what_is_not_known_about_the_task_is_absent() -> None:
    assert not {"task_kind", "language"} & set(make_handle(**GOOD))


@pytest.mark.parametrize("key", list(make_handle(**GOOD)))
def test_check_names_what_is_missing(key: str) -> None:
    handle = make_handle(**GOOD)
    del handle[key]
    with pytest.raises(ValueError, match=f"lacks the key '{key}'"):
        check_handle(handle)


@given(
    st.one_of(st.none(), st.integers(), st.text(string.printable), st.lists(st.integers()), st.dictionaries(st.text(), st.text()))
)
def test_check_refuses_anything_else_with_value_error(obj: Any) -> None:
    with pytest.raises(ValueError, match="audio handle"):
        check_handle(obj)


def test_read_finds_the_file_of_each_handle(shelf: Shelf) -> None:
    handles = [shelf.put(f"file {i}".encode()) for i in range(3)]
    assert [shelf.store.read(h).data for h in reversed(handles)] == [b"file 2", b"file 1", b"file 0"]


def test_unknown_data_set_says_what_is_known(shelf: Shelf) -> None:
    handle = shelf.put(b"x")
    with pytest.raises(KeyError, match=r"'Org/Other', revision 'main', split 'test' \(registered: Org/Set\)"):
        shelf.store.read({**handle, "repo": "Org/Other"})
    with pytest.raises(KeyError, match="revision 'abc'"):
        shelf.store.read({**handle, "revision": "abc"})
    with pytest.raises(KeyError, match="registered: none"):
        AudioStore().read(handle)


def test_a_changed_file_is_no_clip_of_this_document(shelf: Shelf) -> None:
    handle = shelf.put(b"then")
    shelf.source.files[0] = b"now"
    with pytest.raises(AudioError, match=r"Org/Set \(test, row 0, audio\): the file has changed"):
        shelf.store.read(handle)


def test_registering_again_replaces(shelf: Shelf) -> None:
    handle = shelf.put(b"x")
    shelf.store.register("Org/Set", "main", "test", MemorySource(b"y"))
    with pytest.raises(AudioError, match="changed"):
        shelf.store.read(handle)


def test_info_reads_the_header_once(shelf: Shelf) -> None:
    handle = shelf.put(encode(tone(22050, 1.5, channels=2), 22050))
    assert shelf.store.info(handle) == AudioInfo(seconds=1.5, rate=22050, channels=2, frames=33075)
    assert shelf.store.info({**handle, "row": 0}).seconds == 1.5
    assert shelf.source.reads == 1


def test_info_of_a_broken_clip_is_an_error_each_time(shelf: Shelf) -> None:
    handle = shelf.put(b"no audio at all")
    for _ in range(2):
        with pytest.raises(AudioError):
            shelf.store.info(handle)


def test_the_store_keeps_no_audio(shelf: Shelf) -> None:
    size = 1_234_567
    handle = shelf.put(encode(tone(16000, 1.0), 16000) + bytes(size))
    shelf.store.info(handle)
    shelf.store.read(handle)
    shelf.source.files.clear()
    gc.collect()
    seen, todo, kept = set(), [vars(shelf.store)], 0
    while todo:
        one = todo.pop()
        if id(one) in seen or one is shelf.source:
            continue
        seen.add(id(one))
        kept += len(one) if isinstance(one, bytes | bytearray) else 0
        if not isinstance(one, type):
            todo += [o for o in gc.get_referents(one) if not isinstance(o, type)]
    assert kept < 1000


def test_many_threads_read_and_register_at_once(shelf: Shelf) -> None:
    handles = [shelf.put(encode(tone(8000, 0.1 + i / 100), 8000)) for i in range(20)]
    start = threading.Barrier(8)

    def work(worker: int) -> list[float]:
        start.wait()
        for i in range(20):
            shelf.store.register(f"Org/{worker}", "main", str(i), shelf.source)
        return [shelf.store.info(h).seconds for h in handles]

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(work, range(8)))
    assert results == [pytest.approx([0.1 + i / 100 for i in range(20)])] * 8
    assert shelf.store.read({**handles[4], "repo": "Org/7", "split": "19"}).data == shelf.source.files[4]
