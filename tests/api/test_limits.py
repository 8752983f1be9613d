"""The limits of a model under a policy, without a session."""

from typing import Any

import pytest

from tests.api.client import Api, Json, succeeded
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
