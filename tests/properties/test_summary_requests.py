"""What holds of every fold and every summary request, whatever the conversation."""

import json
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.compaction.fold import FoldPlan, plan_fold
from app.compaction.record import SummaryStyle
from app.compaction.summary_request import SummaryInput, SummaryRequest, build_summary_request
from app.core.items import Item, message_id
from app.core.model_profile import ModelProfile
from app.core.pairing import pair
from app.core.request_copy import PruneBoundary
from tests.properties.conversations import REPAIRABLE, conversations
from tests.unit.compaction.summary_inputs import body_of, summary_input
from tests.unit.core.builders import said

CONVERSATIONS = conversations(REPAIRABLE)
STYLES: st.SearchStrategy[SummaryStyle] = st.sampled_from(["conversation", "cached", "flat"])
WINDOWS = st.none() | st.integers(1, 700) | st.integers(701, 5_000) | st.just(200_000)
INSTRUCTIONS_TOKENS = 400
"""More than the request takes whose whole conversation is cut."""


@st.composite
def inputs(draw: st.DrawFn) -> SummaryInput:
    items = draw(CONVERSATIONS)
    given = summary_input(
        *items,
        style=draw(STYLES),
        boundary=PruneBoundary(through_sequence=draw(st.none() | st.integers(0, 10))),
        min_level=draw(st.integers(0, 5)),
        overflowed_tokens=draw(st.none() | st.integers(0, 5_000)),
    )
    profile = ModelProfile(
        name="model-1",
        context_window=draw(WINDOWS),
        accepts_data_blocks=draw(st.booleans()),
    )
    context = replace(given.context, accepts_data_blocks=profile.accepts_data_blocks)
    keep_from = draw(st.integers(0, len(items)))
    return replace(given, profile=profile, context=context, keep_from=keep_from)


def limit_of(given: SummaryInput, request: SummaryRequest) -> int | None:
    limits = []
    if given.profile.context_window is not None:
        limits.append(given.profile.context_window - request.max_output_tokens)
    if given.overflowed_tokens is not None:
        limits.append(given.overflowed_tokens * 3 // 4)
    return min(limits, default=None)


@given(inputs())
def test_the_request_fits_or_says_that_nothing_does(given: SummaryInput) -> None:
    request = build_summary_request(given)
    limit = limit_of(given, request)

    if request.problem is None:
        assert limit is None or len(request.body) - artifact_bytes(request) <= 4 * limit
    else:
        assert limit is not None
        assert limit < INSTRUCTIONS_TOKENS


def artifact_bytes(request: SummaryRequest) -> int:
    return sum(
        len(json.dumps(block["artifacts"], ensure_ascii=False, separators=(",", ":")).encode())
        + len(',"artifacts":')
        for message in body_of(request)["messages"]
        for block in message["content"]
        if block.get("artifacts")
    )


@given(inputs())
def test_the_request_is_well_paired_or_flat(given: SummaryInput) -> None:
    request = build_summary_request(given)
    waiting: list[str] = []
    for message in body_of(request)["messages"]:
        blocks: list[dict[str, Any]] = message["content"]
        if request.style == "flat":
            assert {block["type"] for block in blocks} == {"text"}
        if message["role"] == "tool":
            (result,) = blocks
            assert result["id"] == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [block["id"] for block in blocks if block["type"] == "tool_call"]
    assert waiting == []


@given(inputs())
def test_the_request_is_above_the_lowest_rung_and_is_made_again_to_the_byte(
    given: SummaryInput,
) -> None:
    before = said(given.items)
    request = build_summary_request(given)

    assert min(given.min_level, 4) <= request.level <= 4
    assert build_summary_request(replace(given, context=fresh(given))) == request
    assert said(given.items) == before


def fresh(given: SummaryInput) -> Any:
    return replace(given.context, memo={})


@given(inputs())
def test_no_imitated_fence_is_left_in_a_flat_request(given: SummaryInput) -> None:
    request = build_summary_request(replace(given, style="flat"))
    (message,) = body_of(request)["messages"]

    assert message["content"][0]["text"].count("</conversation>") == 1


@given(CONVERSATIONS, st.frozensets(st.sampled_from(["m1", "m2", "m3", "m5", "m"])))
def test_a_fold_takes_no_call_away_from_a_result_that_is_kept_or_may_come(
    items: tuple[Item, ...], gone: frozenset[str]
) -> None:
    try:
        plan = plan_fold(items, gone)
    except (EmptyConversation, MissingLastUser, NothingToCompact):
        return
    check_fold(items, gone, plan)


def check_fold(items: tuple[Item, ...], gone: frozenset[str], plan: FoldPlan) -> None:
    assert plan.anchor_index is not None
    anchor = items[plan.anchor_index]

    assert plan.anchor_index < plan.keep_from
    assert (anchor.role, anchor.kind) == ("user", "normal")
    for index, slots in pair(items).slots.items():
        for slot in slots:
            answer = slot.answer()
            if index < plan.keep_from and answer is not None:
                assert answer.item_index < plan.keep_from
            if index < plan.keep_from and slot.is_waiting and message_id(items[index]) not in gone:
                assert answer is not None
                assert answer.is_final
