"""What becomes of a tool's own results behind the watermark."""

from collections.abc import Mapping

import pytest

from app.core.blocks import text_block
from app.core.items import Item
from app.core.prune import prune
from app.core.request_copy import PruneBoundary, PruneCounts, RequestCopy
from app.core.shaping import Retention
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    image,
    output_of,
    result,
    said,
    step_context,
    stored,
    texts_of,
    tool,
)

LONG = "x" * 9_000
BEHIND = PruneBoundary(through_sequence=9)
SPILLED = PruneBoundary(through_sequence=9, spill_directory="/spill")
RULES: Mapping[str, Retention] = {"read": "never_clear", "shell": "always_clear", "list": "keep"}


def pruned(*items: Item, boundary: PruneBoundary = BEHIND) -> RequestCopy:
    shaping = Shaping(tool_retention=RULES)
    return prune(copy_of(*items), step_context(boundary=boundary, shaping=shaping))


def answered(name: str, *output: str) -> tuple[Item, ...]:
    return stored(assistant(call("c", name)), tool(result("c", *output, name=name)))


def test_results_of_a_tool_that_is_never_cleared_stay_whole() -> None:
    items = answered("read", LONG)
    copy = copy_of(*items)
    context = step_context(boundary=BEHIND, shaping=Shaping(tool_retention=RULES))

    assert prune(copy, context) is copy


@pytest.mark.parametrize("name", ["list", "other"])
def test_a_tool_that_is_kept_or_not_named_is_pruned_by_length(name: str) -> None:
    (_, item) = pruned(*answered(name, LONG)).items

    assert "\n... [tool result pruned: 3880 characters omitted]\n" in texts_of(item)[0]


def test_of_a_result_that_is_always_cleared_a_marker_is_left() -> None:
    copy = pruned(*answered("shell", "x" * 100), boundary=BEHIND)
    (_, item) = copy.items

    assert texts_of(item) == ["[tool result cleared: 100 bytes omitted]"]
    assert copy.pruned == PruneCounts(tool_results=1)


def test_the_marker_says_where_the_whole_result_lies() -> None:
    (_, item) = pruned(*answered("shell", LONG), boundary=SPILLED).items

    assert texts_of(item) == [
        "[tool result cleared: 9000 bytes omitted. Full result at /spill/c.txt"
        " \N{EM DASH} read it if you still need it]"
    ]


def test_clearing_takes_media_too() -> None:
    items = stored(
        assistant(call("c", "shell")), tool(result("c", "seen", image("Z" * 99), name="shell"))
    )
    (_, item) = pruned(*items).items

    assert output_of(item) == (text_block("[tool result cleared: 112 bytes omitted]"),)


def test_a_result_that_is_no_longer_than_a_marker_stays() -> None:
    marker = "[tool result cleared: 1000000000 bytes omitted]"
    items = answered("shell", "x" * len(marker))
    copy = copy_of(*items)

    assert pruned(*items).items == copy.items
    assert pruned(*answered("shell", "x" * (len(marker) + 1))).pruned.tool_results == 1


def test_a_running_result_is_not_cleared() -> None:
    items = stored(
        assistant(call("c", "shell")), tool(result("c", LONG, name="shell", state="running"))
    )

    assert pruned(*items).items == items


def test_the_name_is_that_of_the_call_not_of_the_result() -> None:
    items = stored(
        assistant(call("c1", "shell"), call("c2", "read")),
        tool(result("c1", LONG, name=None), result("c2", LONG, name="shell")),
    )
    (_, item) = pruned(*items).items
    ((_, blocks),) = said([item])

    assert [block.output for block in blocks if block.type == "tool_result"] == [
        (text_block("[tool result cleared: 9000 bytes omitted]"),),
        (text_block(LONG),),
    ]


def test_a_result_above_the_boundary_is_left_whatever_its_tool() -> None:
    items = answered("shell", LONG)

    assert pruned(*items, boundary=PruneBoundary(through_sequence=1)).items == items
