"""``dsb2 demo``: which model, what it leaves, and what it says to do next."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from dsb2_tasks.cli import _demo, main


@pytest.mark.slow
def test_a_random_model_where_the_recogniser_is_not_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_demo, "unmet", lambda extra: [f"{extra} is not installed"])
    result = CliRunner().invoke(main, ["demo", "--tasks", "dsb2_turns", "--output", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    assert "The demo recogniser is not installed (demo is not installed)" in result.stderr
    (file,) = (tmp_path / "out").rglob("results_*.json")
    assert json.loads(file.read_text())["config"]["model"] == "hf-audio"
    assert result.stdout.endswith(f"To look at them:\n  dsb2 report {file} -o report.html\n")
    page = tmp_path / "report.html"
    told = result.stdout.rpartition("dsb2 ")[2].replace("report.html", str(page)).split()
    assert CliRunner().invoke(main, told).exit_code == 0 and page.is_file()
    assert "$ dsb2 run --tasks dsb2_turns --model hf-audio --model_args pretrained=tiny --data samples" in result.stderr


def test_the_recogniser_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dsb2_tasks.cli import _harness

    (tmp_path / "results_1.json").write_text("{}")
    given: list[list[str]] = []
    monkeypatch.setattr(_demo, "unmet", lambda _: [])
    monkeypatch.setattr(_harness, "evaluate", lambda _, arguments: given.append(arguments))
    result = CliRunner().invoke(main, ["demo", "--limit", "3", "--output", str(tmp_path)])
    assert result.exit_code == 0, result.output
    typed = " ".join(given[0])
    assert "--tasks dsb2_speech --model dsb2-cascade --model_args asr=demo,llm=none" in typed and "--limit 3" in typed


def test_a_wrong_name_is_told_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_demo, "unmet", lambda _: pytest.fail("looked further"))
    result = CliRunner().invoke(main, ["demo", "--tasks", "dsb2_speach"])
    assert result.exit_code == 2 and "did you mean 'dsb2_speech'?" in result.stderr
