"""A change of model: whether the previous one compacts before the new one samples.

Source: docs/semantics/codex.md#a-change-of-model.
"""

from typing import Literal, TypeAlias

from app.core.limits import LimitScope
from app.policies.codex_window import ModelWindow

SwitchReason: TypeAlias = Literal["model_downshift", "comp_hash_changed"]


def switch(
    active_tokens: int, previous: ModelWindow | None, new: ModelWindow, scope: LimitScope
) -> SwitchReason | None:
    """Why the previous model compacts first; None where it does not.

    The ordinary check by the new model follows in either case.

    Args:
        active_tokens: What the session holds.
        previous: The model of the last turn; None before the first.
        new: The model of the next sample.
        scope: What the new model's line is compared with.
    """
    if previous is None:
        return None
    if _differ(previous.comp_hash, new.comp_hash):
        return "comp_hash_changed"
    before, after = previous.hard_limit_tokens, new.hard_limit_tokens
    if before is None or after is None or before <= after or previous.name == new.name:
        return None
    return "model_downshift" if _is_too_small(after, active_tokens, new, scope) else None


def _differ(one: str | None, other: str | None) -> bool:
    """Whether both are known and not the same."""
    return one is not None and other is not None and one != other


def _is_too_small(hard_limit: int, active_tokens: int, new: ModelWindow, scope: LimitScope) -> bool:
    if active_tokens >= hard_limit:
        return True
    line = new.auto_compact_token_limit
    # On the line itself it is the new model that compacts, by the ordinary check.
    return scope == "total" and line is not None and active_tokens > line
