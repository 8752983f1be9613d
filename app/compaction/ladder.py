"""The ladder: ways to make a summary request smaller, from harmless to hard.

Each rung stands on the one below it. The first whose request fits the
summarising model is taken; after a reported overflow the climb goes on above
the rung that was too big, towards a size below its own.

Source: docs/semantics/compaction.md#the-ladder.
"""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

from app.compaction.flat import flat_text, media_note
from app.core.blocks import Block, Blocks, Data, Text, ToolResult, text_block
from app.core.content import decode_content
from app.core.facts import form_of
from app.core.items import Item, item_of
from app.core.media import DEFAULT_MEDIA_RULE
from app.core.messages import Real, Role
from app.core.model_profile import ModelProfile
from app.core.user_requests import last_user_request

SHORT_RESULTS_LEVEL = 1
"""Every tool result keeps a head and a tail, and media is only mentioned."""
NOTED_RESULTS_LEVEL = 2
"""A line stands for every tool result."""
OLDEST_DROPPED_LEVEL = 3
"""The oldest messages go, calls together with their results."""
CUT_TEXT_LEVEL = 4
"""The conversation is text, and its middle goes. It fits wherever the instructions do."""

SUMMARY_OUTPUT_TOKENS = 16_384
"""The longest summary that is asked for (OpenWork's number)."""
SHORT_RESULT_CHARS = 2_048
"""Code points of a shortened result, half of them from each end."""
SHRINK_PERCENT = 75
"""Of the estimate of a request that overflowed: what the next one may take. The estimate was
wrong by an unknown factor, so a request that is only a little smaller would overflow too."""


class Uncounted:
    """Counts nothing: no tokenizer count of a summary request is ever shown."""

    basis = "none"
    media_rule = DEFAULT_MEDIA_RULE

    def count(self, text: str) -> int:
        """Zero, whatever the text."""
        return 0


UNCOUNTED = Uncounted()


def output_tokens(profile: ModelProfile) -> int:
    """Tokens that the summary may take; at most half of a known window."""
    output = min(SUMMARY_OUTPUT_TOKENS, profile.max_output_tokens or SUMMARY_OUTPUT_TOKENS)
    if profile.context_window is None:
        return output
    return max(1, min(output, profile.context_window // 2))


def input_limit(profile: ModelProfile, overflowed_tokens: int | None) -> int | None:
    """Tokens that the request may take; None where nothing limits it.

    Args:
        profile: Of the summarising model.
        overflowed_tokens: The estimate of the request that was reported as too big.
    """
    limits: list[int] = []
    if profile.context_window is not None:
        limits.append(profile.context_window - output_tokens(profile))
    if overflowed_tokens is not None:
        limits.append(overflowed_tokens * SHRINK_PERCENT // 100)
    return min(limits, default=None)


def first_fitting(counts: range, fits: Callable[[int], bool]) -> int:
    """The first of ascending counts from which on all fit, or the last where none does."""
    return counts[min(bisect_left(counts, True, key=fits), len(counts) - 1)]


def live_message(role: Role, blocks: Blocks) -> Item:
    """A message that exists in a summary request only."""
    return item_of(role, "normal", form_of(role, blocks, UNCOUNTED), Real())


def with_media_noted(item: Item) -> Item:
    """The message with a line of text for every medium that stands beside its text."""
    if not item.facts.has_data:
        return item
    return _with_blocks(item, tuple(map(_noted, decode_content(item.content))))


def with_short_results(item: Item) -> Item:
    """The message with the middle of long tool results left out."""
    return _with_results(item, _short)


def with_noted_results(item: Item) -> Item:
    """The message with a line for every tool result that is longer than that line."""
    return _with_results(item, _note)


def shortened_call_ids(folded: Sequence[Item], level: int) -> tuple[str, ...]:
    """The calls whose results a request of that rung does not carry whole, in stored order."""
    if level < SHORT_RESULTS_LEVEL:
        return ()
    limit = SHORT_RESULT_CHARS if level < NOTED_RESULTS_LEVEL else 0
    return tuple(
        result.id for item in folded for result in item.facts.results if result.joined_chars > limit
    )


def droppable_rounds(items: Sequence[Item]) -> list[range]:
    """The rounds that `without_rounds` may leave out, oldest first.

    A round is a message, or calls with all their results. The last user
    request stays, and so do the items of an earlier compaction, which stand
    for all that was dropped before.
    """
    anchor = last_user_request(items)
    return [
        positions
        for positions in _rounds(items)
        if anchor not in positions and isinstance(items[positions.start].source, Real)
    ]


def without_rounds(items: Sequence[Item], rounds: Sequence[range]) -> tuple[Item, ...]:
    """The items less some rounds, with a note where the first of them stood."""
    if not rounds:
        return tuple(items)
    dropped = {position for positions in rounds for position in positions}
    first = rounds[0].start
    text = f"[{len(dropped)} messages left out here: they do not fit the summarising model]"
    kept = [item for position, item in enumerate(items) if position not in dropped]
    kept.insert(first, live_message("user", (text_block(text),)))
    return tuple(kept)


def _rounds(items: Sequence[Item]) -> list[range]:
    # In a request copy results stand right behind their calls, so a round ends at the next message
    # that is no result.
    starts = [position for position, item in enumerate(items) if item.role != "tool"]
    return [range(start, end) for start, end in pairwise((*starts, len(items)))]


def _with_results(item: Item, rewrite: Callable[[str], str]) -> Item:
    if item.role != "tool":
        return item
    blocks = decode_content(item.content)
    return _with_blocks(item, tuple(_with_output(block, rewrite) for block in blocks))


def _with_output(block: Block, rewrite: Callable[[str], str]) -> Block:
    if not isinstance(block, ToolResult):
        return block
    text = flat_text(block.output)
    rewritten = rewrite(text)
    if rewritten == text and all(isinstance(part, Text) for part in block.output):
        return block
    return replace(block, output=(text_block(rewritten),))


def _short(text: str) -> str:
    omitted = len(text) - SHORT_RESULT_CHARS
    if omitted <= 0:
        return text
    end = SHORT_RESULT_CHARS // 2
    marker = f"... [tool result shortened: {omitted} characters omitted]"
    return f"{text[:end]}\n{marker}\n{text[-end:]}"


def _note(text: str) -> str:
    note = f"[tool result left out: {len(text)} characters]"
    return note if len(note) < len(text) else text


def _noted(block: Block) -> Block:
    return text_block(media_note(block)) if isinstance(block, Data) else block


def _with_blocks(item: Item, blocks: Blocks) -> Item:
    return item.with_form(form_of(item.role, blocks, UNCOUNTED))
