"""``dsb2 list``: filters, search, groups, folders of others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from dsb2_tasks import catalog
from dsb2_tasks.cli import main
from dsb2_tasks.cli._list import languages

KNOWN = catalog.read_catalog([catalog.yaml_root()])
SPECS = {name: task.spec for name, task in KNOWN.tasks.items()}
MINE = """task: {name}
class: !function dsb2_tasks.task.DSB2Task
metadata: {{version: 3}}
dsb2:
  kind: text
  metric: text_accuracy
  modality: audio
  domain: {domain}
  language: eo
  data: [{{path: ./clips}}]
"""


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["list", *arguments])


def listed(*arguments: str) -> list[dict[str, Any]]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def names(*arguments: str) -> set[str]:
    return {task["name"] for task in listed(*arguments)}


FILTERS = {
    "modality": (["--modality", "music"], lambda s: s.modality == "music"),
    "domain": (["--domain", "sound_event"], lambda s: s.domain == "sound_event"),
    "kind": (["--kind", "number"], lambda s: s.kind == "number"),
    "suite": (["--suite", "dsb2-generation"], lambda s: s.suite == "dsb2-generation"),
    "metric": (["--metric", "wer"], lambda s: "wer" in (s.metric, *s.secondary)),
    "either": (["--kind", "turns", "--kind", "beats"], lambda s: s.kind in ("turns", "beats")),
    "both": (["--modality", "music", "--kind", "choice"], lambda s: (s.modality, s.kind) == ("music", "choice")),
    "language": (["--language", "zh"], lambda s: "zh" in [d.language or s.language for d in s.data]),
    "nothing": ([], lambda s: True),
}


@pytest.mark.parametrize(("arguments", "fits"), FILTERS.values(), ids=FILTERS)
def test_filters(arguments: list[str], fits: Any) -> None:
    expected = {name for name, spec in SPECS.items() if fits(spec)}
    assert expected and names(*arguments) == expected


def test_a_tag() -> None:
    assert names("--tag", "dsb2_turns") == {name for name, task in KNOWN.tasks.items() if "dsb2_turns" in task.tags}


def test_a_word_is_found_in_name_domain_and_data_set() -> None:
    assert "dsb2_emotion_recognition_meld" in names("EMOTION")
    assert names("rhythm_analysis") >= {name for name, spec in SPECS.items() if spec.domain == "rhythm_analysis"}
    assert "dsb2_superb_sd_libri2mix" in names("SuperbSD_Libri2Mix")
    assert names("zzzz") == set() and run("zzzz").stdout == ""


@pytest.mark.parametrize("name", ["dsb2_superb_ood_asr", "dsb2_emotion_recognition_meld"])
def test_an_object_holds_what_the_file_says(name: str) -> None:
    (found,) = [task for task in listed() if task["name"] == name]
    task, spec = KNOWN.tasks[name], SPECS[name]
    for key in ("modality", "domain", "kind", "metric", "suite", "confidence", "rows", "licence"):
        assert found[key] == getattr(spec, key)
    assert (found["assumed"], found["version"], found["language"]) == (spec.metric_assumed, task.version, languages(task))
    assert [source["path"] for source in found["data"]] == [source.path for source in spec.data]
    assert [source["revision"] for source in found["data"]] == [source.revision for source in spec.data]


def test_a_row_is_a_line_where_output_is_piped() -> None:
    result = run("--kind", "turns")
    (line,) = [line for line in result.stdout.splitlines() if "dsb2_" in line]
    assert line.split()[:5] == ["dsb2_superb_sd_libri2mix", "speech", "speaker_and_language", "turns", "der"]
    assert not any(line != line.rstrip() for line in result.stdout.splitlines()) and result.stderr == "1 task\n"


def test_an_assumed_metric_is_marked() -> None:
    assumed = [name for name, spec in SPECS.items() if spec.metric_assumed]
    lines = {line.split()[0]: line.split()[4] for line in run().stdout.splitlines() if line.startswith("dsb2_")}
    assert assumed and sorted(name for name, metric in lines.items() if metric.endswith("*")) == sorted(assumed)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "choise"], "unknown kind 'choise'; did you mean 'choice'?"),
        (["--domain", "sound_events"], "did you mean 'sound_event'?"),
        (["--modality", "xyz"], "unknown modality 'xyz'; known are audio, music, speech"),
        (["--tag", "turns"], "did you mean 'dsb2_turns'?"),
        (["--include_path", "/nope"], "--include_path '/nope': no such folder"),
    ],
)
def test_wrong_values_are_told_with_a_suggestion(arguments: list[str], said: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2 and said in result.stderr and len(result.stderr.splitlines()) == 1


def test_groups() -> None:
    groups = {group["name"]: group for group in listed("--groups")}
    assert len(groups["dsb2"]["tasks"]) == 180 and groups["dsb2"]["groups"] == ["dsb2_speech", "dsb2_music", "dsb2_audio"]
    music = {group["name"]: group for group in listed("--groups", "--modality", "music")}
    assert "dsb2_audio" not in music and len(music["dsb2"]["tasks"]) == len(music["dsb2_music"]["tasks"]) == 28
    assert [group["name"] for group in listed("--groups", "harmony")] == ["dsb2_harmony_and_pitch"]
    assert any(line.split()[0] == "dsb2_music" and line.split()[-1] == "28" for line in run("--groups").stdout.splitlines()[2:])


@pytest.mark.parametrize("how", ["--include_path", "DSB2_TASKS_PATH"])
def test_tasks_of_others_and_their_faults(
    how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "mine.yaml").write_text(MINE.format(name="mine", domain="mine_only"))
    (tmp_path / "broken.yaml").write_text(MINE.format(name="broken", domain="x").replace("kind: text", "kind: txt"))
    arguments = ["--include_path", str(tmp_path)] if how == "--include_path" else []
    if not arguments:
        monkeypatch.setenv(how, str(tmp_path))
    (found,) = listed("--domain", "mine_only", "--language", "eo", *arguments)
    assert (found["name"], found["suite"], found["version"]) == ("mine", "community", "3")
    assert "broken.yaml" in caplog.text and "dsb2.kind" in caplog.text


def test_control_sequences_of_strangers_stay_text(tmp_path: Path) -> None:
    evil = '"evil\\e]0;x\\a[red]"'
    (tmp_path / "mine.yaml").write_text(MINE.format(name="mine", domain="mine_only").replace("language: eo", f"language: {evil}"))
    result = run("--include_path", str(tmp_path), "--domain", "mine_only")
    assert "\x1b" not in result.stdout and "\x07" not in result.stdout and r"evil\x1b]0;x\x07[red]" in result.stdout


def test_a_name_of_control_sequences_is_left_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "mine.yaml").write_text(MINE.format(name='"evil\\e]0;x\\a[red]"', domain="mine_only"))
    result = run("--include_path", str(tmp_path), "--domain", "mine_only")
    said = result.output + caplog.text
    assert result.exit_code == 2 and "\x1b" not in said and "\x07" not in said
    assert r"task: 'evil\x1b]0;x\x07[red]' is no name of a task" in caplog.text


@pytest.mark.parametrize("width", [60, 100, 250])
def test_a_terminal_shows_whole_names_on_one_line_each(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
    lines = run("--domain", "rhythm_analysis").stdout.splitlines()[2:]
    members = [name for name, spec in SPECS.items() if spec.domain == "rhythm_analysis"]
    assert [line.split()[0] for line in lines] == members
