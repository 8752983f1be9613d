import re
from dataclasses import replace

import pytest

from app.core.blocks import Artifact, text_block
from app.core.items import Item
from app.core.messages import Real, Synthetic
from app.core.prune import prune, safe_name
from app.core.request_copy import PruneBoundary, RequestCopy
from tests.requirements import requirement
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    image,
    mixed,
    output_of,
    result,
    said,
    step_context,
    texts_of,
    tool,
    user,
)

SPILLED = PruneBoundary(through_sequence=3, spill_directory="/spill/session")
UNSPILLED = PruneBoundary(through_sequence=3)
LONG = "x" * 8_193


def pruned(*items: Item, boundary: PruneBoundary = UNSPILLED) -> RequestCopy:
    return prune(copy_of(*items), step_context(boundary=boundary))


def pruned_text(text: str, boundary: PruneBoundary, *, id: str = "call-1") -> str:
    copy = pruned(tool(result(id, text), sequence=3), boundary=boundary)
    (shortened,) = texts_of(copy.items[0])
    return shortened


@requirement("OW-4.2-prune-head-and-tail")
def test_P1_a_long_result_keeps_its_head_and_tail_around_a_marker() -> None:
    text = "h" * 5_000 + "m" * 10_000 + "t" * 2_000
    marker = (
        "\n... [tool result pruned: 11880 characters omitted. "
        "Full result at /spill/session/call-1.txt — read it if you still need it]\n"
    )

    assert pruned_text(text, SPILLED) == "h" * 4_096 + marker + "t" * 1_024
    assert len(pruned_text(text, SPILLED)) == 5_245


@requirement("OW-4.2-prune-head-and-tail")
@pytest.mark.parametrize(
    "item",
    [
        tool(result("c", "x" * 8_192), sequence=1),
        tool(result("c", LONG), sequence=4),
        tool(result("c", LONG)),
    ],
    ids=["P2 short", "P2 above the boundary", "P2 live"],
)
def test_P2_short_newer_and_live_results_stay(item: Item) -> None:
    copy = copy_of(item)

    assert prune(copy, step_context(boundary=SPILLED)) is copy


def test_P3_synthetic_and_real_results_without_a_sequence_stay() -> None:
    item = tool(result("c", LONG))
    copy = copy_of(
        replace(item, source=Synthetic(reason="interrupted_tool_result", id="s")),
        replace(item, source=Real(id="m1")),
    )

    assert prune(copy, step_context(boundary=SPILLED)) is copy


@requirement("OW-4.2-prune-head-and-tail")
def test_P4_without_a_directory_the_marker_names_no_file() -> None:
    marker = "\n... [tool result pruned: 4880 characters omitted]\n"
    shortened = pruned_text("x" * 10_000, UNSPILLED)

    assert shortened == "x" * 4_096 + marker + "x" * 1_024
    assert len(shortened) == 5_171


def test_P5_one_character_over_the_limit_is_enough() -> None:
    shortened = pruned_text(LONG, SPILLED)

    assert "[tool result pruned: 3073 characters omitted. Full result at" in shortened
    assert len(shortened) == 5_244


def test_P6_without_a_boundary_nothing_is_pruned() -> None:
    copy = copy_of(tool(result("c", LONG), sequence=1))

    assert prune(copy, step_context(boundary=PruneBoundary(spill_directory="/spill"))) is copy


def test_P7_texts_are_joined_with_a_newline_and_other_blocks_stay_in_place() -> None:
    picture = image(name="a.png")
    item = tool(result("c", picture, "a" * 5_000, image(), "b" * 5_000, picture), sequence=3)
    marker = "\n... [tool result pruned: 4881 characters omitted]\n"
    shortened = text_block("a" * 4_096 + marker + "b" * 1_024)

    assert output_of(pruned(item).items[0]) == (picture, shortened, image(), picture)


def test_P7_the_newline_between_texts_counts() -> None:
    whole = tool(result("c", "a" * 4_096, "b" * 4_095), sequence=3)
    over = tool(result("c", "a" * 4_096, "b" * 4_096), sequence=3)

    assert pruned(whole).pruned.tool_results == 0
    assert "3073 characters omitted" in texts_of(pruned(over).items[0])[0]


