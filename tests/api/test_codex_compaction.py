"""The codex style over HTTP: three compactions, the turn's message, going back, world state."""

from http import HTTPStatus
from itertools import pairwise

import pytest

from tests.api.captures import INSTRUCTIONS_ID, SANDBOX_ID, WHOLE, rendered, rules
from tests.api.client import (
    Json,
    SessionApi,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    user,
)
from tests.api.codex_sessions import SAID, codex_session, codex_talk, seen, shown, summary
from tests.api.compacting import (
    AFTER_FOLD,
    Timed,
    compact,
    reasons,
    refusal,
    request_compaction,
    run_turn,
    start,
    texts,
)
from tests.requirements import requirement
from tests.unit.compaction.summaries import SUMMARY

pytestmark = pytest.mark.asyncio(loop_scope="module")

SUMMARISED = ("compaction_summary", summary())
IN_TURN: Json = {"kind": "threshold", "turn_id": "t"}
IMAGE: Json = {
    "type": "data",
    "source": {"source_type": "base64", "data": "Zm9v", "media_type": "image/png"},
}


async def test_user_messages_and_a_summary_take_the_place_of_the_history(timed: Timed) -> None:
    session = await codex_talk(timed)
    before = await session.messages()
    answer = await compact(session, SAID)
    stored = await session.messages()
    checkpoint = answer["checkpoint"]

    assert await seen(session) == [("m1", "Fix the build."), ("m5", "Run it."), SUMMARISED]
    assert [(kept["id"], kept["content"]) for kept in stored] == [
        (kept["id"], kept["content"]) for kept in before
    ]
    assert [kept["id"] for kept in stored if kept["covered_by"] is None] == ["m1", "m5"]
    assert (checkpoint["summary"], checkpoint["runtime_reminder"]) == (SAID, None)
    assert checkpoint["last_user_message_id"] == "m5"
    assert (checkpoint["through_sequence"], checkpoint["replaced_through_sequence"]) == (6, 6)
    assert answer["tokens"]["reclaimed"] >= 0


async def test_the_history_is_sent_with_the_checkpoint_prompt(timed: Timed) -> None:
    session = await codex_talk(timed)
    request = await start(session, instructions="Keep the names.")
    body = request.answer["summary_request"]

    assert [entry["role"] for entry in body["messages"]] == [
        *("system", "user", "assistant", "tool", "assistant", "user", "assistant", "user"),
    ]
    assert texts(body)[-1].startswith("You are performing a CONTEXT CHECKPOINT COMPACTION.")
    assert texts(body)[-1].endswith("<focus>\nKeep the names.\n</focus>")
    assert body["tools"] == []
    assert request.answer["phase"] == "standalone"


@requirement("CX-6-window-id", "CX-6-window-chain", "CX-6-window-advances-with-the-history")
async def test_three_compactions_keep_what_users_said_and_one_summary(timed: Timed) -> None:
    session = await codex_talk(timed)
    windows: list[Json] = [session.created["window"]]
    calls_made: list[str] = []
    for number in (1, 2, 3):
        answer = await compact(session, f"Summary {number}.")
        windows.append(answer["window"])
        prepared = await session.prepare(include=["provenance"])
        calls_made.append(prepared["prepared_id"])

        assert prepared["repairs"] == []
        assert reasons(prepared)[-1] == "compaction_summary"
        assert reasons(prepared).count("compaction_summary") == 1
        assert texts(prepared["request"])[-1] == summary(f"Summary {number}.")
        await session.append(
            user(f"Request {number}.", f"u{number}"),
            calls(f"d{number}", message_id=f"a{number}"),
            results(f"d{number}", message_id=f"r{number}"),
            assistant(f"Answer {number}.", f"b{number}"),
        )
    last = await session.prepare(include=["provenance"])
    rebuilt = [(await session.read(f"prepared/{name}")) for name in (*calls_made, calls_made[0])]

    assert reasons(last) == [
        *("m1", "m5", "u1", "u2", "compaction_summary", "u3", "a3", "r3", "b3"),
    ]
    assert rebuilt[0] == rebuilt[-1]
    assert texts(rebuilt[0]) == ["Fix the build.", "Run it.", summary("Summary 1.")]
    assert texts(rebuilt[2])[-2:] == ["Request 2.", summary("Summary 3.")]
    assert [window["number"] for window in windows] == [0, 1, 2, 3]
    assert [window["id"] for window in windows] == [f"{session.id}:{n}" for n in range(4)]
    assert all(
        after["previous_window_id"] == before["window_id"] for before, after in pairwise(windows)
    )
    assert len({window["first_window_id"] for window in windows}) == 1


