"""Verdicts: what became of every stored message in a request, and by which rule.

Source: docs/semantics/request-copy.md#verdicts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.core.engine import WATERMARK_STEPS, PreparedCall
from app.core.image_age import age_images
from app.core.items import Item, message_id
from app.core.on_record import cut_on_record
from app.core.project import project
from app.core.request_copy import RequestCopy, Step, StepContext
from app.core.trim_step import show_newest
from app.core.visibility import for_agent

VerdictName: TypeAlias = Literal["sent", "pruned", "truncated", "summarised", "hidden", "dropped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What became of one message."""

    verdict: VerdictName
    rule: str | None = None
    """The override, compaction or repair that did it. None of a message that is sent as it is."""


SENT = Verdict(verdict="sent")

_REWRITES: tuple[tuple[tuple[Step, ...], VerdictName, str], ...] = (
    (WATERMARK_STEPS, "pruned", "watermark"),
    ((project,), "truncated", "max_tool_result_tokens"),
    ((cut_on_record,), "truncated", "tool_output_truncation"),
    ((age_images,), "truncated", "max_images"),
)
"""The steps that make a message shorter; the first that does gives its verdict."""

_HELD = Verdict(verdict="hidden", rule="provider_context")

_Contents: TypeAlias = Mapping[str, bytes]


def shown_verdicts(
    items: Sequence[Item], call: PreparedCall, context: StepContext
) -> Mapping[str, Verdict]:
    """The verdicts of the messages that a view shows, by their ids.

    Args:
        items: What the call was made from.
        call: The prepared call.
        context: What the steps of its request copy were told.
    """
    copy = for_agent(RequestCopy(items=tuple(items)), context)
    verdicts = {id_: Verdict(verdict="hidden", rule="audience") for id_ in _contents(items)}
    verdicts |= dict.fromkeys(_contents(copy.items), SENT)
    newest = show_newest(copy, context)
    gone = _contents(copy.items).keys() - _contents(newest.items).keys()
    verdicts |= dict.fromkeys(gone, Verdict(verdict="dropped", rule="context_policy"))
    copy = newest
    for steps, verdict, rule in _REWRITES:
        before = _contents(copy.items)
        for step in steps:
            copy = step(copy, context)
        after = _contents(copy.items)
        for id_, content in before.items():
            if after.get(id_) != content and verdicts[id_] == SENT:
                verdicts[id_] = Verdict(verdict=verdict, rule=rule)
    return _as_sent(verdicts, call)


def _as_sent(verdicts: Mapping[str, Verdict], call: PreparedCall) -> Mapping[str, Verdict]:
    """The verdicts with what pairing and the provider's own context made of them."""
    sent = _contents(call.conversation).keys()
    repaired: dict[str, str] = {}
    for repair in call.repairs:
        if repair.message_id is not None:
            repaired.setdefault(repair.message_id, repair.code)
    # Where a provider holds a part itself nothing is merged, so a merger explains the rest.
    has_merged = any(repair.code == "messages_merged" for repair in call.repairs)
    left = Verdict(verdict="sent", rule="messages_merged") if has_merged else _HELD
    unsent = {
        id_: Verdict(verdict="dropped", rule=repaired[id_])
        if repaired.get(id_, "messages_merged") != "messages_merged"
        else left
        for id_, verdict in verdicts.items()
        if id_ not in sent and verdict.verdict not in ("hidden", "dropped")
    }
    return {**verdicts, **unsent}


def _contents(items: Sequence[Item]) -> _Contents:
    """The content of each stored message among some items."""
    contents: dict[str, bytes] = {}
    for item in items:
        id_ = message_id(item)
        if id_ is not None:
            contents[id_] = contents.get(id_, b"") + item.content
    return contents
