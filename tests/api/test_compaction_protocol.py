"""The protocol over HTTP: plan and claim, complete, and what is refused."""

import json
from http import HTTPStatus

import pytest

from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    tool_result,
    user,
)
from tests.api.compacting import (
    AFTER_FOLD,
    POINT,
    Held,
    Timed,
    compact,
    put_turn,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    start,
    summary_of,
    texts,
)
from tests.unit.compaction.summaries import SUMMARY

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_a_compaction_is_claimed_with_the_request_to_send(talk: SessionApi) -> None:
    held = await start(talk)
    request = held.answer["summary_request"]

    assert (held.answer["status"], held.answer["kind"]) == ("pending", "manual")
    assert (held.answer["attempt"], held.answer["max_attempts"]) == (1, 3)
    assert held.answer["source"]["through_sequence"] == 2
    assert held.answer["source"]["message_count"] == 2
    assert texts(request)[:-1] == ["Fix the build.", "Done."]
    assert texts(request)[-1].startswith("Create a durable continuation summary")
    assert (request["tools"], request["max_output_tokens"]) == ([], 16_384)


async def test_a_summary_replaces_what_it_speaks_of(talk: SessionApi) -> None:
    before = await talk.messages()
    held = await start(talk)
    answer = (await held.complete()).json()
    prepared = await talk.prepare(include=["provenance"])
    stored = await talk.messages()

    assert answer["status"] == "completed"
    assert answer["checkpoint"]["id"] == held.id
    assert (answer["checkpoint"]["sequence"], answer["checkpoint"]["through_sequence"]) == (1, 2)
    assert answer["checkpoint"]["last_user_message_id"] == "m1"
    assert answer["checkpoint"]["summary"] == SUMMARY
    assert answer["window"]["number"] == 1
    assert answer["window"]["id"] == f"{talk.id}:1"
    assert reasons(prepared) == AFTER_FOLD
    assert texts(prepared["request"])[0] == "Fix the build."
    assert texts(prepared["request"])[1].endswith(f":\n\n{SUMMARY}")
    assert [(kept["id"], kept["content"]) for kept in stored] == [
        (kept["id"], kept["content"]) for kept in before
    ]
    assert [kept["covered_by"] for kept in stored] == [held.id, held.id]


async def test_tokens_are_counted_before_and_after_by_the_same_counter(talk: SessionApi) -> None:
    await talk.append(user("more " * 2_000), assistant("and more " * 1_000))
    preview = await talk.read("context", content="false")
    tokens = (await compact(talk))["tokens"]

    assert tokens["counter"] == "json_bytes"
    assert tokens["before"] == preview["budget"]["conversation_tokens"]
    assert tokens["reclaimed"] == tokens["before"] - tokens["after"] > 0
    assert tokens["tokenizer"]["reclaimed"] > 0


