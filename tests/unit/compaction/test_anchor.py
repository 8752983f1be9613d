import pytest

from app.compaction.anchor import anchor_index
from app.compaction.errors import EmptyConversation, MissingLastUser
from app.core.items import Item
from app.core.user_requests import last_user_request
from tests.requirements import requirement
from tests.unit.core.builders import assistant, call, mixed, result, synthetic, tool, user

REQUEST = user("do the task", sequence=1)
ANSWER = assistant("done", sequence=2)
REPLAY = synthetic("user", "last_user_request_replay", "do the task")
SUMMARY = synthetic("user", "compaction_summary", "a summary")
REMINDER = synthetic("user", "system_reminder", "a reminder")
SKILL = user("a skill", kind="skill_instruction", sequence=3)
REPORT = user("a report", kind="agent_message", sequence=4)
WORLD = user("the world", kind="world_state", sequence=5)


@requirement("OW-11-contextual-messages-are-no-request")
@pytest.mark.parametrize(
    ("items", "index"),
    [
        pytest.param((REQUEST, ANSWER, REPORT), 0, id="K1 an agent message follows"),
        pytest.param((REQUEST, ANSWER, user("and now?")), 2, id="K2 the latest, not yet stored"),
        pytest.param((SKILL, REPORT), None, id="K3 no request at all"),
        pytest.param((REPLAY, SUMMARY, REMINDER), 0, id="K5 a replay stands for its request"),
        pytest.param((REPLAY, SUMMARY, REMINDER, REQUEST), 3, id="K5 a request wins over a replay"),
        pytest.param((SKILL, REQUEST, SKILL), 1, id="K6 a skill follows"),
        pytest.param((SUMMARY, REMINDER), None, id="a summary and a reminder are no requests"),
        pytest.param((assistant("hello"),), None, id="an assistant message is no request"),
    ],
)
def test_the_anchor_is_the_last_user_request(items: tuple[Item, ...], index: int | None) -> None:
    assert last_user_request(items) == index


@requirement("OW-11-gap-world-state-is-no-request")
def test_K4_a_world_state_message_behind_the_request_is_not_the_anchor() -> None:
    assert last_user_request((REQUEST, WORLD)) == 0


@requirement("OW-11-gap-world-state-is-no-request")
def test_K39_a_request_that_was_never_reloaded_is_found_before_its_world_state() -> None:
    live = (user("do the task"), user("the world", kind="world_state"), assistant("done"))

    assert last_user_request(live) == 0


def test_B046_a_tool_result_in_another_role_is_no_user_request() -> None:
    calls = assistant(call("c1"), sequence=2)

    assert last_user_request((REQUEST, calls, tool(result("c1", "ok"), sequence=3))) == 0


def test_an_interrupted_result_made_for_a_request_is_no_user_request() -> None:
    made = synthetic("user", "interrupted_tool_result", "unavailable")

    assert last_user_request((REQUEST, made)) == 0


def test_a_system_message_is_no_user_request() -> None:
    assert last_user_request((mixed("system", "be careful"),)) is None


def test_the_anchor_of_a_conversation_with_a_request_is_its_index() -> None:
    assert anchor_index((SKILL, REQUEST, WORLD)) == 1


def test_an_empty_conversation_has_no_anchor() -> None:
    with pytest.raises(EmptyConversation, match=r"^conversation is empty and cannot be compacted$"):
        anchor_index(())


@pytest.mark.parametrize(
    "items",
    [
        pytest.param((SKILL, REPORT), id="K3"),
        pytest.param((WORLD, WORLD), id="B053 nothing but world state"),
    ],
)
def test_a_conversation_without_a_user_request_cannot_be_compacted(items: tuple[Item, ...]) -> None:
    with pytest.raises(
        MissingLastUser, match=r"^conversation has no real user request to preserve$"
    ):
        anchor_index(items)
