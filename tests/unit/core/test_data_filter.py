import pytest

from app.core.blocks import Block, text_block
from app.core.data_filter import refuse_user_data
from app.core.errors import UnsupportedUserData
from app.core.items import Item
from app.core.messages import Kind
from app.core.normalize import normalize
from app.core.request_copy import Memo, Repair, RequestCopy
from tests.requirements import requirement
from tests.unit.core.builders import (
    TEXT_ONLY,
    assistant,
    call,
    copy_of,
    image,
    result,
    said,
    step_context,
    stored,
    synthetic,
    tool,
    user,
)


def filtered(*items: Item) -> RequestCopy:
    return normalize(copy_of(*items), step_context(profile=TEXT_ONLY))


def repair(item_index: int, message_id: str | None) -> Repair:
    return Repair(code="data_block_filtered", item_index=item_index, message_id=message_id)


@requirement("OW-4.2-data-in-user-request-refused")
def test_N6_media_in_a_user_request_is_refused() -> None:
    with pytest.raises(UnsupportedUserData) as refused:
        filtered(*stored(user("go"), user("see", image()), user(image())))

    assert refused.value.detail == ("model does not accept data blocks in real user input (item 1)")
    assert refused.value.details == {"item_index": 1, "message_id": "m2"}


def test_N6_media_in_a_replayed_user_request_is_refused_too() -> None:
    with pytest.raises(UnsupportedUserData) as refused:
        filtered(synthetic("user", "last_user_request_replay", "see", image()))

    assert refused.value.details == {"item_index": 0, "message_id": None}


@requirement("OW-4.2-data-elsewhere-removed")
@pytest.mark.parametrize("kind", ["skill_instruction", "agent_message", "world_state"])
def test_N7_media_in_a_contextual_message_is_removed(kind: Kind) -> None:
    copy = filtered(*stored(user("text", image(), "more", kind=kind)))

    assert said(copy.items) == [("user", (text_block("text"), text_block("more")))]
    assert copy.repairs == (repair(0, "m1"),)


def test_N8_a_model_that_takes_media_gets_all_of_it() -> None:
    copy = copy_of(*stored(user("see", image()), assistant(image())))

    assert normalize(copy, step_context()) is copy


@requirement("OW-4.2-data-elsewhere-removed")
def test_N9_media_of_results_and_answers_is_removed_and_the_rest_stays() -> None:
    picture: Block = image()
    history = stored(
        assistant("drawn", picture, call("c1")), tool(result("c1", picture, "out", picture))
    )
    copy = filtered(*history)

    assert said(copy.items) == said([assistant("drawn", call("c1")), tool(result("c1", "out"))])
    assert [item.source for item in copy.items] == [item.source for item in history]
    assert copy.repairs == (repair(0, "m1"), repair(1, "m2"))


def test_N14_a_message_of_media_alone_stays_without_content() -> None:
    copy = filtered(user(image(), kind="skill_instruction"))

    assert said(copy.items) == [("user", ())]
    assert copy.repairs == (repair(0, None),)


def test_text_alone_is_left_as_it_is() -> None:
    copy = copy_of(*stored(user("go"), assistant(call("c1")), tool(result("c1", "out"))))

    assert normalize(copy, step_context(profile=TEXT_ONLY)) is copy


def test_filtering_twice_changes_nothing_more() -> None:
    once = filtered(*stored(assistant(call("c1")), tool(result("c1", image()))))
    again = copy_of(*once.items)

    assert normalize(again, step_context(profile=TEXT_ONLY)) is again


def test_a_filtered_form_is_remembered_by_its_content() -> None:
    memo: Memo = {}
    context = step_context(profile=TEXT_ONLY, memo=memo)
    skill = user(image(), "text", kind="skill_instruction")
    first = normalize(copy_of(skill), context)
    again = normalize(copy_of(skill, skill), context)

    assert again.items[0].content is again.items[1].content is first.items[0].content
    assert len(memo) == 1


@pytest.mark.parametrize(
    "item",
    [
        user("text"),
        user(image(), kind="world_state"),
        assistant(image()),
        tool(result("c", image())),
    ],
)
def test_only_media_of_user_requests_is_refused(item: Item) -> None:
    refuse_user_data(item, 0)
