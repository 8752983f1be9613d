"""Prefixes of requests in which new messages change what older ones look like."""

import pytest

from tests.api.client import Api, Json, assistant, calls, results, user
from tests.api.requests import chain_of, common_of, read_request

POLICIES = [
    pytest.param({"preset": "goose"}, id="fixed"),
    pytest.param({"preset": "awaken"}, id="cleaned"),
    pytest.param({"context_policy": {"keep_last": 3}}, id="trimmed"),
    pytest.param({"preset": "goose", "context_policy": {"keep_last": 4}}, id="fixed and trimmed"),
]
GROWING: list[list[Json]] = [
    [user("a")],
    [user("b")],
    [assistant("c  ")],
    [assistant("d"), user("e")],
    [calls("c1", "c2")],
    [results("c1")],
    [results("c2")],
    [user("f"), calls("c3")],
    [user("g")],
    [assistant("h")],
]


@pytest.mark.parametrize("policy", POLICIES)
async def test_chain_and_common_messages_are_those_of_the_requests_themselves(
    api: Api, policy: Json
) -> None:
    session = await api.session(policy=policy)
    before = None
    for messages in GROWING:
        answer = await session.prepare(append=messages)
        text = (await session.get(f"prepared/{answer['prepared_id']}")).text
        request = read_request(text, before)
        prefix = answer["prefix"]
        common = 0 if before is None else common_of(before, request)

        assert prefix["chain"] == chain_of([element.digest for element in request.elements])
        if before is None or request.elements != before.elements:
            assert prefix["common_messages"] == common
            is_whole = before is None or common == len(before.elements)
            assert prefix["broken_at"] == (None if is_whole else common)
        before = request


@pytest.mark.parametrize(
    ("policy", "cause"),
    [({"preset": "goose"}, "mended"), ({"context_policy": {"keep_last": 1}}, "trimmed")],
)
async def test_a_break_that_a_new_message_makes_is_named(
    api: Api, policy: Json, cause: str
) -> None:
    session = await api.session(policy=policy)
    await session.prepare(append=[user("a")])
    prefix = (await session.prepare(append=[user("b")]))["prefix"]

    assert (prefix["broken_at"], prefix["cause"]) == (1, cause)
