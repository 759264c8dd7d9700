from __future__ import annotations

import json
import logging
import multiprocessing
import subprocess
import sys
from pathlib import Path

import pytest

from dsb2_tasks.models._responses import Answer, ResponseStore, response_key

MODEL = {"name": "some/model", "commit": "abc"}
KEYS = [response_key(MODEL, f"question {i}", {}, [], {}) for i in range(50)]
FULL = Answer("yes \ud83d\n\u4f60", ("resampled", "truncated"), True, 3)


def files(store: ResponseStore) -> list[str]:
    return sorted(path.name for path in store.folder.iterdir())


def test_answers_come_back_as_they_were(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path, MODEL)
    store.add([(KEYS[0], FULL), (KEYS[1], Answer(""))])
    again = ResponseStore(tmp_path, MODEL)
    assert again.get(KEYS[0]) == FULL and again.get(KEYS[1]) == Answer("") and again.get(KEYS[2]) is None
    assert len(again) == 2


def test_every_part_of_the_question_is_in_the_key() -> None:
    whole = ({"name": "m", "commit": "1"}, "prompt", {"max_new_tokens": 5}, ["a" * 64, "b" * 64], {"rate": 16000})
    changes = [
        (0, {"name": "m", "commit": "2"}),
        (0, {"name": "n", "commit": "1"}),
        (1, "prompt "),
        (2, {"max_new_tokens": 6}),
        (3, ["b" * 64, "a" * 64]),
        (3, ["a" * 64]),
        (3, []),
        (4, {"rate": 8000}),
    ]
    keys = {response_key(*whole)}
    for place, value in changes:
        keys.add(response_key(*whole[:place], value, *whole[place + 1 :]))
    assert len(keys) == len(changes) + 1
    assert response_key({"commit": "1", "name": "m"}, *whole[1:]) in keys, "the order of a mapping is no part of it"


def test_models_share_neither_folder_nor_answers(tmp_path: Path) -> None:
    one, other = ResponseStore(tmp_path, MODEL), ResponseStore(tmp_path, {**MODEL, "commit": "def"})
    one.add([(KEYS[0], FULL)])
    assert one.folder != other.folder
    # Even a file that was moved into the other's folder is not read, and not written to.
    other.folder.mkdir()
    moved = other.folder / "responses-rank0.jsonl"
    moved.write_bytes((one.folder / "responses-rank0.jsonl").read_bytes())
    before = moved.read_bytes()
    other = ResponseStore(tmp_path, {**MODEL, "commit": "def"})
    assert other.get(KEYS[0]) is None
    other.add([(KEYS[1], FULL)])
    assert moved.read_bytes() == before
    assert ResponseStore(tmp_path, {**MODEL, "commit": "def"}).get(KEYS[1]) == FULL


@pytest.mark.parametrize("lost", [2, 20, 10_000])
def test_a_broken_last_line_is_dropped_and_cut_off(tmp_path: Path, lost: int, caplog: pytest.LogCaptureFixture) -> None:
    store = ResponseStore(tmp_path, MODEL)
    store.add([(KEYS[0], FULL), (KEYS[1], Answer("no"))])
    store.close()
    path = store.folder / "responses-rank0.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-lost] if lost < 1000 else whole[:7])  # the last case: killed while the header was written
    store = ResponseStore(tmp_path, MODEL)
    assert "middle of a line" in caplog.text
    assert len(store) == (1 if lost < 1000 else 0) and store.get(KEYS[1]) is None
    store.add([(KEYS[1], Answer("again"))])
    assert files(store) == ["responses-rank0.jsonl"]
    assert all(json.loads(line) for line in path.read_text().splitlines())
    assert ResponseStore(tmp_path, MODEL).get(KEYS[1]) == Answer("again")


