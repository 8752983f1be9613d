"""The shapes of what the demo prints.

Text that came from a session is printed as plain text, never as markup.
"""

from collections.abc import Iterable
from typing import TypeAlias

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

WIDTH = 100

Pairs: TypeAlias = Iterable[tuple[str, str]]


def numbers_table(*numbers: str) -> Table:
    """A table that begins with columns of numbers."""
    table = Table(box=SIMPLE_HEAD)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def pairs_table(pairs: Pairs) -> Table:
    """A name and a value a line."""
    table = Table(box=None, show_header=False, pad_edge=True, padding=(0, 2))
    table.add_column()
    table.add_column()
    for name, value in pairs:
        table.add_row(name, Text(value))
    return table


def head(console: Console, text: str) -> None:
    """Print a headline."""
    console.print(Text(f"\n{text}", style="bold"))


def note(console: Console, text: str) -> None:
    """Print a remark on what stands above it."""
    console.print(Text(f"  {text}", style="dim"))


def count(number: int) -> str:
    """A number with its thousands apart."""
    return f"{number:,}".replace(",", " ")


def first_line(text: str) -> str:
    """The first line of a text."""
    return text.partition("\n")[0]
