"""That lm-eval finds what an installation brings, and that nothing stays behind."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from _environments import Environment, run

pytestmark = pytest.mark.slow

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
