"""Neutral requests in providers' words, and answers back, for callers with their own store."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.compaction.ladder import UNCOUNTED
from app.core.blocks import Blocks
from app.core.chat_state import check_placement
from app.core.errors import SystemMessageInConversation
from app.core.facts import form_of
from app.core.items import Item, item_of
from app.core.messages import Real, Role
from app.core.normalize import normalize
from app.core.request_copy import PruneBoundary, Repair, RequestCopy, StepContext
from app.encoders.decoding import Asked, Decoded
from app.encoders.encoding import Encoded, EncodingOptions, Format
from app.encoders.formats import DECODERS, ENCODERS
from app.encoders.request import NeutralRequest, NeutralTool, messages_of
from app.policies.shaping import Shaping

_SCOPE = "stateless"


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenRequest:
    """A neutral request as a caller gives it."""

    model: str
    messages: Sequence[tuple[Role, Blocks]]
    tools: Sequence[NeutralTool]
    generation: Mapping[str, object]
    max_output_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedGiven:
    """A body, and what was mended before it was made."""

    encoded: Encoded
    repairs: tuple[Repair, ...]
    """Of pairing; positions count from the first message behind the system messages."""


async def encode_given(given: GivenRequest, body_format: Format) -> EncodedGiven:
    """The request in a provider's words; what is not paired is paired first.

    Raises:
        SystemMessageInConversation: A system message stands behind another one.
        EmptyMessage, InvalidToolMessage, UnexpectedRole: A block stands where it cannot.
    """
    return await asyncio.to_thread(_encode, given, body_format)


async def decode_given(body: Mapping[str, object], asked: Asked, body_format: Format) -> Decoded:
    """A provider's answer as blocks.

    Raises:
        InvalidAnswer: It is no answer of that provider.
    """
    return await asyncio.to_thread(DECODERS[body_format], body, asked)


def _encode(given: GivenRequest, body_format: Format) -> EncodedGiven:
    front = next(
        (at for at, (role, _) in enumerate(given.messages) if role != "system"),
        len(given.messages),
    )
    copy = normalize(RequestCopy(items=_items(given.messages[front:], front)), _CONTEXT)
    request = NeutralRequest(
        model=given.model,
        system=tuple(blocks for _, blocks in given.messages[:front]),
        messages=messages_of(copy.items),
        tools=tuple(given.tools),
        generation=given.generation,
        max_output_tokens=given.max_output_tokens,
    )
    encoded = ENCODERS[body_format](request, EncodingOptions())
    return EncodedGiven(encoded=encoded, repairs=copy.repairs)


def _items(messages: Sequence[tuple[Role, Blocks]], first: int) -> tuple[Item, ...]:
    items: list[Item] = []
    for at, (role, blocks) in enumerate(messages, start=first):
        if role == "system":
            raise SystemMessageInConversation(
                "a request has system messages in front only", item_index=at
            )
        check_placement(role, "normal", blocks, at)
        items.append(item_of(role, "normal", form_of(role, blocks, UNCOUNTED), Real()))
    return tuple(items)


_CONTEXT = StepContext(
    boundary=PruneBoundary(),
    prune_tool_result_chars=1,
    max_tool_result_tokens=1,
    shaping=Shaping(),
    accepts_data_blocks=True,
    scope=_SCOPE,
    counter=UNCOUNTED,
    memo={},
)
"""Of pairing alone, which shortens nothing."""
