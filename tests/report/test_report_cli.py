"""``dsb2 report`` as a command."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from _report_runs import ASR, write_run
from click.testing import CliRunner

from dsb2_tasks.cli import main
from dsb2_tasks.cli._report import report


def _run(*arguments: object):
    return CliRunner().invoke(report, [str(a) for a in arguments])


@pytest.mark.parametrize(
    ("name", "begins"),
    [
        ("a.html", b"<!doctype html>"),
        ("a.HTM", b"<!doctype html>"),
        ("a.md", b"# Dynamic-SUPERB"),
        ("a.csv", b"run,model,task"),
        ("a.tex", b"% Made by dsb2-tasks"),
        ("a.json", b"{"),
        ("a.report", b"<!doctype html>"),
    ],
)
def test_the_ending_of_the_file_says_the_format(name: str, begins: bytes, folder: Path, tmp_path: Path) -> None:
    done = _run(folder / "mira", "-o", tmp_path / name, "--draws", 100)
    assert done.exit_code == 0, done.output
    assert (tmp_path / name).read_bytes().startswith(begins)
    assert re.fullmatch(rf".*{re.escape(name)}: (?!0\.0 )[\d.]+ [kM]B\n", done.stderr)


def test_tables_go_to_stdout_by_default(folder: Path) -> None:
    done = _run(folder / "mira", folder / "sonata", "--format", "json", "--draws", 100, "--baseline", folder / "cascade")
    assert done.exit_code == 0
    assert json.loads(done.stdout)["intervals"] == {"draws": 100, "seed": 0, "level": 0.95}


def test_a_page_with_samples(folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    done = _run(folder / "mira", "-o", page, "--samples", 1, "--audio-mb", 0.05, "--title", "A <title>", "--draws", 100)
    assert done.exit_code == 0, done.output
    text = page.read_text(encoding="utf-8")
    assert '<h1 id="overview">A &lt;title&gt;</h1>' in text
    assert text.count("<article") == 11
    assert 0 < text.count("<audio") < 11


def test_a_submission_can_be_reported_again(folder: Path, tmp_path: Path) -> None:
    file = tmp_path / "mira.json"
    assert _run(folder / "mira", "--format", "submission", "-o", file).exit_code == 0
    done = _run(file, "--format", "md", "--draws", 100)
    assert done.exit_code == 0, done.output
    assert "superb\\_asr\\_librispeech" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--format", "html"], "--format html is written to a file; name it with -o"),
        (["--format", "png"], "--format png is written to a file"),
        (["--format", "md", "--samples", "2"], "--samples and --data are for pages, not for --format md"),
        (["-o", "x.html", "--data", "hub"], "name --samples too"),
        (["-o", "x.html", "--plot", "bars"], "--plot draws to png, svg or pdf, not to html"),
        (["--format", "submission", "--baseline", "x"], "a submission is of one run and without a baseline"),
        (["-o", "x.html", "--draws", "5"], "--draws"),
    ],
)
def test_what_makes_no_sense_together_is_refused(arguments: list[str], message: str, folder: Path) -> None:
    done = _run(folder / "mira", *arguments)
    assert done.exit_code == 2
    assert message in done.output


def test_no_run_is_wrong_use() -> None:
    assert _run("-o", "x.html").exit_code == 2


@pytest.mark.parametrize("version", ["1", "1-samples"])
def test_compare_says_what_heard_nothing_and_what_are_samples(version: str, tmp_path: Path) -> None:
    deaf, mira = (write_run(tmp_path, name, right=0.5, tasks=[ASR], version=version) for name in ("mira-deaf", "mira"))
    (file,) = deaf.glob("results_*.json")
    found = json.loads(file.read_text())
    found["config"]["model_args"]["audio"] = "noise"
    file.write_text(json.dumps({**found, "model_name": "mira"}))
    done = CliRunner().invoke(main, ["compare", str(mira), str(deaf)])
    assert done.exit_code == 0, done.output
    assert f"first:  hf-audio: mira  ({mira}" in done.stdout and f"second: hf-audio: mira, audio=noise  ({deaf}" in done.stdout
    assert ("SAMPLE DATA: these numbers are no benchmark results" in done.stderr) == (version == "1-samples")
    assert _run(mira, deaf, "-o", tmp_path / "both.md", "--draws", 100).exit_code == 0
    assert "mira, audio=noise" in (tmp_path / "both.md").read_text()
