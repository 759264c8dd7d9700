"""A response store that was cut, overwritten or edited: whatever is whole is used, the rest is named and asked again."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from dsb2_tasks.models import Answer, ResponseStore, StoreError, response_key, stored_answers
from dsb2_tasks.models._responses import Asked, unwritable

MODEL = {"name": "some/model", "commit": "abc"}
KEYS = [response_key(MODEL, f"question {i}", {}, [], {}) for i in range(4)]
ANSWERS = [Answer("one"), Answer("zwei \ud83d\n", ("resampled",)), Answer("\u4e09", (), True, 2), Answer("four")]
FIRST = "responses-rank0.jsonl"


def asked(number: int) -> Asked:
    return Asked(f"{number:064x}", {"max_new_tokens": 5})


def filled(root: Path, count: int = 3) -> Path:
    """A store's only file, with the first answers."""
    store = ResponseStore(root, MODEL)
    store.add([(KEYS[i], ANSWERS[i]) for i in range(count)], {KEYS[i]: asked(i) for i in range(count)})
    store.close()
    return store.folder / FIRST


def found(root: Path) -> list[int]:
    """Which answers a new run finds; each is the one that was given."""
    store = ResponseStore(root, MODEL)
    numbers = [i for i in range(4) if store.get(KEYS[i]) is not None]
    assert all(store.get(KEYS[i]) == ANSWERS[i] for i in numbers)
    return numbers


def goes_on(root: Path, kept: list[int]) -> None:
    """A run that goes on asks for what is missing and leaves a store in which everything is found."""
    store = ResponseStore(root, MODEL)
    assert found(root) == kept
    for i in set(range(4)) - set(kept):
        store.add([(KEYS[i], ANSWERS[i])], {KEYS[i]: asked(i)})
    store.close()
    assert found(root) == [0, 1, 2, 3]


