"""Views: which messages a session's requests show, and what stands for the rest.

A compaction, a rewind and an undo each add a view; none edits a message.
A view shows the items of its checkpoint, then some ranges of older messages,
then everything behind its install boundary. Where a tool pair was summarised,
the summary stands in the place of its last message.

Source: docs/semantics/compaction.md#views.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, replace

Range = tuple[int, int]
"""Sequences after the first number, through the second."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairPlace:
    """Where the summary of a tool pair stands, and what it stands for."""

    compaction_id: str
    """The batch that made it."""
    index: int
    """Among the items of that batch's checkpoint."""
    sequences: tuple[int, ...]
    """Of the pair's messages, ascending. The summary stands in the place of the last one."""

    @property
    def sequence(self) -> int:
        """The message in whose place the summary stands."""
        return self.sequences[-1]


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
    pairs: tuple[PairPlace, ...] = ()
    """Summaries of tool pairs, by the places where they stand."""
    stands_on: str | None = None
    """Of a batch of tool pairs: the view that its window began with; None is a session's first."""

    def through(self, sequence: int) -> "View":
        """The view as it was when `sequence` was the last one."""
        shown = (*self.ranges, (self.open_after, sequence))
        clipped = ((after, min(last, sequence)) for after, last in shown)
        return View(
            checkpoint_id=self.checkpoint_id,
            ranges=tuple((after, last) for after, last in clipped if last > after),
            open_after=sequence,
            again=self.again,
            pairs=tuple(pair for pair in self.pairs if pair.sequence <= sequence),
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
            pairs=tuple(pair for pair in self.pairs if pair.sequence > through_sequence),
        )

    def with_pairs(self, pairs: Sequence[PairPlace], stands_on: str | None) -> "View":
        """The view once tool pairs that it shows give way to their summaries.

        Args:
            pairs: At least one.
            stands_on: The view that the window began with.
        """
        hidden = {sequence for pair in pairs for sequence in pair.sequences}
        last = max(hidden)
        shown = self.ranges
        if last > self.open_after:
            shown = (*shown, (self.open_after, last))
        return replace(
            self,
            ranges=tuple(_without(shown, hidden)),
            open_after=max(self.open_after, last),
            pairs=tuple(sorted((*self.pairs, *pairs), key=lambda pair: pair.sequence)),
            stands_on=stands_on,
        )

    def shows(self, sequence: int) -> bool:
        """Whether a stored message is shown."""
        return (
            sequence > self.open_after
            or sequence in self.again
            or any(after < sequence <= last for after, last in self.ranges)
        )

    def pair_of(self, sequence: int) -> PairPlace | None:
        """The pair whose summary stands for a message."""
        return next((pair for pair in self.pairs if sequence in pair.sequences), None)


WHOLE = View(checkpoint_id=None, ranges=(), open_after=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Which messages requests no longer show, and what hides them."""

    view: View
    view_id: str | None
    """The view that the window began with."""

    def of(self, sequence: int) -> str | None:
        """The compaction or rewind that hides a message; None where it is shown."""
        if self.view.shows(sequence):
            return None
        pair = self.view.pair_of(sequence)
        return self.view_id if pair is None else pair.compaction_id


def _without(ranges: Iterable[Range], hidden: Set[int]) -> Iterator[Range]:
    """The ranges with holes where something is hidden."""
    for after, last in ranges:
        start = after
        for gone in sorted(sequence for sequence in hidden if after < sequence <= last):
            if gone - 1 > start:
                yield start, gone - 1
            start = gone
        if last > start:
            yield start, last
