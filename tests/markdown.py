"""Reads the tables and headings of the documentation, so that tests can hold it to the code."""

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"

_CODE = re.compile(r"`([^`]*)`")


def read_page(name: str) -> str:
    """A page of docs/ as text."""
    return (DOCS / name).read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """What stands under a heading, deeper headings included."""
    start = next(found for found in _headings(text) if found[2] == heading)
    level = len(start[1])
    below = text[start.end() :]
    end = next((found for found in _headings(below) if len(found[1]) <= level), None)
    return below if end is None else below[: end.start()]


def _headings(text: str) -> Iterator[re.Match[str]]:
    return re.finditer(r"^(#+) (.*)$", text, re.MULTILINE)


def table_rows(text: str) -> Iterator[list[str]]:
    """The cells of every row of every table, but for the headers."""
    lines = text.split("\n")
    for before, line in zip(["", *lines], [*lines, ""], strict=True):
        if not line.startswith("|") or not before.startswith("|") or line.startswith("|--"):
            continue
        yield [cell.strip() for cell in line.strip("|").split("|")]


def quoted(cell: str) -> list[str]:
    """What stands in backticks."""
    return _CODE.findall(cell)


def anchors(text: str) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = (found[2].lower() for found in _headings(text))
    return {re.sub(r"[^\w\- ]", "", title).replace(" ", "-") for title in titles}
