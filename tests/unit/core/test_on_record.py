import pytest

from app.core.blocks import text_block
from app.core.items import Item
from app.core.on_record import cut_on_record
from app.core.project import project
from app.core.request_copy import Memo, ProjectionSummary, RequestCopy
from app.core.truncation import Truncation, TruncationMode
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    assistant,
    copy_of,
    image,
    output_of,
    result,
    step_context,
    texts_of,
    tool,
)


def cut(
    *items: Item, mode: TruncationMode = "tokens", limit: int = 100, memo: Memo | None = None
) -> RequestCopy:
    shaping = Shaping(tool_output_truncation=Truncation(mode=mode, limit=limit))
    return cut_on_record(copy_of(*items), step_context(shaping=shaping, memo=memo))


@pytest.mark.parametrize(
    ("mode", "limit", "kept"), [("tokens", 100, 480), ("bytes", 10_000, 12_000)]
)
def test_a_result_may_exceed_the_limit_by_a_fifth(
    mode: TruncationMode, limit: int, kept: int
) -> None:
    fits, exceeds = tool(result("c", "x" * kept)), tool(result("c", "x" * (kept + 1)))
    marker = "…1 tokens truncated…" if mode == "tokens" else "…1 chars truncated…"

    assert cut(fits, mode=mode, limit=limit).items == (fits,)
    assert texts_of(cut(exceeds, mode=mode, limit=limit).items[0]) == [
        "x" * (kept // 2) + marker + "x" * (kept // 2)
    ]


def test_what_was_cut_is_counted_like_a_projection() -> None:
    copy = cut(tool(result("c", "x" * 4_000)))

    assert copy.projection == ProjectionSummary(
        truncated_tool_results=1, original_tokens=1_000, projected_tokens=127
    )


def test_several_texts_share_the_limit_and_media_passes() -> None:
    item = tool(result("c", "a" * 400, image(), "b" * 400, "c" * 400))

    assert output_of(cut(item).items[0]) == (
        text_block("a" * 400),
        image(),
        text_block("b" * 40 + "…80 tokens truncated…" + "b" * 40),
        text_block("[omitted 1 text items ...]"),
    )


@pytest.mark.parametrize(
    "output",
    [("x" * 9_000,), ("a" * 400, "b" * 400, "c" * 400), ("a" * 480, "b", "c"), ("中" * 300, "é")],
)
@pytest.mark.parametrize("mode", ["bytes", "tokens"])
@pytest.mark.parametrize("limit", [1, 40, 100])
def test_what_was_cut_is_not_cut_again(
    output: tuple[str, ...], mode: TruncationMode, limit: int
) -> None:
    once = cut(tool(result("c", *output)), mode=mode, limit=limit)

    assert cut(*once.items, mode=mode, limit=limit).items == once.items


def test_large_media_beside_a_short_text_passes() -> None:
    item = tool(result("c", "seen", image("Z" * 9_000)))

    assert cut(item).items == (item,)


def test_messages_of_the_assistant_are_never_cut() -> None:
    item = assistant("x" * 9_000)

    assert cut(item).items == (item,)


def test_it_takes_the_place_of_projection() -> None:
    copy = copy_of(tool(result("c", "x" * 40_000)))
    truncation = Truncation(mode="tokens", limit=100_000)
    context = step_context(shaping=Shaping(tool_output_truncation=truncation))

    assert project(copy, context) is copy
    assert cut_on_record(copy, context) is copy
    assert cut_on_record(copy, step_context()) is copy


def test_a_result_is_cut_once() -> None:
    memo: Memo = {}
    first, again = (cut(tool(result("c", "x" * 4_000)), memo=memo) for _ in range(2))

    assert len(memo) == 1
    assert again.items[0].content is first.items[0].content
