"""What holds of prune, project and normalize, each by itself."""

from hypothesis import example, given
from hypothesis import strategies as st

from app.core.blocks import Text, ToolResult
from app.core.content import decode_content
from app.core.facts import visible_bytes
from app.core.items import Item
from app.core.normalize import normalize
from app.core.project import project
from app.core.prune import prune
from app.core.request_copy import PruneBoundary, RequestCopy
from tests.properties.conversations import DENSE, PAIRABLE, REPAIRABLE, conversations
from tests.unit.core.builders import (
    copy_of,
    output_of,
    result,
    said,
    step_context,
    stored,
    texts_of,
    tool,
)

LIMITS = st.sampled_from([1, 31, 32, 40, 100])
PRUNED = PruneBoundary(through_sequence=8)


def results_of(copy: RequestCopy) -> list[ToolResult]:
    return [
        block
        for item in copy.items
        for block in decode_content(item.content)
        if isinstance(block, ToolResult)
    ]


@given(conversations(st.one_of(DENSE, PAIRABLE)))
def test_normalize_is_a_fixpoint(items: tuple[Item, ...]) -> None:
    once = normalize(copy_of(*items), step_context())
    again = copy_of(*once.items)

    assert normalize(again, step_context()) is again


@given(conversations(REPAIRABLE))
def test_normalize_loses_no_message_but_tool_messages(items: tuple[Item, ...]) -> None:
    once = normalize(copy_of(*items), step_context())

    assert [item for item in once.items if item.role != "tool"] == [
        item for item in items if item.role != "tool"
    ]


@given(conversations(REPAIRABLE))
def test_every_result_is_sent_or_reported(items: tuple[Item, ...]) -> None:
    once = normalize(copy_of(*items), step_context())
    given_results = sum(len(item.facts.results) for item in items if item.role == "tool")
    made = sum(repair.code == "tool_result_synthesised" for repair in once.repairs)
    dropped = len(once.repairs) - made

    assert len(results_of(once)) == given_results - dropped + made


@given(conversations(REPAIRABLE), LIMITS)
def test_project_is_idempotent_and_leaves_no_result_over_the_limit(
    items: tuple[Item, ...], limit: int
) -> None:
    context = step_context(max_result_tokens=limit)
    once = project(copy_of(*items), context)

    assert project(once, context) is once
    assert all(visible_bytes(result.output) <= 4 * limit for result in results_of(once))


@given(conversations(REPAIRABLE), st.sampled_from([400, 8_192]))
def test_prune_is_idempotent(items: tuple[Item, ...], limit: int) -> None:
    context = step_context(boundary=PRUNED, prune_chars=limit)
    once = prune(copy_of(*items), context)

    assert prune(once, context) is once


@given(conversations(REPAIRABLE))
def test_prune_and_project_keep_everything_but_outputs(items: tuple[Item, ...]) -> None:
    copy = copy_of(*items)
    context = step_context(boundary=PRUNED, prune_chars=8, max_result_tokens=31)
    shortened = project(prune(copy, context), context)

    assert [(item.role, item.kind, item.source) for item in shortened.items] == [
        (item.role, item.kind, item.source) for item in items
    ]
    assert without_outputs(shortened) == without_outputs(copy)


def without_outputs(copy: RequestCopy) -> list[object]:
    return [
        (block.id, block.name, block.state, block.artifacts)
        if isinstance(block, ToolResult)
        else block
        for _, blocks in said(copy.items)
        for block in blocks
    ]


@given(st.text(min_size=1, max_size=6), st.integers(1, 300), st.integers(45, 110))
@example(text="中", times=300, limit=45)
@example(text="a😀é", times=300, limit=46)
def test_a_projected_text_is_the_ends_of_the_text_around_the_marker(
    text: str, times: int, limit: int
) -> None:
    whole = text * times
    item = tool(result("c", whole))
    (shortened,) = project(copy_of(item), step_context(max_result_tokens=limit)).items
    (sent,) = texts_of(shortened)
    if shortened is item:
        assert len(whole.encode()) <= 4 * limit
        return
    head, _, rest = sent.partition("\n...[tool result truncated;")
    tail = rest.partition("offset or query]...\n")[2]

    assert whole.startswith(head)
    assert whole.endswith(tail)
    # At most three bytes at each cut are a character that did not fit.
    assert 4 * limit - 6 <= len(sent.encode()) <= 4 * limit


@given(st.text(min_size=1, max_size=6), st.integers(1, 300), st.integers(8, 300))
def test_a_pruned_text_is_the_ends_of_the_text_around_the_marker(
    text: str, times: int, limit: int
) -> None:
    whole = text * times
    (item,) = stored(tool(result("c", whole)))
    context = step_context(boundary=PRUNED, prune_chars=limit)
    (shortened,) = prune(copy_of(item), context).items
    (sent,) = output_of(shortened)
    assert isinstance(sent, Text)
    if len(whole) <= limit:
        assert shortened is item
        return
    head, tail = whole[: limit // 2], whole[len(whole) - limit // 8 :]
    omitted = len(whole) - limit // 2 - limit // 8

    assert sent.text == f"{head}\n... [tool result pruned: {omitted} characters omitted]\n{tail}"
