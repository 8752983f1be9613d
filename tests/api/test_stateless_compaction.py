"""Compaction without a session: prune, plan, replace and check what is given."""

from http import HTTPStatus
from typing import Any

import pytest

from app.compaction.instructions import SUMMARY_INSTRUCTIONS
from app.compaction.openwork_items import SUMMARY_FRAME
from app.compaction.summary_check import HEADINGS
from tests.api.client import (
    PROFILE,
    Api,
    Json,
    assistant,
    calls,
    message,
    results,
    succeeded,
    text_block,
    tool_call,
    tool_result,
    user,
    watermark,
)
from tests.api.compacting import refusal, texts
from tests.api.on_one_database import ON_SQLITE
from tests.unit.compaction.summaries import SUMMARY, rooted, sections

pytestmark = ON_SQLITE

READ: Json = {"name": "read", "description": "Read a file", "parameters": {"type": "object"}}
WAITING = message("assistant", [tool_call("c1", state="pending")])


def real(given: Json, sequence: int) -> Json:
    return {**given, "source": {"type": "real", "id": f"m{sequence}", "sequence": sequence}}


def stored(*messages: Json) -> list[Json]:
    """Messages with ids and sequences from 1 on."""
    return [real(given, sequence) for sequence, given in enumerate(messages, start=1)]


def synthetic(reason: str, text: str) -> Json:
    return {**user(text), "source": {"type": "synthetic", "reason": reason}}


def read_result(call_id: str, chars: int) -> Json:
    return message("tool", [tool_result(call_id, "x" * chars)])


async def prepare(api: Api, *conversation: Json, **fields: Any) -> Json:
    body = {"model_profile": PROFILE, "conversation": list(conversation), **fields}
    return succeeded(await api.client.post("/v1/prepare", json=body))


async def prune_plan(api: Api, *conversation: Json, **fields: Any) -> Json:
    body = {"conversation": list(conversation), "current": None, **fields}
    return succeeded(await api.client.post("/v1/prune/plan", json=body))


async def plan(api: Api, *conversation: Json, **fields: Any) -> Json:
    given = {"model_profile": PROFILE, "conversation": list(conversation), "kind": "manual"}
    return succeeded(await api.client.post("/v1/compaction/plan", json={**given, **fields}))


async def replace(api: Api, *conversation: Json, **fields: Any) -> Json:
    given = {"conversation": list(conversation), "kind": "manual", "summary": SUMMARY}
    return succeeded(await api.client.post("/v1/compaction/replace", json={**given, **fields}))


async def check(api: Api, text: str, **fields: Any) -> Json:
    body = {"policy": "openwork", "text": text, "finish_reason": "stop", **fields}
    return succeeded(await api.client.post("/v1/compaction/check-summary", json=body))


def reminder_of(replaced: Json) -> str:
    return texts({"messages": replaced["items"]})[2]


ROUNDS = stored(
    calls("first"),
    read_result("first", 9_000),
    calls("second"),
    read_result("second", 9_000),
    calls("latest"),
    read_result("latest", 9_000),
)


@pytest.mark.parametrize(
    ("current", "through", "result_ids"),
    [
        pytest.param(None, 5, ["first", "second"], id="W1"),
        pytest.param(3, 5, ["second"], id="W2"),
        pytest.param(5, None, [], id="W2 no move"),
    ],
)
async def test_W1_W2_the_watermark_moves_to_the_latest_answer(
    api: Api, current: int | None, through: int | None, result_ids: list[str]
) -> None:
    assert await prune_plan(api, *ROUNDS, current=current) == {
        "through_sequence": through,
        "tool_result_ids": result_ids,
        "call_ids": [],
        "thinking_blocks": 0,
    }


async def test_W3_short_results_move_no_watermark(api: Api) -> None:
    short = stored(calls("c1"), read_result("c1", 100), assistant("Read."))

    assert (await prune_plan(api, *short))["through_sequence"] is None
    assert (await prune_plan(api, *short, policy={"prune_tool_result_chars": 99})) == {
        "through_sequence": 3,
        "tool_result_ids": ["c1"],
        "call_ids": [],
        "thinking_blocks": 0,
    }


async def test_W6_a_watermark_outlives_a_replacement(api: Api) -> None:
    replaced = await replace(api, user("Read."), *ROUNDS)
    behind = [real(calls("late"), 3), real(read_result("late", 9_000), 4)]
    pruned = {"through_sequence": 5, "spill_directory": None}
    prepared = await prepare(api, *replaced["items"], *behind, prune=pruned)

    assert prepared["pruned"] == watermark(5, tool_results=1)


