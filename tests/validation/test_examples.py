"""What other repositories copy: the example task, the pre-commit hook and the workflow."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from _pets import write_clips
from click.testing import CliRunner

from dsb2_tasks import validation
from dsb2_tasks.cli import main


@pytest.fixture
def example(repository: Path, tmp_path: Path) -> Path:
    """The example task with tones in the place of its recordings."""
    folder = shutil.copytree(
        repository / "examples" / "community_task", tmp_path / "example", ignore=shutil.ignore_patterns("clips")
    )
    write_clips(folder / "clips", ["go forward", "ten of clubs"])
    return folder


def test_the_example_task_passes(example: Path) -> None:
    (outcome,) = validation.validate([example])
    assert outcome.findings == []
    assert outcome.task == "my_spoken_sentences" and outcome.rows == 2 and outcome.scores["wer"] == 0


def test_the_hook_checks_what_it_is_given(repository: Path, folder: Path, broken: Callable[..., Path]) -> None:
    (hook,) = yaml.safe_load((repository / ".pre-commit-hooks.yaml").read_text())
    assert hook["id"] == "dsb2-validate"
    program, *words = [*shlex.split(hook["entry"]), *hook["args"]]
    assert program in tomllib.loads((repository / "pyproject.toml").read_text())["project"]["scripts"]
    (folder / "other.yaml").write_text("on: push\n")
    path = broken(("./clips", "./nowhere"))
    files = [str(file) for file in (path, folder / "other.yaml") if re.search(hook["files"], file.name)]
    assert CliRunner().invoke(main, [*words, *files]).exit_code == 0
    broken(("metric:", "metrc:"))
    assert CliRunner().invoke(main, [*words, *files]).exit_code == 1


def test_the_workflow_runs_this_command(repository: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workflow = yaml.safe_load((repository / "examples" / "workflow" / "validate.yml").read_text())
    runs = [step["run"] for step in workflow["jobs"]["validate"]["steps"] if "run" in step]
    assert workflow["permissions"] == {"contents": "read"}
    (command,) = (run for run in runs if run.startswith("dsb2 "))
    (folder / "tasks").mkdir()
    for name in ("my_pets.yaml", "clips"):
        shutil.move(folder / name, folder / "tasks" / name)
    monkeypatch.chdir(folder)
    assert CliRunner().invoke(main, shlex.split(command)[1:]).exit_code == 0
    path = folder / "tasks" / "my_pets.yaml"
    path.write_text(path.read_text().replace("metric:", "metrc:").replace("sound_event", "bird_watching"))
    done = CliRunner().invoke(main, shlex.split(command)[1:])
    assert done.exit_code == 1
    matchers = json.loads((repository / "examples" / "workflow" / "dsb2-problem-matcher.json").read_text())["problemMatcher"]
    (pattern,) = (matcher["pattern"][0] for matcher in matchers if matcher["severity"] == "error")
    (found,) = (match for line in done.output.splitlines() if (match := re.match(pattern["regexp"], line)))
    assert (found[pattern["file"]], found[pattern["line"]]) == ("tasks/my_pets.yaml", "6")
    assert "did you mean 'metric'?" in found[pattern["message"]]
    assert any("add-matcher::" in run and "dsb2-problem-matcher.json" in run for run in runs)
