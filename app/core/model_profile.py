"""What a model can take.

Source: docs/semantics/budget.md#model-profile.
"""

from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, cast

from app.core.errors import InvalidModelProfile
from app.core.media import MediaRule

_LARGEST_RESERVE = 2**64 - 1
"""Reserves are unsigned 64-bit numbers in OpenWork, whose refusals are kept."""


ProfileSource: TypeAlias = Literal["session", "operator", "catalogue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileOrigin:
    """Who said what a model can take, and why that counts."""

    source: ProfileSource
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProfile:
    """Capabilities of a model. `None` is unknown, never zero and never a default.

    Raises:
        InvalidModelProfile: The reserves leave no room for input.
    """

    name: str
    context_window: int | None
    max_context_window: int | None = None
    max_output_tokens: int | None = None
    max_reasoning_tokens: int | None = None
    accepts_data_blocks: bool = True
    effective_context_window_percent: int = 95
    auto_compact_token_limit: int | None = None
    comp_hash: str | None = None
    encoding: str | None = None
    manages_own_context: bool = False
    media_rule: MediaRule | None = None
    """Who bills media, and so how it counts. `None` is the default rule."""
    origin: ProfileOrigin | None = None
    """Where it was taken from, where the caller did not give it."""

    def __post_init__(self) -> None:
        if self.context_window is not None and self.context_window <= 0:
            raise InvalidModelProfile("contextWindowTokens must be positive", key="context_window")
        if self.max_output_tokens is not None and self.max_output_tokens <= 0:
            raise InvalidModelProfile("maxOutputTokens must be positive", key="max_output_tokens")
        if self.max_reasoning_tokens is not None and self.max_reasoning_tokens < 0:
            raise InvalidModelProfile(
                "maxReasoningTokens must not be negative", key="max_reasoning_tokens"
            )
        self._refuse_impossible_reserve()

    @property
    def reserve_tokens(self) -> int:
        """Tokens of the window that output and reasoning take away from the input."""
        return (self.max_output_tokens or 0) + (self.max_reasoning_tokens or 0)

    def _refuse_impossible_reserve(self) -> None:
        reserve = self.reserve_tokens
        if reserve > _LARGEST_RESERVE:
            raise InvalidModelProfile(
                "the output and reasoning reservation overflowed", key="max_output_tokens"
            )
        if self.context_window is not None and reserve >= self.context_window:
            raise InvalidModelProfile(
                f"output and reasoning reserve {reserve} tokens, which must be less than "
                f"the {self.context_window}-token context window",
                key="max_output_tokens",
                tokens=reserve,
                limit_tokens=self.context_window,
            )


def unknown_profile(name: str) -> ModelProfile:
    """The profile of a model of which nothing is known."""
    return ModelProfile(name=name, context_window=None)


def profile_json(profile: ModelProfile) -> dict[str, object]:
    """A profile as callers give and get it, with every field written out."""
    return {
        field.name: getattr(profile, field.name)
        for field in fields(profile)
        if field.name != "origin"
    }


def stored_profile_json(profile: ModelProfile) -> dict[str, object]:
    """A profile with its origin; `profile_from_json` takes it back."""
    origin = profile.origin
    if origin is None:
        return profile_json(profile)
    return {**profile_json(profile), "origin": [origin.source, origin.why]}


def profile_from_json(value: object) -> ModelProfile:
    """The profile of a value that `profile_json` or `stored_profile_json` made."""
    # Only values made by these come here, so their shape is known.
    given = dict(cast("dict[str, Any]", value))
    if "origin" in given:
        source, why = given["origin"]
        given["origin"] = ProfileOrigin(source=source, why=why)
    return ModelProfile(**given)
