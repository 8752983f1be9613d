"""What holds of every way to shorten old messages, alone and together."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.compaction.watermark import plan_prune
from app.core.blocks import Thinking, ToolCall, text_block
from app.core.engine import PreparedCall, prepare, request_copy
from app.core.items import Item
from app.core.prefix import element_digests, fingerprint, neutral_elements, repeats
from app.core.request_copy import ProjectionSummary, PruneBoundary, PruneCounts, StepContext
from app.core.truncation import Truncation
from app.policies.presets import policy_from
from app.policies.shaping import Shaping
from tests.properties.conversations import (
    ANSWERS,
    CALL_STATES,
    DENSE,
    PAIRABLE,
    REPAIRABLE,
    STATES,
    Message,
    as_stored,
    conversations,
)
from tests.unit.core.builders import (
    PROFILE,
    TEXT_ONLY,
    call,
    prepare_input,
    result,
    step_context,
)

TOOLS = st.sampled_from(["read", "list"])
SAID = st.sampled_from(["", "short", "x" * 1_100, "y" * 1_100, "x" * 9_000, "中" * 3_000])
INPUTS = st.sampled_from(["{}", f'{{"text":"{"x" * 300}"}}', f"[{'1,' * 200}1]", "é" * 300])
THOUGHTS = st.builds(
    lambda text, state: Thinking(type="thinking", thinking=text, provider_state=state),
    st.sampled_from(["hm", "oh"]),
    STATES,
)
CALLS = st.builds(
    lambda id, name, text, state, signed: replace(
        call(id, name, input=text, state=state), provider_state=signed
    ),
    st.sampled_from("abcd"),
    TOOLS,
    INPUTS,
    st.one_of(st.just("finished"), CALL_STATES),
    STATES,
)


def distinct(calls: Sequence[ToolCall]) -> tuple[ToolCall, ...]:
    return tuple({block.id: block for block in calls}.values())


SPOKEN: st.SearchStrategy[Message] = st.builds(
    lambda thoughts, calls: ("assistant", "normal", (*thoughts, *distinct(calls))),
    st.lists(THOUGHTS, max_size=1),
    st.lists(CALLS, max_size=3),
)
RESULTS: st.SearchStrategy[Message] = st.lists(
    st.builds(
        lambda id, text, name, state: result(id, text, name=name, state=state),
        st.sampled_from("abcd"),
        SAID,
        st.one_of(st.none(), TOOLS),
        st.sampled_from(["success", "success", "success", "running"]),
    ),
    min_size=1,
    max_size=3,
).map(lambda blocks: ("tool", "normal", tuple(blocks)))
REQUESTS: st.SearchStrategy[Message] = st.sampled_from(
    [
        ("user", "normal", (text_block("and?"),)),
        ("user", "skill_instruction", (text_block("a skill"),)),
    ]
)


@st.composite
def rounds(draw: st.DrawFn) -> list[Message]:
    """Calls with their results, as a session has them."""
    role, kind, blocks = draw(SPOKEN)
    answers: list[Message] = [
        ("tool", "normal", (result(block.id, draw(SAID), name=draw(TOOLS)),))
        for block in blocks
        if isinstance(block, ToolCall)
    ]
    return [(role, kind, blocks), *answers]


ONE: st.SearchStrategy[list[Message]] = st.one_of(
    SPOKEN, RESULTS, REQUESTS, ANSWERS, DENSE, PAIRABLE
).map(lambda message: [message])
HISTORIES = st.lists(st.one_of(rounds(), rounds(), ONE), max_size=7).map(
    lambda parts: [message for part in parts for message in part]
)
SHAPINGS = st.builds(
    Shaping,
    tool_retention=st.dictionaries(TOOLS, st.sampled_from(["keep", "never_clear", "always_clear"])),
    old_call_argument_chars=st.sampled_from([None, 100, 250]),
    drop_old_thinking=st.sampled_from(["keep", "behind_watermark"]),
    repeated_results=st.sampled_from(["keep", "reference"]),
    cut=st.sampled_from(["text", "json"]),
    invalid_arguments=st.sampled_from(["keep", "wrap"]),
    max_images=st.sampled_from([None, None, 0, 1, 3]),
    tool_output_truncation=st.one_of(
        st.none(),
        st.builds(
            Truncation,
            mode=st.sampled_from(["bytes", "tokens"]),
            # A made result has 86 bytes, and no step cuts it before it is made.
            limit=st.sampled_from([90, 900]),
        ),
    ),
)
CONTEXTS = st.builds(
    lambda shaping, through, directory, profile, limit: step_context(
        shaping=shaping,
        boundary=PruneBoundary(through_sequence=through, spill_directory=directory),
        profile=profile,
        prune_chars=limit,
    ),
    SHAPINGS,
    st.none() | st.integers(0, 20),
    st.sampled_from([None, "/spill"]),
    st.sampled_from([PROFILE, TEXT_ONLY]),
    # A shorter limit than a marker would have prune shorten what it has shortened.
    st.sampled_from([400, 8_192]),
)
STORED = HISTORIES.map(as_stored)
ITEMS = st.one_of(STORED, STORED, conversations(PAIRABLE))
ODD_ITEMS = st.one_of(ITEMS, conversations(REPAIRABLE))
"""With two calls of one id in a message, of which one loses its result: chat state refuses them."""


def is_sendable(items: Sequence[Item]) -> bool:
    return not any(item.role == "user" and item.facts.has_data for item in items)


@given(ITEMS.filter(is_sendable), CONTEXTS)
def test_all_steps_together_are_idempotent(items: tuple[Item, ...], context: StepContext) -> None:
    once = request_copy(items, context)
    again = request_copy(once.items, context)

    assert again.items == once.items
    assert (again.pruned, again.projection) == (PruneCounts(), ProjectionSummary())


@given(ODD_ITEMS.filter(is_sendable), CONTEXTS)
def test_every_call_keeps_its_result(items: tuple[Item, ...], context: StepContext) -> None:
    waiting: list[str] = []
    for item in request_copy(items, context).items:
        if item.role == "tool":
            (fact,) = item.facts.results
            assert fact.id == waiting.pop(0)
        else:
            assert waiting == []
            waiting = [fact.id for fact in item.facts.calls]
    assert waiting == []


@given(ODD_ITEMS.filter(is_sendable), CONTEXTS)
def test_equal_input_gives_equal_bytes_with_a_memo_and_without(
    items: tuple[Item, ...], context: StepContext
) -> None:
    first, remembered = request_copy(items, context), request_copy(items, context)

    assert first == remembered == request_copy(items, replace(context, memo={}))


@given(ODD_ITEMS.filter(is_sendable), CONTEXTS)
def test_without_a_boundary_only_what_knows_no_age_is_on(
    items: tuple[Item, ...], context: StepContext
) -> None:
    nowhere = replace(context, boundary=PruneBoundary())
    ageless = Shaping(
        tool_output_truncation=context.shaping.tool_output_truncation,
        invalid_arguments=context.shaping.invalid_arguments,
        cut=context.shaping.cut,
        max_images=context.shaping.max_images,
    )
    cut_only = replace(nowhere, shaping=ageless)

    assert request_copy(items, nowhere).items == request_copy(items, cut_only).items


@given(ODD_ITEMS.filter(is_sendable), CONTEXTS)
def test_no_call_and_no_result_changes_its_identity(
    items: tuple[Item, ...], context: StepContext
) -> None:
    plain = request_copy(items, replace(context, shaping=Shaping()))
    shaped = request_copy(items, context)

    assert identities(shaped.items) == identities(plain.items)


def identities(items: Sequence[Item]) -> list[object]:
    return [(item.source, item.facts.calls, outlines(item)) for item in items if is_paired(item)]


def is_paired(item: Item) -> bool:
    return bool(item.facts.calls or item.facts.results)


def outlines(item: Item) -> list[tuple[object, ...]]:
    return [(fact.id, fact.name, fact.state) for fact in item.facts.results]


@st.composite
def growing(draw: st.DrawFn) -> list[PreparedCall]:
    """The calls of a session that grows by a message at a time, its watermark where it was."""
    items = as_stored(draw(HISTORIES.filter(lambda messages: len(messages) > 1)))
    through = draw(st.integers(1, len(items) - 1))
    policy = replace(policy_from({"prune_tool_result_chars": 400}), shaping=draw(SHAPINGS))
    given = prepare_input(
        profile=PROFILE, policy=policy, boundary=PruneBoundary(through_sequence=through)
    )
    return [
        prepare(replace(given, items=items[:count])) for count in range(through, len(items) + 1)
    ]


@given(growing())
def test_a_call_repeats_the_one_before_while_the_watermark_stays(
    calls: list[PreparedCall],
) -> None:
    for before, after in pairwise(calls):
        old, new = element_digests(before), element_digests(after)
        moved = [index for index, element in enumerate(old) if new[index : index + 1] != [element]]
        # A late result takes the place of one that was made, or still ran; nothing else moves.
        given_way = [before.conversation[index - 1].facts.results for index in moved]

        assert all(results for results in given_way)
        assert {result.state for results in given_way for result in results} <= {
            "running",
            "interrupted",
        }


@given(growing())
def test_what_is_known_to_repeat_has_the_same_fingerprint(calls: list[PreparedCall]) -> None:
    for before, after in pairwise(calls):
        previous = fingerprint(neutral_elements(before))
        count = max((item.depends_on for item in before.conversation), default=0)
        if repeats(after, previous, count):
            assert element_digests(after)[: previous.message_count] == element_digests(before)
            assert fingerprint(neutral_elements(after), previous) == fingerprint(
                neutral_elements(after)
            )


@given(STORED, CONTEXTS)
def test_the_watermark_moves_forward_and_once(
    items: tuple[Item, ...], context: StepContext
) -> None:
    plan = plan_prune(items, context)
    if plan is None:
        return
    moved = PruneBoundary(through_sequence=plan.through_sequence)

    assert plan.through_sequence > (context.boundary.through_sequence or 0)
    assert plan_prune(items, replace(context, boundary=moved)) is None
    assert plan.tool_result_ids or plan.call_ids or plan.thinking_blocks


@given(STORED.filter(is_sendable), CONTEXTS)
def test_a_move_of_the_watermark_takes_what_the_plan_says(
    items: tuple[Item, ...], context: StepContext
) -> None:
    plan = plan_prune(items, context)
    if plan is None:
        return
    boundary = replace(context.boundary, through_sequence=plan.through_sequence)
    before = request_copy(items, context)
    after = request_copy(items, replace(context, boundary=boundary))

    assert after.pruned.thinking - before.pruned.thinking == plan.thinking_blocks
    assert after.pruned.arguments - before.pruned.arguments == len(plan.call_ids)
