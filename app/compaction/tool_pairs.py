"""Tool pairs: the oldest calls and their results give way to a summary each.

A compaction of everything comes late; pairs that are long done are shortened
before, ten at a time. People still see them whole.

Source: docs/semantics/goose.md#tool-pairs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.items import Item, message_id
from app.core.visibility import AGENT_ONLY, Shown

BATCH = 10
"""Calls that are summarised at a time, and how many must be over the cut-off before any is."""

FEWEST_KEPT = 10
MOST_KEPT = 500
KEPT_CALLS = 3
KEPT_CALLS_PER_TOKENS = 20_000
"""Three calls stay for every 20 000 tokens of the line, within these bounds (goose's numbers)."""

FALLBACK_SHARE = 0.8
"""Of the window, where the threshold is none."""

PAIR_PROMPT = (
    "Summarise the following tool call and its response in a few sentences, for an agent that"
    " goes on working. Say what was done and what came of it; keep names, paths and errors as they"
    " are written. Answer with the summary alone."
)
"""The system prompt of the request for one pair; the pair as text, in a fence, is its message."""


Reason: TypeAlias = Literal["no_visible_pair", "not_whole"]
"""Why a call is passed over; `not_whole`: other calls or results would go with it or be parted, a
result is still to come, or something is not stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairGroup:
    """The calls of one message and all of their results."""

    call_ids: tuple[str, ...]
    indexes: tuple[int, ...]
    """Of the message with the calls, and of those with the results."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A call that is not summarised, and why."""

    call_id: str
    reason: Reason

    @property
    def detail(self) -> str:
        """The reason as a sentence."""
        if self.reason == "no_visible_pair":
            return f"No agent-visible tool pair for {self.call_id!r}"
        return f"the messages of {self.call_id!r} hold more than whole stored pairs"


def pair_cutoff(limit_tokens: int, threshold: float) -> int:
    """Calls that stay as they are, 10 to 500, by the tokens at which the session compacts.

    >>> pair_cutoff(128_000, 0.8), pair_cutoff(200_000, 0.0)
    (15, 24)
    """
    share = threshold if 0 < threshold <= 1 else FALLBACK_SHARE
    kept = KEPT_CALLS * int(limit_tokens * share) // KEPT_CALLS_PER_TOKENS
    return min(max(kept, FEWEST_KEPT), MOST_KEPT)


def visible_call_ids(messages: Sequence[Shown]) -> tuple[str, ...]:
    """The ids of the calls that the agent sees, oldest first."""
    return tuple(
        call.id for shown in messages if shown.visibility.agent for call in shown.item.facts.calls
    )


def oldest_calls(call_ids: Sequence[str], cutoff: int, protected: int) -> tuple[str, ...]:
    """The calls that are summarised next; none before a whole batch is over the cut-off.

    Args:
        call_ids: The calls that the agent sees, oldest first.
        cutoff: How many of them stay.
        protected: Calls of the current reply, at the end, which do not count.
    """
    eligible = max(len(call_ids) - protected, 0)
    return () if eligible <= cutoff + BATCH else tuple(call_ids[:BATCH])


def pair_groups(
    messages: Sequence[Shown], call_ids: Sequence[str]
) -> tuple[tuple[PairGroup, ...], tuple[PassedOver, ...]]:
    """The groups of these calls, each once, and the calls that are passed over."""
    found = [pair_group(messages, call_id) for call_id in call_ids]
    groups = {group.indexes: group for group in found if isinstance(group, PairGroup)}
    return (
        tuple(groups.values()),
        tuple(passed for passed in found if isinstance(passed, PassedOver)),
    )


def pair_group(messages: Sequence[Shown], call_id: str) -> PairGroup | PassedOver:
    """All that would be summarised together with a call."""
    asked = _seen(messages, lambda item: call_id in _called(item))
    answered = _seen(messages, lambda item: call_id in _answered(item))
    if not asked or not answered:
        return PassedOver(call_id=call_id, reason="no_visible_pair")
    ids = _called(messages[asked[0]].item)
    results = _seen(messages, lambda item: not _answered(item).isdisjoint(ids))
    told = [id_ for index in results for id_ in sorted(_answered(messages[index].item))]
    indexes = (*asked, *results)
    is_whole = len(asked) == 1 and sorted(told) == sorted(ids)
    is_parted = _waits(messages, results) or _parts_a_run(messages, indexes[-1])
    if not is_whole or is_parted or any(message_id(messages[i].item) is None for i in indexes):
        return PassedOver(call_id=call_id, reason="not_whole")
    calls = messages[asked[0]].item.facts.calls
    return PairGroup(call_ids=tuple(call.id for call in calls), indexes=indexes)


def with_pair_summary(
    messages: Sequence[Shown], group: PairGroup, summary: Item
) -> tuple[Shown, ...]:
    """The history with a pair hidden from the agent, and its summary behind it for the agent alone.

    Indexes behind the pair move by one.
    """
    changed = [
        shown.hidden_from_agent() if index in group.indexes else shown
        for index, shown in enumerate(messages)
    ]
    changed.insert(group.indexes[-1] + 1, Shown(item=summary, visibility=AGENT_ONLY))
    return tuple(changed)


def _waits(messages: Sequence[Shown], results: Sequence[int]) -> bool:
    """Whether a result is still to come."""
    facts = (result for index in results for result in messages[index].item.facts.results)
    return any(result.state == "running" for result in facts)


def _parts_a_run(messages: Sequence[Shown], last: int) -> bool:
    """Whether a summary behind a message would part other results from their call."""
    behind = (shown.item for shown in messages[last + 1 :] if shown.visibility.agent)
    following = next(behind, None)
    return following is not None and following.role == "tool"


def _seen(messages: Sequence[Shown], is_meant: Callable[[Item], bool]) -> list[int]:
    return [
        index
        for index, shown in enumerate(messages)
        if shown.visibility.agent and is_meant(shown.item)
    ]


def _called(item: Item) -> frozenset[str]:
    return frozenset(call.id for call in item.facts.calls)


def _answered(item: Item) -> frozenset[str]:
    return frozenset(result.id for result in item.facts.results)
