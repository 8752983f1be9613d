"""The limits of a model under a policy, without a session."""

from typing import Any

import pytest

from app.policies.presets import PRESETS
from tests.api.client import Api, Json, calls, results, succeeded, user
from tests.api.on_one_database import ON_SQLITE
from tests.requirements import requirement

pytestmark = ON_SQLITE


async def limits_of(api: Api, policy: object = "openwork", **profile: Any) -> Json:
    body = {"model_profile": {"name": "m", **profile}, "policy": policy}
    answer = succeeded(await api.client.post("/v1/limits", json=body))
    limits: Json = answer["limits"]
    return limits


@requirement("OW-7.2-effective-input", "OW-7.2-line-85-percent", "OW-7.2-example")
@pytest.mark.parametrize(
    ("window", "output", "reasoning", "effective", "line", "compact_at"),
    [
        pytest.param(200_000, 32_000, None, 168_000, 142_800, 110_800, id="L1"),
        pytest.param(200_000, 32_000, 80_000, 88_000, 74_800, 42_800, id="L2"),
        pytest.param(1_000, 400, None, 600, 510, 110, id="L5"),
        pytest.param(64_000, 32_000, None, 32_000, 27_200, 0, id="L6"),
        pytest.param(101, 1, None, 100, 85, 84, id="L7 101"),
        pytest.param(100, 10, None, 90, 77, 67, id="L7 100"),
        pytest.param(100, 60, 39, 1, 1, 0, id="L9"),
        pytest.param(200_000, None, None, 200_000, 170_000, 170_000, id="no output limit"),
        pytest.param(
            2**64 - 1, 1, None, 2**64 - 2, 15679732462653118872, 15679732462653118871, id="64 bits"
        ),
    ],
)
async def test_limits_follow_from_the_window(
    api: Api,
    window: int,
    output: int | None,
    reasoning: int | None,
    effective: int,
    line: int,
    compact_at: int,
) -> None:
    limits = await limits_of(
        api, context_window=window, max_output_tokens=output, max_reasoning_tokens=reasoning
    )

    assert limits["context_window"] == window
    assert limits["effective_input_tokens"] == effective
    assert limits["auto_compact_token_limit"] == line
    assert limits["compact_at_input_tokens"] == compact_at


async def test_L10_limits_say_whether_media_is_taken(api: Api) -> None:
    assert (await limits_of(api, context_window=1_000))["accepts_data_blocks"] is True
    limits = await limits_of(api, context_window=1_000, accepts_data_blocks=False)
    assert limits["accepts_data_blocks"] is False


async def test_an_override_moves_the_line_and_says_so(api: Api) -> None:
    policy = {"preset": "openwork", "auto_compact_percent": 100, "max_tool_result_tokens": 5}

    limits = await limits_of(api, policy, context_window=1_000, max_output_tokens=400)

    assert limits["auto_compact_token_limit"] == 600
    assert limits["compact_at_input_tokens"] == 200
    assert limits["max_tool_result_tokens"] == 5
    assert limits["provenance"]["auto_compact_token_limit"]["why"].startswith("100 %")


async def test_an_unknown_window_has_no_limits(api: Api) -> None:
    limits = await limits_of(api, context_window=None, max_output_tokens=400)
    numbers = ("context_window", "effective_input_tokens", "auto_compact_token_limit")

    assert [limits[name] for name in (*numbers, "compact_at_input_tokens")] == [None] * 4
    assert limits["max_tool_result_tokens"] == 8_000


async def given_standing(
    api: Api, usage: Json, *, previous: Json | None = None, policy: object = "codex", **profile: Any
) -> Json:
    body = {
        "model_profile": {"name": "m", **profile},
        "policy": policy,
        "usage": usage,
        **({} if previous is None else {"previous_model_profile": previous}),
    }
    return succeeded(await api.client.post("/v1/limits", json=body))


@pytest.mark.parametrize(
    ("active", "action", "reason"),
    [
        pytest.param(8_999, "submit", "under_line", id="V048 under the line"),
        pytest.param(9_000, "compact", "token_limit_reached", id="V049"),
        pytest.param(9_500, "compact", "hard_limit_reached", id="V050"),
    ],
)
async def test_usage_of_a_window_gives_its_status_and_a_decision_before_a_turn(
    api: Api, active: int, action: str, reason: str
) -> None:
    answer = await given_standing(api, {"active_context_tokens": active}, context_window=10_000)

    assert (answer["decision"]["action"], answer["decision"]["reason"]) == (action, reason)
    assert answer["status"]["active_context_tokens"] == active
    assert answer["status"]["hard_limit_tokens"] == 9_500
    assert answer["status"]["token_limit_reached"] is (action == "compact")
    assert answer["decision"]["roll_over"] is False


