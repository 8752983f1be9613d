"""How much of the previous request the next one repeats, byte for byte.

A provider's prompt cache serves a request as far as it repeats an earlier
one. The chain hₙ = sha256(hₙ₋₁ ‖ sha256(bytesₙ)) over the message elements
lets two calls be compared without their bytes, and costs only what is new.

Source: docs/semantics/engine.md#prefix.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import islice
from typing import Literal, TypeAlias

from app.core import canonical
from app.core.engine import PreparedCall
from app.core.request import element_bytes
from app.core.shaping import Shaping
from app.core.trimming import KEEP_ALL

Cause: TypeAlias = Literal[
    "compaction",
    "rewind",
    "prune",
    "agent_changed",
    "model_changed",
    "policy_changed",
    "provider_context_changed",
    "interrupted_result_replaced",
    "late_tool_result",
    "visibility_changed",
    "trimmed",
    "mended",
    "images_aged",
    "encoding",
]

START = bytes(32)
"""h₀, the chain of no message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Elements:
    """What of a request a provider may have in its cache, in the words of the request's format."""

    digests: tuple[bytes, ...]
    """The sha256 of the bytes of each message element, system messages first."""
    sizes: tuple[int, ...]
    """Their bytes."""
    system_count: int
    """So many of them are system messages."""
    system_fields: tuple[bytes, ...] = ()
    """What the format has of the system parts outside of its messages."""
    tools: tuple[bytes, ...]
    """The definition of each tool."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """A part of a request that a provider caches as a whole."""

    name: Literal["system", "tools", "messages"]
    size_bytes: int
    """Of its elements, without the commas between them."""
    chain: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Fingerprint:
    """The sizes and chains of a prepared call."""

    message_count: int
    message_bytes: int
    chain: bytes
    segments: tuple[Segment, Segment, Segment]


@dataclass(frozen=True, slots=True, kw_only=True)
class Break:
    """Where a call stops repeating the previous one, and why."""

    at: int | None
    """Index into the messages; None where only the tools differ."""
    cause: Cause


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefix:
    """What a prepared call repeats of the previous one."""

    fingerprint: Fingerprint
    common_messages: int
    common_bytes: int
    broken: Break | None


def extend(chain: bytes, digests: Iterable[bytes]) -> bytes:
    """The chain after more elements, given by the sha256 of their bytes."""
    for digest in digests:
        chain = sha256(chain + digest).digest()
    return chain


def element_digests(call: PreparedCall) -> list[bytes]:
    """The sha256 of every message element, system messages first."""
    digests = [part.form.facts.element_sha256 for part in call.surface.system]
    digests += [item.facts.element_sha256 for item in call.conversation]
    return digests


def repeats(call: PreparedCall, previous: Fingerprint, through_sequence: int) -> bool:
    """Whether nothing behind the previous call can have moved.

    True only where both calls were made from the same settings; then it is
    enough that none of the previous call's messages depends on a newer row.
    Where newer rows decide what older ones look like, that tells nothing.
    """
    if not is_append_only(call.policy.shaping):
        return False
    inherited = previous.message_count - len(call.surface.system)
    return len(call.conversation) >= inherited and all(
        item.depends_on <= through_sequence for item in islice(call.conversation, inherited)
    )


def is_append_only(shaping: Shaping) -> bool:
    """Whether a new message leaves what a request shows of the others as it was.

    The newest messages are others then, and whether a call is answered, or who speaks last, is
    found out by what comes behind it.
    """
    return (
        shaping.pairing == "synthesise"
        and shaping.context_policy == KEEP_ALL
        and shaping.max_images is None
    )


def neutral_elements(call: PreparedCall) -> Elements:
    """The elements of a call's neutral request, from facts alone."""
    sizes = [
        *(element_bytes("system", part.form.facts.content_bytes) for part in call.surface.system),
        *(element_bytes(item.role, item.facts.content_bytes) for item in call.conversation),
    ]
    return Elements(
        digests=tuple(element_digests(call)),
        sizes=tuple(sizes),
        system_count=len(call.surface.system),
        tools=tuple(tool.encoded for tool in call.surface.tools),
    )


def fingerprint(elements: Elements, known: Fingerprint | None = None) -> Fingerprint:
    """The fingerprint of a request; `known` is one whose messages it repeats."""
    digests, front = elements.digests, elements.digests[: elements.system_count]
    front_chain = extend(START, front)
    if known is None:
        chain = extend(front_chain, digests[elements.system_count :])
    else:
        chain = extend(known.chain, digests[known.message_count :])
    total = sum(elements.sizes)
    front_bytes = sum(elements.sizes[: elements.system_count])
    return Fingerprint(
        message_count=len(digests),
        message_bytes=total,
        chain=chain,
        segments=(
            Segment(
                name="system",
                size_bytes=front_bytes + sum(map(len, elements.system_fields)),
                chain=extend(front_chain, _digests(elements.system_fields)),
            ),
            Segment(
                name="tools",
                size_bytes=sum(map(len, elements.tools)),
                chain=extend(START, _digests(elements.tools)),
            ),
            Segment(name="messages", size_bytes=total - front_bytes, chain=chain),
        ),
    )


def _digests(parts: Iterable[bytes]) -> Iterable[bytes]:
    return (sha256(part).digest() for part in parts)


def is_prefix(previous: Fingerprint, digests: Sequence[bytes]) -> bool:
    """Whether the previous call's messages are the first of `digests`."""
    count = previous.message_count
    return count <= len(digests) and extend(START, digests[:count]) == previous.chain


def common_length(left: Sequence[bytes], right: Sequence[bytes]) -> int:
    """How many leading elements two calls share."""
    pairs = zip(left, right, strict=False)
    return next((index for index, (a, b) in enumerate(pairs) if a != b), min(len(left), len(right)))


def prepared_id(
    incarnation: str,
    request_format: str,
    model: str,
    generation: bytes,
    made: Fingerprint,
) -> str:
    """The name of a prepared call, derived from its content alone."""
    parts = [
        incarnation,
        request_format,
        model,
        generation.decode(),
        made.chain.hex(),
        *(segment.chain.hex() for segment in made.segments),
    ]
    return f"prep-{sha256(canonical.encode(parts)).hexdigest()[:32]}"
