"""What a provider that owns its context holds of a session already.

Such a provider keeps the conversation as a thread of its own, so a request
needs to tell it only what follows.

Source: docs/semantics/provider-context.md.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class ProviderContext:
    """A provider's thread, and the last message that is in it."""

    driver: str
    """Who talks to the provider."""
    ref: str
    """How the driver finds the thread again; nobody else reads it."""
    through_sequence: int
    """0 and more; 0 where the thread holds no message."""


def provider_context_json(context: ProviderContext) -> dict[str, object]:
    """A provider context as JSON; `provider_context_from_json` takes it back."""
    return asdict(context)


def provider_context_from_json(value: object) -> ProviderContext:
    """The context of a value that `provider_context_json` made."""
    # Only values made by `provider_context_json` come here, so their shape is known.
    return ProviderContext(**cast("Mapping[str, Any]", value))
