"""The README is a promise: its commands run, its names exist, its numbers are right."""

from __future__ import annotations

import importlib.metadata
import inspect
import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any, get_args

import pytest
from lm_eval.utils import simple_parse_args_string

from dsb2_tasks import catalog, hooks, metrics, plugin, spec
from dsb2_tasks.models._cascade_demo import ASR, DemoUnavailable, demo_folder

README = Path(__file__).resolve().parents[2] / "README.md"
TEXT = README.read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL)
COMMANDS = [line for language, body in FENCES if language in ("bash", "console", "sh") for line in body.splitlines() if line]
KNOWN = catalog.read_catalog([catalog.yaml_root()])

CASCADE = "--model dsb2-cascade"
#: As the README says of lm-eval 0.4.12; there its commands are tested in that form.
JSON_ONLY = importlib.metadata.version("lm-eval") == "0.4.12"
#: Commands that run here as they stand; every other one is checked name by name.
RUN = [c for c in COMMANDS if "lm_eval" in c and ("data=samples" in c or "DSB2_NO_AUTOLOAD" in c)]
#: Of "Add a task": they need the folder that is told of there.
OWN = [c for c in COMMANDS if "door" in c]
#: In the order of the README they build on one another: a run, and what is made of its files.
SESSION = [
    c for c in COMMANDS if c not in OWN and (c.startswith("dsb2 ") or (c in RUN and ("results/" in c or "baseline=" in c)))
]


def _words(command: str) -> tuple[dict[str, str], list[str]]:
    """Splits ``A=1 program argument`` into environment and words."""
    words = shlex.split(command)
    settings = {}
    while words and re.fullmatch(r"[A-Z][A-Z0-9_]*=.*", words[0]):
        name, _, value = words.pop(0).partition("=")
        settings[name] = value
    if JSON_ONLY and "--metadata" in words:
        place = words.index("--metadata") + 1
        words[place] = json.dumps(simple_parse_args_string(words[place]))
    return settings, words


