"""The previous prepared calls of a session: what the next one repeats of them."""

from collections.abc import Sequence
from dataclasses import dataclass

from app.core import canonical
from app.core.breaks import break_in_format, find_break
from app.core.counting import tokens_of_bytes
from app.core.ledger import CallMeasures
from app.core.prefix import (
    Fingerprint,
    Prefix,
    common_length,
    fingerprint,
    is_prefix,
    prepared_id,
    repeats,
)
from app.services.calls import MadeCall, make_call
from app.services.resources import Resources
from app.services.situations import recorded_items
from app.services.wordings import Wording, wording_of
from app.store.connections import ReadConnection
from app.store.prepared import RecordedCall

COMPARED_CALLS = 2
"""The last call may be this very one, repeated; then the one before it counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedCall:
    """A prepared call with its id and what it repeats of the previous one."""

    made: MadeCall
    wording: Wording
    id: str
    prefix: Prefix
    repeated_bytes: int
    """What a provider's cache may serve: the tools in front, and the messages in common."""

    def record(self) -> RecordedCall:
        """What is stored of it."""
        return RecordedCall(
            id=self.id,
            recipe=self.made.recipe,
            fingerprint=self.prefix.fingerprint,
            measures=CallMeasures(
                estimated_tokens=self.made.call.budget.estimate.total,
                calibrated_tokens=self.made.call.measured.calibrated_tokens,
                expected_cached_tokens=tokens_of_bytes(self.repeated_bytes),
                break_cause=None if self.prefix.broken is None else self.prefix.broken.cause,
            ),
            size=self.made.call.size,
        )


async def name_call(
    resources: Resources,
    connection: ReadConnection,
    made: MadeCall,
    incarnation: str,
    recorded: Sequence[RecordedCall],
) -> NamedCall:
    """The call with its id and prefix; `recorded` are the last ones, newest first."""
    recipe = made.recipe
    wording = await wording_of(made.call, recipe.format)
    known = next((call.fingerprint for call in recorded if _repeats(made, wording, call)), None)
    printed = fingerprint(wording.elements, known)
    # The profile gives the request one more setting than the caller does.
    settings = [recipe.generation, recipe.profile.max_output_tokens]
    call_id = prepared_id(
        incarnation, recipe.format, recipe.model, canonical.encode(settings), printed
    )
    previous = next((call for call in recorded if call.id != call_id), None)
    if previous is None:
        prefix = Prefix(fingerprint=printed, common_messages=0, common_bytes=0, broken=None)
    elif _is_intact(made, wording, printed, previous):
        prefix = Prefix(
            fingerprint=printed,
            common_messages=previous.fingerprint.message_count,
            common_bytes=previous.fingerprint.message_bytes,
            broken=None,
        )
    else:
        prefix = await _broken(resources, connection, made, wording, printed, incarnation, previous)
    return NamedCall(
        made=made,
        wording=wording,
        id=call_id,
        prefix=prefix,
        repeated_bytes=_repeated_bytes(prefix, previous),
    )


def _repeated_bytes(prefix: Prefix, previous: RecordedCall | None) -> int:
    """Tools stand in front of everything in a cache, so behind other tools nothing is repeated."""
    tools = prefix.fingerprint.segments[1]
    if previous is None or tools != previous.fingerprint.segments[1]:
        return 0
    return tools.size_bytes + prefix.common_bytes


def _repeats(made: MadeCall, wording: Wording, previous: RecordedCall) -> bool:
    """Whether a neutral request is known to repeat another one; in other words it is compared."""
    return (
        wording.encoded is None
        and made.recipe.same_settings(previous.recipe)
        and repeats(made.call, previous.fingerprint, previous.recipe.through_sequence)
    )


def _is_intact(
    made: MadeCall, wording: Wording, printed: Fingerprint, previous: RecordedCall
) -> bool:
    """Whether a request begins with the one before, tools and system parts included."""
    before = previous.fingerprint
    if printed.segments[1] != before.segments[1]:
        return False
    if _repeats(made, wording, previous):
        return True
    same_system = wording.encoded is None or printed.segments[0] == before.segments[0]
    return same_system and is_prefix(before, wording.elements.digests)


async def _broken(
    resources: Resources,
    connection: ReadConnection,
    made: MadeCall,
    wording: Wording,
    printed: Fingerprint,
    incarnation: str,
    previous: RecordedCall,
) -> Prefix:
    older = await recorded_items(resources, connection, incarnation, previous.recipe)
    before = await make_call(resources, connection, previous.recipe, older, incarnation)
    said = await wording_of(before.call, previous.recipe.format)
    old, new = said.elements.digests, wording.elements.digests
    common = common_length(old, new)
    if wording.encoded is None:
        broken = find_break(before.call, previous.recipe, made.call, made.recipe)
    else:
        broken = break_in_format(before.call, previous.recipe, made.call, made.recipe, (old, new))
    return Prefix(
        fingerprint=printed,
        common_messages=common,
        common_bytes=sum(wording.elements.sizes[:common]),
        broken=broken,
    )
