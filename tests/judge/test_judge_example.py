"""examples/judge runs as its README says."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest
from _judging import answer_asked, says
from _server import FakeServer, Request, Response
from click.testing import CliRunner

from dsb2_tasks.cli._judge import judge


@pytest.fixture
def folder(repository: Path) -> Path:
    return repository / "examples" / "judge"


@pytest.fixture
def example(folder: Path) -> Any:
    made = importlib.util.spec_from_file_location("judge_answers", folder / "judge_answers.py")
    assert made is not None and made.loader is not None
    module = importlib.util.module_from_spec(made)
    made.loader.exec_module(module)
    return module


def _script(request: Request) -> Response:
    answer = answer_asked(request)
    if "%" in answer or "between" in answer:
        return says(f"So.\nResult: {'9' if '%' in answer else 'N/A'}")
    return says("hm" if "goat" in answer else f"So.\nResult: {'no' if 'cat' in answer else 'yes'}")


def test_the_script_judges_and_a_second_run_is_free(
    example: Any, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(_script) as server:
        args = [str(folder / "answers.jsonl"), f"openai:m@{server.url}", "--store", str(tmp_path)]
        example.main(args)
        first = capsys.readouterr().out.splitlines()
        example.main(args)
        second = capsys.readouterr().out.splitlines()
        assert len(server.requests) == 6
    assert first[0].startswith("6 calls, 0 known; about ")
    assert first[1] == "dsb2_environmental_sound_esc50_animals judge_accuracy 0.6667, judge_coverage 0.75"
    assert first[2] == "  matcher and judge agree on 67% of 3 answers, kappa 0.40"
    assert "judge_mae 1, " in first[3]
    assert "judge_na_rate 0.5, judge_coverage 1" in first[3]
    assert first[4] == "usable verdicts: 5 of 6; 6 requests were made"
    assert second[0] == "0 calls, 6 known; about 0 tokens of prompts"
    assert second[1:4] == first[1:4]
    assert second[4] == "usable verdicts: 5 of 6; 0 requests were made"


def test_the_commands_of_the_readme_run(folder: Path, example: Any) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    commands = [line for block in re.findall(r"```bash\n(.*?)```", text, re.DOTALL) for line in block.splitlines()]
    assert len(commands) == 5
    for command in commands:
        words = shlex.split(command.replace("$'It says 90 %.\\nResult: 9'", "'It says 90 %.\nResult: 9'"))
        if words[0] == "dsb2":
            assert words[1] == "judge"
            result = CliRunner().invoke(judge, words[2:])
            assert result.exit_code == 0, result.output
            assert ("reply       extracted '9', read as 9.0" in result.output) == ("--verdict" in words)
        else:
            assert words[:3] == ["python", "judge_answers.py", "answers.jsonl"]
            assert example.open_judge(words[3], store=folder / "never-made").estimate([]).calls == 0
    assert not (folder / "never-made").exists()


def test_its_answers_are_json_lines(folder: Path) -> None:
    lines = (folder / "answers.jsonl").read_text(encoding="utf-8").splitlines()
    assert {tuple(json.loads(line)) for line in lines} == {("task", "doc_id", "answer")}
