"""Conversation items: messages as the request copy sees them.

Source: docs/semantics/messages.md#items.
"""

from dataclasses import dataclass

from app.core.facts import Facts, Form
from app.core.messages import Kind, Real, Role, Source


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One message with its canonical content and facts."""

    role: Role
    kind: Kind
    content: bytes
    facts: Facts
    source: Source
    depends_on: int
    """The highest stored sequence that its bytes depend on; 0 where nothing is stored."""

    def with_form(self, form: Form) -> "Item":
        """The same message with other content."""
        return Item(
            role=self.role,
            kind=self.kind,
            content=form.content,
            facts=form.facts,
            source=self.source,
            depends_on=self.depends_on,
        )


def item_of(role: Role, kind: Kind, form: Form, source: Source) -> Item:
    """An item of a form and where it comes from."""
    sequence = source.sequence if isinstance(source, Real) else None
    return Item(
        role=role,
        kind=kind,
        content=form.content,
        facts=form.facts,
        source=source,
        depends_on=sequence or 0,
    )


def stored_sequence(item: Item) -> int | None:
    """The sequence of the stored message behind an item, if there is one."""
    return item.source.sequence if isinstance(item.source, Real) else None


def is_stored_through(item: Item, through: int) -> bool:
    """Whether an item is a stored message at or below a sequence."""
    sequence = stored_sequence(item)
    return sequence is not None and sequence <= through


def message_id(item: Item) -> str | None:
    """The id of the stored message behind an item, if there is one."""
    return item.source.id if isinstance(item.source, Real) else None
