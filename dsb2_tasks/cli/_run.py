"""``dsb2 run``: lm-eval's own ``run``, started on our task files alone."""

from __future__ import annotations

import click

_HELP = {"-h", "--help"}


@click.command(
    context_settings={"ignore_unknown_options": True, "allow_extra_args": True, "help_option_names": []},
    options_metavar="[lm_eval's options] [--data WHERE] [--baseline FILE]",
)
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
def run(arguments: tuple[str, ...]) -> None:
    """Evaluate a model: lm_eval's own run, with all of its options, that starts at once.

    Everything else is as in lm_eval, but that groups and tasks which overlap are merged, and that lm-eval's own tasks are
    looked through only when one of them is named.
    """
    from dsb2_tasks.cli import _harness

    parser = _harness.parser()
    if not arguments or _HELP & set(arguments):
        click.echo(parser.format_help())
        return
    _harness.evaluate(parser, list(arguments))
