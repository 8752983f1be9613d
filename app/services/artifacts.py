"""Artifacts: summaries that were begun before their fold was due, and their use once it is.

Source: docs/semantics/awaken.md#in-a-session.
"""

from dataclasses import dataclass, replace
from datetime import datetime

from app.compaction.errors import EmptyConversation, MissingLastUser, NothingToCompact
from app.compaction.fold import FoldPlan
from app.compaction.record import Compaction
from app.core.limits import CompactionCall
from app.core.stored import Session
from app.services.calls import MadeCall
from app.services.claims import CompactionRequest, unclaimed_compaction
from app.services.events import tell_of_completion
from app.services.install import Summary, install_summary
from app.services.plans import fold_of, is_current, key_of
from app.services.resources import Resources
from app.services.situations import Situation
from app.services.summary_bills import NO_BILL
from app.store.compactions import CompactionRepository, CompactionWriter
from app.store.connections import ReadConnection, WriteConnection
from app.store.sessions import SessionRepository

_NOTHING_TO_FOLD = (EmptyConversation, MissingLastUser, NothingToCompact)


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledArtifact:
    """A fold that no model was asked for, and the session after it."""

    compaction: Compaction
    artifact_id: str
    session: Session


async def prefetch_offer(
    connection: ReadConnection, situation: Situation, made: MadeCall, now: datetime
) -> CompactionCall | None:
    """The prefetch that is worth beginning now; None where it is done, failed or under way."""
    if not made.call.decision.prefetch_due:
        return None
    try:
        fold = await fold_of(connection, situation, made.call.decision.phase, now)
    except _NOTHING_TO_FOLD:
        return None
    compactions = CompactionRepository(connection, situation.session.incarnation)
    for pending in await compactions.of_kind("prefetch", "pending"):
        if pending.claim is not None and pending.claim.expires_at > now:
            return None
    key = key_of(situation, fold, "prefetch", None)
    known = await compactions.of_plan("prefetch", key)
    if known is not None and known.status in ("completed", "failed"):
        return None
    return CompactionCall(kind="prefetch", plan_key=key)


async def pending_twin(
    connection: ReadConnection, situation: Situation, plan_key: str
) -> Compaction | None:
    """The prefetch of the same plan that is under way."""
    compactions = CompactionRepository(connection, situation.session.incarnation)
    found = await compactions.of_plan("prefetch", plan_key)
    return found if found is not None and found.status == "pending" else None


async def installed_artifact(
    resources: Resources,
    connection: WriteConnection,
    situation: Situation,
    fold: FoldPlan,
    request: CompactionRequest,
    now: datetime,
) -> InstalledArtifact | None:
    """The fold by the artifact that covers the most of `fold`; None where none fits.

    Only a fold that is due for the line takes one. What the artifact does not cover stays shown
    behind its summary.

    Raises:
        StateError: The runtime state cannot be collected.
    """
    if request.kind != "threshold":
        return None
    artifact = await _fitting(connection, situation, fold, request.instructions, now)
    if artifact is None:
        return None
    assert artifact.plan is not None
    assert artifact.artifact is not None
    session = situation.session
    compactions = CompactionWriter(connection, session.incarnation)
    plan = replace(artifact.plan, shown_through=session.message_count)
    row = await unclaimed_compaction(resources, compactions, situation, plan, request, now)
    row = replace(row, compact_with=artifact.compact_with)
    summary = Summary(text=artifact.artifact, usage=None, bill=NO_BILL)
    completed, _ = await install_summary(resources, connection, situation, row, summary, now)
    await compactions.save(completed)
    after = await SessionRepository(connection).get(session.id)
    await tell_of_completion(resources, connection, after, completed, now)
    return InstalledArtifact(compaction=completed, artifact_id=artifact.id, session=after)


async def _fitting(
    connection: ReadConnection,
    situation: Situation,
    fold: FoldPlan,
    instructions: str | None,
    now: datetime,
) -> Compaction | None:
    compactions = CompactionRepository(connection, situation.session.incarnation)
    ready = await compactions.of_kind("prefetch", "completed")
    covering = [
        (found.plan.keep_from, found.ordinal, found)
        for found in ready
        if found.plan is not None
        and found.plan.keep_from <= fold.keep_from
        and found.instructions == instructions
    ]
    for _, _, found in sorted(covering, key=lambda entry: entry[:2], reverse=True):
        if await is_current(connection, situation, found, now):
            return found
    return None
