import pytest

from app.core.blocks import Artifact
from app.core.items import Item
from app.core.repeated import REPEATED_BYTES, refer_repeated
from app.core.request_copy import Memo, PruneBoundary, PruneCounts, RequestCopy
from app.policies.shaping import Shaping
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
    texts_of,
    tool,
    user,
)

TEXT = "line\n" * 300
REFERENCE = "[tool result repeated: the same as that of the earlier call c1]"
SHAPING = Shaping(repeated_results="reference")


def referred(
    *items: Item, through: int = 99, shaping: Shaping = SHAPING, memo: Memo | None = None
) -> RequestCopy:
    boundary = PruneBoundary(through_sequence=through)
    context = step_context(boundary=boundary, shaping=shaping, memo=memo)
    return refer_repeated(copy_of(*items), context)


def rounds(*texts: str, name: str = "read") -> tuple[Item, ...]:
    """A call c1, c2, … with its result for every text."""
    return stored(
        *(
            item
            for number, text in enumerate(texts, start=1)
            for item in (
                assistant(call(f"c{number}", name)),
                tool(result(f"c{number}", text, name=name)),
            )
        )
    )


def outputs(copy: RequestCopy) -> list[str]:
    return ["".join(texts_of(item)) for item in copy.items if item.role == "tool"]


def test_a_repeated_result_refers_to_the_first_one() -> None:
    copy = referred(*rounds(TEXT, "other" * 300, TEXT, TEXT))

    assert outputs(copy) == [TEXT, "other" * 300, REFERENCE, REFERENCE]
    assert copy.pruned == PruneCounts(references=2)


def test_only_results_behind_the_boundary_give_way() -> None:
    items = rounds(TEXT, TEXT, TEXT)

    assert outputs(referred(*items, through=4)) == [TEXT, REFERENCE, TEXT]
    assert referred(*items, through=3).items == items


@pytest.mark.parametrize("size", [REPEATED_BYTES - 1, REPEATED_BYTES])
def test_a_short_result_is_said_again(size: int) -> None:
    copy = referred(*rounds("x" * size, "x" * size))

    assert copy.pruned.references == (size >= REPEATED_BYTES)


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(tool(result("c2", TEXT[:-1] + "x")), id="another text"),
        pytest.param(tool(result("c2", TEXT, state="error")), id="another state"),
        pytest.param(tool(result("c2", TEXT[:100], TEXT[101:])), id="other blocks"),
        pytest.param(
            tool(result("c2", TEXT, artifacts=(Artifact(kind="k", payload=1),))), id="artifacts"
        ),
        pytest.param(tool(result("c2", TEXT, state="running")), id="running"),
        pytest.param(tool(result("ghost", TEXT)), id="of no call"),
    ],
)
def test_what_is_not_the_same_result_stays(second: Item) -> None:
    items = stored(assistant(call("c1")), tool(result("c1", TEXT)), assistant(call("c2")), second)

    assert referred(*items).items == items


def test_the_same_output_of_another_tool_stays() -> None:
    items = stored(
        assistant(call("c1", "read"), call("c2", "shell")),
        tool(result("c1", TEXT)),
        tool(result("c2", TEXT, name="read")),
    )

    assert referred(*items).items == items


def test_the_stored_name_does_not_matter_and_neither_do_messages_of_several_results() -> None:
    items = stored(
        assistant(call("c1"), call("c2"), call("c3")),
        tool(result("c2", TEXT, name=None), result("c1", TEXT)),
        tool(result("c3", TEXT)),
    )
    (_, first, second) = referred(*items).items
    ((_, blocks),) = said([first])

    assert [block.output[0] for block in blocks if block.type == "tool_result"] == [
        result("c2", REFERENCE).output[0],
        result("c1", TEXT).output[0],
    ]
    assert texts_of(second) == [REFERENCE]


def test_a_result_that_was_shortened_already_neither_repeats_nor_is_repeated() -> None:
    marked = f"{TEXT}\n... [tool result pruned: 9 characters omitted]\n{TEXT}"
    items = rounds(marked, marked)

    assert referred(*items).items == items


@pytest.mark.parametrize("retention", ["never_clear", "always_clear"])
def test_tools_with_a_rule_of_their_own_are_left_out(retention: str) -> None:
    shaping = Shaping(repeated_results="reference", tool_retention={"read": retention})  # type: ignore[dict-item]
    items = rounds(TEXT, TEXT)

    assert referred(*items, shaping=shaping).items == items


def test_media_that_the_model_does_not_take_makes_no_difference() -> None:
    items = stored(
        assistant(call("c1"), call("c2")),
        tool(result("c1", TEXT, image("A" * 8))),
        tool(result("c2", TEXT, image("B" * 16))),
    )
    boundary = PruneBoundary(through_sequence=9)
    blind = step_context(boundary=boundary, shaping=SHAPING, profile=TEXT_ONLY)

    assert referred(*items).items == items
    assert texts_of(refer_repeated(copy_of(*items), blind).items[2]) == [REFERENCE]


def test_a_late_result_stands_where_its_call_does() -> None:
    items = stored(
        assistant(call("c1", state="pending")),
        user("go on"),
        assistant(call("c2")),
        tool(result("c2", TEXT)),
        tool(result("c1", TEXT)),
    )

    assert referred(*items, through=4).items == items
    assert outputs(referred(*items, through=5)) == [REFERENCE, TEXT]


def test_nothing_is_looked_for_unless_it_is_asked_for() -> None:
    copy = copy_of(*rounds(TEXT, TEXT))
    behind = PruneBoundary(through_sequence=9)

    assert refer_repeated(copy, step_context(boundary=behind)) is copy
    assert refer_repeated(copy, step_context(shaping=SHAPING)) is copy


def test_a_reference_that_is_longer_than_the_result_saves_nothing() -> None:
    long_id = "c" * 2_000
    items = stored(
        assistant(call(long_id), call("c2")),
        tool(result(long_id, TEXT)),
        tool(result("c2", TEXT)),
    )

    assert referred(*items).items == items


def test_a_reference_is_made_once() -> None:
    memo: Memo = {}
    first = referred(*rounds(TEXT, TEXT), memo=memo)
    again = referred(*rounds(TEXT, TEXT), memo=memo)

    assert len(memo) == 1
    assert again == first
    assert again.items[3].content is first.items[3].content
