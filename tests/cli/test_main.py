"""``dsb2`` itself: what it lists, how it starts, what an error looks like."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

from dsb2_tasks import cli
from dsb2_tasks.sources import DataError

#: What a command that only lists or helps has no use for.
HEAVY = ("torch", "lm_eval", "datasets", "pyarrow", "numpy", "pydantic", "yaml", "rich")


def python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60).stdout


def test_help_imports_no_command() -> None:
    code = (
        "import sys\nfrom dsb2_tasks.cli import main\n"
        "main(['--help'], standalone_mode=False)\n"
        f"print([m for m in sys.modules if m.startswith('dsb2_tasks.cli.') or m in {HEAVY!r}])"
    )
    shown = python(code)
    assert shown.splitlines()[-1] == "[]"
    assert all(name in shown for name in cli.COMMANDS)
    assert "130 interrupted" in shown and "_DSB2_COMPLETE=bash_source dsb2" in shown


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_the_table_tells_what_the_command_says(name: str) -> None:
    command = cli.main.get_command(click.Context(cli.main), name)
    assert isinstance(command, click.Command) and command.name == name
    assert (command.help or "").strip().splitlines()[0] == cli.COMMANDS[name][1]


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_importing_a_command_is_light(name: str) -> None:
    module = cli.COMMANDS[name][0].partition(":")[0]
    code = f"import sys, {module}\nprint([m for m in ('torch', 'lm_eval', 'datasets', 'pyarrow') if m in sys.modules])"
    assert python(code).strip() == "[]"


@pytest.mark.parametrize(("typed", "said"), [("lst", "did you mean 'list'?"), ("zzz", "all are listed by 'dsb2 --help'")])
def test_unknown_command(typed: str, said: str) -> None:
    result = CliRunner().invoke(cli.main, [typed])
    assert (result.exit_code, result.stderr) == (2, f"Error: unknown command {typed!r}; {said}\n")


FAULTS = {
    "own": (DataError("no data; get some"), 1, "Error: no data; get some\n"),
    "file": (PermissionError(13, "Permission denied", "/x/y"), 1, "Error: /x/y: Permission denied\n"),
    "connection": (ConnectionError("no way\nto the hub"), 1, "Error: ConnectionError: no way\n"),
    "internal": (
        KeyError("x\ny"),
        70,
        "Error: internal error: KeyError: 'x\\ny' (run again as 'dsb2 --debug ...' to see where)\n",
    ),
    "several lines": (
        RuntimeError("first\nsecond"),
        70,
        "Error: internal error: RuntimeError: first (run again as 'dsb2 --debug ...' to see where)\n",
    ),
    "interrupted": (KeyboardInterrupt(), 130, "Error: interrupted\n"),
    "prompt left": (click.Abort(), 130, "Error: interrupted\n"),
}


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[BaseException]:
    """A command ``fail`` that raises the last error put into the list."""
    errors: list[BaseException] = []

    @click.command()
    def fail() -> None:
        raise errors[-1]

    monkeypatch.setitem(cli.COMMANDS, "fail", (f"{__name__}:fail", "Fails."))
    monkeypatch.setattr(sys.modules[__name__], "fail", fail, raising=False)
    return errors


@pytest.mark.parametrize(("error", "code", "said"), FAULTS.values(), ids=FAULTS)
def test_errors_are_one_line_with_a_code_of_their_kind(
    error: BaseException, code: int, said: str, failing: list[BaseException]
) -> None:
    failing.append(error)
    result = CliRunner().invoke(cli.main, ["fail"])
    assert (result.exit_code, result.stderr, result.stdout) == (code, said, "")


@pytest.mark.parametrize("error", [DataError("x"), KeyError("x")], ids=["own", "internal"])
def test_debug_shows_where(error: Exception, failing: list[BaseException]) -> None:
    failing.append(error)
    assert CliRunner().invoke(cli.main, ["--debug", "fail"]).exception is error


def test_a_closed_pipe_is_no_internal_error() -> None:
    command = f"{sys.executable} -m dsb2_tasks.cli list --json | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "[\n" and "internal" not in done.stderr


@pytest.mark.parametrize(
    ("typed", "there", "absent"),
    [
        (["sho"], "show", "list"),
        (["show", "dsb2_superb_asr_l"], "dsb2_superb_asr_librispeech", "dsb2_spatial_audio"),
        (["show", "dsb2_spatial_au"], "dsb2_spatial_audio", "dsb2_superb_asr_librispeech"),
        (["explain", "dsb2_superb_sd"], "dsb2_superb_sd_libri2mix", "dsb2_speech"),
        (["prefetch", "dsb2_mu"], "dsb2_music", "dsb2_audio"),
    ],
    ids=["command", "task", "group", "task of explain", "one of several"],
)
def test_the_shell_completes_names(typed: list[str], there: str, absent: str) -> None:
    environment = {
        **os.environ,
        "_DSB2_COMPLETE": "bash_complete",
        "COMP_WORDS": " ".join(["dsb2", *typed]),
        "COMP_CWORD": str(len(typed)),
    }
    code = "from dsb2_tasks.cli import main; main(prog_name='dsb2')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False, env=environment)
    names = [line.partition(",")[2] for line in done.stdout.splitlines()]
    assert there in names and absent not in names


def test_a_group_where_a_task_is_needed_is_told() -> None:
    result = CliRunner().invoke(cli.main, ["explain", "dsb2_music"])
    assert result.exit_code == 2 and "'dsb2_music' is a group; name one of its 28 tasks" in result.stderr


def test_json_is_one_value_of_strict_json() -> None:
    result = CliRunner().invoke(cli.main, ["list", "--json", "--kind", "turns"])
    (task,) = json.loads(result.stdout, parse_constant=lambda name: pytest.fail(name))
    assert task["name"] == "dsb2_superb_sd_libri2mix"