@pytest.mark.parametrize(
    "line",
    [
        "not json",
        "[]",
        "null",
        '{"key": "short", "text": "x", "events": [], "capped": false, "windows": 1}',
        json.dumps({"key": KEYS[1], "text": 5, "events": [], "capped": False, "windows": 1}),
        json.dumps({"key": KEYS[1], "text": "x", "events": "resampled", "capped": False, "windows": 1}),
        json.dumps({"key": KEYS[1], "text": "x", "events": [1], "capped": False, "windows": 1}),
        json.dumps({"key": KEYS[1], "text": "x", "events": [], "capped": 0, "windows": 1}),
        json.dumps({"key": KEYS[1], "text": "x", "events": [], "capped": False, "windows": 0}),
        json.dumps({"key": KEYS[1], "text": "x"}),
        "[" * 100_000,
        "\xff\xfe",
    ],
)
def test_lines_of_another_form_are_named_and_not_read(tmp_path: Path, line: str, caplog: pytest.LogCaptureFixture) -> None:
    store = ResponseStore(tmp_path, MODEL)
    store.add([(KEYS[0], FULL)])
    path = store.folder / "responses-rank0.jsonl"
    with path.open("ab") as file:
        file.write(line.encode("latin-1") + b"\n")
    store.add([(KEYS[2], FULL)])
    again = ResponseStore(tmp_path, MODEL)
    assert len(again) == 2 and again.get(KEYS[1]) is None and again.get(KEYS[2]) == FULL
    assert "line 3" in caplog.text and str(path) in caplog.text


def test_another_number_of_ranks_goes_on(tmp_path: Path) -> None:
    for rank in range(3):
        ResponseStore(tmp_path, MODEL, rank=rank).add([(KEYS[rank], Answer(str(rank)))])
    alone = ResponseStore(tmp_path, MODEL)
    assert [alone.get(KEYS[rank]) for rank in range(3)] == [Answer("0"), Answer("1"), Answer("2")]
    assert files(alone) == [f"responses-rank{rank}.jsonl" for rank in range(3)]


def test_nothing_is_written_before_there_is_an_answer(tmp_path: Path) -> None:
    store = ResponseStore(tmp_path / "root", MODEL)
    store.add([])
    store.close()
    assert not (tmp_path / "root").exists()


def _write(root: Path, keys: list[str]) -> None:
    store = ResponseStore(root, MODEL)
    for key in keys:
        store.add([(key, Answer(key * 50))])


def test_two_runs_at_once_do_not_spoil_each_other(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    context = multiprocessing.get_context("fork")
    runs = [context.Process(target=_write, args=(tmp_path, keys)) for keys in (KEYS[:25], KEYS[20:45])]
    for run in runs:
        run.start()
    _write(tmp_path, KEYS[40:])
    for run in runs:
        run.join()
        assert run.exitcode == 0
    caplog.clear()
    store = ResponseStore(tmp_path, MODEL)
    assert all(store.get(key) == Answer(key * 50) for key in KEYS)
    assert not [r for r in caplog.records if r.levelno >= logging.WARNING]


def test_a_held_file_is_left_alone(tmp_path: Path) -> None:
    first, second = ResponseStore(tmp_path, MODEL), ResponseStore(tmp_path, MODEL)
    first.add([(KEYS[0], FULL)])
    second.add([(KEYS[1], FULL)])
    assert files(first) == ["responses-rank0-2.jsonl", "responses-rank0.jsonl"]
    first.close()
    first.add([(KEYS[2], FULL)])
    assert len(files(first)) == 2 and len(ResponseStore(tmp_path, MODEL)) == 3


def test_a_killed_process_keeps_what_it_added(tmp_path: Path) -> None:
    code = f"""
import os, signal
from dsb2_tasks.models import Answer, ResponseStore
store = ResponseStore({str(tmp_path)!r}, {MODEL!r})
store.add([({KEYS[0]!r}, Answer("kept"))])
os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    assert ResponseStore(tmp_path, MODEL).get(KEYS[0]) == Answer("kept")


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def flock(*_: object) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.flock", flock)
    for key in KEYS[:2]:
        ResponseStore(tmp_path, MODEL).add([(key, FULL)])
    assert len(ResponseStore(tmp_path, MODEL)) == 2
