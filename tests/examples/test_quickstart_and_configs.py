"""The script and the settings files of ``examples``: run where that is possible here, checked name by name elsewhere."""

from __future__ import annotations

import inspect
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from dsb2_tasks import catalog, plugin
from dsb2_tasks.results import read_run

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CONFIGS = sorted((EXAMPLES / "configs").glob("*.yaml"))
KNOWN = catalog.read_catalog([catalog.yaml_root()])


def run(folder: Path, *words: str) -> str:
    done = subprocess.run(
        [sys.executable, *words], cwd=folder, env=dict(os.environ), capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout


@pytest.mark.slow
def test_the_script_runs_and_leaves_a_run(tmp_path: Path) -> None:
    printed = run(tmp_path, str(EXAMPLES / "quickstart" / "evaluate.py"), "--limit", "2")
    found = read_run(tmp_path / "results" / "quickstart")
    assert set(found.tasks) == set(KNOWN.members("dsb2_spatial_audio"))
    assert all(len(task.samples()) == 2 for task in found.tasks.values())
    for name in found.tasks:
        assert f"{name}: " in printed


@pytest.mark.slow
def test_settings_for_samples_run(tmp_path: Path) -> None:
    run(tmp_path, "-m", "dsb2_tasks.cli", "run", "--config", str(EXAMPLES / "configs" / "samples.yaml"), "--limit", "1")
    assert set(read_run(tmp_path / "results" / "samples").tasks) == set(KNOWN.members("dsb2_spatial_audio"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_settings_name_what_exists(path: Path) -> None:
    import lm_eval.models
    from lm_eval.api.registry import get_model
    from lm_eval.config.evaluate_config import EvaluatorConfig

    settings = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert set(settings) <= set(EvaluatorConfig.__dataclass_fields__)
    assert set(settings["tasks"]) <= {*KNOWN.tasks, *KNOWN.groups}
    assert settings["model"] in plugin.MODELS
    assert set(settings.get("metadata", {})) <= {"data", "baseline"}
    plugin.register_models(lm_eval.models)
    accepted = set(inspect.signature(get_model(settings["model"]).__init__).parameters)
    language_model = {"pretrained", "dtype"} if settings["model"] == "dsb2-cascade" else set()
    assert set(settings["model_args"]) <= accepted | language_model
    json.dumps(settings)


def test_the_table_of_settings_is_whole() -> None:
    text = (EXAMPLES / "configs" / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in CONFIGS] == sorted(line.split("`")[1] for line in text.splitlines() if line.startswith("| `"))
