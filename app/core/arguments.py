"""Arguments: old tool calls keep so many characters of their input, and it stays a JSON object.

Source: docs/semantics/request-copy.md#arguments.
"""

from bisect import bisect_right
from collections.abc import Callable
from dataclasses import replace

from app.core import canonical
from app.core.blocks import Block, ToolCall
from app.core.canonical import Json
from app.core.content import decode_content
from app.core.facts import form_of
from app.core.items import Item, is_stored_through
from app.core.json_text import parsed_json
from app.core.request_copy import PruneCounts, RequestCopy, Rewrite, StepContext

LEAST_ARGUMENT_CHARS = 100
"""An object with nothing but a marker needs half of this."""


def shorten_arguments(copy: RequestCopy, context: StepContext) -> RequestCopy:
    """The copy with the arguments of the calls below the boundary shortened."""
    through, limit = context.boundary.through_sequence, context.shaping.old_call_argument_chars
    if through is None or limit is None:
        return copy
    rewrites: dict[int, Rewrite] = {}
    for index, item in enumerate(copy.items):
        # The message at the boundary is the latest response, whose results stay whole too.
        if item.role != "assistant" or not is_stored_through(item, through - 1):
            continue
        # No input has more characters than the message has bytes.
        if item.facts.calls and item.facts.content_bytes > limit:
            rewrite = _rewritten(item, limit, context)
            if rewrite.pruned.arguments:
                rewrites[index] = rewrite
    return copy.with_rewrites(rewrites)


def shortened_input(text: str, limit_chars: int) -> str:
    """A JSON object of at most `limit_chars` code points, at least `LEAST_ARGUMENT_CHARS`.

    The longest texts of an object give way first; one that stays too long, and
    whatever is no object, becomes the head of its text in an object of its own.
    """
    if len(text) <= limit_chars:
        return text
    value = parsed_json(text)
    if isinstance(value, dict):
        try:
            shortened = _longest_fitting(limit_chars, lambda kept: _cut(value, kept))
        except ValueError:
            # It holds what no request may: NaN, or half of a surrogate pair.
            shortened = None
        if shortened is not None:
            return shortened
    headed = _longest_fitting(limit_chars, lambda kept: {"_shortened": _cut_text(text, kept)})
    assert headed is not None
    return headed


def _rewritten(item: Item, limit_chars: int, context: StepContext) -> Rewrite:
    key = ("arguments", item.facts.element_sha256, context.counter.basis, limit_chars)
    known = context.memo.get(key)
    if known is not None:
        return known
    blocks = decode_content(item.content)
    shortened = tuple(_shortened(block, limit_chars) for block in blocks)
    changed = sum(old is not new for old, new in zip(blocks, shortened, strict=True))
    rewrite = Rewrite(
        form=form_of(item.role, shortened, context.counter),
        pruned=PruneCounts(arguments=changed),
    )
    context.memo[key] = rewrite
    return rewrite


def _shortened(block: Block, limit_chars: int) -> Block:
    # A provider may check what it signed against the arguments.
    if not isinstance(block, ToolCall) or block.provider_state is not None:
        return block
    if len(block.input) <= limit_chars:
        return block
    return replace(block, input=shortened_input(block.input, limit_chars))


def _longest_fitting(limit_chars: int, cut: Callable[[int], Json]) -> str | None:
    """The text of the cut that keeps most and fits; None where not even the shortest does."""

    def written(kept: int) -> str:
        return canonical.encode(cut(kept)).decode()

    counts = range(limit_chars + 1)
    fitting = bisect_right(counts, limit_chars, key=lambda kept: len(written(kept)))
    return written(counts[fitting - 1]) if fitting else None


def _cut(value: Json, kept: int) -> Json:
    match value:
        case str():
            return _cut_text(value, kept)
        case list():
            return [_cut(part, kept) for part in value]
        case dict():
            return {key: _cut(part, kept) for key, part in value.items()}
        case _:
            return value


def _cut_text(text: str, kept: int) -> str:
    marker = f"… [{len(text) - kept} characters omitted]"
    return text if len(text) <= kept + len(marker) else text[:kept] + marker