async def test_a_plan_tells_what_is_folded_and_what_a_model_is_asked(api: Api) -> None:
    conversation = stored(user("Go."), calls("c1"), results("c1"), assistant("Gone."))
    answer = await plan(api, *conversation, system_parts=[{"key": "k", "content": "s"}])
    request = answer["summary_request"]

    assert (answer["keep_from"], answer["fold_through"]) == (4, 3)
    assert (answer["level"], answer["fits"], answer["removed_tool_results"]) == (0, True, [])
    assert [shown["role"] for shown in request["messages"]] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert request["messages"][-1]["content"] == [text_block(SUMMARY_INSTRUCTIONS)]
    assert (request["tools"], request["max_output_tokens"]) == ([], 16_384)
    assert request["thinking"] == {"mode": "disabled"}


async def test_equal_plans_have_equal_keys(api: Api) -> None:
    conversation = stored(user("Go."), assistant("Gone."))
    key = (await plan(api, *conversation))["plan_key"]
    others = [
        await plan(api, *conversation, user("More.")),
        await plan(api, *conversation, instructions="Keep the names."),
        await plan(api, *conversation, model_profile={**PROFILE, "name": "model-b"}),
        await plan(api, *conversation, policy={"auto_compact_percent": 50}),
    ]

    assert (await plan(api, *conversation, kind="threshold", phase="mid_turn"))["plan_key"] == key
    assert len({key, *(other["plan_key"] for other in others)}) == 5


@pytest.mark.parametrize(
    ("style", "roles", "tools"),
    [("cached", ["user", "assistant", "tool", "user"], [READ]), ("flat", ["user"], [])],
)
async def test_a_plan_may_ask_in_another_style(
    api: Api, style: str, roles: list[str], tools: list[Json]
) -> None:
    conversation = stored(user("Go."), calls("c1"), results("c1"))
    answer = await plan(api, *conversation, tools=[READ], summary_request_style=style)

    assert [shown["role"] for shown in answer["summary_request"]["messages"]] == roles
    assert answer["summary_request"]["tools"] == tools


async def test_a_higher_level_removes_tool_results(api: Api) -> None:
    answers = [read_result("c1", 100), read_result("c2", 5_000)]
    conversation = [user("Go."), calls("c1", "c2"), *answers]
    short = await plan(api, *conversation, level=1)
    noted = await plan(api, *conversation, level=2)

    assert (short["level"], short["removed_tool_results"]) == (1, ["c2"])
    assert (noted["level"], noted["removed_tool_results"]) == (2, ["c1", "c2"])
    assert "x" * 100 not in str(noted["summary_request"])


async def test_a_plan_always_fits_the_model_that_summarises(api: Api) -> None:
    small = {"name": "small", "context_window": 4_000, "max_output_tokens": 400}
    answer = await plan(api, user("x" * 900_000), model_profile=small)

    assert answer["fits"] is True
    assert answer["level"] == 4
    assert len(str(answer["summary_request"])) < 4 * 4_000


async def test_a_call_that_waits_stays_behind_the_plan(api: Api) -> None:
    answer = await plan(api, user("Go."), assistant("Wait."), WAITING, user("And?"))

    assert (answer["keep_from"], answer["fold_through"]) == (2, 1)


async def test_indexes_count_messages_that_no_model_sees(api: Api) -> None:
    unseen = {**user("For people only."), "agent_visible": False}
    conversation = (unseen, user("Go."), unseen, assistant("Wait."), unseen, WAITING)
    planned = await plan(api, *conversation)
    replaced = await replace(api, *conversation)

    assert planned["keep_from"] == 5
    assert replaced["hidden"] == [1, 3]
    assert [shown["role"] for shown in replaced["items"]] == ["user", "user", "user", "assistant"]