@pytest.mark.parametrize(
    ("call_id", "file_name"),
    [
        ("../../etc/passwd", "______etc_passwd"),
        ("call_Ab-9", "call_Ab-9"),
        ("调用.1", "___1"),
        ("é😀\0 /", "_____"),
        ("", ""),
    ],
)
def test_P8_a_call_id_becomes_a_safe_file_name(call_id: str, file_name: str) -> None:
    assert safe_name(call_id) == file_name
    assert f"/spill/session/{file_name}.txt " in pruned_text(LONG, SPILLED, id=call_id)


def test_P8_only_letters_digits_underscores_and_hyphens_are_safe() -> None:
    ascii_text = "".join(map(chr, range(128)))

    assert safe_name(ascii_text) == re.sub(r"[^A-Za-z0-9_-]", "_", ascii_text)


def test_P9_a_session_name_becomes_a_safe_directory_name() -> None:
    assert f"/spill/{safe_name('../other')}" == "/spill/___other"


def test_P10_only_tool_messages_are_pruned() -> None:
    copy = copy_of(user("u" * 9_000, sequence=1), assistant("a" * 9_000, call("c"), sequence=2))

    assert prune(copy, step_context(boundary=PruneBoundary(through_sequence=9))) is copy


def test_characters_are_code_points() -> None:
    assert pruned_text("😀" * 8_193, UNSPILLED).startswith("😀" * 4_096 + "\n...")
    assert pruned_text("😀" * 8_192, UNSPILLED) == "😀" * 8_192


def test_long_results_are_pruned_beside_short_ones_and_counted() -> None:
    artifact = Artifact(kind="file_change", payload={"path": "a"})
    short = result("a", "s" * 8_000, "s" * 191, name="list")
    long = result("b", LONG, state="error", artifacts=(artifact,))
    copy = pruned(tool(short, long, sequence=2), user("hello", sequence=3), tool(long, sequence=3))
    shortened = replace(long, output=output_of(pruned(tool(long, sequence=1)).items[0]))

    assert said(copy.items) == [
        ("tool", (short, shortened)),
        ("user", (text_block("hello"),)),
        ("tool", (shortened,)),
    ]
    assert copy.pruned.tool_results == 2


def test_blocks_beside_a_pruned_result_stay() -> None:
    item = mixed("tool", "beside", result("c", LONG), sequence=1)
    (beside, shortened) = said(pruned(item).items)[0][1]

    assert beside == text_block("beside")
    assert shortened == result(
        "c", *output_of(pruned(tool(result("c", LONG), sequence=1)).items[0])
    )


def test_a_pruned_item_is_still_the_same_message() -> None:
    item = tool(result("c", LONG), sequence=3)
    (shortened,) = pruned(item).items

    assert (shortened.source, shortened.depends_on) == (item.source, 3)
    assert texts_of(item) == [LONG]


@pytest.mark.parametrize(("limit", "head", "tail"), [(1_000, 500, 125), (1_001, 500, 125)])
def test_another_limit_keeps_half_for_the_head_and_an_eighth_for_the_tail(
    limit: int, head: int, tail: int
) -> None:
    item = tool(result("c", "h" * 1_500 + "t" * 1_500), sequence=1)
    copy = prune(copy_of(item), step_context(boundary=UNSPILLED, prune_chars=limit))
    marker = f"\n... [tool result pruned: {3_000 - head - tail} characters omitted]\n"

    assert texts_of(copy.items[0]) == ["h" * head + marker + "t" * tail]


def test_pruning_twice_changes_nothing_more() -> None:
    context = step_context(boundary=SPILLED)
    once = prune(copy_of(tool(result("c", LONG), sequence=1)), context)

    assert prune(once, context) is once


def test_a_rewritten_form_is_remembered_by_its_content_and_its_rule() -> None:
    memo: dict[object, object] = {}
    context = step_context(boundary=SPILLED, memo=memo)  # type: ignore[arg-type]
    first = prune(copy_of(tool(result("c", LONG), sequence=1)), context)
    again = prune(copy_of(tool(result("c", LONG), sequence=2)), context)
    elsewhere = replace(context, boundary=UNSPILLED)
    unspilled = prune(copy_of(tool(result("c", LONG), sequence=1)), elsewhere)

    assert again.items[0].content is first.items[0].content
    assert again.pruned.tool_results == 1
    assert unspilled.items[0].content != first.items[0].content
    assert len(memo) == 2
