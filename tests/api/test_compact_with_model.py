"""After a change of model the one before it summarises what it has read."""

from http import HTTPStatus

import pytest

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    succeeded,
    tool_result,
    user,
)
from tests.api.compacting import (
    Timed,
    refusal,
    request_compaction,
    run_turn,
    start,
    texts,
)
from tests.requirements import requirement
from tests.unit.compaction.summaries import SUMMARY

pytestmark = pytest.mark.asyncio(loop_scope="module")

LARGE: Json = {"name": "large", "context_window": 25_000, "max_output_tokens": 1_000}
SMALL: Json = {"name": "small", "context_window": 12_800, "max_output_tokens": 1_000}
HASHED = [{**LARGE, "comp_hash": "a"}, {**SMALL, "comp_hash": "b"}]
SAID = "What the large model read."


async def answered(timed: Timed, policy: str, profile: Json) -> SessionApi:
    """A session that a model has answered, with some 18 000 tokens of history."""
    session = await timed.session(policy=policy, model=profile["name"], model_profile=profile)
    await session.append(user("Read it.", "m1"))
    for number in range(9):
        read = tool_result(f"c{number}", f"{number}" * 8_000)
        await session.append(calls(f"c{number}"), message("tool", [read]))
    await session.append(assistant("Read."))
    await session.prepare()
    return session


async def switch(session: SessionApi, profile: Json) -> None:
    """Let another model answer, in a new turn."""
    path = f"/v1/sessions/{session.id}"
    changed = {"model": profile["name"], "model_profile": profile}
    succeeded(await session.client.patch(path, json=changed))
    await session.append(user("And now?", "m30"))
    await run_turn(session)


def downshift(**fields: object) -> Json:
    return {"kind": "model_downshift", "turn_id": "t", "model_call": 1, **fields}


@pytest.mark.parametrize("policy", ["codex", "openwork"])
async def test_B061_a_history_too_long_for_the_new_model_is_summarised_by_the_old_one(
    timed: Timed, policy: str
) -> None:
    session = await answered(timed, policy, {**LARGE, "max_output_tokens": 100})
    await switch(session, SMALL)
    held = await start(session, **downshift())
    request = held.answer["summary_request"]

    assert request["model"] == "large"
    assert held.answer["compact_with_model"] == "large"
    assert texts(request)[0] == "Read it."
    assert sum(len(json_text) for json_text in map(str, request["messages"])) > 60_000
    assert (await session.read("context", content="false"))["resolved_model_name"] == "small"


async def test_the_new_model_summarises_where_the_line_is_the_reason(timed: Timed) -> None:
    session = await answered(timed, "codex", LARGE)
    await switch(session, SMALL)
    held = await start(session, **downshift(kind="threshold"))

    assert held.answer["compact_with_model"] is None
    assert held.answer["summary_request"]["model"] == "small"
    assert texts(held.answer["summary_request"])[0] != "Read it."


async def test_who_summarises_is_part_of_the_plan(timed: Timed) -> None:
    session = await answered(timed, "codex", LARGE)
    await switch(session, SMALL)
    held = await start(session, **downshift())
    other = await request_compaction(session, **downshift(kind="threshold"))

    assert refusal(other) == (HTTPStatus.CONFLICT, "compaction_in_progress")
    assert (await request_compaction(session, **downshift())).json()["id"] == held.id


async def test_every_attempt_is_the_old_models(timed: Timed) -> None:
    session = await answered(timed, "codex", LARGE)
    await switch(session, SMALL)
    held = await start(session, **downshift())
    # A call that is prepared meanwhile makes the new model the one that answered last.
    await session.prepare()
    again = succeeded(await held.fail("transient"))
    smaller = succeeded(await held.fail("context_overflow", 2))

    assert again["summary_request"] == held.answer["summary_request"]
    assert smaller["summary_request"]["model"] == "large"


@requirement("CX-9-previous-model-compacts")
async def test_a_changed_hash_has_the_previous_model_compact_before_the_turn(
    timed: Timed,
) -> None:
    before, after = HASHED
    session = await answered(timed, "codex", before)
    await switch(session, after)
    asked = await session.prepare(turn_id="t", model_call=1, start_compaction=True)
    decision = asked["decision"]
    compaction = decision["compaction"]
    body = {"claim": compaction["claim"]["token"], "attempt": 1, "summary": SAID}
    done = succeeded(await session.post(f"compactions/{compaction['id']}/complete", body))
    ready = await session.prepare(turn_id="t", model_call=1)

    assert (decision["action"], decision["reason"]) == ("compact", "comp_hash_changed")
    assert decision["compact_with_model"] == compaction["compact_with_model"] == "large"
    assert (compaction["kind"], compaction["phase"]) == ("comp_hash_changed", "pre_turn")
    assert compaction["summary_request"]["model"] == "large"
    assert done["checkpoint"]["kind"] == "comp_hash_changed"
    assert ready["decision"]["action"] == "submit"
    assert (ready["request"]["model"], texts(ready["request"])[-1]) == ("small", "And now?")


async def test_the_plan_of_a_decision_is_the_one_that_is_claimed(timed: Timed) -> None:
    before, after = HASHED
    session = await answered(timed, "codex", before)
    await switch(session, after)
    wanted = (await session.prepare(turn_id="t", model_call=1))["decision"]["compaction"]
    held = await start(session, kind=wanted["kind"], turn_id="t", model_call=1)

    assert held.answer["plan_key"] == wanted["plan_key"]


@pytest.mark.parametrize("kind", ["model_downshift", "comp_hash_changed"])
async def test_a_change_of_model_compacts_in_a_running_turn_only(timed: Timed, kind: str) -> None:
    session = await answered(timed, "codex", LARGE)
    response = await request_compaction(session, kind=kind, turn_id="t", model_call=1)

    assert refusal(response) == (HTTPStatus.CONFLICT, "turn_not_running")


async def test_without_a_model_before_the_sessions_own_summarises(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("Go."), assistant("Gone."))
    await run_turn(session)
    held = await start(session, **downshift())
    await held.complete(SUMMARY)

    assert held.answer["compact_with_model"] is None
    assert (await held.read())["status"] == "completed"
