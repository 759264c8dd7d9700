"""The ``dsb2`` command: thin; what it shows is computed by the packages below it, imported when a command needs them."""

from __future__ import annotations

from typing import Any

import click

from dsb2_tasks import __version__
from dsb2_tasks.cli._explain import explain


class _Main(click.Group):
    """Tells errors that this project states itself in one message; every other one is a fault of ours and shows where."""

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command that was named."""
        try:
            return super().invoke(ctx)
        except click.ClickException:
            raise
        except Exception as error:
            if ctx.params["debug"] or not type(error).__module__.startswith("dsb2_tasks."):
                raise
            raise click.ClickException(str(error)) from error


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="dsb2")
@click.option("--debug", is_flag=True, help="Show where an error arose.")
def main(debug: bool) -> None:
    """Dynamic-SUPERB Phase-2 for lm-evaluation-harness."""


main.add_command(explain)

__all__ = ["main"]