async def test_before_a_turn_the_message_that_begins_it_stays_behind_the_summary(
    timed: Timed,
) -> None:
    session = await codex_talk(timed)
    await session.append(user("Now the docs.", "m7"))
    await run_turn(session)
    answer = await compact(session, SAID, **IN_TURN, model_call=1)

    assert answer["checkpoint"]["through_sequence"] == 6
    assert await seen(session) == [
        ("m1", "Fix the build."),
        ("m5", "Run it."),
        SUMMARISED,
        ("m7", "Now the docs."),
    ]


async def test_a_failed_compaction_before_a_turn_keeps_the_users_message(timed: Timed) -> None:
    session = await codex_talk(timed)
    await session.append(user("Now the docs.", "m7"))
    await run_turn(session)
    before = await seen(session)
    held = await start(session, **IN_TURN, model_call=1)
    for attempt in (1, 2, 3):
        await held.fail("transient", attempt)

    assert (await held.read())["status"] == "failed"
    assert await seen(session) == before
    assert before[-1] == ("m7", "Now the docs.")


async def test_the_first_message_of_a_session_is_not_compacted_before_its_turn(
    timed: Timed,
) -> None:
    session = await codex_session(timed)
    await session.append(user("Fix the build.", "m1"))
    await run_turn(session)
    response = await request_compaction(session, **IN_TURN, model_call=1)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "nothing_to_compact")


async def test_two_calls_over_the_limit_are_two_compactions_of_one_turn(timed: Timed) -> None:
    session = await codex_session(timed)
    await session.append(user("Fix the build.", "m1"))
    await run_turn(session)
    numbers = []
    for model_call in (2, 3):
        await session.append(calls(f"c{model_call}"), results(f"c{model_call}"))
        held = await start(session, **IN_TURN, model_call=model_call)
        numbers.append(succeeded(await held.complete(SAID))["window"]["number"])

        assert held.answer["phase"] == "mid_turn"
    again = await request_compaction(session, **IN_TURN, model_call=3)

    assert numbers == [1, 2]
    assert await seen(session) == [("m1", "Fix the build."), SUMMARISED]
    assert refusal(again) == (HTTPStatus.CONFLICT, "already_compacted_in_call")


@requirement("CX-8-mid-turn-layout")
async def test_in_a_turn_the_world_state_in_force_stands_before_the_last_message(
    timed: Timed,
) -> None:
    session = await codex_session(timed)
    await session.append(user("One.", "m1"), assistant("Done.", "m2"), user("Two.", "m3"))
    await run_turn(session)
    first = await session.sample({**WHOLE, **rules("old")})
    changed = await session.sample(rules("new"), model_call=2)
    await session.append(calls("c1"), results("c1"))
    await compact(session, SAID, **IN_TURN, model_call=3, phase="mid_turn")
    prepared = await session.prepare(include=["provenance"])
    emitted = [entry["id"] for entry in (*first["emitted"], *changed["emitted"])]
    carried = reasons(prepared)[1:-2]
    after = await session.sample({**WHOLE, **rules("new")}, model_call=3, sample=2)

    assert reasons(prepared)[0] == "m1"
    assert reasons(prepared)[-2:] == ["m3", "compaction_summary"]
    assert carried == [name for name in emitted if name != first["emitted"][1]["id"]]
    assert after["emitted"] == []
    assert rendered("new") in texts(prepared["request"])[4]


async def test_outside_of_a_turn_the_world_is_told_once_more(timed: Timed) -> None:
    session = await codex_talk(timed)
    await session.sample(WHOLE)
    await session.append(assistant("I see."))
    await compact(session, SAID)
    after = await session.sample(WHOLE, turn_id="t2")

    assert [section["id"] for section in after["sections"] if not section["changed"]] != []
    assert len(after["emitted"]) == 4


async def test_a_removed_section_is_not_carried(timed: Timed) -> None:
    session = await codex_session(timed)
    await session.append(user("One.", "m1"))
    await run_turn(session)
    await session.sample({**WHOLE, **rules("old")})
    await session.sample(rules(None), model_call=2)
    await session.append(calls("c1"), results("c1"))
    await compact(session, SAID, **IN_TURN, model_call=3)
    carried = [name for name, _ in await seen(session) if name not in ("m1", "compaction_summary")]
    after = await session.sample(WHOLE | rules(None), model_call=3, sample=2)

    assert len(carried) == 3
    assert not any(INSTRUCTIONS_ID in name for name in carried)
    assert after["emitted"] == []
    assert SANDBOX_ID in {section["id"] for section in after["sections"]}


