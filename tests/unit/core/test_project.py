from dataclasses import replace

import pytest

from app.core.blocks import Artifact, Block, ProviderOpaque, text_block
from app.core.counting import tokens_of_bytes
from app.core.facts import visible_bytes
from app.core.items import Item
from app.core.project import project
from app.core.request_copy import Memo, ProjectionSummary, RequestCopy
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

OPAQUE = ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload="p" * 1_000)


def projected(*items: Item, limit: int) -> RequestCopy:
    return project(copy_of(*items), step_context(max_result_tokens=limit))


def projected_text(*output: str | Block, limit: int) -> str:
    (text,) = texts_of(projected(tool(result("c", *output)), limit=limit).items[0])
    return text


def marker(original: int, limit: int) -> str:
    return (
        f"\n...[tool result truncated; original≈{original} tokens; projected={limit}; "
        "continue with read/grep using narrower offset or query]...\n"
    )


def note(blocks: int, size: int) -> str:
    return (
        f"[tool result omitted {blocks} data block(s), approximately {size} bytes; "
        "the authoritative result remains unchanged]"
    )


def summary(original: int, after: int, results: int = 1) -> ProjectionSummary:
    return ProjectionSummary(
        truncated_tool_results=results, original_tokens=original, projected_tokens=after
    )


CUTS = [
    pytest.param("a" * 10_000, 100, 2_500, 126, 205, 69, id="J1"),
    pytest.param("b" * 10_000, 60, 2_500, 125, 86, 29, id="J2"),
    pytest.param("a" * 401, 100, 101, 125, 206, 69, id="J3 one byte over a small limit"),
    pytest.param("a" * 32_001, 8_000, 8_001, 127, 23_904, 7_969, id="J12"),
    pytest.param("a" * 40_000, 8_000, 10_000, 128, 23_904, 7_968, id="J13"),
    pytest.param("a" * 10_000, 32, 2_500, 125, 2, 1, id="J16"),
]


@requirement("OW-4.2-project-over-8000-tokens", "OW-4.2-project-75-25")
@pytest.mark.parametrize(("text", "limit", "original", "marker_bytes", "head", "tail"), CUTS)
def test_a_long_text_keeps_three_quarters_of_the_room_for_its_head(
    text: str, limit: int, original: int, marker_bytes: int, head: int, tail: int
) -> None:
    between = marker(original, limit)
    copy = projected(tool(result("c", text)), limit=limit)

    assert len(between.encode()) == marker_bytes
    assert texts_of(copy.items[0]) == [text[:head] + between + text[-tail:]]
    assert head + marker_bytes + tail == 4 * limit
    assert copy.projection == summary(original, limit)


