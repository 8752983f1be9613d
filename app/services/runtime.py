"""The runtime state of a session at a compaction, from what is stored."""

from collections.abc import Mapping

from app.compaction.contributors import Evidence, collect_state, sections_of
from app.compaction.file_changes import artifacts_in
from app.compaction.reminder import render_reminder
from app.compaction.runtime_state import EMPTY_STATE, RuntimeState, state_from_json
from app.compaction.turn_plan import EMPTY_PLAN, TurnPlan, plan_from_json
from app.core.blocks import Artifact
from app.core.stored import Session
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.messages import MessageRepository
from app.store.turns import TurnRepository


async def runtime_after(
    connection: ReadConnection,
    session: Session,
    base: Mapping[str, object] | None,
    plan: TurnPlan | None,
) -> RuntimeState:
    """The state after `base`.

    Raises:
        StateError: An artifact or the base cannot be read.
    """
    before = EMPTY_STATE if base is None else state_from_json(base)
    evidence = Evidence(artifacts=await _artifacts(connection, session), plan=plan)
    return collect_state(before, evidence)


async def runtime_now(
    connection: ReadConnection, session: Session, turn_id: str | None
) -> RuntimeState:
    """The state of a compaction that is made now, in a turn or in none.

    Raises:
        StateError: An artifact, the turn's plan or the state before cannot be read.
    """
    latest = await CompactionRepository(connection, session.incarnation).latest_checkpoint()
    checkpoint = None if latest is None else latest.checkpoint
    base = None if checkpoint is None else checkpoint.runtime_state
    return await runtime_after(connection, session, base, await _plan(connection, session, turn_id))


def reminder_of(state: RuntimeState) -> str:
    """The reminder of a state.

    Raises:
        StateError: A part of it cannot be read, or the reminder is too long.
    """
    return render_reminder(sections_of(state))


async def _plan(
    connection: ReadConnection, session: Session, turn_id: str | None
) -> TurnPlan | None:
    """The plan of the turn that compacts; None where no turn does."""
    if turn_id is None:
        return None
    turn = await TurnRepository(connection, session.incarnation).find(turn_id)
    if turn is None or turn.plan is None:
        return EMPTY_PLAN
    return plan_from_json(turn.plan)


async def _artifacts(connection: ReadConnection, session: Session) -> tuple[Artifact, ...]:
    messages = MessageRepository(connection, session.incarnation)
    return tuple(
        artifact
        for content in await messages.artifact_contents()
        for artifact in artifacts_in(content)
    )
