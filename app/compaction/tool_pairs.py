"""Tool pairs: the oldest calls and their results give way to a summary each.

A compaction of everything comes late; pairs that are long done are shortened
before, ten at a time. People still see them whole.

Source: docs/semantics/goose.md#tool-pairs.
"""

from collections.abc import Mapping, Sequence
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
    places = _places(messages)
    found = [_group(messages, places, call_id) for call_id in call_ids]
    groups = {group.indexes: group for group in found if isinstance(group, PairGroup)}
    return (
        tuple(groups.values()),
        tuple(passed for passed in found if isinstance(passed, PassedOver)),
    )


def pair_group(messages: Sequence[Shown], call_id: str) -> PairGroup | PassedOver:
    """All that would be summarised together with a call."""
    return _group(messages, _places(messages), call_id)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Places:
    """Where calls and results stand among what the agent sees, by the ids of the calls."""

    asked: Mapping[str, Sequence[int]]
    answered: Mapping[str, Sequence[int]]


def _places(messages: Sequence[Shown]) -> _Places:
    asked: dict[str, list[int]] = {}
    answered: dict[str, list[int]] = {}
    for index, shown in enumerate(messages):
        if shown.visibility.agent:
            for id_ in {call.id for call in shown.item.facts.calls}:
                asked.setdefault(id_, []).append(index)
            for id_ in {result.id for result in shown.item.facts.results}:
                answered.setdefault(id_, []).append(index)
    return _Places(asked=asked, answered=answered)


def _group(messages: Sequence[Shown], places: _Places, call_id: str) -> PairGroup | PassedOver:
    asked = places.asked.get(call_id, ())
    if not asked or call_id not in places.answered:
        return PassedOver(call_id=call_id, reason="no_visible_pair")
    calls = messages[asked[0]].item.facts.calls
    ids = {call.id for call in calls}
    results = sorted({index for id_ in ids for index in places.answered.get(id_, ())})
    facts = [result for index in results for result in messages[index].item.facts.results]
    indexes = (asked[0], *results)
    is_whole = (
        len(asked) == 1
        and all(index > asked[0] for index in results)
        and sorted(result.id for result in facts) == sorted(ids)
        and all(result.state != "running" for result in facts)
        and all(message_id(messages[index].item) is not None for index in indexes)
    )
    if not is_whole or _parts_a_run(messages, indexes[-1]):
        return PassedOver(call_id=call_id, reason="not_whole")
    return PairGroup(call_ids=tuple(call.id for call in calls), indexes=indexes)


def _parts_a_run(messages: Sequence[Shown], last: int) -> bool:
    """Whether a summary behind a message would part other results from their call."""
    behind = (messages[index] for index in range(last + 1, len(messages)))
    following = next((shown.item for shown in behind if shown.visibility.agent), None)
    return following is not None and following.role == "tool"
