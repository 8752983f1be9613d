from dataclasses import replace

import pytest

from app.core.blocks import Audience, Data, Text, Thinking, text_block
from app.core.content import decode_content, encode_content
from app.core.engine import request_copy
from app.core.visibility import (
    AGENT_ONLY,
    EVERYBODY,
    NOBODY,
    USER_ONLY,
    Shown,
    Visibility,
    agents_view,
    for_agent,
    seen_blocks,
    users_view,
)
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    copy_of,
    image,
    result,
    said,
    step_context,
    tool,
    user,
)

THINKING = Thinking(type="thinking", thinking="hm")


def for_readers(text: str, audience: Audience) -> Text:
    return Text(type="text", text=text, audience=audience)


SECRET = for_readers("for people", ("user",))
HINT = for_readers("for the agent", ("assistant",))


@pytest.mark.parametrize(
    ("visibility", "hidden"),
    [
        pytest.param(EVERYBODY, USER_ONLY, id="everybody"),
        pytest.param(USER_ONLY, USER_ONLY, id="hidden already"),
        pytest.param(AGENT_ONLY, NOBODY, id="people did not see it and still do not"),
    ],
)
def test_hiding_from_the_agent_leaves_what_people_see(
    visibility: Visibility, hidden: Visibility
) -> None:
    assert visibility.hidden_from_agent() == hidden


@requirement("GO-7.1-agent-visible-decides", "GO-7.1-user-visible-is-for-people")
def test_the_two_views_of_a_history_differ_by_the_flags_alone() -> None:
    both, people, agent, nobody = user("a"), assistant("b"), user("c"), user("d")
    history = [
        Shown(item=both),
        Shown(item=people, visibility=USER_ONLY),
        Shown(item=agent, visibility=AGENT_ONLY),
        Shown(item=nobody, visibility=NOBODY),
    ]

    assert agents_view(history, COUNTER) == (both, agent)
    assert users_view(history, COUNTER) == (both, people)


@pytest.mark.parametrize(
    ("audience", "agent", "people"),
    [
        pytest.param(None, True, True, id="absent is everybody"),
        pytest.param(("assistant",), True, False, id="the agent"),
        pytest.param(("user",), False, True, id="people"),
        pytest.param(("user", "assistant"), True, True, id="both by name"),
        pytest.param((), False, False, id="an empty list is nobody"),
    ],
)
def test_a_piece_is_for_the_readers_that_it_names(
    audience: Audience, agent: bool, people: bool
) -> None:
    text, media = for_readers("a", audience), replace(image(), audience=audience)
    plain = (text_block("a"), image())

    assert seen_blocks((text, media), "assistant") == (plain if agent else ())
    assert seen_blocks((text, media), "user") == (plain if people else ())


def test_a_result_stays_also_where_nothing_of_it_is_left() -> None:
    blocks = (result("c1", SECRET), result("c2", SECRET, "rest"))

    assert seen_blocks(blocks, "assistant") == (result("c1"), result("c2", "rest"))


def test_thinking_is_for_the_agent() -> None:
    assert seen_blocks((THINKING, text_block("a")), "user") == (text_block("a"),)
    assert seen_blocks((THINKING,), "assistant") == (THINKING,)


def test_a_message_of_which_a_reader_sees_nothing_is_not_in_the_view() -> None:
    history = [Shown(item=user(SECRET)), Shown(item=assistant(THINKING)), Shown(item=user("a"))]

    assert said(agents_view(history, COUNTER)) == said([assistant(THINKING), user("a")])
    assert said(users_view(history, COUNTER)) == said([user("for people"), user("a")])


def test_an_audience_is_kept_in_the_bytes_of_content() -> None:
    blocks = (SECRET, result("c1", HINT, replace(image(), audience=())))
    content = encode_content(blocks)

    assert decode_content(content) == blocks
    assert content.startswith(b'[{"type":"text","text":"for people","audience":["user"]}')


def test_content_without_an_audience_has_the_bytes_it_always_had() -> None:
    media = Data(type="data", source=image().source)

    assert b"audience" not in encode_content((text_block("a"), media))


@requirement("GO-7.1-agent-visible-decides")
def test_a_request_carries_nothing_that_is_for_people_alone() -> None:
    items = (
        user(SECRET, HINT, "go"),
        user(SECRET),
        assistant(call("c1")),
        tool(result("c1", SECRET)),
    )
    made = request_copy(items, step_context())

    assert said(made.items) == said(
        [user("for the agent", "go"), assistant(call("c1")), tool(result("c1"))]
    )


def test_the_projection_changes_nothing_the_second_time() -> None:
    once = for_agent(copy_of(user(SECRET, HINT), assistant("b")), step_context())

    assert for_agent(once, step_context()) is once
    assert once.items == (user("for the agent"), assistant("b"))


def test_the_projection_is_remembered_by_content() -> None:
    context = step_context()
    first = for_agent(copy_of(user(HINT)), context)

    assert for_agent(copy_of(user(HINT)), context) == first
    assert len(context.memo) == 1