async def test_media_and_the_middle_of_long_messages_are_not_kept(timed: Timed) -> None:
    policy = {"preset": "codex", "kept_user_message_tokens": 40}
    session = await timed.session(policy=policy)
    await session.append(
        user("x" * 400, "m1"),
        message("user", [text_block("Look."), IMAGE], "m2"),
        user("Short.", "m3"),
        assistant("Seen."),
    )
    answer = await compact(session, SAID)
    kept = await seen(session)

    assert [name for name, _ in kept] == [
        *("last_user_request_replay", "last_user_request_replay", "m3", "compaction_summary"),
    ]
    assert "tokens truncated" in kept[0][1]
    assert kept[1][1] == "Look."
    assert answer["checkpoint"]["last_user_message_id"] == "m3"


async def test_a_history_without_a_user_message_is_compacted(timed: Timed) -> None:
    session = await codex_session(timed)
    await session.append(assistant("I begin by myself."))
    answer = await compact(session, SAID)

    assert await seen(session) == [SUMMARISED]
    assert answer["checkpoint"]["last_user_message_id"] is None
    await session.append(user("Go on.", "m2"))
    restored = succeeded(
        await session.post("rewind", {"compaction_id": answer["checkpoint"]["id"]})
    )
    assert restored["status"] == "completed"
    assert await seen(session) == [SUMMARISED]


async def test_an_empty_history_is_refused(timed: Timed) -> None:
    response = await request_compaction(await codex_session(timed))

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, "empty_conversation")


async def test_a_call_that_waits_stays_behind_the_summary(timed: Timed) -> None:
    session = await codex_talk(timed)
    asking = {"type": "tool_call", "id": "w1", "name": "confirm", "input": "{}", "state": "pending"}
    await session.append(user("Drop it?", "m7"), message("assistant", [asking], "m8"))
    await compact(session, SAID)
    await session.append(results("w1", message_id="m9"))
    prepared = await session.prepare(include=["provenance"])

    assert reasons(prepared) == ["m1", "m5", "m7", "compaction_summary", "m8", "m9"]
    assert prepared["repairs"] == []


async def test_an_undo_a_rewind_and_a_fork_show_what_they_did(timed: Timed) -> None:
    session = await codex_talk(timed)
    whole = await seen(session)
    first = await compact(session, SAID)
    folded = await seen(session)
    await session.append(user("Next.", "m7"), assistant("Yes.", "m8"))
    grown = await seen(session)
    forked = succeeded(await session.post("fork", {"through_sequence": 6}))
    fork = SessionApi(client=session.client, id=forked["id"], created=forked)
    second = await compact(session, "Later.")
    replayed = await session.read("replay", selector=f"compaction:{first['checkpoint']['id']}")
    through = await session.read("replay", selector="through:7")
    await session.post("rewind", {"undo_compaction": second["checkpoint"]["id"]})
    undone = await seen(session)
    await session.post("rewind", {"compaction_id": first["checkpoint"]["id"]})
    restored = await seen(session)
    history = await session.read("history")

    assert folded == [("m1", "Fix the build."), ("m5", "Run it."), SUMMARISED]
    assert grown == [*folded, ("m7", "Next."), ("m8", "Yes.")]
    assert await seen(fork) == folded
    assert texts(replayed) == [text for _, text in folded]
    assert texts(through) == [text for _, text in grown[:-1]]
    assert undone == grown
    assert restored == folded
    assert len(history["messages"]) == 6
    assert len(whole) == 6


async def test_a_policy_may_change_between_two_compactions(timed: Timed) -> None:
    session = await codex_talk(timed)
    await compact(session, SAID)
    await session.append(user("Next.", "m7"), assistant("Yes.", "m8"))
    changed = await session.client.patch(f"/v1/sessions/{session.id}", json={"policy": "openwork"})
    succeeded(changed)
    await compact(session, SUMMARY)
    nine_sections = await session.prepare(include=["provenance"])
    await session.append(user("More.", "m9"), assistant("Done.", "m10"))
    succeeded(await session.client.patch(f"/v1/sessions/{session.id}", json={"policy": "codex"}))
    await compact(session, SAID)
    prepared = await session.prepare(include=["provenance"])

    assert reasons(nine_sections) == AFTER_FOLD
    assert texts(nine_sections["request"])[0] == "Next."
    assert shown(prepared) == [
        ("last_user_request_replay", "Next."),
        ("m9", "More."),
        SUMMARISED,
    ]