async def test_the_same_plan_is_the_same_compaction_while_another_worker_holds_it(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    response = await request_compaction(talk)
    answer = response.json()

    assert response.status_code == HTTPStatus.OK
    assert response.headers["Retry-After"] == "2"
    assert (answer["id"], answer["status"]) == (held.id, "pending")
    assert (answer["claim"], answer.get("summary_request")) == (None, None)


async def test_the_same_plan_is_the_completed_compaction_and_is_not_paid_twice(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    completed = (await held.complete()).json()
    response = await request_compaction(talk)
    answer = response.json()

    assert response.status_code == HTTPStatus.OK
    assert "Retry-After" not in response.headers
    assert (answer["id"], answer["status"], answer["claim"]) == (held.id, "completed", None)
    assert answer["checkpoint"] == completed["checkpoint"]


async def test_a_fold_without_anything_new_is_nothing_to_compact(talk: SessionApi) -> None:
    await compact(talk)
    response = await request_compaction(talk, instructions="Keep the decisions.")
    await talk.append(user("Go on."))
    again = await request_compaction(talk)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "nothing_to_compact")
    assert again.status_code == HTTPStatus.CREATED


@pytest.mark.parametrize("ended", ["failed", "superseded"])
async def test_the_same_plan_starts_anew_where_its_compaction_did_not_complete(
    talk: SessionApi, ended: str
) -> None:
    first = await start(talk)
    if ended == "failed":
        for attempt in (1, 2, 3):
            await first.fail("transient", attempt)
    else:
        await start(talk, supersede=True, instructions="Something else.")
    second = await start(talk, supersede=True)

    assert (await first.read())["status"] == ended
    assert second.id != first.id
    assert second.answer["plan_key"] == first.answer["plan_key"]


async def test_another_plan_is_refused_while_one_is_under_way(talk: SessionApi) -> None:
    held = await start(talk)
    response = await request_compaction(talk, instructions="Keep the names.")

    assert refusal(response) == (HTTPStatus.CONFLICT, "compaction_in_progress")
    assert response.json()["compaction_id"] == held.id


async def test_another_plan_supersedes_the_one_under_way_where_it_says_so(
    talk: SessionApi,
) -> None:
    first = await start(talk)
    second = await start(talk, supersede=True, instructions="Keep the names.")
    late = await first.complete()

    assert (await first.read())["status"] == "superseded"
    assert refusal(late) == (HTTPStatus.CONFLICT, "compaction_closed")
    assert late.json()["compaction_status"] == "superseded"
    assert "checkpoint" not in late.json()
    assert (await second.complete()).json()["status"] == "completed"


async def test_the_same_plan_is_joined_even_by_a_request_that_would_supersede(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    response = await request_compaction(talk, supersede=True)

    assert (response.status_code, response.json()["id"]) == (HTTPStatus.OK, held.id)
    assert (await held.read())["status"] == "pending"


@pytest.mark.parametrize(
    "change",
    [
        {"agent": {"system_prompt": "You review code."}},
        {"policy": {"preset": "openwork", "auto_compact_percent": 50}},
    ],
    ids=["agent", "policy"],
)
async def test_a_change_of_agent_or_policy_supersedes(talk: SessionApi, change: Json) -> None:
    held = await start(talk)
    await talk.client.patch(f"/v1/sessions/{talk.id}", json=change)

    assert (await held.read())["status"] == "superseded"
    assert refusal(await held.complete()) == (HTTPStatus.CONFLICT, "compaction_closed")


@pytest.mark.parametrize(
    "change",
    [{"metadata": {"ticket": "T-1"}}, {"agent": {"system_prompt": "You fix bugs."}}],
    ids=["metadata", "the same agent"],
)
async def test_a_change_of_anything_else_does_not_supersede(talk: SessionApi, change: Json) -> None:
    held = await start(talk)
    await talk.client.patch(f"/v1/sessions/{talk.id}", json=change)

    assert (await held.complete()).json()["status"] == "completed"


async def test_a_rewind_supersedes(talk: SessionApi) -> None:
    held = await start(talk)
    await talk.post("rewind", {"through_sequence": 1})

    assert (await held.read())["status"] == "superseded"
    assert refusal(await held.complete()) == (HTTPStatus.CONFLICT, "compaction_closed")


async def test_the_second_completer_learns_of_the_winner(talk: SessionApi) -> None:
    held = await start(talk)
    won = (await held.complete(summary_of("a parser"))).json()
    lost = await held.complete(summary_of("a lexer"))

    assert refusal(lost) == (HTTPStatus.CONFLICT, "compaction_closed")
    assert lost.json()["compaction_status"] == "completed"
    assert lost.json()["checkpoint"] == won["checkpoint"]


@pytest.mark.parametrize(
    ("token", "attempt"), [("claim-unknown", 1), (None, 2)], ids=["unknown claim", "wrong attempt"]
)
async def test_a_report_of_no_attempt_that_was_asked_for_is_claim_lost(
    talk: SessionApi, token: str | None, attempt: int
) -> None:
    held = await start(talk)
    said = {"claim": token or held.token, "attempt": attempt}
    path = f"compactions/{held.id}"

    assert [
        refusal(await talk.post(f"{path}/complete", {**said, "summary": SUMMARY})),
        refusal(await talk.post(f"{path}/complete", {**said, "summary": "short"})),
        refusal(await talk.post(f"{path}/fail", {**said, "error": "timeout"})),
    ] == [(HTTPStatus.CONFLICT, "claim_lost")] * 3
    assert (await held.read())["attempt"] == 1


async def test_messages_that_arrive_meanwhile_stay_behind_the_summary(talk: SessionApi) -> None:
    held = await start(talk)
    await talk.append(user("One more thing.", "m3"), calls("c1", message_id="m4"))
    await talk.append(results("c1", message_id="m5"))
    answer = (await held.complete()).json()
    prepared = await talk.prepare(include=["provenance"])

    assert answer["checkpoint"]["replaced_through_sequence"] == 2
    assert reasons(prepared) == [*AFTER_FOLD, "m3", "m4", "m5"]


async def test_K20_a_manual_compaction_refuses_a_running_turn(talk: SessionApi) -> None:
    await run_turn(talk)
    refused = await request_compaction(talk)
    await put_turn(talk, status="completed")

    assert refusal(refused) == (HTTPStatus.CONFLICT, "session_active")
    assert refused.json()["turn_id"] == "t"
    assert (await request_compaction(talk)).status_code == HTTPStatus.CREATED


@pytest.mark.parametrize("kind", ["threshold", "overflow"])
async def test_a_compaction_in_a_turn_needs_it_running(talk: SessionApi, kind: str) -> None:
    never_named = await request_compaction(talk, kind=kind, **POINT)
    await talk.prepare(turn_id="t")
    never_put = await request_compaction(talk, kind=kind, **POINT)
    await run_turn(talk)
    without_call = await request_compaction(talk, kind=kind, turn_id="t")
    started = await request_compaction(talk, kind=kind, **POINT)
    await put_turn(talk, status="completed")
    ended = await request_compaction(talk, kind=kind, instructions="x", **POINT)

    assert [refusal(response) for response in (never_named, never_put, without_call, ended)] == [
        (HTTPStatus.CONFLICT, "turn_not_running")
    ] * 4
    assert (started.status_code, started.json()["turn_id"]) == (HTTPStatus.CREATED, "t")


async def test_a_model_call_is_compacted_once(talk: SessionApi) -> None:
    await run_turn(talk)
    first = await compact(talk, kind="threshold", **POINT)
    await talk.append(assistant("Now this."))
    again = await request_compaction(talk, kind="overflow", **POINT)
    next_call = await request_compaction(talk, kind="overflow", turn_id="t", model_call=2)

    assert refusal(again) == (HTTPStatus.CONFLICT, "already_compacted_in_call")
    assert again.json()["compaction_id"] == first["checkpoint"]["id"]
    assert next_call.status_code == HTTPStatus.CREATED


async def test_a_failed_compaction_counts_for_its_model_call(talk: SessionApi) -> None:
    await run_turn(talk)
    held = await start(talk, kind="threshold", **POINT)
    for attempt in (1, 2, 3):
        await held.fail("timeout", attempt)
    again = await request_compaction(talk, kind="threshold", **POINT)

    assert refusal(again) == (HTTPStatus.CONFLICT, "already_compacted_in_call")
    assert again.json()["compaction_status"] == "failed"


async def test_an_empty_session_has_nothing_to_summarise(timed: Timed) -> None:
    response = await request_compaction(await timed.session())

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "empty_conversation")


async def test_K3_a_session_without_a_user_request_has_no_anchor(timed: Timed) -> None:
    session = await timed.session()
    await session.append(
        user("A skill.", kind="skill_instruction"), user("An agent.", kind="agent_message")
    )
    response = await request_compaction(session)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "missing_last_user")


