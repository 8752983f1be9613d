"""Reports of usage over HTTP: what one says, when it counts, and what it is answered with."""

import asyncio
from http import HTTPStatus

import pytest

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    results,
    succeeded,
    text_block,
    user,
)
from tests.api.compacting import Timed, refusal
from tests.api.reporting import post_usage, report, series, totals, totals_of, usage_of

pytestmark = pytest.mark.asyncio(loop_scope="module")

WINDOW: Json = {"name": "model-a", "context_window": 10_000, "max_output_tokens": 400}
"""Effective input 9 600, line 8 160."""
CALL: Json = {"turn_id": "t", "model_call": 1}


@pytest.fixture
def session(talk: SessionApi) -> SessionApi:
    """A session with one request and its answer."""
    return talk


async def last_call(session: SessionApi) -> Json | None:
    call: Json | None = (await usage_of(session))["last_call"]
    return call


async def test_a_report_is_answered_with_status_and_decision(timed: Timed) -> None:
    session = await timed.session(model_profile=WINDOW)
    await session.append(user("Fix the build.", "m1"), assistant("Done.", "m2"))
    answer = await report(session, input_tokens=7_000, output_tokens=500)
    decision = answer.pop("decision")

    assert answer == {
        "status": {
            "active_context_tokens": 7_500,
            "scope_tokens": 7_500,
            "scope_limit_tokens": 8_160,
            "hard_limit_tokens": None,
            "base_window_tokens_remaining": 660,
            "hard_limit_reached": False,
            "token_limit_reached": False,
            "prefill_input_tokens": 7_000,
            "prefill_source": "observed",
            "percent_left": 0,
        },
        "repairs": [],
    }
    assert (decision["action"], decision["reason"]) == ("submit", "under_line")
    assert (decision["phase"], decision["roll_over"]) == ("mid_turn", False)


async def test_a_report_is_part_of_the_session(timed: Timed, session: SessionApi) -> None:
    before = await session.read()
    timed.clock.advance(5)
    await report(
        session,
        input_tokens=800,
        cached_input_tokens=600,
        cache_write_tokens=100,
        output_tokens=90,
        reasoning_output_tokens=40,
        total_tokens=895,
        reasoning_included=True,
    )
    after = await session.read()

    assert after["version"] == before["version"] + 1
    assert after["updated_at"] == timed.clock.now().isoformat()
    assert after["usage"] == {
        "last_total": {"tokens": 895, "source": "observed", "reasoning_included": True},
        "last_call": {
            "model": "model-a",
            "input_tokens": 800,
            "output_tokens": 90,
            "through_sequence": 1,
        },
        "prefill_input_tokens": 800,
        "prefill_source": "observed",
        "new_context_requested": False,
        "totals": totals(
            1,
            input_tokens=800,
            cached_input_tokens=600,
            cache_write_tokens=100,
            output_tokens=90,
            reasoning_output_tokens=40,
        ),
    }


async def test_B100_only_the_last_call_counts_as_what_the_context_holds(
    session: SessionApi,
) -> None:
    for model_call in (1, 2, 3):
        answer = await report(
            session,
            turn_id="t",
            model_call=model_call,
            raw={
                "format": "anthropic.messages",
                "usage": {
                    "input_tokens": 10,
                    "cache_read_input_tokens": 127_000,
                    "output_tokens": 90,
                },
            },
        )

    assert answer["status"]["active_context_tokens"] == 127_100
    assert await totals_of(session) == totals(
        3, input_tokens=381_030, cached_input_tokens=381_000, output_tokens=270
    )


async def test_B097_what_a_server_kept_of_the_prompt_is_not_added_to_it(
    session: SessionApi,
) -> None:
    usage = {"prompt_tokens": 38_000, "cache_n": 38_000, "prompt_n": 1, "completion_tokens": 100}
    answer = await report(session, raw={"format": "openai.chat", "usage": usage})

    assert answer["status"]["active_context_tokens"] == 38_100
    (entry,) = await series(session)
    assert (entry["input_tokens"], entry["cached_input_tokens"]) == (38_000, 38_000)


