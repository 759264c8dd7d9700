"""What is printed: tables whose cells are plain text, whoever wrote them, and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from rich.table import Table

#: Columns where output goes to a file or pipe: room for whole cells, so that every row is one line that grep finds.
_PIPE_WIDTH = 400


def plain(value: Any) -> str:
    """A cell: strangers' task files may hold control sequences, which are shown, not sent to the terminal."""
    text = "" if value is None else str(value)
    return "".join(sign if sign.isprintable() else " " if sign in "\n\t" else ascii(sign)[1:-1] for sign in text)


def table(*headers: str) -> Table:
    """A table without lines.

    Args:
        headers: Its columns; of one that begins with ``>`` cells are numbers.
    """
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False, header_style="bold")
    for number, header in enumerate(headers):
        right = header.startswith(">")
        result.add_column(
            header.removeprefix(">"), justify="right" if right else "left", no_wrap=number == 0, overflow="fold", highlight=False
        )
    return result


def add(to: Table, *cells: Any) -> None:
    """Adds a row of plain cells."""
    from rich.text import Text

    to.add_row(*(Text(plain(cell)) for cell in cells))


def show(what: Table) -> None:
    """Prints a table; colours and the terminal's width only on a terminal."""
    import sys

    from rich.console import Console

    console = Console(file=sys.stdout)
    if console.is_terminal:
        console.print(what)
        return
    console = Console(file=sys.stdout, width=_PIPE_WIDTH, no_color=True)
    with console.capture() as printed:
        console.print(what)
    click.echo("\n".join(line.rstrip() for line in printed.get().splitlines()))


def show_json(value: Any) -> None:
    """Prints one JSON value."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def show_pairs(pairs: list[tuple[str, str]]) -> None:
    """Prints names with what they stand for, in two columns."""
    from rich.table import Table

    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(overflow="fold")
    for name, text in pairs:
        add(grid, name, text)
    show(grid)
