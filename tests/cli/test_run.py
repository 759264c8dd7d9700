"""``dsb2 run``: lm-eval's options, told faults, merged tasks, and a whole run."""

from __future__ import annotations

import argparse
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dsb2_tasks import catalog, plugin
from dsb2_tasks.cli import main

lm_eval_tasks = pytest.importorskip("lm_eval.tasks")

from dsb2_tasks.cli import _harness  # noqa: E402
from dsb2_tasks.cli._manager import QuickManager  # noqa: E402

TURNS, SPATIAL = "dsb2_superb_sd_libri2mix", "dsb2_spatial_audio"
KNOWN = catalog.read_catalog([catalog.yaml_root()])
COMMUNITY = """task: {name}
class: !function dsb2_tasks.task.DSB2Task
metadata: {{version: 1}}
tag: [{tag}]
dsb2: {{kind: turns, metric: der, modality: speech, domain: mine, data: [{{path: DynamicSuperb/SuperbSD_Libri2Mix-Test}}]}}
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["run", *arguments])


def theirs() -> argparse.ArgumentParser:
    from lm_eval._cli.run import Run

    commands = argparse.ArgumentParser().add_subparsers()
    Run.create(commands)
    return commands.choices["run"]


def test_every_option_of_lm_eval_is_there_and_two_more() -> None:
    ours = {option for action in _harness.parser()._actions for option in action.option_strings}
    assert ours - {option for action in theirs()._actions for option in action.option_strings} == {"--data", "--baseline"}


def test_help_is_lm_evals_with_ours() -> None:
    for arguments in ([], ["--help"], ["-h"], ["--tasks", "x", "--help"]):
        result = run(*arguments)
        assert result.exit_code == 0, result.output
        for part in ("dsb2 run --tasks TASK", "--model_args", "--predict_only", "--baseline", "torchrun"):
            assert part in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--tasks", "dsb2_trns", "--model", "hf-audio"], "unknown task 'dsb2_trns'; did you mean 'dsb2_turns'?"),
        (["--tasks", f"{TURNS},dsb2_zzz9*", "--model", "hf-audio"], "unknown task 'dsb2_zzz9*'"),
        (["--tasks", TURNS, "--model", "hf-adio"], "unknown model 'hf-adio'; did you mean 'hf-audio'?"),
        (["--tasks", TURNS, "--model", "zzzz"], "models that take audio are hf-audio"),
        (["--tasks", TURNS, "--model", "dummy"], "--model dummy takes no audio; models that do are hf-audio"),
        (["--tasks", TURNS, "--mdel", "x"], "unrecognized arguments: --mdel x (all options: dsb2 run --help)"),
        (["--model", "hf-audio"], "--tasks is missing"),
        (["--tasks", "", "--model", "hf-audio"], "--tasks is missing or not all names"),
        (["--tasks", f"{TURNS},,", "--model", "hf-audio"], "--tasks is missing or not all names"),
        (["--tasks", TURNS, "--model", "hf-audio", "--log_samples"], "--output_path"),
        (["--tasks", TURNS, "--model", "hf-audio", "--limit", "many"], "--limit"),
        (["--tasks", TURNS, "--model", "hf-audio", "--limit", "0"], "--limit 0: a number of documents of at least 1"),
        (["--tasks", TURNS, "--model", "hf-audio", "--limit", "-3"], "--limit -3: a number of documents of at least 1"),
        (["--tasks", TURNS, "--model", "hf-audio", "--model_args", '{"a":'], "Invalid JSON"),
        (["--tasks", TURNS, "--model", "hf-audio", "--include_path", "/nope"], "--include_path '/nope': no such folder"),
        (
            ["--tasks", TURNS, "--model", "hf-audio", "--samples", f'{{"{SPATIAL}": [0]}}'],
            f"unknown task in --samples '{SPATIAL}'",
        ),
        (["--tasks", TURNS, "--model", "hf-audio", "--samples", '{"dsb2_superb_sd_libri2": [0]}'], f"did you mean '{TURNS}'"),
        (["--config", "/nope.yaml"], "/nope.yaml"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_wrong_use_is_one_line(arguments: list[str], said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lm_eval_tasks.TaskManager, "load", lambda *_: pytest.fail("data were opened"))
    result = run(*arguments)
    assert result.exit_code == 2, result.output
    assert said in result.stderr.splitlines()[-1] and result.stderr.count("Error: ") == 1 and "Traceback" not in result.stderr


@pytest.mark.parametrize("tasks", ["5", "[]", "['']", "{a: 1}"])
def test_tasks_of_a_configuration_that_are_no_names(tmp_path: Path, tasks: str) -> None:
    (tmp_path / "run.yaml").write_text(f"{{tasks: {tasks}, model: hf-audio}}")
    result = run("--config", str(tmp_path / "run.yaml"))
    assert (result.exit_code, "--tasks is missing or not all names" in result.stderr) == (2, True), result.output


def test_data_that_are_nowhere_are_told_before_a_model_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dsb2_tasks.models.hf_audio.HFAudio.__init__", lambda *_, **__: pytest.fail("a model was loaded"))
    result = run("--tasks", TURNS, "--model", "hf-audio", "--data", "nowhere")
    assert (result.exit_code, "data='nowhere' is neither 'hub'" in result.stderr) == (1, True), result.output


def test_a_folder_of_tasks_with_a_broken_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken.yaml").write_text("a: [1")
    monkeypatch.setattr(QuickManager, "_scan_all_unless_ours", lambda *_: None)
    result = run("--tasks", str(tmp_path), "--model", "hf-audio")
    assert result.exit_code == 2 and "flow sequence" in result.stderr.splitlines()[-1], result.output


@pytest.mark.parametrize(
    ("arguments", "file", "expected"),
    [
        (["--data", "samples"], {}, {"data": "samples"}),
        (["--baseline", "a.json", "--data", "/x"], {}, {"data": "/x", "baseline": "a.json"}),
        (["--data", "samples", "--metadata", '{"data": "hub", "a": 1}'], {}, {"data": "samples", "a": 1}),
        (["--data", "samples"], {"metadata": {"bad_labels": "skip"}}, {"data": "samples", "bad_labels": "skip"}),
        (["--data", "samples"], {"metadata": "bad_labels=skip"}, {"data": "samples", "bad_labels": "skip"}),
        ([], {"metadata": {"data": "samples"}}, None),
    ],
    ids=["data", "both", "over metadata", "file", "file as text", "nothing"],
)
def test_data_and_baseline_are_metadata(
    arguments: list[str], file: dict[str, Any], expected: dict[str, Any] | None, tmp_path: Path
) -> None:
    (tmp_path / "run.yaml").write_text(json.dumps({"tasks": TURNS, "model": "hf-audio", **file}))
    options = _harness._read(_harness.parser(), ["--config", str(tmp_path / "run.yaml"), *arguments])
    assert options.metadata == expected and options.model == "hf-audio"


def manager(*folders: Path) -> QuickManager:
    plugin.activate()
    return QuickManager([str(folder) for folder in folders], {"data": "samples"})


@pytest.fixture
def no_full_scan(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Every construction of lm-eval's manager as whether it reads the built-in tasks; these are left out in any case."""
    scans: list[bool] = []
    init = lm_eval_tasks.TaskManager.__init__

    def watched(self: Any, *arguments: Any, include_defaults: bool = True, include_path: Any = None, **settings: Any) -> None:
        scans.append(include_defaults)
        paths = plugin.merge_paths(catalog.search_paths(), include_path or []) if include_defaults else include_path
        init(self, *arguments, include_defaults=False, include_path=paths, **settings)

    monkeypatch.setattr(lm_eval_tasks.TaskManager, "__init__", watched)
    return scans


