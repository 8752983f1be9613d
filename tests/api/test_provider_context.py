"""Providers that own their context over HTTP: they are sent what follows, and all of it again."""

from http import HTTPStatus
from typing import Any

import httpx
import pytest

from tests.api.client import (
    PROFILE,
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    user,
)
from tests.api.compacting import (
    AFTER_FOLD,
    LINE,
    LONG,
    POINT,
    Timed,
    compact,
    put_turn,
    reasons,
    refusal,
    run_turn,
    start,
)
from tests.api.reporting import post_usage, report, series
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

OWNING: Json = {**LINE, "manages_own_context": True}
"""Its line is at 3 060 tokens, and nobody looks at it."""
INVALID = (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_boundary")
REF = "thread\x00\n名前"
"""A reference may be any text."""


def thread(through: int, ref: str = REF) -> Json:
    return {"driver": "cli", "ref": ref, "through_sequence": through}


async def patch(session: SessionApi, **fields: Any) -> httpx.Response:
    return await session.client.patch(f"/v1/sessions/{session.id}", json=fields)


async def holds(session: SessionApi, through: int | None, ref: str = REF) -> Json:
    """Say what the provider holds."""
    context = None if through is None else thread(through, ref)
    return succeeded(await patch(session, provider_context=context))


async def held(session: SessionApi) -> Json | None:
    context: Json | None = (await session.read())["provider_context"]
    return context


async def sent(session: SessionApi, **fields: Any) -> list[str]:
    """Where each message of the next call comes from."""
    return reasons(await session.prepare(include=["provenance"], **fields))


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with the messages m1 and m2."""
    return talk


async def test_a_new_session_is_in_no_thread(session: SessionApi) -> None:
    assert session.created["provider_context"] is None
    assert await sent(session) == ["m1", "m2"]


async def test_a_report_says_what_the_provider_holds_and_the_next_call_sends_what_follows(
    session: SessionApi,
) -> None:
    whole = await session.prepare()
    await report(
        session, prepared_id=whole["prepared_id"], input_tokens=9_000, provider_context=thread(2)
    )
    await session.append(user("And the tests.", "m3"))
    part = await session.prepare(include=["provenance"])

    assert await held(session) == thread(2)
    assert reasons(part) == ["m3"]
    assert part["request"]["messages"][0] == whole["request"]["messages"][0]
    assert part["budget"]["conversation_tokens"] < whole["budget"]["conversation_tokens"]
    assert part["budget"]["counts"]["calibrated"] is None


async def test_the_preview_shows_what_would_be_sent(session: SessionApi) -> None:
    await session.append(user("And the tests.", "m3"))
    await holds(session, 2)

    shown = (await session.read("context"))["conversation"]
    assert [entry["message_id"] for entry in shown] == ["m3"]


async def test_an_append_says_what_the_provider_holds(session: SessionApi) -> None:
    usage = {"model": "model-a", "provider_context": thread(4)}
    await session.append(user("So?", "m3"), assistant("So.", "m4"), usage=usage)

    assert await held(session) == thread(4)
    assert await sent(session, append=[user("Go.", "m5")]) == ["m5"]


async def test_a_report_that_does_not_speak_of_it_changes_nothing_and_null_forgets_the_thread(
    session: SessionApi,
) -> None:
    await holds(session, 2)
    await report(session, turn_id="t", model_call=1, input_tokens=10)
    assert await held(session) == thread(2)

    await report(session, turn_id="t", model_call=2, input_tokens=10, provider_context=None)
    assert await held(session) is None
    assert await sent(session) == ["m1", "m2"]


async def test_a_prepared_call_comes_back_to_the_byte_whatever_the_provider_holds_by_now(
    session: SessionApi,
) -> None:
    await session.append(user("And the tests.", "m3"))
    await holds(session, 2)
    part = await session.prepare()
    await holds(session, None)
    whole = await session.prepare()

    for prepared in (part, whole):
        again = (await session.get(f"prepared/{prepared['prepared_id']}")).json()
        assert again == prepared["request"]
    assert len(part["request"]["messages"]) + 2 == len(whole["request"]["messages"])


@pytest.mark.parametrize(
    ("through", "expected"),
    [(2, ["m4", "m5"]), (3, ["m4", "m5"]), (4, ["m5"]), (5, [])],
)
async def test_results_of_parallel_calls_follow_the_calls_that_the_provider_holds(
    session: SessionApi, through: int, expected: list[str]
) -> None:
    await session.append(calls("c1", "c2", message_id="m3"))
    await session.append(results("c2", message_id="m4"), results("c1", message_id="m5"))
    await holds(session, through)
    prepared = await session.prepare(include=["provenance"])

    front = ["m3"] if through < 3 else []
    assert sorted(reasons(prepared)) == sorted(front + expected)
    assert prepared["repairs"] == []


async def test_a_made_result_answers_a_held_call_once(session: SessionApi) -> None:
    await session.append(
        calls("c1", "c2", message_id="m3"), results("c1", message_id="m4"), user("Go on.", "m5")
    )
    await holds(session, 3)
    first = await session.prepare(include=["provenance"])
    await session.append(assistant("I do.", "m6"))
    await holds(session, 6)
    second = await session.prepare(include=["provenance"])

    assert reasons(first) == ["m4", "interrupted_tool_result", "m5"]
    assert [repair["call_id"] for repair in first["repairs"]] == ["c2"]
    assert (reasons(second), second["repairs"]) == ([], [])


async def test_a_late_result_of_a_held_call_is_sent(session: SessionApi) -> None:
    waiting = {"type": "tool_call", "id": "c1", "name": "read", "input": "{}", "state": "pending"}
    await session.append(message("assistant", [waiting], "m3"), user("Meanwhile.", "m4"))
    await holds(session, 4)

    assert await sent(session, append=[results("c1", message_id="m5")]) == ["m5"]


async def test_another_boundary_is_why_a_call_does_not_repeat_the_one_before(
    session: SessionApi,
) -> None:
    await session.prepare()
    await holds(session, 1)
    prefix = (await session.prepare())["prefix"]

    assert (prefix["broken_at"], prefix["cause"]) == (1, "provider_context_changed")


async def test_another_reference_alone_changes_no_request(session: SessionApi) -> None:
    await holds(session, 1)
    first = await session.prepare()
    await holds(session, 1, ref="another")

    assert (await session.prepare())["prepared_id"] == first["prepared_id"]


@pytest.mark.parametrize("through", [3, 2**53])
async def test_a_provider_holds_no_message_that_is_not_there(
    session: SessionApi, through: int
) -> None:
    before = await session.read()
    context = thread(through)
    batch = {"messages": [], "usage": {"model": "model-a", "provider_context": thread(4)}}

    assert refusal(await patch(session, provider_context=context)) == INVALID
    assert refusal(await post_usage(session, provider_context=context)) == INVALID
    appended = await session.post("messages", {**batch, "messages": [user("So?", "m3")]})
    assert refusal(appended) == INVALID
    assert await session.read() == before


@pytest.mark.parametrize(
    "change",
    [
        {"driver": ""},
        {"driver": "d" * 129},
        {"ref": ""},
        {"ref": "r" * 1_025},
        {"ref": 1},
        {"through_sequence": -1},
        {"through_sequence": None},
    ],
)
async def test_a_context_that_is_none_is_refused(session: SessionApi, change: Json) -> None:
    context = {**thread(1), **change}
    refused = (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_request")

    assert refusal(await patch(session, provider_context=context)) == refused
    assert refusal(await post_usage(session, provider_context=context)) == refused


async def test_the_longest_names_are_kept(session: SessionApi) -> None:
    context = {"driver": "d" * 128, "ref": "中" * 1_024, "through_sequence": 0}
    succeeded(await patch(session, provider_context=context))

    assert await held(session) == context
    assert await sent(session) == ["m1", "m2"]


@pytest.mark.parametrize(
    ("change", "is_kept"),
    [
        ({"model": "model-b", "model_profile": {**PROFILE, "name": "model-b"}}, False),
        ({"agent": {"system_prompt": "You test."}}, False),
        ({"agent": {"system_prompt": "You fix bugs."}}, True),
        ({"model": "model-a"}, True),
        ({"metadata": {"a": 1}}, True),
        ({"policy": "codex"}, True),
    ],
)
async def test_a_thread_is_of_one_model_and_one_agent(
    session: SessionApi, change: Json, is_kept: bool
) -> None:
    await holds(session, 2)
    succeeded(await patch(session, **change))

    assert await held(session) == (thread(2) if is_kept else None)


async def test_a_change_of_the_model_may_name_its_new_thread(session: SessionApi) -> None:
    await holds(session, 2)
    await patch(session, model="model-b", model_profile=None, provider_context=thread(0, "new"))

    assert await held(session) == thread(0, "new")


async def test_a_report_of_the_model_before_names_no_thread(session: SessionApi) -> None:
    prepared = await session.prepare()
    succeeded(await patch(session, model="model-b", model_profile=None))
    await report(session, prepared_id=prepared["prepared_id"], provider_context=thread(2))

    assert await held(session) is None


async def test_a_late_report_does_not_move_what_the_provider_holds(session: SessionApi) -> None:
    await session.append(user("So?", "m3"), assistant("So.", "m4"))
    await report(session, turn_id="t", model_call=2, provider_context=thread(4))
    await report(session, turn_id="t", model_call=1, provider_context=thread(2))

    assert await held(session) == thread(4)


async def test_an_equal_report_brings_no_thread_back(session: SessionApi) -> None:
    said: Json = {"turn_id": "t", "model_call": 1, "provider_context": thread(2)}
    first = await report(session, **said)
    await holds(session, None)

    assert await report(session, **said) == first
    assert await held(session) is None
    conflict = await post_usage(session, **{**said, "provider_context": None})
    assert conflict.json()["differs"] == ["provider_context"]
    unsaid = await post_usage(session, turn_id="t", model_call=1)
    assert unsaid.json()["differs"] == ["provider_context"]


async def test_a_compaction_a_rewind_and_an_undo_end_the_thread(session: SessionApi) -> None:
    await holds(session, 2)
    compacted = await compact(session)
    assert await held(session) is None
    assert await sent(session) == AFTER_FOLD

    await holds(session, 2)
    assert await sent(session) == []
    succeeded(await session.post("rewind", {"undo_compaction": compacted["checkpoint"]["id"]}))
    assert await held(session) is None
    assert await sent(session) == ["m1", "m2"]

    await holds(session, 2)
    succeeded(await session.post("rewind", {"through_sequence": 1}))
    assert await held(session) is None


async def test_a_fork_is_in_no_thread(session: SessionApi) -> None:
    await holds(session, 2)
    forked = succeeded(await session.post("fork", {"id": f"{session.id}-fork"}))

    assert forked["provider_context"] is None
    assert await held(session) == thread(2)


@requirement("GO-7.2-provider-owns-its-context")
@pytest.mark.parametrize("policy", ["openwork", "codex", "calibrated"])
async def test_a_provider_that_manages_its_own_context_is_never_asked_to_compact(
    timed: Timed, policy: str
) -> None:
    session = await timed.session(model_profile=OWNING, policy=policy)
    prepared = await session.prepare(append=[user(LONG), assistant("Read."), user("So?")])
    answer = await report(session, input_tokens=3_900, output_tokens=10, needs_follow_up=True)

    for decision in (prepared["decision"], answer["decision"]):
        assert (decision["action"], decision["reason"]) == ("submit", "disabled")
        assert decision["detail"].startswith("the provider manages its own context; ")
        assert decision["compaction"] is None
    assert answer["decision"]["roll_over"] is False


async def test_an_overflow_of_a_provider_that_owns_its_context_is_recovered_from(
    timed: Timed,
) -> None:
    session = await timed.session(model_profile=OWNING)
    await run_turn(session)
    read = message("tool", [{"type": "tool_result", "id": "c", "output": "x" * 9_000}], "m3")
    await session.append(
        user("Fix it.", "m1"), calls("c", message_id="m2"), read, assistant("Read.", "m4")
    )
    await holds(session, 4)
    prepared = await session.prepare(**POINT, append=[user("So?", "m5")])
    recover = {
        "prepared_id": prepared["prepared_id"],
        "error": "context_overflow",
        "delivery": "not_sent",
    }
    recovered = await session.prepare(**POINT, recover_from=recover)
    compacting = await start(session, kind="overflow", **POINT)
    await compacting.complete()

    decision = recovered["decision"]
    assert (decision["action"], decision["reason"]) == ("compact", "context_overflow")
    assert decision["compaction"]["kind"] == "overflow"
    assert recovered["pruned"]["through_sequence"] is None
    assert await held(session) is None
    assert await sent(session, **POINT) == AFTER_FOLD


async def test_the_turn_of_a_session_in_a_thread_goes_on_after_a_restart(
    session: SessionApi,
) -> None:
    await holds(session, 2)
    await put_turn(session)

    assert await held(session) == thread(2)
    assert [entry["event"] for entry in await series(session)] == []


async def test_a_line_that_nobody_looks_at_is_no_reason_to_worry(timed: Timed) -> None:
    profile = {"name": "model-a", "context_window": 64_000, "max_output_tokens": 32_000}
    owning = await timed.session(model_profile={**profile, "manages_own_context": True})
    other = await timed.session(model_profile=profile)

    assert owning.created["warnings"] == []
    assert [entry["code"] for entry in other.created["warnings"]] == ["line_always_reached"]
