from collections.abc import Sequence

import pytest

from app.core.blocks import Base64Source, Block, Data, FileIdSource, Text, ToolResult
from app.core.image_age import age_images, aged
from app.core.items import Item
from app.core.request_copy import RequestCopy
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    result,
    said,
    step_context,
    stored,
    tool,
    user,
)


def picture(name: str, sort: str = "image/png") -> Data:
    source = Base64Source(source_type="base64", data="AAAA", media_type=sort)
    return Data(type="data", source=source, name=name)


def shown(most: int | None, *items: Item) -> RequestCopy:
    return age_images(copy_of(*stored(*items)), step_context(shaping=Shaping(max_images=most)))


def names(copy: RequestCopy) -> list[str]:
    """The names of the images that are left, and what stands for the others."""
    return [name for _, blocks in said(copy.items) for name in _names(blocks)]


def _names(blocks: Sequence[Block]) -> list[str]:
    found: list[str] = []
    for block in blocks:
        match block:
            case Data(name=str(name)):
                found.append(name)
            case Text(text=text):
                found.append(text)
            case ToolResult(output=output):
                found += _names(output)
            case _:
                pass
    return found


HISTORY = (
    user(picture("a"), picture("b")),
    assistant(call("c1")),
    tool(result("c1", picture("c"))),
    user("now", picture("d")),
)


@pytest.mark.parametrize(
    ("count", "most", "gone"),
    [(0, 0, 0), (1, 0, 1), (5, 0, 5), (1, 1, 0), (2, 1, 1), (6, 5, 2), (8, 5, 4), (101, 100, 50)],
)
def test_images_go_in_steps_of_half_of_what_may_stay(count: int, most: int, gone: int) -> None:
    assert aged(count, most) == gone


@pytest.mark.parametrize("most", [None, 4, 100])
def test_within_the_limit_nothing_changes(most: int | None) -> None:
    copy = shown(most, *HISTORY)

    assert copy == copy_of(*stored(*HISTORY))


def test_B157_the_oldest_images_are_lines_that_say_where_they_are() -> None:
    copy = shown(3, *HISTORY)

    assert names(copy) == [
        "[older image left out: image/png, a; it is in message m1]",
        *"bc",
        "now",
        "d",
    ]
    assert [(repair.code, repair.message_id) for repair in copy.repairs] == [
        ("image_aged_out", "m1")
    ]


def test_images_of_results_age_like_others_and_the_last_request_keeps_its_own() -> None:
    copy = shown(0, *HISTORY)

    assert names(copy)[2:] == [
        *("[older image left out: image/png, c; it is in message m3]", "now", "d")
    ]
    assert [repair.message_id for repair in copy.repairs] == ["m1", "m3"]


def test_other_media_and_files_under_an_id_are_no_images() -> None:
    file = Data(type="data", source=FileIdSource(source_type="file_id", id="f"), name="f.png")
    items = (user(picture("a.pdf", "application/pdf"), file), user("now"))

    assert shown(0, *items).repairs == ()


def test_a_second_run_changes_nothing() -> None:
    context = step_context(shaping=Shaping(max_images=1))
    once = age_images(copy_of(*stored(*HISTORY)), context)

    assert age_images(once, context) is once
