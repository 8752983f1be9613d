"""What a summary request holds, and what a session shows after it goes back."""

import pytest

from tests.api.client import Json, SessionApi, assistant, succeeded, user
from tests.api.compacting import AFTER_FOLD, Timed, compact, reasons, start, texts
from tests.requirements import requirement

pytestmark = pytest.mark.asyncio(loop_scope="module")

AGENT: Json = {
    "system_prompt": "You fix bugs.",
    "tools": [
        {
            "name": "plan",
            "description": "Keeps a plan",
            "parameters": {"type": "object"},
            "system_rule": "## Task checklists",
        }
    ],
}


async def prepared(session: SessionApi) -> Json:
    return await session.prepare(include=["provenance"])


@requirement("OW-2-manual-compaction-uses-the-bare-prompt", "OW-7.2-summary-output-limit")
async def test_a_manual_summary_request_has_the_bare_prompt_and_no_tools(timed: Timed) -> None:
    session = await timed.session(agent=AGENT)
    await session.append(user("Fix the build."), assistant("Done."))
    request = (await start(session)).answer["summary_request"]

    assert request["messages"][0]["content"] == [{"type": "text", "text": "You fix bugs."}]
    assert [entry["role"] for entry in request["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
    assert request["tools"] == []
    assert request["max_output_tokens"] == 16_384
    assert request["thinking"] == {"mode": "disabled"}


@requirement("OW-11-gap-rewind-injects-once")
async def test_a_rewind_shows_replay_summary_and_reminder_exactly_once(talk: SessionApi) -> None:
    first = (await compact(talk))["checkpoint"]["id"]
    await talk.append(user("And the tests.", "m3"), assistant("Green.", "m4"))
    await compact(talk)
    await prepared(talk)
    rewound = succeeded(await talk.post("rewind", {"compaction_id": first}))
    call = await prepared(talk)

    assert rewound["kind"] == "rewind"
    assert rewound["parent_compaction_id"] == first
    assert reasons(call) == AFTER_FOLD
    assert texts(call["request"])[0] == "Fix the build."
    assert call["prefix"]["cause"] == "rewind"


async def test_an_undone_compaction_shows_every_message_again(talk: SessionApi) -> None:
    compaction = (await compact(talk))["checkpoint"]["id"]
    await talk.append(user("And the tests.", "m3"))
    succeeded(await talk.post("rewind", {"undo_compaction": compaction}))

    assert reasons(await prepared(talk)) == ["m1", "m2", "m3"]


async def test_a_rewind_to_a_sequence_hides_what_came_later_and_shows_what_comes_next(
    talk: SessionApi,
) -> None:
    await talk.append(user("And the tests.", "m3"), assistant("Green.", "m4"))
    succeeded(await talk.post("rewind", {"through_sequence": 2}))
    await talk.append(user("Start over.", "m5"))
    stored = await talk.messages()

    assert reasons(await prepared(talk)) == ["m1", "m2", "m5"]
    assert [message["id"] for message in stored] == ["m1", "m2", "m3", "m4", "m5"]
    assert [message["covered_by"] is None for message in stored] == [
        True,
        True,
        False,
        False,
        True,
    ]


@requirement("OW-5-conversation-history-tool")
async def test_what_a_compaction_covers_can_be_read_page_by_page(talk: SessionApi) -> None:
    before = [message["content"] for message in await talk.messages()]
    await compact(talk)
    first = await talk.read("history", limit=1)
    second = await talk.read("history", limit=1, after_sequence=first["next_after_sequence"])

    assert [first["has_more"], second["has_more"]] == [True, False]
    assert second["next_after_sequence"] is None
    assert [page["messages"][0]["content"] for page in (first, second)] == before


async def test_a_fork_goes_its_own_way(timed: Timed, talk: SessionApi) -> None:
    await talk.append(user("And the tests.", "m3"))
    forked = succeeded(await talk.post("fork", {"id": f"{talk.id}-fork", "through_sequence": 2}))
    fork = SessionApi(client=talk.client, id=forked["id"], created=forked)
    await fork.append(user("Rather the docs.", "m9"))

    assert forked["forked_from"] == {"session_id": talk.id, "through_sequence": 2}
    assert reasons(await prepared(fork)) == ["m1", "m2", "m9"]
    assert reasons(await prepared(talk)) == ["m1", "m2", "m3"]
