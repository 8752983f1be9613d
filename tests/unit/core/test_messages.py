from typing import get_args

import pytest

from app.core.items import item_of, message_id
from app.core.messages import Kind, Real, Source, Synthetic, SyntheticReason
from tests.requirements import requirement
from tests.unit.core.builders import form, user


@requirement("OW-4.1-four-kinds", "OW-4.1-real-items")
def test_C13_the_kinds_have_these_wire_forms_and_contextual_messages_are_real() -> None:
    item = user("<sandbox_policy>", kind="world_state", sequence=3)

    assert get_args(Kind) == ("normal", "skill_instruction", "agent_message", "world_state")
    assert item.source == Real(id="m3", sequence=3)
    assert user("hello").kind == "normal"


@requirement("OW-4.1-real-items")
def test_a_live_message_is_real_without_an_id_or_a_sequence() -> None:
    assert user("hello").source == Real(id=None, sequence=None)


def test_the_reasons_of_synthetic_messages_have_these_wire_forms() -> None:
    assert get_args(SyntheticReason) == (
        "last_user_request_replay",
        "compaction_summary",
        "provider_fold",
        "system_reminder",
        "tool_pair_summary",
        "interrupted_tool_result",
        "placeholder",
    )


@pytest.mark.parametrize(
    ("source", "stored_id", "depends_on"),
    [
        (Real(id="m7", sequence=7), "m7", 7),
        (Real(id="given"), "given", 0),
        (Real(), None, 0),
        (Synthetic(reason="compaction_summary", id="compaction-1:summary"), None, 0),
    ],
)
def test_an_item_knows_the_message_behind_it(
    source: Source, stored_id: str | None, depends_on: int
) -> None:
    item = item_of("user", "normal", form("user", "a"), source)

    assert message_id(item) == stored_id
    assert item.depends_on == depends_on


def test_another_form_leaves_the_rest_of_an_item() -> None:
    item = user("a", kind="agent_message", sequence=2)

    assert item.with_form(form("user", "b")) == user("b", kind="agent_message", sequence=2)
    assert item == user("a", kind="agent_message", sequence=2)
