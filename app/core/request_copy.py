"""The request copy: what the steps take and give.

A step is pure: it returns the same copy where it has nothing to do, and a
second run of it changes nothing. Stored items are never touched.

Source: docs/semantics/request-copy.md.
"""

from collections.abc import Callable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.core.counting import TokenCounter
from app.core.facts import Form
from app.core.items import Item
from app.core.shaping import Shaping

RepairCode: TypeAlias = Literal[
    "orphan_tool_result_dropped",
    "result_of_summarised_call",
    "duplicate_tool_result_dropped",
    "tool_result_synthesised",
    "data_block_filtered",
    "tool_call_dropped",
    "messages_merged",
    "message_fixed",
    "message_dropped",
    "placeholder_added",
    "image_aged_out",
    "arguments_wrapped",
    "call_id_renamed",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Repair:
    """Something that the copy has other than the stored conversation."""

    code: RepairCode
    item_index: int
    message_id: str | None
    call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectionSummary:
    """Tool results that were cut, with their tokens before and after."""

    truncated_tool_results: int = 0
    original_tokens: int = 0
    projected_tokens: int = 0

    def plus(self, other: "ProjectionSummary") -> "ProjectionSummary":
        """The sum of two summaries."""
        return ProjectionSummary(
            truncated_tool_results=self.truncated_tool_results + other.truncated_tool_results,
            original_tokens=self.original_tokens + other.original_tokens,
            projected_tokens=self.projected_tokens + other.projected_tokens,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneCounts:
    """What the rules of the watermark made shorter, each counted once."""

    tool_results: int = 0
    """Results of which a head and a tail, or a marker alone, is left."""
    arguments: int = 0
    """Calls whose arguments were shortened."""
    thinking: int = 0
    """Thinking blocks that were left out."""
    references: int = 0
    """Results that gave way to a reference."""

    def plus(self, other: "PruneCounts") -> "PruneCounts":
        """The sum of two counts."""
        return PruneCounts(
            tool_results=self.tool_results + other.tool_results,
            arguments=self.arguments + other.arguments,
            thinking=self.thinking + other.thinking,
            references=self.references + other.references,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rewrite:
    """A rewritten content array and what the rewriting did."""

    form: Form
    pruned: PruneCounts = PruneCounts()
    projection: ProjectionSummary = ProjectionSummary()


MemoKey: TypeAlias = tuple[str | bytes | int | None, ...]
Memo: TypeAlias = MutableMapping[MemoKey, Rewrite]
"""Rewritten forms by rule, content and limits. It may forget; it never decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneBoundary:
    """Up to where old messages are shortened. None: nowhere."""

    through_sequence: int | None = None
    spill_directory: str | None = None
    """Where a marker says the whole result lies. None: it names no file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepContext:
    """What the steps are told beside the items."""

    boundary: PruneBoundary
    prune_tool_result_chars: int
    max_tool_result_tokens: int
    shaping: Shaping
    accepts_data_blocks: bool
    scope: str
    """Namespace of synthetic ids: equal calls of different sessions differ."""
    counter: TokenCounter
    memo: Memo
    is_partial: bool = False
    """Whether older messages are hidden, so that a result may answer a call that is not shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestCopy:
    """The items on their way into a request, and what was done to them."""

    items: tuple[Item, ...]
    pruned: PruneCounts = PruneCounts()
    projection: ProjectionSummary = ProjectionSummary()
    repairs: tuple[Repair, ...] = ()
    origins: tuple[int, ...] | None = None
    """Where each item stands in the conversation; None where nothing was taken out of it."""
    held_through: int | None = None
    """The last message that the provider holds itself; what is done to those is not counted."""

    def origin(self, index: int) -> int:
        """Where an item of the copy stands in the conversation."""
        return index if self.origins is None else self.origins[index]

    def with_only(self, indexes: Sequence[int]) -> "RequestCopy":
        """The copy of the items at some positions; the same copy where these are all."""
        if len(indexes) == len(self.items):
            return self
        return replace(
            self,
            items=tuple(self.items[index] for index in indexes),
            origins=tuple(map(self.origin, indexes)),
        )

    def holds_back(self, item: Item) -> bool:
        """Whether the provider holds an item itself."""
        return self.held_through is not None and item.depends_on <= self.held_through

    def with_rewrites(self, rewrites: Mapping[int, Rewrite]) -> "RequestCopy":
        """The copy with other content at some positions; the same copy where there are none."""
        if not rewrites:
            return self
        items = list(self.items)
        pruned, projection = self.pruned, self.projection
        for index, rewrite in rewrites.items():
            items[index] = items[index].with_form(rewrite.form)
            if self.holds_back(items[index]):
                continue
            pruned = pruned.plus(rewrite.pruned)
            projection = projection.plus(rewrite.projection)
        return replace(self, items=tuple(items), pruned=pruned, projection=projection)


Step: TypeAlias = Callable[[RequestCopy, StepContext], RequestCopy]
