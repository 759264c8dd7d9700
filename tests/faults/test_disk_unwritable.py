"""An output folder that cannot be written to is told before the model is asked; where only lm-eval knows it, nothing is lost."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from _fault_runs import TASKS, Child, MadeUp, Place, evaluate, go_on
from click.testing import CliRunner, Result

from dsb2_tasks.cli import main
from dsb2_tasks.models import unwritable


def dsb2_run(out: Path, monkeypatch: pytest.MonkeyPatch) -> Result:
    """``dsb2 run`` up to where a model would be loaded."""

    def too_late(*_: object, **__: object) -> None:
        raise AssertionError("a model was about to be loaded")

    monkeypatch.setattr("lm_eval.simple_evaluate", too_late)
    options = ["--tasks", TASKS[0], "--model", "hf-audio", "--model_args", "pretrained=tiny", "--data", "samples"]
    return CliRunner().invoke(main, ["run", *options, "--log_samples", "--output_path", str(out)])


def in_the_way(folder: Path) -> tuple[Path, str]:
    (folder / "out").write_text("")
    return folder / "out", "is a file"


def below_a_file(folder: Path) -> tuple[Path, str]:
    (folder / "notes").write_text("")
    return folder / "notes" / "a" / "b", "notes is a file"


def file_below_a_file(folder: Path) -> tuple[Path, str]:
    (folder / "notes").write_text("")
    return folder / "notes" / "mine.json", "notes is a file"


def dangling(folder: Path) -> tuple[Path, str]:
    (folder / "link").symlink_to(folder / "unmounted" / "disk")
    return folder / "link" / "out", "link is a link that leads nowhere"


@pytest.mark.parametrize("fault", [in_the_way, below_a_file, file_below_a_file, dangling], ids=lambda f: f.__name__)
def test_dsb2_run_says_so_first(
    tmp_path: Path, fault: Callable[[Path], tuple[Path, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, said = fault(tmp_path)
    before = sorted(tmp_path.rglob("*"))
    result = dsb2_run(out, monkeypatch)
    assert result.exit_code == 2, result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith(f"Error: --output_path {out}: ") and said in last
    assert last.endswith("name a folder that can be written to")
    assert sorted(tmp_path.rglob("*")) == before


def test_only_the_process_that_writes_needs_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out, _ = in_the_way(tmp_path)
    monkeypatch.setenv("RANK", "1")
    result = dsb2_run(out, monkeypatch)
    assert "a model was about to be loaded" in result.stderr.splitlines()[-1]


def test_a_folder_of_another_user() -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as name:  # pytest's own folders are closed to other users as a whole
        folder = Path(name) / "locked"
        folder.mkdir()
        folder.chmod(0o555)
        Path(name).chmod(0o755)

        def child() -> None:
            if os.getuid() == 0:
                os.setresuid(65534, 65534, 65534)  # root may write anywhere
            print(unwritable(folder / "out"), unwritable(folder), sep="\n")

        done = Child(child, Path(name) / "said.txt")
        assert done.wait() == 0, done.said()
        assert done.said().splitlines() == [f"{folder} may not be written to"] * 2


def test_lm_eval_itself_notices_too_late_and_nothing_is_lost(whole: Place, place: Place) -> None:
    place.out.write_text("in the way")
    done = Child(lambda: evaluate(place, MadeUp(place)), place.root / "said.txt")
    assert done.wait() == 0, "lm-eval takes no notice"
    assert place.stored() == whole.stored() and place.out.read_text() == "in the way"
    place.out.unlink()
    asked = place.all_asked()
    go_on(place, whole)
    assert place.all_asked() == asked