async def test_C4_a_replacement_is_the_whole_conversation_as_it_is_seen(api: Api) -> None:
    conversation = stored(user("Go."), assistant("Gone."), WAITING, user("And?"))
    replaced = await replace(api, *conversation)
    replay, summary, reminder, *kept = replaced["items"]

    assert replaced["hidden"] == [0, 1]
    assert (replay["role"], replay["kind"]) == ("user", "normal")
    assert replay["content"] == [text_block("Go.")]
    assert summary["content"] == [text_block(f"{SUMMARY_FRAME}\n\n{SUMMARY}")]
    assert reminder["content"] == [
        text_block(
            '<system_reminder format_version="1">\n'
            "No additional durable runtime state was recorded at compaction time.\n"
            "</system_reminder>"
        )
    ]
    assert [item["source"]["reason"] for item in (replay, summary, reminder)] == [
        "last_user_request_replay",
        "compaction_summary",
        "system_reminder",
    ]
    assert [item["source"] for item in kept] == [
        {"type": "real", "id": "m3", "sequence": 3},
        {"type": "real", "id": "m4", "sequence": 4},
    ]


async def test_C5_an_orphan_behind_a_replacement_reaches_no_request(api: Api) -> None:
    conversation = stored(user("Go."), assistant("Gone."), results("orphan"), user("And?"))
    replaced = await replace(api, *conversation[:2])
    prepared = await prepare(api, *replaced["items"], *conversation[2:])

    assert texts(prepared["request"])[3:] == ["And?"]
    assert prepared["repairs"] == [
        {
            "code": "result_of_summarised_call",
            "item_index": 3,
            "message_id": "m3",
            "call_id": "orphan",
        }
    ]


async def test_a_replacement_can_be_prepared_and_compacted_again(api: Api) -> None:
    first = await replace(api, *stored(user("Go."), assistant("Gone.")))
    grown = [*first["items"], real(assistant("More."), 3)]
    prepared = await prepare(api, *grown, include=["provenance"])
    second = await replace(api, *grown, summary=rooted(*sections(lines=("Another text.",) * 4)))

    assert [entry.get("reason") for entry in prepared["provenance"]] == [
        "last_user_request_replay",
        "compaction_summary",
        "system_reminder",
        None,
    ]
    assert second["hidden"] == [0, 1, 2, 3]
    assert second["items"][0]["content"] == [text_block("Go.")]
    assert len(second["items"]) == 3


async def test_K5_a_replay_is_replayed_again(api: Api) -> None:
    seen = [
        synthetic("last_user_request_replay", "Go."),
        synthetic("compaction_summary", "What happened."),
        synthetic("system_reminder", "What is so."),
    ]
    replaced = await replace(api, *seen, assistant("Gone."))

    assert replaced["items"][0]["content"] == [text_block("Go.")]
    assert replaced["items"][0]["source"]["reason"] == "last_user_request_replay"


async def test_K4_world_state_is_no_request_and_is_folded(api: Api) -> None:
    state = {**user("<sandbox_policy>"), "kind": "world_state"}
    replaced = await replace(api, user("Go."), state)

    assert replaced["hidden"] == [0, 1]
    assert [item["kind"] for item in replaced["items"]] == ["normal"] * 3


def edited(call_id: str, path: str, undone: bool) -> list[Json]:
    """A call and its result, which changed a file."""
    change = {"kind": "file_change", "payload": {"path": path, "undone": undone}}
    return [calls(call_id), message("tool", [tool_result(call_id, artifacts=[change])])]


async def test_K29_edited_paths_come_from_the_artifacts_of_the_whole_conversation(
    api: Api,
) -> None:
    changes = [("b.rs", False), ("a.rs", False), ("ignored.rs", True), ("a.rs", False)]
    rounds = [edited(f"c{n}", path, undone) for n, (path, undone) in enumerate(changes)]
    replaced = await replace(api, user("Go."), *(item for pair in rounds for item in pair))

    assert reminder_of(replaced) == (
        '<system_reminder format_version="1">\n## Edited paths\n- a.rs\n- b.rs\n</system_reminder>'
    )


async def test_K33_the_plan_of_the_turn_is_in_the_reminder(api: Api) -> None:
    steps = [
        {"step": "read", "status": "completed"},
        {"step": "write", "status": "in_progress"},
        {"step": "test", "status": "pending"},
    ]
    given = {"explanation": "scoping the work", "steps": steps}
    extension = {"schema_version": 1, "value": given}
    state = {"schema_version": 1, "extensions": {"turn_plan": extension}}
    replaced = await replace(api, user("Go."), plan=given)
    carried = await replace(api, user("Go."), runtime_state=state)

    assert reminder_of(replaced) == (
        '<system_reminder format_version="1">\n## Current plan\nscoping the work\n'
        "- [completed] read\n- [in_progress] write\n- [pending] test\n</system_reminder>"
    )
    assert reminder_of(carried) == reminder_of(replaced)


