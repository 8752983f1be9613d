"""Views: which messages a session's requests show, and what stands for the rest.

A compaction, a rewind and an undo each add a view; none edits a message.
A view shows the items of its checkpoint, then some ranges of older messages,
then everything behind its install boundary.

Source: docs/semantics/compaction.md#views.
"""

from dataclasses import dataclass

Range = tuple[int, int]
"""Sequences after the first number, through the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is shown. The view of a session that was never compacted is `WHOLE`."""

    checkpoint_id: str | None
    """The compaction whose three items stand first."""
    ranges: tuple[Range, ...]
    """Older messages that are shown again, in order."""
    open_after: int
    """The install boundary: every message behind it is shown."""

    def through(self, sequence: int) -> "View":
        """The view as it was when `sequence` was the last one."""
        shown = (*self.ranges, (self.open_after, sequence))
        clipped = ((after, min(last, sequence)) for after, last in shown)
        return View(
            checkpoint_id=self.checkpoint_id,
            ranges=tuple((after, last) for after, last in clipped if last > after),
            open_after=sequence,
        )

    def closed_at(self, sequence: int) -> "View":
        """The same messages, with everything through `sequence` hidden that they are not."""
        return View(checkpoint_id=self.checkpoint_id, ranges=self.ranges, open_after=sequence)

    def folded(self, compaction_id: str, through_sequence: int) -> "View":
        """The view once a summary stands for everything shown through a sequence."""
        return View(
            checkpoint_id=compaction_id,
            ranges=tuple(
                (max(after, through_sequence), last)
                for after, last in self.ranges
                if last > through_sequence
            ),
            open_after=max(self.open_after, through_sequence),
        )

    def shows(self, sequence: int) -> bool:
        """Whether a stored message is shown."""
        return sequence > self.open_after or any(
            after < sequence <= last for after, last in self.ranges
        )


WHOLE = View(checkpoint_id=None, ranges=(), open_after=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which messages requests no longer show, and what hides them."""

    view: View
    view_id: str | None

    def of(self, sequence: int) -> str | None:
        """The compaction or rewind that hides a message; None where it is shown."""
        return None if self.view.shows(sequence) else self.view_id
