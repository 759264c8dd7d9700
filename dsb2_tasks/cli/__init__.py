"""The ``dsb2`` command: thin; what it shows is computed by the packages below it, imported when a command needs them."""

from __future__ import annotations

import difflib
import importlib
from typing import Any

import click

from dsb2_tasks import __version__

#: Command -> (``module:object``, first line of its help).  Only the command that is named is imported.
COMMANDS: dict[str, tuple[str, str]] = {
    "demo": ("dsb2_tasks.cli._demo:demo", "Evaluate a small model on the embedded samples: no data and no model to fetch."),
    "doctor": ("dsb2_tasks.cli._doctor:doctor", "Check this installation, and say how to mend what is broken."),
    "list": ("dsb2_tasks.cli._list:list_", "List tasks, all or those that fit."),
    "show": ("dsb2_tasks.cli._show:show", "Show what a task asks, of what data, and how answers count; or what a group holds."),
    "prefetch": (
        "dsb2_tasks.cli._prefetch:prefetch",
        "Fetch data sets from the hub, so that a later run needs no connection.",
    ),
    "run": ("dsb2_tasks.cli._run:run", "Evaluate a model: lm_eval's own run, with all of its options, that starts at once."),
    "report": (
        "dsb2_tasks.cli._report:report",
        "Write down what one or more runs found: as a page, as tables for a paper, as plots, or as a submission.",
    ),
    "compare": ("dsb2_tasks.cli._compare:compare", "Compare two runs: differences with intervals, task by task."),
    "baseline": ("dsb2_tasks.cli._baseline:baseline", "Make, show and check baselines."),
    "score": ("dsb2_tasks.cli._score:score", "Score again what was answered: other rules, another baseline, no model."),
    "explain": ("dsb2_tasks.cli._explain:explain", "Show how one answer to TASK is read and counted."),
    "judge": ("dsb2_tasks.cli._judge:judge", "Show what an LLM judge is told, and how its reply is read; asks nobody."),
    "validate": (
        "dsb2_tasks.cli._validate:validate",
        "Check task files: keys, data, labels, prompts, and what the right answers score.",
    ),
    "new": ("dsb2_tasks.cli._new:new", "Write a task file from the columns and labels of data, and check it."),
}

#: Exit codes beside 0: as documented in the help of ``dsb2``; the third is EX_SOFTWARE of sysexits.h.
ERROR, WRONG_USE, INTERNAL, INTERRUPTED = 1, 2, 70, 130


class _Failure(click.ClickException):
    def __init__(self, message: str, code: int) -> None:
        from dsb2_tasks.cli._output import plain

        # A message may hold names out of a stranger's file: nothing in it moves the cursor.
        super().__init__("\n".join(map(plain, message.split("\n"))))
        self.code = code

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        return self.code


class _Main(click.Group):
    """Imports a command when it is named, and tells every error in one message unless ``--debug`` is given."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Imports one command."""
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name][0].partition(":")
        return getattr(importlib.import_module(module), name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands, without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in COMMANDS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that is named."""
        name = args[0]
        if name not in COMMANDS and not name.startswith("-"):
            near = difflib.get_close_matches(name, COMMANDS, n=1)
            hint = f"did you mean {near[0]!r}?" if near else "all are listed by 'dsb2 --help'"
            raise _Failure(f"unknown command {name!r}; {hint}", WRONG_USE)
        return super().resolve_command(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command that was named."""
        try:
            return super().invoke(ctx)
        except (click.ClickException, click.exceptions.Exit, BrokenPipeError):
            raise
        except (KeyboardInterrupt, EOFError, click.Abort) as stopped:
            raise _Failure(": ".join(["interrupted", *getattr(stopped, "__notes__", [])]), INTERRUPTED) from None
        except Exception as error:
            if ctx.params["debug"]:
                raise
            if type(error).__module__.startswith("dsb2_tasks."):
                raise _Failure(str(error), ERROR) from error
            told = ": ".join([type(error).__name__, *str(error).strip().splitlines()[:1]])
            if isinstance(error, OSError):  # a disk, a connection: no fault of this program
                raise _Failure(told if error.filename is None else f"{error.filename}: {error.strerror}", ERROR) from error
            raise _Failure(f"internal error: {told} (run again as 'dsb2 --debug ...' to see where)", INTERNAL) from error


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsb2")
@click.option("--debug", is_flag=True, help="Show where an error arose.")
def main(debug: bool) -> None:
    """Dynamic-SUPERB Phase-2 for lm-evaluation-harness.

    \b
    Exit codes: 0 done; 1 an error, told in one message; 2 wrong use;
    70 a fault of this program (--debug shows where); 130 interrupted.

    \b
    Completion of commands, options and task names in bash (zsh and fish alike):
      eval "$(_DSB2_COMPLETE=bash_source dsb2)"
    """  # noqa: D301 (click reads the sign \\b, a backspace)


__all__ = ["COMMANDS", "main"]
