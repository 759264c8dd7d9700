"""Files of numbers and answers that a stranger made or edited, through every command that reads them.

Told in one message that names the file, exit code 1, what was written before stays as it was; or the command does its work.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from dsb2_tasks.baseline import BaselineError, read_baseline
from dsb2_tasks.cli import main
from dsb2_tasks.rescore import AnswersError, from_answers
from dsb2_tasks.results import ResultsError, read_run

sys.path.append(str(Path(__file__).resolve().parent.parent / "rescore"))  # results made of the embedded samples
from _saved import ANGLE, BAD, QBE, paths, replaced, samples_of, saved

SAID = {ANGLE: ["10 degrees", "no idea", "40", "90"], QBE: ["yes"] * 4}
OTHER = {ANGLE: ["12", "no idea", "41", "91"], QBE: ["no"] * 4}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two good runs; nothing is changed in them."""
    folder = tmp_path_factory.mktemp("runs")
    return saved(folder / "one", SAID), saved(folder / "two", OTHER)


@pytest.fixture
def file(whole: tuple[Path, Path], tmp_path: Path) -> Path:
    """A copy of the first to be broken."""
    return shutil.copytree(whole[0].parent, tmp_path / "run") / whole[0].name


def _commands(run: Path, good: Path, to: Path) -> Iterator[list[str | Path]]:
    yield ["report", run, "-o", to / "r.html", "--samples", "2", "--draws", "100"]
    yield ["report", run, good, "-o", to / "r.csv", "--draws", "100"]
    yield ["report", good, "-o", to / "r.json", "--draws", "100", "--baseline", run]
    yield ["report", run, "-o", to / "s.json", "--format", "submission"]
    yield ["compare", run, good, "--draws", "100"]
    yield ["baseline", "make", run, "-o", to / "b.json", "--force"]
    yield ["baseline", "show", run]
    yield ["score", run, "-o", to / "again.json", "--force"]


def _use(run: Path, good: Path, to: Path) -> list[str]:
    """Every command on a run; the messages of those that refused it."""
    to.mkdir(exist_ok=True)
    said = []
    for words in _commands(run, good, to):
        for name in ("r.html", "r.csv", "r.json", "s.json", "b.json", "again.json"):
            (to / name).write_text("before")
        start = time.process_time()
        done = CliRunner().invoke(main, list(map(str, words)))
        assert done.exit_code in (0, 1), (words, done.output)
        assert time.process_time() - start < 20
        assert not [sign for sign in done.output if not sign.isprintable() and sign != "\n"], done.output
        if done.exit_code == 1:
            assert str(run.parent if run.is_file() else run) in done.output and len(done.output) < 5000, (words, done.output)
            assert {path.read_text() for path in to.iterdir()} == {"before"}, words
            said.append(done.output)
    return said


def _mutations(good: Path) -> list[tuple[tuple[Any, ...], str, bool]]:
    """Every place of a results file, and of a logged sample, with every bad value."""
    results, sample = json.loads(good.read_text()), json.loads(samples_of(good, ANGLE).read_text().splitlines()[1])
    return [(at, bad, logged) for logged, of in ((False, results), (True, sample)) for at in paths(of) for bad in BAD]


def _mutate(file: Path, at: tuple[Any, ...], bad: str, logged: bool) -> None:
    if not logged:
        _mutate_with(file, at, BAD[bad])
        return
    samples = samples_of(file, ANGLE)
    lines = samples.read_text().splitlines()
    lines[1] = json.dumps(replaced(json.loads(lines[1]), at, BAD[bad]))
    samples.write_text("\n".join(lines) + "\n")


def _mutate_with(file: Path, at: tuple[Any, ...], value: Any) -> None:
    file.write_text(json.dumps(replaced(json.loads(file.read_text()), at, value)))


@pytest.mark.parametrize("seed", range(5))
def test_no_value_anywhere_is_a_fault_of_the_program(file: Path, whole: tuple[Path, Path], tmp_path: Path, seed: int) -> None:
    _mutate(file, *random.Random(seed).choice(_mutations(whole[0])))
    _use(file, whole[1], tmp_path / "out")


NOWHERE = ["x" * 5000, "~nobody-at-all/x", "a\0b", "\x1b[31m", 10**400, None]


