"""Views: which messages a session's requests show, and what stands for the rest.

A compaction, a rewind and an undo each add a view; none edits a message.
A view shows the items of its checkpoint, then some ranges of older messages,
then everything behind its install boundary.

Source: docs/semantics/compaction.md#views.
"""

from dataclasses import dataclass, replace

Range = tuple[int, int]
"""Sequences after the first number, through the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """What is shown. The view of a session that was never compacted is `WHOLE`."""

    checkpoint_id: str | None
    """The compaction whose items stand first."""
    ranges: tuple[Range, ...]
    """Older messages that are shown again, in order."""
    open_after: int
    """The install boundary: every message behind it is shown."""
    again: tuple[int, ...] = ()
    """Older messages that stand, as they are, among the checkpoint's items."""

    def through(self, sequence: int) -> "View":
        """The view as it was when `sequence` was the last one."""
        shown = (*self.ranges, (self.open_after, sequence))
        clipped = ((after, min(last, sequence)) for after, last in shown)
        return View(
            checkpoint_id=self.checkpoint_id,
            ranges=tuple((after, last) for after, last in clipped if last > after),
            open_after=sequence,
            again=self.again,
        )

    def closed_at(self, sequence: int) -> "View":
        """The same messages, with everything through `sequence` hidden that they are not."""
        return replace(self, open_after=sequence)

    def folded(
        self, compaction_id: str, through_sequence: int, again: tuple[int, ...] = ()
    ) -> "View":
        """The view once a summary stands for everything shown through a sequence.

        Args:
            compaction_id: Whose items come first then.
            through_sequence: The last message that is folded.
            again: The folded messages that stand among those items.
        """
        return View(
            checkpoint_id=compaction_id,
            ranges=tuple(
                (max(after, through_sequence), last)
                for after, last in self.ranges
                if last > through_sequence
            ),
            open_after=max(self.open_after, through_sequence),
            again=again,
        )

    def shows(self, sequence: int) -> bool:
        """Whether a stored message is shown."""
        return (
            sequence > self.open_after
            or sequence in self.again
            or any(after < sequence <= last for after, last in self.ranges)
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