def test_cut_at_every_byte(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    path = filled(tmp_path)
    whole = path.read_bytes()
    ends = [i + 1 for i, byte in enumerate(whole) if byte == 10]
    for length in [*range(ends[0] + 2), *range(ends[2] - 2, len(whole) + 1)]:  # of the header and of the last record
        caplog.clear()
        path.write_bytes(whole[:length])
        unended = length + 1 in ends[1:]  # a whole record that only lost its line's end
        lines = sum(end <= length for end in ends) + unended
        goes_on(tmp_path, list(range(max(0, lines - 1))))
        assert [p.name for p in path.parent.iterdir()] == [FIRST], "the file is mended, not left beside another"
        assert path.read_bytes().startswith(whole[: ends[lines - 1] if lines else 0]), "what was whole stays where it was"
        assert [json.loads(line) for line in path.read_bytes().splitlines()]
        cut = length not in (0, *ends) and not unended
        assert (f"{path} ends in the middle of a line; this answer will be asked for again" in caplog.text) == cut
        assert (f"{path}: cut off {length - max([0, *(e for e in ends if e <= length)])} bytes" in caplog.text) == cut


def test_a_file_that_is_deleted_while_the_run_goes_on(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    store = ResponseStore(tmp_path, MODEL)
    store.add([(KEYS[0], ANSWERS[0])])
    for number, gone in enumerate([lambda: (store.folder / FIRST).unlink(), lambda: shutil.rmtree(store.folder)], 1):
        gone()
        store.add([(KEYS[number], ANSWERS[number])], {KEYS[number]: asked(number)})
        assert f"{store.folder / FIRST} was deleted; answers from now on are kept in a new file" in caplog.text
        assert found(tmp_path) == [number] and store.get(KEYS[0]) == ANSWERS[0], "this run still has it"
        caplog.clear()
    store.close()


def record(number: int, **changes: object) -> bytes:
    answer = ANSWERS[number]
    fields = {"key": KEYS[number], "text": answer.text, "events": list(answer.events), "capped": answer.capped}
    return json.dumps({**fields, "windows": answer.windows, **changes}).encode()


@pytest.mark.parametrize(
    ("tail", "kept", "said"),
    [
        pytest.param(b"\0" * 4096, [0, 1, 2], "middle of a line", id="NUL bytes of a power cut"),
        pytest.param(b"\0" * 4096 + record(3) + b"\n", [0, 1, 2], "line 5", id="NUL bytes before a record"),
        pytest.param(b"<<<<<<< HEAD\n" + record(3) + b"\n", [0, 1, 2, 3], "line 5", id="garbage before a record"),
        pytest.param(b"\xff\xfe\x80\n" + record(3) + b"\n", [0, 1, 2, 3], "line 5", id="not UTF-8"),
        pytest.param(b"\n\r\n" + record(3) + b"\r\n", [0, 1, 2, 3], "2 lines", id="line ends of an editor"),
        pytest.param(record(1) + b"\n" + record(0, text="other") + b"\n", [0, 1, 2], None, id="records twice, the first counts"),
        pytest.param(record(3, added_by_version_9={"a": 1}) + b"\n", [0, 1, 2, 3], None, id="a record of a later version"),
        pytest.param(b'{"key": "%s", "answer": "x"}\n' % KEYS[3].encode(), [0, 1, 2], "line 5", id="a record of another version"),
        pytest.param(b'{"dsb2_responses": 1, "model": {}}\n' + record(3) + b"\n", [0, 1, 2, 3], "line 5", id="a header within"),
    ],
)
def test_what_stands_after_the_records(
    tmp_path: Path, tail: bytes, kept: list[int], said: str | None, caplog: pytest.LogCaptureFixture
) -> None:
    path = filled(tmp_path)
    path.write_bytes(path.read_bytes() + tail)
    goes_on(tmp_path, kept)
    assert (said is None) == (not caplog.text)
    assert said is None or (said in caplog.text and str(path) in caplog.text)
    assert [p.name for p in path.parent.iterdir()] == [FIRST]
    assert found(tmp_path) == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "first",
    [
        pytest.param(b'{"dsb2_responses": 2, "model": {"name": "some/model", "commit": "abc"}}', id="a later format"),
        pytest.param(b'{"dsb2_responses": 1, "model": {"name": "another"}}', id="another model"),
        pytest.param(b"\0" * 64, id="NUL bytes"),
        pytest.param(b"doc_id,answer", id="a table"),
    ],
)
def test_a_file_of_others_is_named_and_never_written_to(tmp_path: Path, first: bytes, caplog: pytest.LogCaptureFixture) -> None:
    path = filled(tmp_path)
    content = first + b"\n" + path.read_bytes().split(b"\n", 1)[1]
    path.write_bytes(content)
    goes_on(tmp_path, [])
    assert f"{path} is not read: its first line does not name this model in format 1" in caplog.text
    assert path.read_bytes() == content
    assert {p.name for p in path.parent.iterdir()} == {FIRST, "responses-rank0-2.jsonl"}


def test_a_file_that_cannot_be_read_stops_the_run_before_anything_is_asked_again(tmp_path: Path) -> None:
    path = filled(tmp_path)
    (path.parent / "responses-rank1.jsonl").mkdir()
    with pytest.raises(StoreError, match=r"responses-rank1\.jsonl: cannot be read \(Is a directory\); .*responses=<folder>"):
        ResponseStore(tmp_path, MODEL)
    with pytest.raises(StoreError, match="cannot be read"):
        stored_answers(path.parent)


def test_a_file_of_another_user_is_read_and_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = filled(tmp_path)
    before, access = path.read_bytes(), os.access
    monkeypatch.setattr("os.access", lambda at, mode: Path(at) != path and access(at, mode))  # the tests may run as root
    goes_on(tmp_path, [0, 1, 2])
    assert path.read_bytes() == before


def test_a_store_whose_own_folder_is_in_the_way(tmp_path: Path) -> None:
    path = filled(tmp_path / "answers")
    path.unlink()
    path.parent.rmdir()
    path.parent.write_text("")
    with pytest.raises(StoreError, match=rf"answers cannot be kept in .*{path.parent.name} is a file; name a folder"):
        ResponseStore(tmp_path / "answers", MODEL)


def test_a_closing_that_fails_is_told_and_ends_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    class Remote:
        name = "responses.jsonl"

        def close(self) -> None:
            raise OSError(122, "Disk quota exceeded")

    store = ResponseStore(tmp_path, MODEL)
    store._file = Remote()  # type: ignore[assignment]
    store.close()
    assert "responses.jsonl: Disk quota exceeded; the last answers may be missing there" in caplog.text
    store.add([(KEYS[0], ANSWERS[0])])
    assert found(tmp_path) == [0]


def test_where_nothing_can_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "gone")
    assert unwritable(tmp_path) is None and unwritable(tmp_path / "a" / "b") is None
    assert unwritable(tmp_path / "file" / "a") == f"{tmp_path / 'file'} is a file"
    assert unwritable(tmp_path / "link") == f"{tmp_path / 'link'} is a link that leads nowhere"
