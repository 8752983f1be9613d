"""What users of similar systems report of limits and thresholds, each as its smallest input."""

from typing import Any

import pytest

from tests.api.client import Api, Json, succeeded, user
from tests.api.on_one_database import ON_SQLITE

pytestmark = ON_SQLITE


async def limits_of(api: Api, policy: object, **profile: Any) -> Json:
    body = {"model_profile": {"name": "m", **profile}, "policy": policy}
    limits: Json = succeeded(await api.client.post("/v1/limits", json=body))["limits"]
    return limits


async def decision_of(api: Api, policy: object, active: int, **profile: Any) -> Json:
    body = {
        "model_profile": {"name": "m", **profile},
        "policy": policy,
        "usage": {"active_context_tokens": active},
    }
    decision: Json = succeeded(await api.client.post("/v1/limits", json=body))["decision"]
    return decision


async def test_B109_an_absolute_line_stands_beside_the_share_of_a_huge_window(api: Api) -> None:
    policy = {"preset": "calibrated", "absolute_line_tokens": 200_000}
    limits = await limits_of(api, policy, context_window=1_000_000)
    origin = limits["provenance"]["auto_compact_token_limit"]

    assert limits["compact_at_input_tokens"] == 200_000
    assert (origin["requested"], origin["effective"]) == (850_000, 200_000)
    assert "absolute line" in origin["why"]


async def test_B110_a_limit_that_is_cut_says_what_was_asked_for_and_why(api: Api) -> None:
    policy = {"preset": "codex", "model_auto_compact_token_limit": 190_000}
    limits = await limits_of(api, policy, context_window=200_000)
    origin = limits["provenance"]["auto_compact_token_limit"]

    assert (origin["requested"], origin["effective"]) == (190_000, 180_000)
    assert origin["why"].endswith("cut to 90 % of the window")


@pytest.mark.parametrize("preset", ["openwork", "codex", "calibrated"])
async def test_B112_what_is_over_the_window_must_compact(api: Api, preset: str) -> None:
    decision = await decision_of(api, preset, 240_000, context_window=200_000)

    assert decision["action"] == "compact"


async def test_B113_an_output_limit_that_fits_is_suggested(api: Api) -> None:
    profile = {"name": "m", "context_window": 1_000, "max_output_tokens": 400}
    session = await api.session(model_profile=profile, policy="calibrated")
    await session.append(user("word " * 700))
    budget = (await session.prepare())["budget"]
    used = budget["counts"]["tokenizer"]

    assert 600 < used < 1_000
    assert budget["suggested_max_output_tokens"] == 1_000 - used


async def test_B115_an_output_limit_of_nearly_the_window_leaves_its_line_where_it_is(
    api: Api,
) -> None:
    limits = await limits_of(api, "calibrated", context_window=1_048_576, max_output_tokens=943_718)
    origin = limits["provenance"]["reserved_output_tokens"]

    assert limits["compact_at_input_tokens"] == 400_000
    assert (origin["requested"], origin["effective"]) == (943_718, 32_000)
