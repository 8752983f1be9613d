"""Where a call stops repeating the previous one, and why.

Source: docs/semantics/engine.md#prefix.
"""

from collections.abc import Sequence

from app.core.engine import PreparedCall
from app.core.items import Item
from app.core.messages import Synthetic
from app.core.prefix import Break, Cause, common_length, element_digests
from app.core.recipe import Recipe
from app.core.trimming import KEEP_ALL


def find_break(
    before: PreparedCall, made_from: Recipe, after: PreparedCall, recipe: Recipe
) -> Break:
    """The first message in which two calls differ, with its cause.

    `before` must not be a prefix of `after`; where only the tools differ the
    break is at no message.
    """
    old, new = element_digests(before), element_digests(after)
    at = common_length(old, new)
    cause = _settings_cause(made_from, recipe) or _shaping_cause(after)
    if at == len(old):
        return Break(at=None, cause=cause)
    replaced = None
    new_item = _item(after, at)
    same_view = (made_from.view_id, made_from.held_through) == (
        recipe.view_id,
        recipe.held_through,
    )
    if same_view and _may_be_new(new_item, made_from, recipe):
        replaced = _replaced_result(_item(before, at), new_item)
    return Break(at=at, cause=replaced or cause)


def break_in_format(
    before: PreparedCall,
    made_from: Recipe,
    after: PreparedCall,
    recipe: Recipe,
    digests: tuple[Sequence[bytes], Sequence[bytes]],
) -> Break:
    """The first element in which two calls differ in the words of their format, with its cause.

    Where the neutral requests go on with each other the format is the cause:
    it says what stands last otherwise than what stands in the middle.

    Args:
        before: Not a prefix of `after` in these words.
        made_from: What it was made from.
        after: The later call.
        recipe: What this one was made from.
        digests: Of the elements of either.
    """
    old, new = digests
    at = common_length(old, new)
    neutral, count = element_digests(after), len(before.conversation) + len(before.surface.system)
    is_repeated = element_digests(before) == neutral[:count]
    if is_repeated and before.surface.tools == after.surface.tools:
        cause = _settings_cause(made_from, recipe) or "encoding"
    else:
        cause = find_break(before, made_from, after, recipe).cause
    return Break(at=None if at == len(old) else at, cause=cause)


def _item(call: PreparedCall, at: int) -> Item | None:
    index = at - len(call.surface.system)
    return call.conversation[index] if 0 <= index < len(call.conversation) else None


def _may_be_new(item: Item | None, before: Recipe, after: Recipe) -> bool:
    """Whether an item came after the call before, and was not merely hidden from it."""
    if before.visibility_ordinal == after.visibility_ordinal:
        return True
    return item is not None and item.depends_on > before.through_sequence


def _replaced_result(old: Item | None, new: Item | None) -> Cause | None:
    # The same message with other bytes was shortened or filtered, not replaced.
    if old is None or new is None or old.source == new.source or not old.facts.results:
        return None
    if old.facts.results[0].state == "running":
        return "late_tool_result"
    return "interrupted_result_replaced" if isinstance(old.source, Synthetic) else None


def _settings_cause(before: Recipe, after: Recipe) -> Cause | None:
    if before.agent_ref != after.agent_ref or before.sandbox_available != after.sandbox_available:
        return "agent_changed"
    if before.profile != after.profile:
        return "model_changed"
    if before.view_id != after.view_id:
        return "compaction" if after.view_kind == "compaction" else "rewind"
    if before.held_through != after.held_through:
        return "provider_context_changed"
    if before.visibility_ordinal != after.visibility_ordinal:
        return "visibility_changed"
    if before.boundary != after.boundary:
        return "prune"
    return None if before.policy == after.policy else "policy_changed"


def _shaping_cause(call: PreparedCall) -> Cause:
    """Why a call that was made from the same settings does not repeat the one before."""
    shaping = call.policy.shaping
    if shaping.context_policy != KEEP_ALL:
        return "trimmed"
    if shaping.pairing == "synthesise" and shaping.max_images is not None:
        return "images_aged"
    return "policy_changed" if shaping.pairing == "synthesise" else "mended"
