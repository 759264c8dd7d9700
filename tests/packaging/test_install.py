"""What an installation brings, that lm-eval finds it, and that nothing stays behind."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from _environments import Environment, build_wheel, checked, run

pytestmark = pytest.mark.slow

HOOK_FILES = {"_dsb2_tasks_autoload.py", "dsb2_tasks.pth", "dsb2_tasks.start"}

PROBE = """
import json, logging, sys
from pathlib import Path
messages = []
handler = logging.Handler()
handler.emit = lambda record: messages.append(record.getMessage())
logging.getLogger().addHandler(handler)
from lm_eval.api.registry import get_model, model_registry
import lm_eval.models
from lm_eval.tasks import TaskManager
manager = TaskManager()
own = [n for n in manager.all_subtasks if n.startswith("dsb2_")]
entry = manager.task_index.get(own[0]) if own else None
print(json.dumps({
    "groups": [n for n in ("dsb2", "dsb2_speech", "dsb2_music", "dsb2_audio") if n in manager.all_tasks],
    "tasks": own,
    "models": [n for n in ("hf", "dummy", "hf-audio", "dsb2-audio", "dsb2-cascade") if n in model_registry],
    "builtin": "lambada_openai" in manager.all_subtasks,
    "yaml": str(entry.yaml_path.resolve()) if entry else None,
    "warnings": [m for m in messages if "dsb2" in m],
    "torch": "torch" in sys.modules,
}))
"""


def _yaml_files(repository: Path) -> set[str]:
    return {str(p.relative_to(repository)) for p in (repository / "yaml_tasks").rglob("*.yaml")}


def _names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def test_wheel_holds_all_that_is_needed_and_nothing_else(wheel: Path, repository: Path) -> None:
    names = _names(wheel)
    yaml = _yaml_files(repository)
    assert len(yaml) > 180
    assert {n.removeprefix("dsb2_tasks/") for n in names if n.startswith("dsb2_tasks/yaml_tasks/")} == yaml
    samples = {str(p.relative_to(repository)) for p in (repository / "dsb2_tasks" / "samples").rglob("*.parquet")}
    assert samples
    assert samples <= names
    modules = {str(p.relative_to(repository)) for p in (repository / "dsb2_tasks").rglob("*.py") if p.parent.name != "_autoload"}
    assert modules <= names
    assert names >= HOOK_FILES
    strangers = {n for n in names if not n.startswith(("dsb2_tasks/", "dsb2_tasks-"))} - HOOK_FILES
    assert not strangers
    assert not [n for n in names if "tests/" in n or "__pycache__" in n or "_autoload/" in n]
    assert any(n.endswith("dist-info/licenses/LICENSE") for n in names)


def test_sdist_builds_the_same_wheel(wheel: Path, repository: Path, tmp_path: Path) -> None:
    import sys

    script = "import os, sys; os.chdir(sys.argv[1]); from hatchling.build import build_sdist; print(build_sdist(sys.argv[2]))"
    name = checked([sys.executable, "-c", script, repository, tmp_path]).strip().splitlines()[-1]
    with tarfile.open(tmp_path / name) as archive:
        archive.extractall(tmp_path, filter="data")
    (source,) = (p for p in tmp_path.iterdir() if p.is_dir())
    assert (source / "tests" / "conftest.py").is_file()
    (tmp_path / "wheel").mkdir()
    assert _names(build_wheel(source, tmp_path / "wheel")) == _names(wheel)


@pytest.mark.parametrize("mode", ["regular", "editable"])
def test_lm_eval_finds_tasks_and_models(mode: str, request: pytest.FixtureRequest, repository: Path) -> None:
    environment: Environment = request.getfixturevalue(mode)
    found = environment.json(PROBE)
    assert found["groups"] == ["dsb2", "dsb2_speech", "dsb2_music", "dsb2_audio"]
    assert len(found["tasks"]) >= 187
    assert found["models"] == ["hf", "dummy", "hf-audio", "dsb2-audio", "dsb2-cascade"]
    assert found["builtin"]
    assert not found["warnings"]
    assert not found["torch"]
    home = environment.site / "dsb2_tasks" if mode == "regular" else repository
    assert Path(found["yaml"]).is_relative_to(home.resolve() / "yaml_tasks")


def test_editable_install_copies_no_task_file(editable: Environment) -> None:
    assert not [name for name in editable.files() if name.endswith((".yaml", ".parquet"))]
    assert not (editable.site / "dsb2_tasks").exists()


def test_switched_off_lm_eval_knows_nothing(regular: Environment) -> None:
    found = regular.json(PROBE, DSB2_NO_AUTOLOAD="1")
    assert found["groups"] == []
    assert found["tasks"] == []
    assert found["models"] == ["hf", "dummy"]
    assert found["builtin"]


@pytest.mark.parametrize("imported_before", [False, True])
def test_activate_works_without_the_hook(regular: Environment, imported_before: bool) -> None:
    source = (
        "import json, lm_eval.tasks.manager as manager\n"
        + ("import lm_eval.models\nbefore = manager.TaskManager.__init__\n" if imported_before else "")
        + "from dsb2_tasks import plugin\nplugin.activate(); plugin.activate()\n"
        + "from lm_eval.api.registry import model_registry\n"
        # The scan of lm-eval's own tasks takes seconds and adds nothing here.
        + "import lm_eval.tasks._index as index\n"
        + "build = index.TaskIndex.build; roots = []\n"
        + "index.TaskIndex.build = staticmethod(lambda paths, **k: roots.extend(paths) or build(paths[1:], **k))\n"
        + "names = manager.TaskManager().all_tasks\n"
        + "print(json.dumps([len(roots), 'dsb2' in names, 'hf' in model_registry, 'hf-audio' in model_registry]))"
    )
    assert regular.json(source, DSB2_NO_AUTOLOAD="1") == [2, True, True, True]


@pytest.mark.parametrize("mode", ["regular", "editable"])
def test_uninstall_leaves_nothing(mode: str, new_environment: Callable[[], Environment], wheel: Path, repository: Path) -> None:
    environment = new_environment()
    before = environment.files()
    environment.install(*([wheel] if mode == "regular" else ["-e", repository]))
    environment.code("import dsb2_tasks.catalog")  # writes .pyc files
    assert environment.files() > before
    environment.pip("uninstall", "-y", "dsb2-tasks")
    assert environment.files() == before


def test_half_removed_installation_harms_nothing(new_environment: Callable[[], Environment], wheel: Path) -> None:
    environment = new_environment()
    environment.install(wheel)
    shutil.rmtree(environment.site / "dsb2_tasks")

    idle = run([environment.python, "-c", "pass"])
    assert (idle.returncode, idle.stderr) == (0, "")
    used = run(
        [
            environment.python,
            "-c",
            "import lm_eval.models\nfrom lm_eval.api.registry import model_registry\nprint('hf' in model_registry)",
        ]
    )
    assert (used.returncode, used.stdout) == (0, "True\n")
    assert used.stderr.count("dsb2-tasks: could not extend lm_eval.models") == 1
    assert "DSB2_NO_AUTOLOAD" in used.stderr
    assert "Traceback" not in used.stderr

    (environment.site / "_dsb2_tasks_autoload.py").unlink()
    shutil.rmtree(environment.site / "__pycache__")
    assert run([environment.python, "-c", "pass"]).returncode == 0