async def test_B098_more_than_the_window_holds_is_told_as_it_is_and_leaves_0_percent(
    session: SessionApi,
) -> None:
    usage = {
        "input_tokens": 50_000,
        "cache_read_input_tokens": 150_000,
        "cache_creation_input_tokens": 150_000,
        "output_tokens": 0,
    }
    answer = await report(session, raw={"format": "anthropic.messages", "usage": usage})
    status = answer["status"]

    assert status["active_context_tokens"] == 350_000
    assert (status["percent_left"], status["base_window_tokens_remaining"]) == (0, 0)
    assert status["token_limit_reached"]


async def test_cached_tokens_are_a_part_of_the_input_and_never_added(session: SessionApi) -> None:
    numbers = {"input_tokens": 139_000, "cached_input_tokens": 134_422, "output_tokens": 407}
    answer = await report(session, **numbers)

    assert answer["status"]["active_context_tokens"] == 139_407


async def test_what_came_behind_the_answer_is_added_as_an_estimate(session: SessionApi) -> None:
    await session.append(calls("c1"), results("c1"))
    answer = await report(session, input_tokens=100, output_tokens=20)
    size = len(b'[{"type":"tool_result","id":"c1","name":"read","output":[') + len(
        b'{"type":"text","text":"done"}],"state":"success"}]'
    )

    assert answer["status"]["active_context_tokens"] == 120 + -(-size // 4)


async def test_without_ids_the_input_is_anchored_before_the_last_answer(
    session: SessionApi,
) -> None:
    await session.append(user("More.", "m3"), calls("c1", message_id="m4"), results("c1"))
    await report(session, input_tokens=100, output_tokens=20)

    assert (await last_call(session) or {})["through_sequence"] == 3


async def test_without_an_answer_the_request_held_everything(timed: Timed) -> None:
    session = await timed.session()
    await session.append(user("Fix the build."))
    await report(session, input_tokens=100, output_tokens=20)

    assert (await last_call(session) or {})["through_sequence"] == 1


async def test_a_prepared_call_is_anchored_where_it_ended(session: SessionApi) -> None:
    prepared = await session.prepare(append=[user("More.", "m3")])
    await session.append(calls("c1"), results("c1"), user("And more."))
    await report(session, prepared_id=prepared["prepared_id"], input_tokens=100, output_tokens=20)

    assert (await last_call(session) or {})["through_sequence"] == 3


async def test_the_report_of_an_append_is_anchored_before_its_answer(session: SessionApi) -> None:
    usage = {"model": "model-a", "input_tokens": 100, "output_tokens": 20}
    batch = [user("More.", "m3"), assistant("Yes.", "m4"), user("Go on.", "m5")]
    answer = await session.append(*batch, usage=usage)
    again = await session.append(*batch, usage=usage)

    assert answer["usage"] == again["usage"]
    assert answer["usage"]["status"]["active_context_tokens"] > 120
    assert (await last_call(session) or {})["through_sequence"] == 3
    assert await totals_of(session) == totals(1, input_tokens=100, output_tokens=20)


async def test_an_append_and_its_report_are_stored_together_or_not_at_all(
    session: SessionApi,
) -> None:
    before = await session.read()
    bad_report = {
        "messages": [assistant("Yes.", "m3")],
        "usage": {"model": "model-a", "prepared_id": f"prep-{'0' * 32}"},
    }
    bad_message = {
        "messages": [results("nobody")],
        "usage": {"model": "model-a", "input_tokens": 1, "output_tokens": 1},
    }

    assert refusal(await session.post("messages", bad_report)) == (404, "prepared_not_found")
    assert refusal(await session.post("messages", bad_message)) == (409, "unmatched_tool_result")
    assert await session.read() == before
    assert await series(session) == []


async def test_an_append_without_a_report_has_no_answer_to_one(session: SessionApi) -> None:
    assert "usage" not in await session.append(user("More."))


async def test_a_report_without_numbers_leaves_what_was_known(session: SessionApi) -> None:
    await report(session, **CALL, input_tokens=100, output_tokens=20)
    answer = await report(session, turn_id="t", model_call=2, needs_follow_up=True)
    usage = await usage_of(session)

    assert answer["status"]["active_context_tokens"] == 120
    assert usage["last_total"]["tokens"] == 120
    assert usage["totals"] == totals(2, input_tokens=100, output_tokens=20)


async def test_before_any_report_the_estimate_stands_for_what_the_context_holds(
    session: SessionApi,
) -> None:
    answer = await report(session, needs_follow_up=False)
    estimate = (await session.prepare())["budget"]["estimated_input_tokens"]

    assert answer["status"]["active_context_tokens"] == estimate
    assert answer["status"]["prefill_source"] == "none"


async def test_an_unknown_window_has_no_limit_and_no_percentage(timed: Timed) -> None:
    session = await timed.session(model_profile=None)
    await session.append(user("Hello."), assistant("Hello."))
    answer = await report(session, input_tokens=10**9, output_tokens=1, needs_follow_up=True)
    status, decision = answer["status"], answer["decision"]

    assert status["percent_left"] is status["base_window_tokens_remaining"] is None
    assert not status["token_limit_reached"]
    assert (decision["reason"], decision["roll_over"]) == ("unknown_window", False)


IDENTITIES: list[Json] = [
    CALL,
    {**CALL, "prepared_id": "prepared"},
    {"prepared_id": "prepared"},
    {},
    {"turn_id": "t"},
]


async def named(session: SessionApi, identity: Json) -> Json:
    """A report of a call under an identity, in which the prepared call is a real one."""
    prepared = await session.prepare()
    own = {"prepared_id": prepared["prepared_id"]} if "prepared_id" in identity else {}
    return {**identity, **own, "input_tokens": 100, "output_tokens": 20}


@pytest.mark.parametrize("identity", IDENTITIES, ids=lambda given: "+".join(given) or "no ids")
async def test_a_repeat_after_a_lost_answer_gets_it_again_and_counts_once(
    session: SessionApi, identity: Json
) -> None:
    body = await named(session, identity)
    first = await report(session, **body)
    version = (await session.read())["version"]
    again = await report(session, **body)

    assert again == first
    assert (await session.read())["version"] == version
    assert len(await series(session)) == 1
    assert await totals_of(session) == totals(1, input_tokens=100, output_tokens=20)


async def test_a_repeat_gets_the_first_answer_whatever_came_since(session: SessionApi) -> None:
    first = await report(session, **CALL, input_tokens=100, output_tokens=20)
    await session.append(calls("c1"), results("c1"))
    await report(session, turn_id="t", model_call=2, input_tokens=900, output_tokens=20)

    assert await report(session, **CALL, input_tokens=100, output_tokens=20) == first
    assert (await usage_of(session))["last_total"]["tokens"] == 920


async def test_the_same_numbers_raw_are_the_same_report(session: SessionApi) -> None:
    raw = {"format": "mistral.chat", "usage": {"prompt_tokens": 100, "completion_tokens": 20}}
    first = await report(session, **CALL, input_tokens=100, output_tokens=20)

    assert await report(session, **CALL, raw=raw) == first


@pytest.mark.parametrize("identity", IDENTITIES[:3], ids=lambda given: "+".join(given))
async def test_another_report_of_the_same_call_is_a_conflict(
    session: SessionApi, identity: Json
) -> None:
    body = await named(session, identity)
    await report(session, **body)
    before = await session.read()
    refused = await post_usage(session, **{**body, "output_tokens": 21, "has_text": True})

    assert refusal(refused) == (HTTPStatus.CONFLICT, "usage_conflict")
    assert refused.json()["differs"] == ["has_text", "output_tokens"]
    assert await session.read() == before


async def test_without_ids_other_numbers_are_another_report(session: SessionApi) -> None:
    await report(session, input_tokens=100, output_tokens=20)
    await report(session, input_tokens=101, output_tokens=20)
    await session.append(assistant("Again."))
    await report(session, input_tokens=101, output_tokens=20)

    assert [entry["input_tokens"] for entry in await series(session)] == [100, 101, 101]


async def test_equal_reports_at_once_count_once(session: SessionApi) -> None:
    body: Json = {**CALL, "input_tokens": 100, "output_tokens": 20}
    answers = await asyncio.gather(*(report(session, **body) for _ in range(8)))

    assert answers == [answers[0]] * 8
    assert len(await series(session)) == 1
    assert await totals_of(session) == totals(1, input_tokens=100, output_tokens=20)


@pytest.mark.parametrize("model", ["a\u0000b", "模型", " ", "m" * 256, 'quote"\\'])
async def test_a_model_may_have_any_name(session: SessionApi, model: str) -> None:
    await report(session, model=model, input_tokens=1, output_tokens=1)
    await report(session, model="other", input_tokens=2, output_tokens=1)
    first, second = await series(session)

    assert first["model"] == model
    assert (second["event"], second["cause"]) == ("model_switch", model)
    assert (await last_call(session) or {})["model"] == "other"


async def test_half_of_a_surrogate_pair_in_a_name_is_mended_and_told(session: SessionApi) -> None:
    response = await session.client.post(
        f"/v1/sessions/{session.id}/usage",
        content=b'{"model": "a\\ud800", "input_tokens": 1, "output_tokens": 1}',
    )

    assert succeeded(response)["repairs"] == [{"code": "lone_surrogate_replaced", "path": "/model"}]
    assert (await series(session))[0]["model"] == "a\ufffd"


INVALID: list[tuple[Json, str]] = [
    ({}, "invalid_request"),
    ({"model": ""}, "invalid_request"),
    ({"model": "m" * 257}, "invalid_request"),
    ({"model": "m", "input_tokens": -1}, "invalid_request"),
    ({"model": "m", "input_tokens": 1.5}, "invalid_request"),
    ({"model": "m", "input_tokens": True}, "invalid_request"),
    ({"model": "m", "input_tokens": 2**53 + 1}, "invalid_request"),
    ({"model": "m", "model_call": 0}, "invalid_request"),
    ({"model": "m", "raw": {"format": "morse", "usage": {}}}, "invalid_request"),
    ({"model": "m", "raw": {"format": "openai.chat"}}, "invalid_request"),
    (
        {"model": "m", "input_tokens": 1, "raw": {"format": "openai.chat", "usage": {}}},
        "invalid_request",
    ),
    ({"model": "m", "raw": {"format": "openai.chat", "usage": []}}, "invalid_usage"),
    (
        {"model": "m", "raw": {"format": "openai.chat", "usage": {"prompt_tokens": -1}}},
        "invalid_usage",
    ),
    ({"model": "m", "turn_id": "a b"}, "invalid_id"),
    ({"model": "m", "turn_id": "a\u0000"}, "invalid_id"),
    ({"model": "m", "nope": 1}, "unknown_field"),
]


@pytest.mark.parametrize(("body", "code"), INVALID, ids=[str(body)[:60] for body, _ in INVALID])
async def test_what_is_no_report_is_refused(session: SessionApi, body: Json, code: str) -> None:
    response = await session.post("usage", body)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, code)
    assert await series(session) == []


