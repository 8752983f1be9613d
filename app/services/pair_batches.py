"""Batches of tool pairs: when one is due, and who claims it.

A batch runs beside everything else: it needs no turn, and nothing waits for it.

Source: docs/semantics/goose.md#tool-pairs.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from app.compaction.errors import NothingToCompact
from app.compaction.pair_batch import (
    BatchContent,
    batch_key,
    due_groups,
    pair_request,
    planned_pair,
)
from app.compaction.protocol import transition
from app.compaction.record import MAX_ATTEMPTS, Compaction, Plan, PlannedPair, blank_compaction
from app.compaction.refusals import CompactionInProgress
from app.compaction.summary_request import BARE, SummaryInput, SummaryRequest
from app.compaction.tool_pairs import FALLBACK_SHARE, pair_cutoff
from app.core.items import Item, stored_sequence
from app.core.limits import CompactionCall
from app.core.model_profile import ModelProfile
from app.core.stored import Session
from app.policies.presets import PresetPolicy
from app.policies.share_line import ShareLine
from app.services.calls import recipe_of
from app.services.claims import CompactionRequest, claimed_anew, holds_claim
from app.services.compact import event_of
from app.services.compaction_ids import compaction_id
from app.services.plans import planned_context, planned_items
from app.services.profiles import policy_of, profile_of
from app.services.receipts import conversation_tokens
from app.services.resources import Resources
from app.services.situations import Situation, caught_up, read_situation
from app.services.turns import TurnPoint, touch_turn
from app.store.compactions import CompactionRepository, CompactionWriter
from app.store.connections import ReadConnection, WriteConnection
from app.store.sessions import SessionWriter


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedPair:
    """A tool pair, and what a model is asked of it."""

    pair: PlannedPair
    request: SummaryRequest


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimedBatch:
    """A batch, and what is asked of its pairs if the caller holds the claim."""

    compaction: Compaction
    outcome: Literal["created", "claimed", "found"]
    pairs: tuple[AskedPair, ...] | None
    """None unless the caller holds the claim."""

    @property
    def is_held_elsewhere(self) -> bool:
        """Whether somebody else is at it."""
        return self.pairs is None and self.compaction.status == "pending"


async def pairs_offer(
    connection: ReadConnection, situation: Situation, turn_id: str | None, now: datetime
) -> CompactionCall | None:
    """The batch that may run meanwhile, where one is due and none was begun.

    Where no turn is named, one that somebody runs keeps the next from being offered; in a turn
    there is one batch at most.
    """
    pairs = _due(situation)
    if not pairs:
        return None
    compactions = CompactionRepository(connection, situation.session.incarnation)
    for batch in await compactions.pair_batches(turn_id):
        is_held = batch.claim is not None and batch.claim.expires_at > now
        if is_held or (turn_id is not None and batch.turn_id == turn_id):
            return None
    return CompactionCall(kind="tool_pairs", plan_key=_key(situation, pairs, None))


async def start_batch(
    resources: Resources, session_id: str, request: CompactionRequest
) -> ClaimedBatch:
    """Plan a batch of tool pairs and claim it, or find the one with the same plan.

    Raises:
        SessionNotFound: There is no such session.
        NothingToCompact: No batch is due, or the turn has had its own.
        CompactionInProgress: A batch of other pairs is under way.
    """
    async with resources.database.reading() as reader:
        seen = await read_situation(resources, reader, session_id)
    async with resources.database.writing() as connection:
        locked = await SessionWriter(connection).lock(session_id)
        situation = await caught_up(resources, connection, seen, locked)
        return await _start(resources, connection, situation, request, resources.now())


async def asked_pairs(
    resources: Resources, connection: ReadConnection, session: Session, compaction: Compaction
) -> tuple[AskedPair, ...]:
    """What a model is asked of each pair of a batch; the same again at every repeat."""
    plan = compaction.plan
    assert plan is not None
    items = await planned_items(resources, connection, session, plan)
    recipe = recipe_of(session, {})
    given = SummaryInput(
        model=recipe.model,
        profile=recipe.profile,
        surface=BARE,
        items=items,
        keep_from=0,
        context=planned_context(resources, recipe, session, plan),
        style="flat",
        instructions=compaction.instructions,
    )
    return await asyncio.to_thread(_asked, given, plan.pairs)


def _asked(given: SummaryInput, pairs: Sequence[PlannedPair]) -> tuple[AskedPair, ...]:
    return tuple(
        AskedPair(
            pair=pair, request=pair_request(replace(given, items=messages_of(given.items, pair)))
        )
        for pair in pairs
    )


def messages_of(items: Sequence[Item], pair: PlannedPair) -> tuple[Item, ...]:
    """What of a pair's messages is among some items."""
    return tuple(item for item in items if stored_sequence(item) in pair.sequences)


def cutoff_of(policy: PresetPolicy, profile: ModelProfile) -> int | None:
    """How many calls stay as they are; None where no pair is ever summarised."""
    pairs, window = policy.pairs, profile.context_window
    if not pairs.tool_pair_summarization or profile.manages_own_context:
        return None
    if pairs.tool_call_cutoff is not None:
        return pairs.tool_call_cutoff
    if window is None:
        return None
    line = policy.line
    return pair_cutoff(window, line.threshold if isinstance(line, ShareLine) else FALLBACK_SHARE)


def _due(situation: Situation) -> tuple[PlannedPair, ...]:
    cutoff = cutoff_of(policy_of(situation.session), profile_of(situation.session))
    if cutoff is None:
        return ()
    groups = due_groups(situation.items, cutoff)
    return tuple(planned_pair(situation.items, group) for group in groups)


