"""The page about what goes wrong: its commands run, and the tests that it calls upon are there."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "examples" / "footguns" / "README.md").read_text(encoding="utf-8")
COMMANDS = [line for body in re.findall(r"^```bash\n(.*?)^```$", TEXT, re.MULTILINE | re.DOTALL) for line in body.splitlines()]
NAMED = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", TEXT)


@pytest.mark.parametrize(("file", "function"), NAMED, ids=[function or file for file, function in NAMED])
def test_what_is_promised_is_tested(file: str, function: str) -> None:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    tests = {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test")}
    assert function in tests if function else tests


def test_hardly_any_promise_is_without_a_test() -> None:
    promises = re.findall(r"→(.*?)(?=\n\n|\Z)", TEXT, re.DOTALL)
    assert len(promises) > 20
    assert sum("tests/" not in promise for promise in promises) <= 1


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_run(command: str, tmp_path: Path) -> None:
    program, *words = shlex.split(command)
    assert program == "dsb2"
    done = subprocess.run(
        [sys.executable, "-m", "dsb2_tasks.cli", *words], cwd=tmp_path, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "not yes" in done.stdout
