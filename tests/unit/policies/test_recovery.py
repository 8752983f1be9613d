import pytest

from app.policies.recovery import Recovery, ReplyAction, ReplyEvent

REPLIES = [
    pytest.param(["context_overflow"], ["compact"], id="the first overflow"),
    pytest.param(
        ["context_overflow", "context_overflow"], ["compact", "stop_still_too_long"], id="E2"
    ),
    pytest.param(
        ["context_overflow", "answered", "context_overflow"],
        ["compact", "continue", "compact"],
        id="E3",
    ),
    pytest.param(["context_overflow", "compaction_failed"], ["compact", "stop_failed"], id="E4"),
    pytest.param(["answered", "answered"], ["continue", "continue"], id="no overflow"),
]


@pytest.mark.parametrize(("events", "actions"), REPLIES)
def test_a_reply_is_compacted_once_between_two_answers(
    events: list[ReplyEvent], actions: list[ReplyAction]
) -> None:
    state, taken = Recovery(), list[ReplyAction]()
    for event in events:
        state, action = state.after(event)
        taken.append(action)

    assert taken == actions
