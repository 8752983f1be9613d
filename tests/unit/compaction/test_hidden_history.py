from dataclasses import replace

import pytest

from app.compaction.hidden_history import (
    CONTINUATIONS,
    Asked,
    Continuation,
    Rewriting,
    rewritten_history,
)
from app.core.blocks import Text
from app.core.chat_count import SpecialTokens, separate_tokens
from app.core.content import decode_content
from app.core.conversation_fix import fix_once
from app.core.fix_passes import Said
from app.core.items import Item
from app.core.messages import Synthetic
from app.core.visibility import (
    AGENT_ONLY,
    EVERYBODY,
    NOBODY,
    USER_ONLY,
    Shown,
    Visibility,
    agents_view,
    users_view,
)
from app.tokenizers import counter_for
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    image,
    result,
    said,
    stored,
    tool,
    user,
)

O200K = SpecialTokens(counter=counter_for("o200k_base"))
CONTEXT = user("cwd: /tmp", kind="world_state")
SECRET = Text(type="text", text="for people", audience=("user",))
AGENTS_TEXT = Text(type="text", text="go", audience=("assistant",))
ANSWERED = (user("a"), assistant("b"))
CALLING = (user("a"), assistant(call("c1")), tool(result("c1", "x")))


def shown(*items: Item, visibilities: tuple[Visibility, ...] = ()) -> tuple[Shown, ...]:
    padded = (*visibilities, *[EVERYBODY] * (len(items) - len(visibilities)))
    return tuple(
        Shown(item=item, visibility=seen) for item, seen in zip(stored(*items), padded, strict=True)
    )


def rewritten(history: tuple[Shown, ...], asked: Asked = "by_itself") -> tuple[Shown, ...]:
    given = Rewriting(compaction_id="k1", asked=asked, replaced_through_sequence=9, counter=COUNTER)
    return rewritten_history(history, "S", given)


def made(case: Continuation, *behind: Item) -> list[Item]:
    return [user("S"), assistant(CONTINUATIONS[case]), *behind]


HISTORIES = [
    pytest.param(
        shown(user("a"), assistant("b"), user("c")), made("conversation", user("c")), id="V1"
    ),
    pytest.param(shown(*CALLING), made("tool_loop", user("a")), id="V2"),
    pytest.param(shown(user("a"), assistant("b")), made("tool_loop", user("a")), id="answered"),
    pytest.param(shown(assistant("b")), made("tool_loop"), id="V5"),
    pytest.param(
        shown(*ANSWERED, user("c"), visibilities=(USER_ONLY, EVERYBODY, AGENT_ONLY)),
        made("conversation", user("c")),
        id="V6",
    ),
    pytest.param(shown(user("x", image())), made("conversation", user("x")), id="V7"),
    pytest.param(shown(user(image())), made("tool_loop"), id="media without a text"),
    pytest.param(
        shown(user("x", "y")), made("conversation", user("x", "y")), id="texts stay apart"
    ),
    pytest.param(shown(user(SECRET)), made("tool_loop"), id="V9"),
    pytest.param(
        shown(user(SECRET, AGENTS_TEXT)), made("conversation", user("go")),
        id="what is for people alone is not preserved",
    ),
    pytest.param(
        shown(user("q"), CONTEXT), made("conversation", user("q"), CONTEXT), id="V10"
    ),
    pytest.param(
        shown(user("old"), CONTEXT, assistant("b"), user("new")),
        made("conversation", user("new")),
        id="V11",
    ),
    pytest.param(
        shown(user("q"), CONTEXT, visibilities=(EVERYBODY, USER_ONLY)),
        made("conversation", user("q")),
        id="context that the agent does not see is not carried",
    ),
    pytest.param((), made("tool_loop"), id="nothing"),
]  # fmt: skip


@requirement("GO-7.2-last-text-request-kept", "GO-7.2-continuation-by-case")
@pytest.mark.parametrize(("history", "seen"), HISTORIES)
def test_the_agent_sees_a_summary_and_how_to_go_on(
    history: tuple[Shown, ...], seen: list[Item]
) -> None:
    assert said(agents_view(rewritten(history), COUNTER)) == said(seen)


@requirement("GO-7.2-continuation-by-case")
@pytest.mark.parametrize("items", [(user("a"), assistant("b")), (user("a"),), CALLING])
def test_V3_by_hand_nothing_is_preserved(items: tuple[Item, ...]) -> None:
    history = rewritten(shown(*items), "by_hand")

    assert said(agents_view(history, COUNTER)) == said(made("by_hand"))


@requirement("GO-7.2-old-messages-hidden-from-the-agent", "GO-7.2-summary-for-the-agent-only")
@pytest.mark.parametrize("history", [parameters.values[0] for parameters in HISTORIES])
def test_people_see_what_they_saw(history: tuple[Shown, ...]) -> None:
    after = rewritten(history)

    assert users_view(after, COUNTER) == users_view(history, COUNTER)
    assert [each.visibility for each in after[len(history) :]] == [AGENT_ONLY] * (
        len(after) - len(history)
    )


def test_V6_flags_of_people_stay_as_they_were() -> None:
    history = shown(
        user("a"), assistant("b"), user("c"), visibilities=(USER_ONLY, EVERYBODY, AGENT_ONLY)
    )

    assert [each.visibility for each in rewritten(history)[:3]] == [USER_ONLY, USER_ONLY, NOBODY]


@pytest.mark.parametrize("items", [(user("a"), assistant("b"), user("c")), CALLING])
def test_V13_what_is_made_needs_no_fixing(items: tuple[Item, ...]) -> None:
    seen = [
        Said(role=item.role, blocks=decode_content(item.content))
        for item in agents_view(rewritten(shown(*items)), COUNTER)
    ]

    assert fix_once(seen).issues == ()
    assert len(seen) == 3


def test_a_second_compaction_hides_what_the_first_one_made() -> None:
    first = rewritten(shown(user("a"), assistant("b"), user("c")))
    second = rewritten(first)

    assert said(agents_view(second, COUNTER)) == said(made("conversation", user("c")))
    assert [each.visibility for each in second[3:6]] == [NOBODY] * 3


def test_what_is_made_says_which_compaction_made_it_and_on_what_it_depends() -> None:
    items = [each.item for each in rewritten(shown(user("a")))[1:]]

    assert [item.source for item in items] == [
        Synthetic(reason="compaction_summary", id="k1:summary"),
        Synthetic(reason="system_reminder", id="k1:continuation"),
        Synthetic(reason="last_user_request_replay", id="k1:user"),
    ]
    assert {item.depends_on for item in items} == {9}


def test_a_stored_message_is_only_shown_otherwise() -> None:
    history = shown(user("a"), assistant("b"))

    assert rewritten(history)[:2] == tuple(replace(each, visibility=USER_ONLY) for each in history)


@pytest.mark.parametrize(
    ("case", "tokens"),
    [
        pytest.param("conversation", 44, id="K14 a conversation"),
        pytest.param("tool_loop", 43, id="K14 a tool loop"),
        pytest.param("by_hand", 48, id="K14 by hand"),
    ],
)
def test_the_continuations_have_the_tokens_of_the_original(case: Continuation, tokens: int) -> None:
    assert O200K.count(CONTINUATIONS[case]) == tokens


def test_what_is_retained_is_all_that_the_agent_sees_after_a_compaction() -> None:
    view = agents_view(rewritten(shown(user("hello"))), COUNTER)

    assert separate_tokens(view, O200K) == (7 + 1) + (7 + 44) + (7 + 1)
