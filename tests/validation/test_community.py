"""Tasks of other people: found in a folder, joined into a group, run by name, and harmless to the official ones."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from _pets import GOOD, write_clips

from dsb2_tasks import catalog, compat, plugin
from dsb2_tasks.spec import SpecError

TINY = ["--model", "hf-audio", "--model_args", "pretrained=tiny", "--limit", "1"]


@pytest.fixture(autouse=True)
def _nothing_included(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "included", [])


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the suite's own folder with a community task in it."""
    root = shutil.copytree(catalog.yaml_root(), tmp_path / "yaml_tasks")
    monkeypatch.setattr(catalog, "yaml_root", lambda: root)
    (root / "community").mkdir()
    (root / "community" / "pets.yaml").write_text(GOOD)
    write_clips(root / "community" / "clips", ["dog", "cat"])
    return root


def members() -> list[str]:
    group = compat.task_manager([catalog.yaml_root()]).load(["dsb2_community"])["groups"]["dsb2_community"]
    return [task.task_name for task in group.get_all_tasks()]


def test_an_empty_community_is_told_when_it_is_run() -> None:
    manager = compat.task_manager([catalog.yaml_root()])
    assert "dsb2_community" in manager.all_subtasks
    assert catalog.read_catalog([catalog.yaml_root()]).members("dsb2_community") == []
    with pytest.raises(SpecError, match=r"no task in .*; name the folder of yours by --include_path or DSB2_TASKS_PATH"):
        manager.load(["dsb2_community"])


def test_members_come_from_every_place(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = tmp_path_factory.mktemp("second")
    write_clips(second / "clips", ["dog", "cat"])
    (second / "b.yaml").write_text(GOOD.replace("my_pets", "your_pets").replace("dsb2:\n", "dsb2:\n  suite: yours\n"))
    monkeypatch.setenv(catalog.TASKS_PATH, str(folder))
    assert members() == ["my_pets"]
    monkeypatch.setattr(catalog, "included", [second])
    assert members() == ["my_pets", "your_pets"]
    assert catalog.read_catalog().members("dsb2_community") == ["my_pets"]


def test_the_include_path_of_lm_eval_is_heard_of(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class TaskManager:
        def __init__(self, include_path: Any = None, include_defaults: bool = True) -> None:
            """As lm-eval's, without its scan of 14,000 files."""

    module: Any = ModuleType("lm_eval.tasks.manager")
    module.TaskManager = TaskManager
    plugin.add_tasks(module)
    TaskManager(include_path=str(folder), include_defaults=False)
    assert catalog.included == [], "a scan of one folder alone is no run"
    monkeypatch.chdir(folder)
    TaskManager(include_path=".")
    assert catalog.included == [folder.resolve()]
    TaskManager()
    assert catalog.included == []


def test_a_task_in_the_checkouts_own_folder(checkout: Path) -> None:
    known = catalog.read_catalog()
    assert known.members("dsb2_community") == ["my_pets"]
    assert members() == ["my_pets"]
    assert len(known.members("dsb2")) == 180


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("metric:", "metrc:", "dsb2.metrc: unknown key"),
        ("my_pets", "dsb2_superb_sd_libri2mix", "is a name of the package's own"),
        ("my_pets", "dsb2_speech", "is a name of the package's own"),
        ("dsb2:\n", "dsb2:\n  suite: dsb2-phase2\n", "is an official suite"),
        ("task: my_pets", "task: [", "not valid YAML in line 3"),
    ],
    ids=["broken", "official task", "official group", "official suite", "no YAML"],
)
def test_a_bad_file_in_the_community_harms_nobody(old: str, new: str, said: str, checkout: Path) -> None:
    path = checkout / "community" / "pets.yaml"
    path.write_text(GOOD.replace(old, new))
    known = catalog.read_catalog()
    assert [(fault.path, said in fault.reason) for fault in known.faults] == [(path, True)]
    assert len(known.members("dsb2")) == 180 and catalog.is_own(known.tasks["dsb2_superb_sd_libri2mix"].path)


def test_a_taken_name_cannot_enter_an_official_group(checkout: Path) -> None:
    path = checkout / "community" / "pets.yaml"
    path.write_text(GOOD.replace("my_pets", "dsb2_superb_sd_libri2mix"))
    with pytest.raises(SpecError, match=r"community/pets\.yaml: task: 'dsb2_superb_sd_libri2mix' is the name of .*superb_sd"):
        compat.task_manager([checkout], {"data": "samples"}).load(["dsb2_speaker_and_language"])


def lm_eval(*words: str, folder: Path, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "TOKENIZERS_PARALLELISM": "false", **settings}
    command = [sys.executable, "-m", "lm_eval", *words]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.slow
def test_good_files_run_under_bare_lm_eval(folder: Path, repository: Path) -> None:
    shutil.copy(repository / "examples" / "community_task" / "spoken_sentences.yaml", folder)
    done = lm_eval("--include_path", ".", "--tasks", "dsb2_community", *TINY, folder=folder)
    assert done.returncode == 0, done.stderr
    rows = dict(re.findall(r"(my_\w+) *\| +1\|none +\| +0\|(\w+)", done.stdout))
    assert rows == {"my_pets": "accuracy", "my_spoken_sentences": "audio_error_rate"}, done.stdout
    assert "dsb2_community" in done.stdout


@pytest.mark.long  # lm-eval takes half a minute to look through all of its own
def test_listing_survives_broken_community_files(folder: Path, broken: Callable[..., Path]) -> None:
    broken(("metric:", "metrc:"))
    done = lm_eval("ls", "subtasks", folder=folder, DSB2_TASKS_PATH=str(folder))
    assert done.returncode == 0 and "|dsb2_community " in done.stdout
    assert "unknown key; did you mean 'metric'?" in done.stdout + done.stderr
