"""The summary request: what a model is sent so that it writes a summary.

Three styles ask for the same summary: `conversation` sends the folded
messages without tools, `cached` repeats the session's own request so that
the provider's cache serves it, and `flat` sends the conversation as text.

Source: docs/semantics/compaction.md#the-summary-request.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import Literal

from app.compaction.flat import cut_middle, flat_conversation, flat_messages
from app.compaction.instructions import summary_instructions
from app.compaction.ladder import (
    CUT_TEXT_LEVEL,
    NOTED_RESULTS_LEVEL,
    OLDEST_DROPPED_LEVEL,
    SHORT_RESULTS_LEVEL,
    droppable_rounds,
    first_fitting,
    input_limit,
    live_message,
    output_tokens,
    shortened_call_ids,
    with_media_noted,
    with_noted_results,
    with_short_results,
    without_rounds,
)
from app.compaction.record import SummaryStyle
from app.core.blocks import text_block
from app.core.counting import BYTES_PER_TOKEN, tokens_of_bytes
from app.core.engine import request_copy
from app.core.items import Item
from app.core.model_profile import ModelProfile
from app.core.request import request_fragments
from app.core.request_copy import StepContext
from app.core.tool_surface import Surface

_GENERATION: Mapping[str, object] = {"thinking": {"mode": "disabled"}}
BARE = Surface(system=(), tools=())
"""Of a request whose conversation is text."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryInput:
    """All that a summary request depends on."""

    model: str
    profile: ModelProfile
    """Of the model that summarises, whoever answers the session's own calls."""
    surface: Surface
    items: tuple[Item, ...]
    """The whole conversation as it is shown."""
    keep_from: int
    """Where the folded part of it ends."""
    context: StepContext
    style: SummaryStyle
    instructions: str | None
    """What the caller wants the summary to focus on."""
    min_level: int = 0
    """The lowest rung of the ladder that may be tried."""
    overflowed_tokens: int | None = None
    """The estimate of the request before, where that one was reported as too big."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """A neutral request for a summary."""

    body: bytes
    level: int
    style: SummaryStyle
    """As sent: what is cached is sent whole or not at all, and the last rung is always flat."""
    message_count: int
    """Messages of the request, system messages included."""
    estimated_input_tokens: int
    """A quarter of the body's bytes without artifacts."""
    max_output_tokens: int
    problem: Literal["cannot_fit"] | None = None
    """Set where no rung fits; the request is then what the lowest one gives."""
    removed_call_ids: tuple[str, ...] = ()
    """Calls of the fold whose results it does not carry whole, in order of removal."""


def build_summary_request(given: SummaryInput) -> SummaryRequest:
    """The request on the lowest rung that fits. Equal input gives equal bytes."""
    limit = input_limit(given.profile, given.overflowed_tokens)
    rungs = _rungs(given, limit)
    lowest = next(rungs)
    fitting = (request for request in chain((lowest,), rungs) if fits(request, limit))
    request = next(fitting, replace(lowest, problem="cannot_fit"))
    folded = given.items[: given.keep_from]
    return replace(request, removed_call_ids=shortened_call_ids(folded, request.level))


def _rungs(given: SummaryInput, limit: int | None) -> Iterator[SummaryRequest]:
    """The requests on the rungs that may be tried, each made when it is asked for."""
    if given.min_level <= 0 and given.style == "cached":
        yield _cached(given)
    items = _folded_copy(given)
    if given.min_level <= 0:
        yield _styled(given, 0, items)
    items = tuple(map(with_media_noted, items))
    if given.min_level <= SHORT_RESULTS_LEVEL:
        yield _styled(given, SHORT_RESULTS_LEVEL, tuple(map(with_short_results, items)))
    items = tuple(map(with_noted_results, items))
    if given.min_level <= NOTED_RESULTS_LEVEL:
        yield _styled(given, NOTED_RESULTS_LEVEL, items)
    if given.min_level <= OLDEST_DROPPED_LEVEL:
        yield _without_oldest(given, items, limit)
    yield _cut(given, flat_messages(items), limit)


def _folded_copy(given: SummaryInput) -> tuple[Item, ...]:
    folded = given.items[: given.keep_from]
    return copied(given, [item for item in folded if item.kind != "world_state"])


def _cached(given: SummaryInput) -> SummaryRequest:
    texts = (summary_instructions(given.instructions),)
    return assemble(given, 0, "cached", given.surface, copied(given, given.items), texts)


def copied(given: SummaryInput, items: Sequence[Item]) -> tuple[Item, ...]:
    """The request copy of some items, with a note for user media that the model does not take."""
    if not given.context.accepts_data_blocks:
        # What prepare refuses is mentioned here: a session must not become too full to summarise.
        items = [with_media_noted(item) if _is_user_input(item) else item for item in items]
    return request_copy(tuple(items), given.context).items


def _is_user_input(item: Item) -> bool:
    return item.role == "user" and item.kind == "normal"


def _styled(given: SummaryInput, level: int, items: tuple[Item, ...]) -> SummaryRequest:
    if given.style == "flat":
        return _flat(given, level, flat_messages(items))
    surface = Surface(system=given.surface.system, tools=())
    texts = (summary_instructions(given.instructions),)
    return assemble(given, level, "conversation", surface, items, texts)


def _without_oldest(
    given: SummaryInput, items: tuple[Item, ...], limit: int | None
) -> SummaryRequest:
    rounds = droppable_rounds(items)

    def without(count: int) -> SummaryRequest:
        return _styled(given, OLDEST_DROPPED_LEVEL, without_rounds(items, rounds[:count]))

    whole = without(0)
    if fits(whole, limit) or not rounds:
        return whole
    return without(
        first_fitting(range(1, len(rounds) + 1), lambda count: fits(without(count), limit))
    )


def _cut(given: SummaryInput, messages: str, limit: int | None) -> SummaryRequest:
    build = partial(_flat, given, CUT_TEXT_LEVEL)
    whole = build(messages)
    if limit is None or not messages or fits(whole, limit):
        return whole
    # A character is at least a byte, so no cut that leaves more of them can fit.
    least = max(1, len(messages) - limit * BYTES_PER_TOKEN)
    counts = range(least, len(messages) + 1)
    return build(
        cut_middle(
            messages,
            first_fitting(counts, lambda count: fits(build(cut_middle(messages, count)), limit)),
        )
    )


def _flat(given: SummaryInput, level: int, messages: str) -> SummaryRequest:
    texts = (flat_conversation(messages), summary_instructions(given.instructions))
    return assemble(given, level, "flat", BARE, (), texts)


def assemble(
    given: SummaryInput,
    level: int,
    style: SummaryStyle,
    surface: Surface,
    items: tuple[Item, ...],
    texts: Sequence[str],
) -> SummaryRequest:
    """A request of some items and a last user message with a block for each text."""
    messages = (*items, live_message("user", tuple(map(text_block, texts))))
    output = output_tokens(given.profile)
    body = b"".join(
        request_fragments(given.model, surface.system, messages, surface.tools, _GENERATION, output)
    )
    artifacts = sum(item.facts.content_bytes - item.facts.json_bytes for item in messages)
    return SummaryRequest(
        body=body,
        level=level,
        style=style,
        message_count=len(surface.system) + len(messages),
        estimated_input_tokens=tokens_of_bytes(len(body) - artifacts),
        max_output_tokens=output,
    )


def fits(request: SummaryRequest, limit: int | None) -> bool:
    """Whether a request takes no more than so many tokens; None is no limit."""
    return limit is None or request.estimated_input_tokens <= limit
