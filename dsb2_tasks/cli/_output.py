"""What is printed: tables whose cells are plain text, whoever wrote them, and JSON."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from typing import Any

import click

_GAP = "   "


def plain(value: Any) -> str:
    """A cell: strangers' task files may hold control sequences, which are shown, not sent to the terminal."""
    text = "" if value is None else str(value)
    return "".join(sign if sign.isprintable() else " " if sign in "\n\t" else ascii(sign)[1:-1] for sign in text)


@dataclass
class Table:
    """Rows of plain cells.

    Attributes:
        headers: Names of the columns; empty for a table without a head.
        right: Which columns are aligned to the right.
        one_line: On a terminal that is too narrow, cut cells rather than wrap them; the first column is never cut.
        rows: Cells as texts.
    """

    headers: list[str]
    right: list[bool]
    one_line: bool = False
    rows: list[list[str]] = field(default_factory=list)


def table(*headers: str, one_line: bool = False) -> Table:
    """A table without lines.

    Args:
        headers: Its columns; of one that begins with ``>`` cells are numbers.
        one_line: On a terminal that is too narrow, cut cells rather than wrap them.
    """
    return Table([header.removeprefix(">") for header in headers], [header.startswith(">") for header in headers], one_line)


def add(to: Table, *cells: Any) -> None:
    """Adds a row of plain cells."""
    to.rows.append([plain(cell) for cell in cells])


def show(what: Table) -> None:
    """Prints a table: fitted to a terminal, and whole where output is piped, so that every row is one line that grep finds."""
    if sys.stdout.isatty():
        _show_fitted(what)
        return
    lines = [what.headers, *what.rows] if any(what.headers) else what.rows
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    places = list(zip(widths, what.right, strict=True))
    shown = [
        _GAP.join(cell.rjust(width) if right else cell.ljust(width) for cell, (width, right) in zip(line, places, strict=True))
        for line in lines
    ]
    if lines is not what.rows:
        shown.insert(1, "─" * len(shown[0]))
    click.echo("\n".join(line.rstrip() for line in shown))


def _show_fitted(what: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as Fitted
    from rich.text import Text

    head = any(what.headers)
    fitted = Fitted(box=box.SIMPLE_HEAD if head else None, pad_edge=False, show_edge=False, show_header=head)
    for number, (header, right) in enumerate(zip(what.headers, what.right, strict=True)):
        whole = number == 0 or what.one_line
        fitted.add_column(header, justify="right" if right else "left", no_wrap=whole, overflow="ellipsis" if whole else "fold")
    if what.one_line and what.rows:
        fitted.columns[0].min_width = max(len(row[0]) for row in what.rows)
    for row in what.rows:
        fitted.add_row(*map(Text, row))
    Console(file=sys.stdout).print(fitted)


def show_json(value: Any) -> None:
    """Prints one JSON value."""
    click.echo(json.dumps(value, ensure_ascii=False, allow_nan=False, indent=2))


def show_pairs(pairs: list[tuple[str, str]]) -> None:
    """Prints names with what they stand for, in two columns."""
    grid = table("", "")
    for name, text in pairs:
        add(grid, name, text)
    show(grid)
