from dataclasses import replace
from typing import cast

import pytest

from app.core import canonical
from app.core.model_profile import ModelProfile
from app.core.recipe import Recipe, decode_recipe, encode_recipe
from app.core.request_copy import PruneBoundary
from app.policies.presets import policy_json
from tests.unit.core.builders import OPENWORK

RECIPE = Recipe(
    format="neutral",
    model="modèle",
    profile=ModelProfile(
        name="m", context_window=None, max_output_tokens=1, comp_hash="h", encoding="o200k_base"
    ),
    policy=policy_json(OPENWORK),
    agent_ref="a" * 64,
    is_root=False,
    sandbox_available=False,
    boundary=PruneBoundary(through_sequence=7, spill_directory="/spill/中"),
    generation={"temperature": 0.5, "stop": ["a"], "thinking": None},
    through_sequence=9,
)
CHANGES: list[dict[str, object]] = [
    {"format": "other"},
    {"model": "other"},
    {"profile": replace(RECIPE.profile, accepts_data_blocks=False)},
    {"policy": {**RECIPE.policy, "tool_order": "name"}},
    {"agent_ref": "b" * 64},
    {"is_root": True},
    {"sandbox_available": True},
    {"boundary": PruneBoundary()},
    {"held_through": 5},
    {"visibility_ordinal": 3},
]


@pytest.mark.parametrize("recipe", [RECIPE, replace(RECIPE, boundary=PruneBoundary())])
def test_a_recipe_comes_back_from_its_bytes(recipe: Recipe) -> None:
    assert decode_recipe(encode_recipe(recipe)) == recipe
    assert encode_recipe(decode_recipe(encode_recipe(recipe))) == encode_recipe(recipe)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: next(iter(change)))
def test_another_setting_is_another_recipe(change: dict[str, object]) -> None:
    changed = replace(RECIPE, **change)  # type: ignore[arg-type]

    assert not RECIPE.same_settings(changed)
    assert decode_recipe(encode_recipe(changed)) == changed


def test_messages_and_generation_are_no_settings() -> None:
    assert RECIPE.same_settings(replace(RECIPE, through_sequence=10, generation={}))


def test_a_recipe_from_before_providers_held_anything_sends_everything() -> None:
    before = cast("dict[str, object]", canonical.decode(encode_recipe(RECIPE)))
    del before["held_through"]

    assert decode_recipe(canonical.encode(before)) == RECIPE


def test_a_request_that_ended_earlier_held_no_later_message() -> None:
    held = replace(RECIPE, held_through=5)

    assert RECIPE.through(3) == replace(RECIPE, through_sequence=3)
    assert held.through(7) == replace(held, through_sequence=7)
    assert held.through(3) == replace(held, through_sequence=3, held_through=3)


def test_a_recipe_from_before_visibility_could_change_saw_no_change() -> None:
    former = cast("dict[str, object]", canonical.decode(encode_recipe(RECIPE)))
    del former["visibility_ordinal"]

    assert decode_recipe(canonical.encode(former)) == RECIPE
