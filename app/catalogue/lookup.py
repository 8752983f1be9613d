"""Finds the entry that a name means.

Source: docs/semantics/models.md#names.
"""

from app.catalogue.entries import Catalogue, Entry
from app.catalogue.spellings import Spelling


def entry_of(catalogue: Catalogue, spelling: Spelling) -> Entry | None:
    """The entry of one spelling, unless a prefix of the asked name rules its provider out."""
    entry = catalogue.find(spelling.name)
    if entry is None or spelling.providers is None or entry.provider in spelling.providers:
        return entry
    return None
