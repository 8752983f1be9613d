"""Recipes: what a prepared call was made from, so that it can be made again.

The messages are not in it: they never change, so the last sequence is enough,
and the last change of who sees them.

Source: docs/semantics/engine.md#prepared-calls.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias, cast

from app.core import canonical
from app.core.model_profile import ModelProfile, profile_from_json, stored_profile_json
from app.core.request_copy import PruneBoundary

ViewKind: TypeAlias = Literal["compaction", "rewind"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """The settings of a prepared call beside the messages up to a sequence."""

    format: str
    model: str
    profile: ModelProfile
    policy: Mapping[str, object]
    agent_ref: str
    is_root: bool
    sandbox_available: bool
    boundary: PruneBoundary
    view_id: str | None = None
    """The compaction, rewind or undo whose view is shown."""
    view_kind: ViewKind | None = None
    held_through: int | None = None
    """The last message that the provider held itself; None: everything was sent."""
    visibility_ordinal: int = 0
    """Of the last change of visibility that counts; none did before changes could be made."""
    generation: Mapping[str, object]
    through_sequence: int

    def through(self, sequence: int) -> "Recipe":
        """The recipe of the request that ended at a sequence."""
        held = self.held_through
        held = None if held is None else min(held, sequence)
        return replace(self, through_sequence=sequence, held_through=held)

    def same_settings(self, other: "Recipe") -> bool:
        """Whether two calls differ at most in their messages and generation."""
        return all(
            getattr(self, field.name) == getattr(other, field.name)
            for field in fields(self)
            if field.name not in ("generation", "through_sequence")
        )


def encode_recipe(recipe: Recipe) -> bytes:
    """The canonical bytes of a recipe."""
    values: dict[str, object] = {
        field.name: getattr(recipe, field.name) for field in fields(recipe)
    }
    values["profile"] = stored_profile_json(recipe.profile)
    values["boundary"] = [recipe.boundary.through_sequence, recipe.boundary.spill_directory]
    return canonical.encode(values)


def decode_recipe(data: bytes) -> Recipe:
    """The recipe of bytes that `encode_recipe` made."""
    # Only bytes made by `encode_recipe` come here, so their shape is known.
    values = cast("dict[str, Any]", canonical.decode(data))
    through, directory = values["boundary"]
    values["profile"] = profile_from_json(values["profile"])
    values["boundary"] = PruneBoundary(through_sequence=through, spill_directory=directory)
    return Recipe(**values)