async def test_an_artifact_that_cannot_be_read_is_refused_before_anybody_pays(timed: Timed) -> None:
    session = await timed.session()
    broken = [{"kind": "file_change", "payload": {"path": "a.rs"}}]
    await session.append(user("Go."), calls("c1"))
    await session.append(message("tool", [tool_result("c1", artifacts=broken)]))
    response = await request_compaction(session)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "state_error")
    assert (await session.read("compactions"))["items"] == []


async def test_an_artifact_that_comes_meanwhile_and_cannot_be_read_fails_the_compaction(
    timed: Timed,
) -> None:
    session = await timed.session()
    await session.append(user("Go."), calls("c1"))
    held = await start(session)
    broken = [{"kind": "file_change", "payload": 7}]
    await session.append(message("tool", [tool_result("c1", artifacts=broken)]))
    answer = (await held.complete()).json()

    assert (answer["status"], answer["code"]) == ("failed", "state_error")
    assert (await session.read())["latest_compaction_id"] is None


async def test_a_compaction_of_an_unknown_id_is_not_found(talk: SessionApi) -> None:
    said = {"claim": "claim-1", "attempt": 1}
    unknown = (HTTPStatus.NOT_FOUND, "compaction_not_found")

    for name in ("compaction-0", "%00", "x" * 200, "é"):
        path = f"compactions/{name}"
        assert refusal(await talk.get(path)) == unknown
        assert refusal(await talk.post(f"{path}/complete", {**said, "summary": ""})) == unknown
        assert refusal(await talk.post(f"{path}/fail", {**said, "error": "timeout"})) == unknown


