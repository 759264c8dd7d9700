"""``dsb2 new``: a task file from data."""

from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import click

from dsb2_tasks.cli._validate import show


class _Names(click.ParamType):
    """One of the names that the task files know; looked up only when it is used."""

    name = "name"

    def __init__(self, what: str) -> None:
        self._what = what

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Refuses a name that is not known."""
        from dsb2_tasks import spec

        return str(click.Choice(get_args(getattr(spec, self._what))).convert(value, param, ctx))


@click.command()
@click.option("--from", "source", required=True, metavar="FOLDER|ORG/NAME", help="Data: a folder, or a data set of the hub.")
@click.option("--kind", required=True, type=_Names("Kind"), help="How answers are read: choice, transcript, number, ...")
@click.option("--name", help="Name of the task; that of the data by default.")
@click.option("--modality", type=_Names("Modality"), help="speech, music or audio; known for the 17 domains.")
@click.option("--domain", help="One of the 17 domains, or your own; guessed where a kind has one.")
@click.option("--metric", help="Metric; that of the kind by default.")
@click.option("--label", metavar="COLUMN", help="Column with the right answer; guessed by name.")
@click.option("--prompt", help="Instruction, for data without such a column.")
@click.option("--language", help="ISO 639-1 code of the speech or text.")
@click.option("--split", default="test", show_default=True, help="Split that is evaluated.")
@click.option("--config", help="Configuration (subset) of the data set.")
@click.option("--data", metavar="hub|samples|FOLDER", default="hub", show_default=True, help="Where a hub data set is read from.")
@click.option("--out", type=click.Path(dir_okay=False, path_type=Path), help="File to write; beside the data by default.")
@click.option("--force", is_flag=True, help="Write over a file that is there.")
@click.pass_context
def new(ctx: click.Context, force: bool, **stated: Any) -> None:
    """Write a task file from the columns and labels of data, and check it.

    What is guessed is said, and stands in the file with the word 'check'. The exit code is 1 if the file has a fault.
    """
    from dsb2_tasks import authoring, validation

    made = authoring.draft(authoring.Wishes(**stated))
    try:
        with made.path.open("w" if force else "x", encoding="utf-8") as file:
            file.write(made.text)
    except FileExistsError:
        raise click.ClickException(f"{made.path} is there already; use --force to write over it, or another --out") from None
    except OSError as error:
        raise click.ClickException(f"{made.path} cannot be written ({error.strerror})") from None
    click.echo(f"wrote {made.path} for {made.rows} rows")
    for guess in made.guesses:
        click.echo(f"guessed: {guess}")
    (outcome,) = validation.validate([made.path], data=stated["data"])
    show(outcome)
    ctx.exit(1 if outcome.faults else 0)
