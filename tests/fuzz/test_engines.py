"""What is broken is found, kept and told, whatever it does to the process."""

from __future__ import annotations

import os
import random
import signal
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, find, settings

from . import __main__ as command
from . import _engines, _target
from ._engines import Finds
from ._target import Target


def planted(data: bytes) -> None:
    """Reads bytes, with three faults."""
    if b"!x!" in data:
        raise KeyError("planted")
    while data == b"for ever":
        pass
    if data == b"killed":
        tempfile.mkdtemp()
        os.kill(os.getpid(), signal.SIGKILL)


TARGET = Target("answers", planted, ("!x!", "y"), lambda data, rnd: data + rnd.choice([b"!x!", b"y"]))


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[[bytes], tuple[int, Path | None]]:
    """Runs the command over the planted target and an input of a corpus: its exit status and where it put its files."""

    def run(data: bytes) -> tuple[int, Path | None]:
        (tmp_path / "corpus").mkdir()
        (tmp_path / "corpus" / "a").write_bytes(data)
        (tmp_path / "out").mkdir()
        (tmp_path / "memory").mkdir()
        monkeypatch.setattr(command, "_MEMORY", tmp_path / "memory")
        monkeypatch.setattr(_engines, "load", lambda name: TARGET)
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "out"))
        arguments = ["fuzz", "answers", "--minutes", "0", "--corpus", str(tmp_path / "corpus")]
        monkeypatch.setattr("sys.argv", arguments)
        status = command.main()
        return status, next((tmp_path / "out").iterdir(), None)

    return run


def test_the_smallest_input_of_a_place_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    finds = Finds(tmp_path)
    for data in (b"y and !x!", b"fine", b"!x!", b"a longer !x!"):
        finds.attempt(TARGET, data)
    (find,) = (path for path in tmp_path.glob("find-*") if path.suffix != ".txt")
    assert find.read_bytes() == b"!x!" and "KeyError: 'planted'" in find.with_suffix(".txt").read_text()
    assert capsys.readouterr().out.count("FIND") == 1


def test_a_find_of_the_command(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    status, folder = run(b"y and !x!")
    (find,) = (path for path in folder.glob("find-*") if path.suffix != ".txt")
    said = capfd.readouterr().out
    assert status == 1 and find.read_bytes() == b"y and !x!"
    assert f"FIND {find}: KeyError" in said and f"found: {find} (9 bytes" in said and "\n1 finds of hypothesis in answers" in said


def test_generated_inputs_hold_words_and_changed_seeds() -> None:
    quick = settings(phases=[Phase.generate], database=None)
    assert find(TARGET.inputs(), lambda data: b"!x!" in data, settings=quick)
    seeds = [seed for seed in TARGET.seeds.values() if len(seed) > 20]
    assert find(TARGET.inputs(), lambda data: data not in seeds and any(data[:20] == seed[:20] for seed in seeds), settings=quick)


def test_nothing_found(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(b"fine") == (0, None)
    assert capfd.readouterr().out.splitlines()[-1].startswith("0 finds of hypothesis in answers")


def test_an_input_that_kills_the_process(run: Any, capfd: pytest.CaptureFixture[str]) -> None:
    status, folder = run(b"killed")
    assert status == 1 and (folder / "at-hand").read_bytes() == b"killed"
    assert not list((folder.parent.parent / "memory").iterdir())
    assert f"the process ended with -9; its last input is {folder / 'at-hand'}" in capfd.readouterr().out


def test_an_input_that_never_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_target, "_HANG_SECONDS", 0.05)
    with pytest.raises(_target.TooMuch, match=r"more than 0\.05 s of processor time"):
        TARGET.bounded(b"for ever")
    assert signal.getitimer(signal.ITIMER_VIRTUAL) == (0.0, 0.0)


def test_without_atheris(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr("sys.argv", ["fuzz", "answers", "--engine", "atheris"])
    with pytest.raises(SystemExit) as ended:
        command.main()
    assert ended.value.code == 2 and "atheris is not installed: pip install atheris" in capsys.readouterr().err


@pytest.mark.parametrize("value", [None, {"a": [1, {"b": "x"}]}, [[], [1.5]], "text", 3])
def test_a_change_is_one_and_the_same_for_a_seed(value: Any) -> None:
    made = [repr(_target.changed_tree(value, ("word",), random.Random(seed))) for seed in range(40)]
    assert made == [repr(_target.changed_tree(value, ("word",), random.Random(seed))) for seed in range(40)]
    assert len(set(made)) > 5
