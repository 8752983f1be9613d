"""Short ways to say a summary as a model writes it."""

from collections.abc import Sequence

from app.compaction.summary_check import CLOSE_ROOT, HEADINGS, OPEN_ROOT

FILLING = "The user asked for a parser and wants every test to stay green."


def section(heading: str, *lines: str) -> str:
    return "\n".join([heading, *lines])


def sections(*, lines: Sequence[str] = (FILLING,)) -> list[str]:
    """The nine sections, each with the same lines."""
    return [section(heading, *lines) for heading in HEADINGS]


def rooted(*body: str) -> str:
    """A whole answer: the parts of a body between the root tags, one line end between them."""
    return "\n".join([OPEN_ROOT, *body, CLOSE_ROOT])


SUMMARY = rooted(*sections())