@requirement("OW-4.2-project-75-25")
def test_J4_a_cut_falls_between_characters() -> None:
    text = "上下文工程改造" * 500
    cut = projected_text(text, limit=120)

    assert len(text.encode()) == 10_500
    assert cut == text[: 264 // 3] + marker(2_625, 120) + text[-(87 // 3) :]
    assert len(cut.encode()) == 477


def test_J5_the_same_result_is_cut_the_same_way_every_time() -> None:
    item = tool(result("c", "a" * 10_000))

    assert projected(item, limit=100) == projected(item, limit=100)


def test_J6_a_short_result_stays() -> None:
    copy = copy_of(tool(result("c", "short output")))

    assert project(copy, step_context(max_result_tokens=100)) is copy
    assert copy.projection == ProjectionSummary()


def test_J7_only_tool_results_are_cut() -> None:
    copy = copy_of(user("u" * 100_000), assistant("a" * 100_000, call("c", input="i" * 100_000)))

    assert project(copy, step_context(max_result_tokens=100)) is copy


def test_J7_a_result_is_cut_in_any_message_and_blocks_beside_it_stay() -> None:
    item = mixed("assistant", "u" * 10_000, result("c", "a" * 10_000))
    cut = "a" * 205 + marker(2_500, 100) + "a" * 69

    assert said(projected(item, limit=100).items) == [
        ("assistant", (text_block("u" * 10_000), result("c", cut)))
    ]


def test_J8_media_is_removed_first_and_a_note_takes_its_place() -> None:
    copy = projected(tool(result("c", "captured", image("Z" * 40_000))), limit=100)

    assert output_of(copy.items[0]) == (text_block("captured"), text_block(note(1, 40_009)))
    assert copy.projection == summary(10_005, 29)


def test_J9_small_media_stays() -> None:
    item = tool(result("c", "captured", image("Z" * 40)))
    copy = copy_of(item)

    assert tokens_of_bytes(item.facts.results[0].visible_bytes) == 15
    assert project(copy, step_context(max_result_tokens=100)) is copy


def test_J10_texts_are_joined_with_nothing_and_stay_one_block() -> None:
    cut = projected_text("g" * 6_000, "h" * 6_000, limit=100)

    assert cut == "g" * 205 + marker(3_000, 100) + "h" * 69
    assert len(cut.encode()) == 400


def test_J11_the_text_takes_the_place_of_the_first_and_other_blocks_stay() -> None:
    item = tool(result("c", OPAQUE, "g" * 6_000, OPAQUE, "h" * 6_000))
    cut = text_block("g" * 205 + marker(3_000, 100) + "h" * 69)

    assert output_of(projected(item, limit=100).items[0]) == (OPAQUE, cut, OPAQUE)


@requirement("OW-4.2-project-over-8000-tokens")
def test_J12_a_result_of_exactly_the_limit_stays() -> None:
    copy = copy_of(tool(result("c", "a" * 32_000)))

    assert project(copy, step_context()) is copy


def test_J14_chinese_text_keeps_a_third_as_many_characters() -> None:
    cut = projected_text("中" * 20_000, limit=8_000)

    assert cut == "中" * 7_968 + marker(15_000, 8_000) + "中" * 2_656
    assert len(cut.encode()) == 32_000


def test_J15_identity_state_and_artifacts_of_a_cut_result_stay() -> None:
    artifact = Artifact(kind="file_change", payload={"path": "a"})
    given = result("c", "a" * 10_000, name="edit", state="error", artifacts=(artifact,))
    item = tool(given, sequence=4)
    (cut,) = projected(item, limit=100).items
    text = "a" * 205 + marker(2_500, 100) + "a" * 69

    assert said([cut]) == [("tool", (replace(given, output=(text_block(text),)),))]
    assert (cut.source, cut.depends_on) == (item.source, 4)


def test_J16_a_marker_without_room_is_cut_itself() -> None:
    cut = projected_text("a" * 10_000, limit=31)

    assert cut == marker(2_500, 31)[: 124 - 2]
    assert len(cut.encode()) == 124


def test_J17_the_note_on_removed_media_counts_and_stands_in_the_tail() -> None:
    item = tool(result("c", "t" * 31_900, image("Z" * 1_000)))
    copy = projected(item, limit=8_000)
    (cut,) = texts_of(copy.items[0])
    between = marker(8_228, 8_000)
    room = 32_000 - len(between.encode())
    head = room * 75 // 100
    joined = "t" * 31_900 + note(1, 1_009)

    assert len(joined) == 32_007
    assert cut == joined[:head] + between + joined[-(room - head) :]
    assert copy.projection == summary(8_228, 8_000)


def test_J18_raw_bytes_are_measured_and_not_their_json() -> None:
    item = tool(result("c", '"' * 20_000))
    copy = copy_of(item)

    assert item.facts.json_bytes > 40_000
    assert project(copy, step_context()) is copy


def test_J19_empty_texts_are_left_out_of_a_cut_result() -> None:
    item = tool(result("c", "", "captured", "", image("Z" * 40_000)))

    assert texts_of(projected(item, limit=100).items[0]) == ["captured", note(1, 40_009)]
    assert projected_text("", "a" * 10_000, "", limit=100).startswith("a" * 205 + "\n...")


def test_a_text_that_fits_together_with_the_note_is_not_cut() -> None:
    room = 4 * 100 - len(note(1, 40_009))
    fitting = tool(result("c", "t" * room, image("Z" * 40_000)))
    longer = tool(result("c", "t" * (room + 1), image("Z" * 40_000)))

    assert texts_of(projected(fitting, limit=100).items[0]) == ["t" * room, note(1, 40_009)]
    assert len(texts_of(projected(longer, limit=100).items[0])) == 1


def test_J19_media_alone_leaves_the_note_alone() -> None:
    item = tool(result("c", image("Z" * 1_000, name="a"), image("Z" * 1_000)))

    assert texts_of(projected(item, limit=100).items[0]) == [note(2, 1_010 + 1_009)]


def test_empty_texts_of_a_result_that_fits_stay() -> None:
    copy = copy_of(tool(result("c", "", "a", "")))

    assert project(copy, step_context(max_result_tokens=1)) is copy


def test_what_a_model_does_not_read_is_not_counted() -> None:
    copy = copy_of(tool(result("c", OPAQUE, "a" * 400)))

    assert project(copy, step_context(max_result_tokens=100)) is copy


def test_every_result_of_a_message_has_the_whole_limit_and_they_are_summed_up() -> None:
    copy = projected(
        tool(result("a", "x" * 400), result("b", "y" * 10_000), result("c", "z" * 1_000)),
        user("hello"),
        tool(result("d", "w" * 10_000)),
        limit=100,
    )
    (_, (first, second, third)) = said(copy.items)[0]

    assert first == result("a", "x" * 400)
    assert [visible_bytes(block.output) for block in (second, third)] == [400, 400]  # type: ignore[union-attr]
    assert copy.projection == summary(2_500 + 250 + 2_500, 300, results=3)


def test_projecting_twice_changes_nothing_more() -> None:
    context = step_context(max_result_tokens=100)
    once = project(copy_of(tool(result("c", "中" * 9_999, image("Z" * 9_999)))), context)

    assert project(once, context) is once


def test_a_rewritten_form_is_remembered_by_its_content_and_its_limit() -> None:
    memo: Memo = {}
    item = tool(result("c", "a" * 10_000), sequence=1)
    context = step_context(max_result_tokens=100, memo=memo)
    first = project(copy_of(item), context)
    again = project(copy_of(item, item), context)
    shorter = project(copy_of(item), replace(context, max_tool_result_tokens=99))

    assert again.items[0].content is again.items[1].content is first.items[0].content
    assert again.projection == summary(5_000, 200, results=2)
    assert shorter.items[0].content != first.items[0].content
    assert len(memo) == 2
