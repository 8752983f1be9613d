"""The plan key: equal plans are one compaction, which is paid once.

Source: docs/semantics/compaction.md#the-plan-key.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from app.core import canonical
from app.core.items import Item, message_id
from app.core.text import is_blank, trim


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanContent:
    """What makes two plans the same: neither their kind nor their style."""

    policy: Mapping[str, object]
    """The policy's values."""
    model: str
    folded: Sequence[Item]
    """The items that the summary stands for, in order."""
    boundaries: Mapping[str, int | str | None]
    """Boundaries of the fold and of what it stands on, each with its name."""
    instructions: str | None


def plan_key(content: PlanContent) -> str:
    """The sha256 of a plan in hexadecimal; the order of mappings does not matter."""
    return sha256(
        canonical.encode(
            {
                "policy": _sorted(content.policy),
                "model": content.model,
                "items": [_identity(item) for item in content.folded],
                "boundaries": _sorted(content.boundaries),
                "instructions": _focus(content.instructions),
            }
        )
    ).hexdigest()


def _identity(item: Item) -> list[str | None]:
    # The digest covers role and content, so the kind stands beside it.
    return [message_id(item), item.kind, item.facts.element_sha256.hex()]


def _sorted(values: Mapping[str, object]) -> dict[str, object]:
    return {name: values[name] for name in sorted(values)}


def _focus(instructions: str | None) -> str | None:
    return None if instructions is None or is_blank(instructions) else trim(instructions)
