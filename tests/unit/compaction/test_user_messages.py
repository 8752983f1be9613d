import pytest

from app.compaction.user_messages import (
    CHECKPOINT_PROMPT,
    KEPT_USER_MESSAGE_TOKENS,
    SUMMARY_PREFIX,
    Layout,
    is_summary,
    kept_user_items,
    kept_user_messages,
    lay_out,
    prefixed_summary,
    user_text,
    with_context,
)
from app.core.items import Item
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    assistant,
    call,
    image,
    result,
    said,
    synthetic,
    system,
    tool,
    user,
)

KEPT: list[object] = [
    pytest.param(["a" * 16, "b" * 16], 8, ["a" * 16, "b" * 16], id="V148"),
    pytest.param(
        ["a" * 17, "b" * 16], 8, ["aaaaaaaa…1 tokens truncated…aaaaaaaa", "b" * 16], id="V149"
    ),
    pytest.param(["old", "b" * 32], 8, ["b" * 32], id="no stub where nothing is left"),
    pytest.param(
        ["old", "b" * 33], 8, ["bbbbbbbbbbbbbbbb…1 tokens truncated…bbbbbbbbbbbbbbbb"], id="V151"
    ),
    pytest.param(
        ["中" * 12, "tail"], 8, ["中中中中…2 tokens truncated…中中中中", "tail"], id="V152"
    ),
    pytest.param(
        ["first", "a" * 17, "b" * 16], 8,
        ["aaaaaaaa…1 tokens truncated…aaaaaaaa", "b" * 16],
        id="the first that is cut is the last that is kept",
    ),
    pytest.param(["a", "b", "c"], 2, ["b", "c"], id="a token each, rounded up"),
    pytest.param(["a"], 0, [], id="no room"),
    pytest.param(["a"], -1, [], id="less than no room"),
    pytest.param([], 8, [], id="nothing was said"),
    pytest.param(
        ["a" * 40_001, "b" * 40_000], 20_000,
        [f"{'a' * 20_000}…1 tokens truncated…{'a' * 20_000}", "b" * 40_000],
        id="the marker is not charged",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("texts", "cap", "expected"), KEPT)
def test_the_newest_messages_are_kept_within_the_cap(
    texts: list[str], cap: int, expected: list[str]
) -> None:
    assert kept_user_messages(texts, cap) == tuple(expected)


def test_a_cut_message_of_40_001_bytes_has_40_024() -> None:
    (cut, _) = kept_user_messages(["a" * 40_001, "b" * 40_000], KEPT_USER_MESSAGE_TOKENS)

    assert len(cut.encode()) == 40_024


def test_the_texts_are_those_of_codex() -> None:
    assert (len(SUMMARY_PREFIX.encode()), len(CHECKPOINT_PROMPT.encode())) == (399, 426)
    assert SUMMARY_PREFIX.startswith("Another language model started to solve this problem and ")
    assert CHECKPOINT_PROMPT.startswith("You are performing a CONTEXT CHECKPOINT COMPACTION. ")
    assert CHECKPOINT_PROMPT.endswith("seamlessly continue the work.\n")


def test_a_summary_stands_on_the_line_behind_its_prefix() -> None:
    assert prefixed_summary("done") == f"{SUMMARY_PREFIX}\ndone"


ASKED = user("do the task", sequence=1)
AGAIN = user("and then this", sequence=9)
REPLAY = synthetic("user", "last_user_request_replay", "do the task")
FOREIGN = user(prefixed_summary("by another program"))
OURS = synthetic("user", "compaction_summary", prefixed_summary("by us"))

SAID: list[object] = [
    pytest.param(ASKED, "do the task", id="a request"),
    pytest.param(REPLAY, "do the task", id="the replay of one"),
    pytest.param(user("two ", "texts"), "two texts", id="texts are joined with nothing"),
    pytest.param(user("look", image()), "look", id="media is dropped"),
    pytest.param(user(image()), "", id="media alone says nothing"),
    pytest.param(user(SUMMARY_PREFIX), SUMMARY_PREFIX, id="the prefix without its line end"),
    pytest.param(user(f" {SUMMARY_PREFIX}\nx"), f" {SUMMARY_PREFIX}\nx", id="not at the start"),
    pytest.param(FOREIGN, None, id="a summary that another program made"),
    pytest.param(OURS, None, id="a summary made here"),
    pytest.param(user("a skill", kind="skill_instruction"), None, id="a skill"),
    pytest.param(user("a report", kind="agent_message"), None, id="a report"),
    pytest.param(user("the world", kind="world_state"), None, id="world state"),
    pytest.param(synthetic("user", "system_reminder", "x"), None, id="a reminder"),
    pytest.param(assistant("done"), None, id="an answer"),
    pytest.param(tool(result("c", "out")), None, id="a result"),
    pytest.param(system("be careful"), None, id="a system message"),
]


@pytest.mark.parametrize(("item", "text"), SAID)
def test_a_user_message_is_what_somebody_asked_for(item: Item, text: str | None) -> None:
    assert user_text(item) == text


@pytest.mark.parametrize(
    ("item", "expected"), [(FOREIGN, True), (OURS, True), (ASKED, False), (assistant("x"), False)]
)
def test_a_summary_is_known_by_its_source_or_its_prefix(item: Item, expected: bool) -> None:
    assert is_summary(item) == expected


def test_user_messages_outlive_a_compaction_as_text_with_their_identity() -> None:
    history = (
        ASKED,
        assistant("on it", call("c")),
        tool(result("c", "out")),
        user("look ", image(), "here", sequence=4),
        user(image(), sequence=5),
        user("the world", kind="world_state"),
        FOREIGN,
        AGAIN,
    )
    kept = kept_user_items(history, KEPT_USER_MESSAGE_TOKENS, COUNTER)

    assert said(kept) == said((ASKED, user("look here"), AGAIN))
    assert [item.source for item in kept] == [ASKED.source, history[3].source, AGAIN.source]
    assert (kept[0], kept[2]) == (ASKED, AGAIN)


def test_a_kept_message_may_be_cut_and_those_before_it_are_gone() -> None:
    kept = kept_user_items((ASKED, user("a" * 17), user("b" * 16)), 8, COUNTER)

    assert said(kept) == said((user("aaaaaaaa…1 tokens truncated…aaaaaaaa"), user("b" * 16)))
    assert kept_user_items((ASKED,), 0, COUNTER) == ()


CONTEXT = (user("the world", kind="world_state"), user("a skill", kind="skill_instruction"))
LAYOUTS: list[object] = [
    pytest.param((ASKED, AGAIN), "pre_turn", (ASKED, AGAIN, OURS), id="before a turn"),
    pytest.param((ASKED, AGAIN), "mid_turn", (ASKED, *CONTEXT, AGAIN, OURS), id="inside a turn"),
    pytest.param((ASKED,), "mid_turn", (*CONTEXT, ASKED, OURS), id="a single message"),
    pytest.param((), "mid_turn", (*CONTEXT, OURS), id="no message"),
    pytest.param((), "pre_turn", (OURS,), id="no message before a turn"),
]


@requirement("CX-8-mid-turn-layout")
@pytest.mark.parametrize(("kept", "layout", "expected"), LAYOUTS)
def test_the_summary_is_last_and_the_context_before_the_last_message(
    kept: tuple[Item, ...], layout: Layout, expected: tuple[Item, ...]
) -> None:
    assert lay_out(kept, OURS, CONTEXT, layout) == expected


def test_context_without_a_message_and_a_summary_is_appended() -> None:
    assert with_context((), CONTEXT) == CONTEXT
    assert with_context((assistant("a"),), CONTEXT) == (assistant("a"), *CONTEXT)
    assert with_context((ASKED, assistant("a")), CONTEXT) == (*CONTEXT, ASKED, assistant("a"))