async def test_a_turn_id_that_none_can_have_is_refused(talk: SessionApi) -> None:
    for turn_id in ("", "a\0b", "a b", "t" * 129):
        response = await request_compaction(talk, kind="threshold", turn_id=turn_id, model_call=1)

        assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "invalid_id")


async def test_compactions_are_listed_in_pages(talk: SessionApi) -> None:
    made: list[Held] = []
    for number in range(3):
        made.append(await start(talk, supersede=True, instructions=f"Focus {number}."))
    first = await talk.read("compactions", limit=2)
    rest = await talk.read("compactions", limit=2, cursor=first["next_cursor"])
    newest = await talk.read("compactions", limit=1, order="desc")
    ids = [entry["id"] for entry in (*first["items"], *rest["items"])]

    assert ids == [held.id for held in made]
    assert rest["next_cursor"] is None
    assert [entry["id"] for entry in newest["items"]] == [made[2].id]
    assert rest["items"] == [await made[2].read()]


async def test_a_read_waits_until_the_compaction_has_ended(talk: SessionApi) -> None:
    held = await start(talk)
    still = await held.read(wait_seconds=0.01)
    completed = (await held.complete()).json()
    ended = await held.read(wait_seconds=60)

    assert (still["status"], still["claim"]) == ("pending", None)
    assert (ended["status"], ended["checkpoint"]) == ("completed", completed["checkpoint"])
    assert (await talk.get(f"compactions/{held.id}", wait_seconds=61)).status_code == 422


async def test_a_session_names_the_compaction_that_is_open_and_the_one_it_shows(
    talk: SessionApi,
) -> None:
    held = await start(talk)
    opened = await talk.read()
    await held.complete()
    shown = await talk.read()

    assert opened["resume"]["open_compaction_id"] == held.id
    assert opened["latest_compaction_id"] is None
    assert shown["resume"]["open_compaction_id"] is None
    assert shown["latest_compaction_id"] == held.id
    assert shown["window"]["previous_window_id"] == opened["window"]["window_id"]
    assert shown["window"]["first_window_id"] == opened["window"]["first_window_id"]
    assert shown["version"] == opened["version"] + 1


async def test_stored_messages_and_the_request_are_untouched_until_a_summary_is_installed(
    talk: SessionApi,
) -> None:
    before = (await talk.prepare())["request"]
    held = await start(talk)
    await held.complete("no summary")
    await held.fail("timeout", 2)
    during = (await talk.prepare())["request"]
    await held.fail("timeout", 3)
    after = (await talk.prepare())["request"]

    assert json.dumps(before) == json.dumps(during) == json.dumps(after)
