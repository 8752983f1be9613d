"""More ways to shorten old messages: what a session's policy asks for, and what its calls tell."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import (
    PROFILE,
    Api,
    Json,
    SessionApi,
    assistant,
    message,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
    watermark,
)
from tests.api.compacting import Timed, compact, refusal

pytestmark = pytest.mark.asyncio(loop_scope="module")

ROOMY: Json = {"name": "model-a", "context_window": 200_000, "max_output_tokens": 1_000}
SMALL: Json = {"name": "model-a", "context_window": 12_000, "max_output_tokens": 1_000}
"""At the line from an input of 8 350 tokens on, which the last result of `HISTORY` exceeds."""
SHAPED: Json = {
    "tool_retention": {"shell": "always_clear"},
    "old_call_argument_chars": 200,
    "drop_old_thinking": "behind_watermark",
    "repeated_results": "reference",
}
PAGE = "page\n" * 500
COLD: Json = {"prune_when": "cache_cold"}


def thinking(text: str) -> Json:
    return {"type": "thinking", "thinking": text}


def turn(number: int, tool: str = "read", output: str = PAGE, **call: Any) -> list[Json]:
    """A request, a thought, a call with its result, and an answer."""
    call_id = f"c{number}"
    return [
        user(f"Request {number}."),
        message("assistant", [thinking("hm"), tool_call(call_id, name=tool, **call)]),
        message("tool", [tool_result(call_id, output)]),
        assistant(f"Answer {number}."),
    ]


HISTORY = [
    *turn(1, input='{"text":"' + "x" * 900 + '"}'),
    *turn(2),
    *turn(3, "shell", "y" * 400),
    *turn(4, output="z" * 70_000),
    user("Go on."),
]


def outputs(prepared: Json) -> list[str]:
    return [block["output"][0]["text"] for block in blocks(prepared, "tool_result")]


def blocks(prepared: Json, type_: str) -> list[Json]:
    return [
        block
        for sent in prepared["request"]["messages"]
        for block in sent["content"]
        if block["type"] == type_
    ]


async def test_a_session_is_shortened_by_every_rule_once_the_watermark_moves(timed: Timed) -> None:
    session = await timed.session(model_profile=SMALL, policy={**SHAPED})
    await session.append(*HISTORY[:13])
    whole = await session.prepare()
    moved = await session.prepare(append=HISTORY[13:])
    later = await session.prepare(append=turn(5))

    assert whole["pruned"] == watermark(None)
    assert moved["pruned"] == watermark(16, tool_results=2, arguments=1, thinking=3, references=1)
    assert moved["prefix"]["cause"] == "prune"
    assert [text[:60] for text in outputs(moved)] == [
        PAGE[:60],
        "[tool result repeated: the same as that of the earlier call "[:60],
        "[tool result cleared: 400 bytes omitted]",
        "z" * 60,
    ]
    assert len(blocks(moved, "tool_call")[0]["input"]) == 200
    assert len(blocks(moved, "thinking")) == 1
    assert later["pruned"] == moved["pruned"]
    assert later["prefix"]["cause"] is None
    assert later["prefix"]["common_messages"] == len(moved["request"]["messages"])


async def test_a_shortened_request_can_be_had_again_to_the_byte(timed: Timed) -> None:
    session = await timed.session(model_profile=SMALL, policy={**SHAPED})
    await session.append(*HISTORY)
    prepared = await session.prepare()

    assert prepared["pruned"]["references"] == 1
    assert await session.read(f"prepared/{prepared['prepared_id']}") == prepared["request"]
    assert (await session.prepare())["prepared_id"] == prepared["prepared_id"]


async def test_an_override_changes_calls_from_then_on_and_the_break_is_named(
    timed: Timed,
) -> None:
    session = await timed.session(model_profile=SMALL)
    await session.append(*HISTORY)
    before = await session.prepare()
    await patched(session, policy={**SHAPED})
    after = await session.prepare()
    await patched(session, policy={**SHAPED, "cache_ttl_seconds": 60})
    same = await session.prepare()

    assert before["pruned"] == watermark(16, tool_results=1)
    assert after["pruned"] == watermark(16, tool_results=2, arguments=1, thinking=3, references=1)
    assert after["prefix"]["cause"] == "policy_changed"
    assert same["prepared_id"] == after["prepared_id"]
    assert (await session.read())["policy"]["old_call_argument_chars"] == 200


async def patched(session: SessionApi, **fields: Any) -> Json:
    return succeeded(await session.client.patch(f"/v1/sessions/{session.id}", json=fields))


async def test_results_are_cut_as_on_record_from_the_first_call(timed: Timed) -> None:
    policy = {"tool_output_truncation": {"mode": "tokens", "limit": 100}}
    session = await timed.session(policy=policy)
    first = await session.prepare(append=turn(1, output="x" * 4_000))
    second = await session.prepare(append=turn(2, output="x" * 480))

    assert outputs(second) == ["x" * 240 + "…880 tokens truncated…" + "x" * 240, "x" * 480]
    assert first["projection"]["truncated_tool_results"] == 1
    assert first["pruned"] == watermark(None)
    assert second["prefix"]["common_messages"] == len(first["request"]["messages"])
    assert first["limits"]["max_tool_result_tokens"] == 8_000


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("tool_retention", {"read": "clear"}),
        ("tool_retention", {"": "keep"}),
        ("tool_retention", {f"tool-{number}": "keep" for number in range(257)}),
        ("old_call_argument_chars", 99),
        ("drop_old_thinking", True),
        ("repeated_results", "drop"),
        ("tool_output_truncation", {"mode": "lines", "limit": 1}),
        ("tool_output_truncation", {"mode": "bytes", "limit": 0}),
        ("tool_output_truncation", {"mode": "bytes"}),
        ("prune_when", "never"),
        ("cache_ttl_seconds", 0),
    ],
)
async def test_what_a_value_cannot_be_is_refused_with_its_name(
    timed: Timed, key: str, value: object
) -> None:
    session = await timed.session()
    before = await session.read()
    refused = await session.client.patch(
        f"/v1/sessions/{session.id}", json={"policy": {key: value}}
    )

    assert refusal(refused) == (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_policy_override")
    assert refused.json()["key"] == key
    assert await session.read() == before


async def prepared_after(timed: Timed, seconds: float, session: SessionApi, number: int) -> Json:
    timed.clock.advance(seconds)
    return await session.prepare(append=turn(number, output="z" * 9_000))


async def test_the_watermark_moves_under_the_line_when_the_cache_is_cold(timed: Timed) -> None:
    session = await timed.session(model_profile=ROOMY, policy={**COLD})
    first = await session.prepare(append=turn(1, output="z" * 9_000))
    warm = await prepared_after(timed, 299, session, 2)
    still_warm = await prepared_after(timed, 299, session, 3)
    cold = await prepared_after(timed, 300, session, 4)
    again = await session.prepare()
    after = await prepared_after(timed, 1, session, 5)

    assert first["pruned"] == watermark(4, tool_results=1)
    assert warm["pruned"] == still_warm["pruned"] == watermark(4, tool_results=1)
    assert cold["pruned"] == watermark(16, tool_results=4)
    assert (cold["decision"]["reason"], cold["prefix"]["cause"]) == ("under_line", "prune")
    assert again["prepared_id"] == cold["prepared_id"]
    assert after["pruned"] == cold["pruned"]
    assert after["prefix"]["cause"] is None


async def test_the_time_to_live_is_the_policys(timed: Timed) -> None:
    session = await timed.session(model_profile=ROOMY, policy={**COLD, "cache_ttl_seconds": 3_600})
    await session.prepare()
    warm = await prepared_after(timed, 3_599, session, 1)
    cold = await prepared_after(timed, 3_600, session, 2)

    assert warm["pruned"] == watermark(None)
    assert cold["pruned"]["tool_results"] == 2


async def test_a_prepare_without_anything_new_prunes_too_once_the_cache_is_cold(
    timed: Timed,
) -> None:
    session = await timed.session(model_profile=ROOMY, policy={**COLD})
    await session.prepare()
    warm = await prepared_after(timed, 1, session, 1)
    timed.clock.advance(300)
    cold = await session.prepare()
    version = (await session.read())["version"]
    timed.clock.advance(300)
    again = await session.prepare()

    assert warm["pruned"] == watermark(None)
    assert cold["pruned"] == watermark(4, tool_results=1)
    assert again == cold
    assert (await session.read())["version"] == version


async def test_by_default_the_clock_moves_nothing(timed: Timed) -> None:
    session = await timed.session(model_profile=ROOMY)
    await session.prepare()
    cold = await prepared_after(timed, 86_400, session, 1)

    assert cold["pruned"] == watermark(None)


async def test_without_automatic_pruning_a_cold_cache_changes_nothing(timed: Timed) -> None:
    session = await timed.session(model_profile=ROOMY, policy={**COLD, "auto_prune": False})

    assert (await prepared_after(timed, 86_400, session, 1))["pruned"] == watermark(None)


async def test_with_a_warm_cache_the_line_still_prunes_before_it_compacts(timed: Timed) -> None:
    session = await timed.session(model_profile=SMALL, policy={**COLD})
    await session.prepare()
    over = await session.prepare(append=HISTORY)

    assert over["pruned"] == watermark(16, tool_results=1)
    assert over["decision"]["action"] == "submit"


async def test_a_rewrite_waits_for_a_compaction_that_changes_the_request_anyway(
    timed: Timed,
) -> None:
    session = await timed.session(model_profile=ROOMY, policy={**COLD})
    await session.prepare(append=turn(1, output="short"))
    await compact(session)
    folded = await session.prepare(append=turn(2, output="z" * 9_000))
    warm = await session.prepare(append=turn(3, output="z" * 9_000))

    assert folded["prefix"]["cause"] == "compaction"
    assert folded["pruned"] == watermark(8, tool_results=1)
    assert warm["pruned"] == folded["pruned"]


async def test_a_stateless_prepare_and_plan_take_the_same_values(timed: Timed) -> None:
    api: Api = timed.api
    conversation = [
        {**given, "source": {"type": "real", "id": f"m{sequence}", "sequence": sequence}}
        for sequence, given in enumerate(HISTORY, start=1)
    ]
    body: Json = {"conversation": conversation, "policy": SHAPED}
    plan = succeeded(await api.client.post("/v1/prune/plan", json=body))
    boundary = {"through_sequence": plan["through_sequence"]}
    prepared = succeeded(
        await api.client.post(
            "/v1/prepare", json={**body, "model_profile": PROFILE, "prune": boundary}
        )
    )

    assert plan == {
        "through_sequence": 16,
        "tool_result_ids": ["c2", "c3", "c4"],
        "call_ids": ["c1"],
        "thinking_blocks": 3,
    }
    assert prepared["pruned"] == watermark(
        16, tool_results=2, arguments=1, thinking=3, references=1
    )


async def test_a_stateless_policy_is_refused_alike(timed: Timed) -> None:
    body: Json = {"conversation": [message("user", [text_block("hi")])]}
    policy = {"cache_ttl_seconds": "300"}
    refused: list[httpx.Response] = [
        await timed.api.client.post("/v1/prune/plan", json={**body, "policy": policy}),
        await timed.api.client.post(
            "/v1/prepare", json={**body, "policy": policy, "model_profile": PROFILE}
        ),
    ]

    assert [refusal(response) for response in refused] == [
        (HTTPStatus.UNPROCESSABLE_ENTITY, "unknown_policy_override")
    ] * 2