@pytest.mark.parametrize("path", ["compaction/plan", "compaction/replace"])
@pytest.mark.parametrize(
    ("conversation", "code"),
    [
        ([], "empty_conversation"),
        ([assistant("Alone.")], "missing_last_user"),
        ([WAITING], "nothing_to_compact"),
        ([message("system", "No."), user("Go.")], "system_message_in_conversation"),
        ([message("user", [])], "empty_message"),
        ([message("user", [tool_result("c1")])], "unexpected_role"),
    ],
    ids=["empty", "no request", "waits", "system", "no block", "misplaced"],
)
async def test_a_conversation_that_cannot_be_folded_is_refused(
    api: Api, path: str, conversation: list[Json], code: str
) -> None:
    more = {"summary": SUMMARY} if path == "compaction/replace" else {"model_profile": PROFILE}
    body = {"conversation": conversation, "kind": "manual", **more}
    response = await api.client.post(f"/v1/{path}", json=body)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, code)


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"runtime_state": {"schema_version": 2}}, "state_error"),
        ({"plan": {"steps": [{"step": "x", "status": "done"}]}}, "state_error"),
        ({"policy": "nope"}, "unknown_policy"),
        ({"policy": {"threshold": 1}}, "unknown_policy_override"),
        ({"kind": "rewind"}, "invalid_request"),
    ],
)
async def test_a_replacement_of_nonsense_is_refused(api: Api, fields: Json, code: str) -> None:
    body = {"conversation": [user("Go.")], "kind": "manual", "summary": SUMMARY, **fields}
    response = await api.client.post("/v1/compaction/replace", json=body)

    assert refusal(response) == (HTTPStatus.UNPROCESSABLE_ENTITY, code)


async def test_a_usable_summary_is_accepted_without_what_stands_in_front(api: Api) -> None:
    assert await check(api, f"Here it is:\n{SUMMARY}\n") == {
        "accepted": True,
        "reason": None,
        "summary": SUMMARY,
    }


def with_line(line: str) -> str:
    """A usable summary with one more line in its fifth section."""
    parts = sections()
    parts[4] += f"\n{line}"
    return rooted(*parts)


FORBIDDEN = "summary contained forbidden control tag "


@pytest.mark.parametrize(
    ("text", "fields", "reason"),
    [
        pytest.param(SUMMARY, {"finish_reason": "length"}, "finish reason was length", id="K7"),
        pytest.param(SUMMARY, {"finish_reason": "odd"}, "finish reason was odd", id="K7 unknown"),
        pytest.param("too short", {}, "missing conversation_summary root", id="K7 short"),
        (SUMMARY, {"tool_calls": [{}]}, "the response requested a tool call"),
        pytest.param(with_line("<system_reminder>"), {}, f"{FORBIDDEN}<system", id="K9"),
        pytest.param(with_line("<Tool>"), {}, f"{FORBIDDEN}<tool", id="K11 tag"),
        pytest.param(
            SUMMARY + "!", {}, "unexpected content after conversation_summary root", id="K11 after"
        ),
        pytest.param(
            SUMMARY * 2, {}, "conversation_summary must have exactly one root", id="K11 two roots"
        ),
        pytest.param(
            rooted("- intro", *sections()),
            {},
            "summary contained content before the first heading",
            id="K11 intro",
        ),
        pytest.param(
            rooted(*sections(), "## 10. More"),
            {},
            "summary contained more than nine headings",
            id="K11 tenth heading",
        ),
    ],
)
async def test_K7_K9_K11_an_unusable_answer_is_rejected_with_its_reason(
    api: Api, text: str, fields: Json, reason: str
) -> None:
    assert await check(api, text, **fields) == {
        "accepted": False,
        "reason": reason,
        "summary": None,
    }


@pytest.mark.parametrize("heading", HEADINGS)
async def test_K8_every_heading_has_to_be_there(api: Api, heading: str) -> None:
    lacking = await check(api, SUMMARY.replace(f"{heading}\n", ""))
    renamed = await check(api, SUMMARY.replace(heading, f"{heading}!"))
    empty = await check(
        api, rooted(*(part.split("\n")[0] if heading in part else part for part in sections()))
    )

    assert lacking["accepted"] is renamed["accepted"] is empty["accepted"] is False
    assert heading in renamed["reason"]
    assert empty["reason"] == f"summary section had no content: {heading}"


async def test_K12_lower_headings_and_blank_lines_are_content(api: Api) -> None:
    assert (await check(api, with_line("### sub\n\n##tight")))["accepted"] is True