@pytest.mark.parametrize(
    ("follow_up", "rolls_over"),
    [
        ({"needs_follow_up": True}, True),
        ({"needs_follow_up": False}, False),
        ({"needs_follow_up": False, "has_pending_input": True}, True),
    ],
)
async def test_a_full_window_rolls_over_where_a_call_follows(
    api: Api, follow_up: Json, rolls_over: bool
) -> None:
    usage = {"active_context_tokens": 9_000, **follow_up}
    answer = await given_standing(api, usage, context_window=10_000)

    assert answer["decision"]["roll_over"] is rolls_over
    assert answer["decision"]["phase"] == "mid_turn"


async def test_a_change_to_a_smaller_model_is_compacted_by_the_one_before(api: Api) -> None:
    answer = await given_standing(
        api,
        {"active_context_tokens": 115_201},
        previous={"name": "big", "context_window": 272_000},
        context_window=128_000,
    )

    assert answer["decision"]["reason"] == "model_downshift"
    assert answer["decision"]["compact_with_model"] == "big"


async def test_growth_in_body_scope_may_be_negative(api: Api) -> None:
    policy = {
        "preset": "codex",
        "model_auto_compact_token_limit": 40,
        "model_auto_compact_token_limit_scope": "body_after_prefix",
    }
    usage = {"active_context_tokens": 30, "prefill_input_tokens": 600}
    answer = await given_standing(api, usage, policy=policy, context_window=10_000)

    assert (answer["status"]["scope_tokens"], answer["status"]["prefill_source"]) == (
        -570,
        "observed",
    )
    assert answer["status"]["base_window_tokens_remaining"] == 610


async def test_a_reminder_is_due_from_its_threshold_on(api: Api) -> None:
    policy = {"preset": "codex", "reminder_threshold_tokens": 2_000}
    told = [
        (
            await given_standing(
                api,
                {"active_context_tokens": active, "needs_follow_up": True},
                policy=policy,
                context_window=10_000,
            )
        )["decision"]["reminder"]
        for active in (6_999, 7_000)
    ]

    assert told[0] is None
    assert told[1].startswith(
        "Your context window is nearly exhausted (only 2000 tokens remaining)"
    )


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("effective_context_window_percent", 151),
        ("effective_context_window_percent", -1),
        ("auto_compact_token_limit", -1),
        ("max_context_window", -1),
    ],
)
async def test_a_profile_that_makes_no_sense_is_refused_by_codex_unless_parity_is_asked_for(
    api: Api, field: str, value: int
) -> None:
    profile = {"name": "m", "context_window": 1_000, field: value}
    body = {"model_profile": profile, "policy": "codex"}
    refused = await api.client.post("/v1/limits", json=body)
    strict = {"preset": "codex", "strict_parity": True}
    taken = await api.client.post("/v1/limits", json={**body, "policy": strict})

    assert refused.status_code == 422
    assert (refused.json()["code"], refused.json()["key"]) == ("invalid_window", field)
    assert taken.status_code == 200


async def test_an_effective_percentage_that_is_null_is_95(api: Api) -> None:
    limits = await limits_of(
        api, "codex", context_window=10_000, effective_context_window_percent=None
    )

    assert limits["hard_limit_tokens"] == 9_500


@pytest.mark.parametrize("preset", PRESETS)
async def test_the_phase_follows_the_number_of_the_call_in_every_preset(
    api: Api, preset: str
) -> None:
    session = await api.session(policy=preset)
    first = await session.prepare(turn_id="t", model_call=1, append=[user("q")])
    later = await session.prepare(turn_id="t", model_call=3, append=[calls("c"), results("c")])

    assert [made["decision"]["phase"] for made in (first, later)] == ["pre_turn", "mid_turn"]


@pytest.mark.parametrize(
    ("policy", "tokens", "action"),
    [
        ({"preset": "goose"}, 800, "submit"),
        ({"preset": "goose"}, 801, "compact"),
        (
            {"preset": "awaken", "compact": {"max_tokens": 1_000, "trigger_ratio": 0.75}},
            749,
            "submit",
        ),
        (
            {"preset": "awaken", "compact": {"max_tokens": 1_000, "trigger_ratio": 0.75}},
            750,
            "compact",
        ),
    ],
)
async def test_status_and_decision_agree_at_the_very_line(
    api: Api, policy: Json, tokens: int, action: str
) -> None:
    usage = {"active_context_tokens": tokens}
    answer = await given_standing(api, usage, policy=policy, context_window=1_000)

    assert answer["decision"]["action"] == action
    assert answer["status"]["token_limit_reached"] is (action == "compact")