@pytest.mark.parametrize("prepared_id", [f"prep-{'0' * 32}", "prep-1", "a\u0000b"])
async def test_a_call_that_was_never_prepared_is_not_found(
    session: SessionApi, prepared_id: str
) -> None:
    response = await post_usage(session, **CALL, prepared_id=prepared_id)

    assert refusal(response) == (HTTPStatus.NOT_FOUND, "prepared_not_found")
    assert (await session.read("turns"))["items"] == []


async def test_usage_of_no_session_is_not_found(timed: Timed) -> None:
    path = "/v1/sessions/nobody/usage"
    posted = await timed.api.client.post(path, json={"model": "m"})
    listed = await timed.api.client.get(path)

    assert refusal(posted) == refusal(listed) == (HTTPStatus.NOT_FOUND, "session_not_found")


async def test_a_fork_begins_without_reports(session: SessionApi) -> None:
    await report(session, input_tokens=100, output_tokens=20)
    forked = succeeded(await session.post("fork", {}))
    fork = SessionApi(client=session.client, id=forked["id"], created=forked)

    assert (await usage_of(fork))["totals"] == totals(0)
    assert (await usage_of(fork))["last_total"] is None
    assert await series(fork) == []


async def test_a_text_block_is_no_usage(session: SessionApi) -> None:
    body = {"messages": [assistant("Yes.")], "usage": text_block("12")}
    response = await session.post("messages", body)

    assert response.status_code == HTTPStatus.UNPROCESSABLE_ENTITY