@pytest.mark.parametrize(
    ("name", "scans"),
    [
        (TURNS, [False]),
        ("dsb2_music", [False]),
        ("dsb2_turns", [False]),
        ("dsb2_superb_*", [False]),
        ("hellaswag", [False, True]),
        ("*asr*", [False, True]),
    ],
    ids=["task", "group", "tag", "our wildcard", "another task", "any wildcard"],
)
def test_all_of_lm_eval_is_read_only_when_it_may_be_meant(name: str, scans: list[bool], no_full_scan: list[bool]) -> None:
    made = manager()
    if name == "hellaswag":
        with pytest.raises(Exception, match="unknown task 'hellaswag'"):
            made.match_tasks([name])  # left out by the fixture
    else:
        assert made.match_tasks([name])
    assert no_full_scan == scans


def test_a_foreign_task_of_a_users_folder_brings_all_tasks(tmp_path: Path, no_full_scan: list[bool]) -> None:
    (tmp_path / "plain.yaml").write_text("task: plain\ndataset_path: x\noutput_type: generate_until\n")
    assert manager(tmp_path).match_tasks(["plain"]) == ["plain"] and no_full_scan == [False, True]


@pytest.mark.parametrize(
    ("asked", "kept"),
    [
        (["dsb2", "dsb2_speech"], ["dsb2"]),
        (["dsb2_speech", "dsb2"], ["dsb2"]),
        (["dsb2_music", "dsb2_spatial_audio", SPATIAL], ["dsb2_music", SPATIAL]),
        (["dsb2_speaker_and_language", TURNS], ["dsb2_speaker_and_language"]),
        ([TURNS, TURNS], [TURNS]),
        (["dsb2_turns", "dsb2_speech"], ["dsb2_speech"]),
        (["dsb2_turns", TURNS], [TURNS]),
    ],
    ids=["group in group", "the other way", "group and group", "task in group", "twice", "tag in group", "task of tag"],
)
def test_what_overlaps_is_asked_for_once(asked: list[str], kept: list[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="dsb2_tasks"):
        assert manager()._merged(asked) == kept


def test_a_task_that_two_groups_share_counts_in_both(tmp_path: Path) -> None:
    for name in ("mine_a", "mine_b"):
        (tmp_path / f"{name}.yaml").write_text(COMMUNITY.format(name=name, tag="mine_tag"))
    for group, domain in (("mine_all", ""), ("mine_domain", ", domain: mine")):
        (tmp_path / f"{group}.yaml").write_text(
            f"task: {group}\nclass: !function dsb2_tasks.group.DSB2Group\nmetadata: {{version: 1}}\n"
            f"dsb2_group: {{title: T, suite: community{domain}}}\n"
        )
    loaded = manager(tmp_path).load(["mine_all", "mine_domain", "mine_a", "mine_tag"])
    assert sorted(loaded["tasks"]) == ["mine_a", "mine_b"]
    assert {name: sorted(children) for name, children in loaded["group_map"].items()} == {
        "mine_all": ["mine_a", "mine_b"],
        "mine_domain": ["mine_a", "mine_b"],
    }


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A run as typed, without the hook that lets lm_eval find us: a task, its tag, its group's sibling, and a wildcard."""
    folder = tmp_path_factory.mktemp("run")
    config = folder / "run.yaml"
    config.write_text(json.dumps({"model": "hf-audio", "model_args": {"pretrained": "tiny"}, "limit": 1, "log_samples": True}))
    names = f"dsb2_turns,{TURNS},dsb2_audio_safety,dsb2_scene_fake_detect*"
    command = [sys.executable, "-m", "dsb2_tasks.cli", "run", "--config", str(config), "--tasks", names, "dsb2_harmony_and_pitch"]
    environment = {**os.environ, "DSB2_NO_AUTOLOAD": "1", "DSB2_CACHE": str(folder / "cache")}
    done = subprocess.run(
        [*command, "--data", "samples", "--output_path", str(folder / "out")],
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout, folder / "out"


@pytest.mark.slow
def test_a_run_leaves_what_lm_eval_leaves(finished: tuple[str, Path]) -> None:
    printed, folder = finished
    (file,) = folder.rglob("results_*.json")
    results = json.loads(file.read_text())
    expected = {TURNS, *KNOWN.members("dsb2_audio_safety"), *KNOWN.members("dsb2_harmony_and_pitch")}
    expected |= {name for name in KNOWN.tasks if name.startswith("dsb2_scene_fake_detect")}
    assert set(results["configs"]) == expected
    assert set(results["groups"]) == {"dsb2_audio_safety", "dsb2_harmony_and_pitch"}
    assert results["config"]["model"] == "hf-audio" and results["config"]["limit"] == 1
    assert all(f"|{name}" in printed.replace(" ", "").replace("-dsb2", "dsb2") for name in expected)
    assert len(list(folder.rglob("samples_*.jsonl"))) == len(expected)


@pytest.mark.slow
def test_predict_only_and_a_fault_of_the_data(tmp_path: Path) -> None:
    arguments = ["--tasks", TURNS, "--model", "hf-audio", "--model_args", "pretrained=tiny", "--limit", "1"]
    result = run(*arguments, "--data", "samples", "--predict_only", "--output_path", str(tmp_path))
    assert result.exit_code == 0, result.output
    (file,) = tmp_path.rglob("results_*.json")
    assert json.loads(file.read_text())["results"][TURNS]["bypass,none"] == 999
    result = run(*arguments, "--data", "/nowhere")
    assert result.exit_code == 1 and "data='/nowhere' is neither 'hub' nor 'samples'" in result.stderr.splitlines()[-1]


@pytest.mark.slow
def test_several_processes(tmp_path: Path) -> None:
    arguments = ["--tasks", TURNS, "--model", "hf-audio", "--model_args", "pretrained=tiny", "--data", "samples", "--limit", "2"]
    command = [
        sys.executable,
        "-m",
        "torch.distributed.run",
        "--standalone",
        "--nproc_per_node",
        "2",
        "-m",
        "dsb2_tasks.cli",
        "run",
    ]
    done = subprocess.run(
        [*command, *arguments, "--output_path", str(tmp_path / "out"), "--log_samples"],
        env={**os.environ, "DSB2_CACHE": str(tmp_path), "DSB2_NO_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    (file,) = tmp_path.rglob("samples_*.jsonl")
    assert sorted(json.loads(line)["doc_id"] for line in file.read_text().splitlines()) == [0, 1]