def _run(command: str, folder: Path) -> str:
    settings, words = _words(command)
    module = {"lm_eval": "lm_eval", "dsb2": "dsb2_tasks.cli"}[words[0]]
    done = subprocess.run(
        [sys.executable, "-m", module, *words[1:]],
        env={**os.environ, **settings},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def _parse(command: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    from lm_eval._cli import HarnessCLI

    monkeypatch.setattr(sys, "argv", _words(command)[1])
    return HarnessCLI().parse_args()


def _rows(text: str) -> list[tuple[str, str, str, str, str]]:
    """Rows of lm-eval's result table: task, version, metric, arrow, value."""
    rows, name, version = [], "", ""
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 9 or not (cells[0].lstrip("- ").startswith("dsb2") or cells[0] == ""):
            continue
        name, version = (cells[0].lstrip("- "), cells[1]) if cells[0] else (name, version)
        rows.append((name, version, cells[4], cells[5], cells[6]))
    return rows


def test_every_command_is_of_a_known_sort() -> None:
    sorts = (
        r"python -m venv \.venv && \. \.venv/bin/activate",
        r"pip install .*",
        r"python -m pytest -n 2",
        r"(DSB2_\w+=\d )?lm_eval .*",
        r"torchrun (--\w+ \S+ )+-m lm_eval .*",
        r"dsb2 .*",
    )
    strangers = [c for c in COMMANDS if not any(re.fullmatch(sort, c) for sort in sorts)]
    assert COMMANDS
    assert not strangers


def test_ci_installs_and_tests_by_the_readmes_commands(repository: Path) -> None:
    script = (repository / ".ci" / "run").read_text(encoding="utf-8").replace("pip install -q ", "pip install ").splitlines()
    (block,) = (body.splitlines() for _, body in FENCES if "pytest" in body)
    install, test = block[1:]
    assert install in script
    assert script[-1] == test


def test_installed_extras_exist(repository: Path) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = {extra for command in COMMANDS for extra in re.findall(r'pip install (?:-e )?"\.\[(\w+)\]"', command)}
    assert named == {"demo", "dev", "hf"}
    assert named <= set(project["optional-dependencies"])


@pytest.mark.parametrize("command", [c[c.index("lm_eval ") :] for c in COMMANDS if "lm_eval " in c and "--tasks" in c])
def test_command_names_what_exists(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = _parse(command, monkeypatch)
    tasks = arguments.tasks.split(",") if isinstance(arguments.tasks, str) else arguments.tasks
    known = {*KNOWN.tasks, *KNOWN.groups, *_own_tasks()}
    assert set(tasks) <= known
    assert arguments.model in plugin.MODELS
    import lm_eval.models
    from lm_eval.api.registry import get_model

    plugin.register_models(lm_eval.models)
    accepted = set(inspect.signature(get_model(arguments.model).__init__).parameters)
    assert set(arguments.model_args) <= accepted
    assert set(arguments.metadata or {}) <= {"data", "bad_labels", "baseline"}


def _own_tasks() -> set[str]:
    return set(re.findall(r"^task: (\w+)$", TEXT, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in RUN if CASCADE not in c and c not in SESSION])
def test_command_runs(command: str, tmp_path: Path) -> None:
    printed = _run(command, tmp_path)
    if "DSB2_NO_AUTOLOAD" in command:
        assert "dsb2" not in printed
    else:
        assert "dsb2_" in printed
        assert "samples" in printed


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in RUN if CASCADE in c])
def test_demo_command_runs(command: str, tmp_path: Path) -> None:
    try:
        demo_folder(ASR, Path(os.environ["DSB2_CACHE"]))
    except DemoUnavailable as reason:
        pytest.skip(str(reason))
    pytest.importorskip("faster_whisper")
    printed = _run(command, tmp_path)
    tasks = _words(command)[1][2].split(",")
    expected = {name for task in tasks for name in (KNOWN.members(task) if task in KNOWN.groups else [task])}
    rows = _rows(printed)
    assert {name for name, *_ in rows} - set(KNOWN.groups) == expected
    (example,) = (_rows(body) for language, body in FENCES if language == "text")
    if {name for name, *_ in example} == expected:
        # Another processor may hear another word, but what is no number is none anywhere.
        assert [(*row[:4], row[4] == "N/A") for row in rows] == [(*row[:4], row[4] == "N/A") for row in example]


@pytest.mark.slow
def test_own_task_runs_as_told(tmp_path: Path) -> None:
    import numpy as np
    import soundfile

    (yaml,) = (body for language, body in FENCES if language == "yaml")
    (tmp_path / "door.yaml").write_text(yaml)
    (tmp_path / "clips").mkdir()
    (pattern,) = re.findall(r"`(\{\"file_name\".*?\})`", TEXT)
    row = json.loads(pattern)
    lines = []
    for name, label in {"a.wav": row["label"], "b.wav": "no"}.items():
        soundfile.write(tmp_path / "clips" / name, np.sin(np.arange(16000) * 0.1).astype("float32"), 16000)
        lines.append(json.dumps({**row, "file_name": name, "label": label}))
    (tmp_path / "clips" / "metadata.jsonl").write_text("\n".join(lines) + "\n")
    (name,) = _own_tasks()
    printed = {command.split()[1]: _run(command, tmp_path) for command in OWN}
    assert "1 file" in printed["validate"] or "door.yaml" in printed["validate"]
    assert name in printed["--include_path"]
    assert "accuracy" in printed["--include_path"]
    assert "SAMPLE DATA" not in printed["--include_path"]
    made = (tmp_path / "check.yaml").read_text()
    assert "task: door_check" in made


@pytest.mark.slow
def test_the_session_runs_as_told(tmp_path: Path) -> None:
    """Every dsb2 command, and the runs that they work on, in the order of the README."""
    printed = {command: _run(command, tmp_path) for command in SESSION}
    made = {"report.html": b"<!doctype html>", "table.tex": b"\\begin{", "tiny.json": b"{", "deaf.json": b"{"}
    for name, start in made.items():
        content = (tmp_path / name).read_bytes()
        assert start in content[:2000].lower() or start in content, name
    assert len(SESSION) >= 12
    for command, text in printed.items():
        assert text.strip() or command.startswith("dsb2 report"), command
        if command.startswith("dsb2 explain"):
            assert re.search(r"^value +'no'$", text, re.MULTILINE)
        if "--estimate" in command:
            assert re.search(r"^\d+ calls", text, re.MULTILINE)
        if "baseline=" in command:
            assert "kept" in text


def test_counts_are_right() -> None:
    for group, title in (("dsb2_speech", "speech"), ("dsb2_music", "music"), ("dsb2_audio", "audio")):
        assert f"{len(KNOWN.members(group))} {title}" in TEXT
    official = [KNOWN.tasks[name].spec for name in KNOWN.members("dsb2")]
    confidence = Counter(task.confidence for task in official)
    stated = re.search(r"(\d+) high, (\d+) medium,\s+(\d+)\s+low", TEXT)
    assert stated is not None
    assert tuple(map(int, stated.groups())) == (confidence["high"], confidence["medium"], confidence["low"])
    assert str(len(spec.DOMAINS)) + " domains" in TEXT


def test_every_name_in_code_marks_exists() -> None:
    quoted = set(re.findall(r"`(dsb2_\w+)`", TEXT)) - {"dsb2_tasks"}
    tags = {tag for task in KNOWN.tasks.values() for tag in task.tags}
    assert quoted
    assert quoted <= {*KNOWN.tasks, *KNOWN.groups, *tags}
    models = set(re.findall(r"`((?:hf|dsb2)-[a-z]+)`", TEXT))
    assert models
    assert models <= set(plugin.MODELS)


def test_metrics_and_kinds_exist() -> None:
    table = TEXT.partition("## Read the results")[2].partition("\n## ")[0]
    named = {name for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`([a-z_]+)`", row)}
    assert {"accuracy", "wer", "der", "na_rate", "audio_error_rate", "unparsed_rate"} <= named
    for name in named:
        metrics.get(name)
    stated = re.search(r"`kind` is one of (.*?)\.\s", TEXT, re.DOTALL)
    assert stated is not None
    kinds = set(re.findall(r"[a-z]+", stated.group(1))) - {"and"}
    assert kinds == set(get_args(spec.Kind)) == set(hooks.KINDS)


def test_example_table_is_of_this_version() -> None:
    (example,) = (_rows(body) for language, body in FENCES if language == "text")
    assert len({name for name, *_ in example}) == 3
    for name, version, metric, arrow, _ in example:
        assert version == f"{KNOWN.tasks[name].version}-samples"
        assert arrow == ("↑" if metrics.get(metric).higher_is_better else "↓")


def test_links_inside_the_repository_lead_somewhere(repository: Path) -> None:
    targets = [t for t in re.findall(r"\]\(([^)]+)\)", TEXT) if not t.startswith("https://")]
    folders = re.findall(r"`((?:examples|yaml_tasks|dsb2_tasks)/[\w/]*)`", TEXT)
    assert targets
    assert folders
    for target in (*targets, *folders):
        assert (repository / target).exists(), target


def test_every_environment_variable_is_read_somewhere(repository: Path) -> None:
    code = "\n".join(p.read_text(encoding="utf-8") for p in (repository / "dsb2_tasks").rglob("*.py"))
    for name in set(re.findall(r"DSB2_[A-Z_]+", TEXT)):
        assert f'"{name}"' in code, name