@pytest.mark.parametrize("place", NOWHERE, ids=lambda place: repr(place)[:12])
def test_where_data_were_read_from_is_no_place(file: Path, tmp_path: Path, place: Any) -> None:
    _mutate_with(file, ("configs", QBE, "metadata", "dsb2", "read_from"), place)
    done = CliRunner().invoke(main, ["report", str(file), "-o", str(tmp_path / "r.html"), "--samples", "2", "--draws", "100"])
    assert done.exit_code == 0, done.output
    assert QBE in (tmp_path / "r.html").read_text() and done.output.replace("\n", "").isprintable()


@pytest.mark.long
@pytest.mark.parametrize("seed", range(20))
def test_many_values_at_once(whole: tuple[Path, Path], tmp_path: Path, seed: int) -> None:
    rnd = random.Random(f"many {seed}")
    for number in range(20):
        folder = shutil.copytree(whole[0].parent, tmp_path / f"run{number}")
        for change in rnd.sample(_mutations(whole[0]), rnd.choice([1, 1, 2, 3])):
            try:
                _mutate(folder / whole[0].name, *change)
            except (KeyError, TypeError, IndexError):
                continue  # an earlier change took the place away
        _use(folder / whole[0].name, whole[1], tmp_path / f"out{number}")


# ------------------------------------------------------------------ files as such


def _sparse(path: Path) -> None:
    os.truncate(path, 2**30)


def _changed(path: Path, change: Any) -> None:
    path.write_bytes(change(path.read_bytes()))


def _instead(path: Path, make: Any) -> None:
    path.unlink()
    make(path)


