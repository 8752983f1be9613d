"""A real session of 914 messages, appended and prepared over HTTP step by step."""

from collections.abc import Iterable
from itertools import pairwise

import pytest

from tests.api.client import Api, Json
from tests.api.follower import Follower
from tests.api.transcripts import coding_session, turns
from tests.requirements import requirement

AGENT: Json = {
    "system_prompt": "You fix bugs. Read before you write.",
    "tools": [
        {"name": name, "description": f"The tool {name}.", "parameters": {"type": "object"}}
        for name in ("read", "bash", "edit", "write")
    ],
}

MADE = "Tool result unavailable"
"""How the text of a result begins that is made for a call without one."""

KEPT_CHARS = 4_000
"""A request may shorten a long result, but not its beginning."""


@pytest.mark.long
@requirement(
    "OW-4.1-view-is-read-for-every-call",
    "OW-11-gap-budget-equals-a-re-measurement",
    "OW-8-preview-same-engine",
    "OW-11-gap-preview-equals-the-request",
)
async def test_every_step_of_a_session_that_grows_by_messages(api: Api) -> None:
    session = await api.session(agent=AGENT)
    follower = Follower(session)
    messages = coding_session()
    for message in messages:
        await session.append(message)
        if message["role"] != "assistant":
            await follower.prepare()

    await follower.check_kept()
    assert follower.count == 461
    assert follower.causes.count("prune") == 1
    assert [cause for cause in follower.causes if cause != "prune"] == [
        "interrupted_result_replaced"
    ] * later_parallel_results(messages)


@pytest.mark.long
@requirement(
    "AW-committed-messages-stay",
    "OW-4.1-whole-conversation",
    "OW-11-whole-conversation-before-compaction",
)
async def test_every_step_of_a_session_that_grows_by_turns(api: Api) -> None:
    session = await api.session(agent=AGENT)
    follower = Follower(session)
    messages = coding_session()
    for turn in turns(messages):
        request = await follower.prepare(*turn)

    await follower.check_kept()
    assert follower.count == 88
    assert follower.causes == ["prune"]
    assert outlines(await session.messages()) == outlines(messages)
    assert outlines(element.message for element in request.conversation) == outlines(messages)


def later_parallel_results(messages: list[Json]) -> int:
    """Results that come while one that was made stands in their place."""
    return sum(before["role"] == after["role"] == "tool" for before, after in pairwise(messages))


def outlines(messages: Iterable[Json]) -> list[list[Json]]:
    """Contents with the beginnings of results alone, without results that were made."""
    contents = [[outline(block) for block in message["content"]] for message in messages]
    return [content for content in contents if MADE not in str(content)]


def outline(block: Json) -> Json:
    if block["type"] != "tool_result":
        return block
    (text,) = block["output"]
    return {**block, "output": text["text"][:KEPT_CHARS]}