def _key(situation: Situation, pairs: Sequence[PlannedPair], instructions: str | None) -> str:
    session = situation.session
    return batch_key(
        BatchContent(
            policy=session.policy,
            model=session.model,
            view_id=session.view_id,
            pairs=[item for pair in pairs for item in messages_of(situation.items, pair)],
            instructions=instructions,
        )
    )


async def _start(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    request: CompactionRequest,
    now: datetime,
) -> ClaimedBatch:
    """Start inside a transaction that has locked the session."""
    session = situation.session
    compactions = CompactionWriter(connection, session.incarnation)
    before = await compactions.pair_batches(request.turn_id)
    pending = next((batch for batch in before if batch.status == "pending"), None)
    found = await _repeated(resources, compactions, session, request, pending)
    if found is None:
        found = _done_in_turn(before, request.turn_id)
    if found is not None and found.status != "pending":
        return ClaimedBatch(compaction=found, outcome="found", pairs=None)
    if request.turn_id is not None:
        point = TurnPoint(turn_id=request.turn_id, model_call=request.model_call, sample=None)
        await touch_turn(connection, session, point, now)
    if found is not None:
        return await _joined(resources, connection, session, found, request, now)
    plan = _plan(situation, request)
    if pending is not None:
        outcome = transition("pending", event_of(pending, plan, request, now))
        if outcome.action in ("answer", "take_over"):
            return await _joined(resources, connection, session, pending, request, now)
        if outcome.action == "refuse":
            raise CompactionInProgress(
                f"batch {pending.id} of other tool pairs is under way", compaction_id=pending.id
            )
        await compactions.save(replace(pending, status=outcome.status, claim=None, updated_at=now))
    created = await _created(resources, compactions, session, plan, request, now)
    pairs = await asked_pairs(resources, connection, session, created)
    return ClaimedBatch(compaction=created, outcome="created", pairs=pairs)


async def _repeated(
    resources: Resources,
    compactions: CompactionWriter,
    session: Session,
    request: CompactionRequest,
    pending: Compaction | None,
) -> Compaction | None:
    """The batch that an earlier request with the same key started or took over."""
    if request.key is None:
        return None
    if pending is not None and holds_claim(pending.claim, request):
        return pending
    made = compaction_id(resources, session.incarnation, "tool_pairs", request.key)
    return await compactions.find(made)


def _done_in_turn(batches: Sequence[Compaction], turn_id: str | None) -> Compaction | None:
    """The batch that a turn has completed.

    Raises:
        NothingToCompact: The one batch of the turn ended without a summary.
    """
    ended = [
        batch
        for batch in batches
        if turn_id is not None and batch.turn_id == turn_id and batch.status != "pending"
    ]
    if ended and ended[-1].status != "completed":
        raise NothingToCompact(f"a turn has one batch of tool pairs, and {ended[-1].id} was it")
    return ended[-1] if ended else None


def _plan(situation: Situation, request: CompactionRequest) -> Plan:
    """The batch that is due now.

    Raises:
        NothingToCompact: None is.
    """
    session, pairs = situation.session, _due(situation)
    if not pairs:
        raise NothingToCompact("no batch of tool pairs is due")
    messages = [item for pair in pairs for item in messages_of(situation.items, pair)]
    return Plan(
        key=_key(situation, pairs, request.instructions),
        base_version=session.version,
        view_id=session.view_id,
        pruned_through=session.pruned_through_sequence,
        shown_through=session.message_count,
        visibility_ordinal=session.visibility_ordinal,
        keep_from=0,
        through_sequence=max(pair.sequences[-1] for pair in pairs),
        message_count=len(messages),
        tokens=conversation_tokens(messages),
        anchor_message_id=None,
        anchor_sequence=None,
        pairs=pairs,
    )


async def _joined(
    resources: Resources,
    connection: WriteConnection,
    session: Session,
    pending: Compaction,
    request: CompactionRequest,
    now: datetime,
) -> ClaimedBatch:
    """The pending batch: its claim again, taken over, or somebody else's."""
    is_live = pending.claim is not None and pending.claim.expires_at > now
    is_own = holds_claim(pending.claim, request)
    if is_live and not is_own:
        return ClaimedBatch(compaction=pending, outcome="found", pairs=None)
    joined = pending
    if not is_live:
        taken = replace(pending, turn_id=request.turn_id, model_call=request.model_call)
        joined = claimed_anew(resources, taken, request.claim_key, now)
        await CompactionWriter(connection, session.incarnation).save(joined)
    pairs = await asked_pairs(resources, connection, session, joined)
    return ClaimedBatch(compaction=joined, outcome="claimed", pairs=pairs)


async def _created(
    resources: Resources,
    compactions: CompactionWriter,
    session: Session,
    plan: Plan,
    request: CompactionRequest,
    now: datetime,
) -> Compaction:
    new_id = compaction_id(resources, session.incarnation, "tool_pairs", request.key)
    blank = blank_compaction(new_id, await compactions.next_ordinal(), "tool_pairs", now)
    unclaimed = replace(
        blank,
        style="flat",
        turn_id=request.turn_id,
        model_call=request.model_call,
        phase=request.phase or "standalone",
        instructions=request.instructions,
        previous_view_id=plan.view_id,
        attempt=1,
        max_attempts=MAX_ATTEMPTS,
        plan=plan,
    )
    created = claimed_anew(resources, unclaimed, request.claim_key, now)
    await compactions.save(created)
    return created