BREAK: dict[str, Any] = {
    "cut": lambda path: _changed(path, lambda raw: raw[: len(raw) // 2]),
    "cut in a character": lambda path: _changed(path, lambda raw: raw[:-3] + b"\xc3"),
    "latin-1": lambda path: _changed(path, lambda raw: raw.replace(b"a", b"\xe9", 1)),
    "utf-16": lambda path: _changed(path, lambda raw: raw.decode().encode("utf-16")[:-1]),
    "compressed": lambda path: _changed(path, lambda raw: b"\x1f\x8b\x08" + raw),
    "empty": lambda path: _changed(path, lambda raw: b""),
    "nul": lambda path: _changed(path, lambda raw: b"\0" + raw),
    "sparse": _sparse,
    "deep": lambda path: _changed(path, lambda raw: b"[" * 100_000),
    "digits": lambda path: _changed(path, lambda raw: b'{"results": ' + b"9" * 1_000_000 + b"}"),
    "twice": lambda path: _changed(path, lambda raw: raw.replace(b"{", b'{"k\\u001b[31m": 1, "k\\u001b[31m": 2, ', 1)),
}
NO_FILE: dict[str, Any] = {
    "pipe": lambda path: _instead(path, os.mkfifo),
    "loop": lambda path: _instead(path, lambda path: path.symlink_to(path.name)),
    "device": lambda path: _instead(path, lambda path: path.symlink_to("/dev/zero")),
    "folder": lambda path: _instead(path, Path.mkdir),
}


@pytest.mark.parametrize("how", [*BREAK, *NO_FILE])
def test_a_results_file_that_is_none(file: Path, whole: tuple[Path, Path], how: str) -> None:
    (BREAK | NO_FILE)[how](file)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    with pytest.raises(ResultsError) as caught:
        read_run(file)
    with pytest.raises((ResultsError, BaselineError)) as as_baseline:
        read_baseline(str(file))
    assert time.monotonic() - start < 20
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100_000  # KiB
    for one in (caught, as_baseline):
        assert str(file) in str(one.value) and len(str(one.value)) < 2000
    if how == "twice":
        assert "key 'k\\x1b[31m' stands twice in one object" in str(caught.value)


def test_every_command_tells_of_such_a_file(file: Path, whole: tuple[Path, Path], tmp_path: Path) -> None:
    BREAK["twice"](file)
    said = _use(file, whole[1], tmp_path / "out")
    assert len(said) == 8 and all("stands twice in one object; leave one of them out" in text for text in said)


@pytest.mark.parametrize("how", BREAK)
def test_samples_that_are_none(file: Path, how: str) -> None:
    samples = samples_of(file, ANGLE)
    BREAK[how](samples)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(ResultsError) as caught:
        read_run(file).tasks[ANGLE].samples()
    assert str(samples) in str(caught.value) and len(str(caught.value)) < 2000
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 400_000  # KiB; lines of 128 MB are allowed


@pytest.mark.parametrize("how", NO_FILE)
def test_where_samples_are_no_file_there_are_none(file: Path, whole: tuple[Path, Path], tmp_path: Path, how: str) -> None:
    NO_FILE[how](samples_of(file, ANGLE))
    (said,) = _use(file, whole[1], tmp_path / "out")
    assert "no samples of" in said and ANGLE in said


@pytest.mark.parametrize(
    "where", ["x" * 5000, "~nobody-at-all/x", "\x1b[31m", "/dev/zero", "/dev/tty"], ids=lambda where: repr(where[:9])
)
def test_places_where_no_run_can_be(whole: tuple[Path, Path], where: str) -> None:
    for words in (["report", where, "--format", "md"], ["compare", whole[0], where], ["baseline", "show", where]):
        done = CliRunner().invoke(main, list(map(str, words)))
        assert done.exit_code == 1 and "there is no such file or folder" in done.output, (words, done.output)
        assert done.output.replace("\n", "").isprintable() and len(done.output) < 1000


def test_a_name_with_a_nul_is_no_place() -> None:
    for read, error in ((read_run, ResultsError), (read_baseline, BaselineError)):
        with pytest.raises(error, match="there is no such file or folder"):
            read("a\0b")


def test_links_in_a_folder_lead_to_nothing_endless(file: Path) -> None:
    (file.parent / "up").symlink_to(file.parent)
    (file.parent / "results_z.json").symlink_to("nowhere")
    (file.parent / "results_y.json").symlink_to("results_y.json")
    os.mkfifo(file.parent / "results_x2.json")
    assert read_run(file.parent).path.samefile(file)
    assert read_baseline(str(file.parent)).entries


# ------------------------------------------------------------------ tables and answers

TABLE = [{"task": ANGLE, "metric": "mse", "value": 5.0, "version": "1-samples"}]
ANSWERS = "\n" + "".join(json.dumps({"task": QBE, "doc_id": number, "answer": "yes"}) + "\n" for number in range(4))
AUTHORS = {"a.wav": {"file": "a.wav", "instruction": "Is it there?", "label": "yes", "sllm_response": "yes"}}


@pytest.mark.parametrize("how", [*BREAK, *NO_FILE])
@pytest.mark.parametrize("name", ["table.json", "table.csv", "answers.jsonl", f"{QBE}.json"])
def test_a_table_and_answers_that_are_none(tmp_path: Path, name: str, how: str) -> None:
    path = tmp_path / name
    csv = "task,metric,value\n" + f"{ANGLE},mse,5\n" * 2
    if how == "cut" and name == "answers.jsonl":
        how = "cut in a character"  # what ends with a line is whole
    path.write_text({"table.json": json.dumps(TABLE), "table.csv": csv, "answers.jsonl": ANSWERS}.get(name, json.dumps(AUTHORS)))
    (BREAK | NO_FILE)[how](path)
    start = time.monotonic()
    with pytest.raises((BaselineError, AnswersError, ResultsError)) as caught:
        read_baseline(str(path)) if name.startswith("table") else from_answers([path], "samples")
    assert str(path) in str(caught.value) and len(str(caught.value)) < 2000
    assert time.monotonic() - start < 20
    if how == "twice" and name != "table.csv":
        assert "stands twice in one object; leave one of them out" in str(caught.value)


def test_a_column_of_a_table_that_stands_twice(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"task,metric,value,value\n{ANGLE},mse,5,6\n")
    with pytest.raises(BaselineError, match=r"t\.csv: column 'value' stands twice; leave one of them out"):
        read_baseline(str(path))


def test_empty_columns_that_a_spreadsheet_leaves_are_none(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text(f"task,metric,value,,\n{ANGLE},mse,5,,\n")
    assert read_baseline(str(path)).entries[ANGLE].measured.value == 5


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("key", ["task", "metric", "value", "na_rate", "stderr", "version", "source", "keys", "rows"])
def test_any_value_of_a_table(tmp_path: Path, key: str, value: str) -> None:
    path = tmp_path / "t.json"
    path.write_text(json.dumps([{**TABLE[0], key: BAD[value]}]))
    try:
        baseline = read_baseline(str(path))
    except BaselineError as error:
        assert str(error).startswith(f"{path}: entry 1") and key in str(error) and len(str(error)) < 2000
    else:
        assert all(isinstance(number, float) for entry in baseline.entries.values() for number in vars(entry.measured).values())
