"""Turns that decide once: only a turn's first call may ask for a compaction.

Source: docs/semantics/awaken.md#in-a-session.
"""

from dataclasses import replace

from app.core.policy import Policy
from app.core.stored import Session
from app.services.calls import MadeCall
from app.services.turns import TurnPoint
from app.store.connections import ReadConnection, WriteConnection
from app.store.turns import TurnRepository, TurnWriter


async def decided_before(
    connection: ReadConnection, session: Session, policy: Policy, point: TurnPoint | None
) -> bool:
    """Whether another call of the turn has decided; the same call decides again, and equally."""
    if not _counts(policy, point) or point is None:
        return False
    turn = await TurnRepository(connection, session.incarnation).find(point.turn_id)
    return turn is not None and turn.decided_call not in (None, point.model_call)


async def is_noted(
    connection: ReadConnection, session: Session, policy: Policy, point: TurnPoint | None
) -> bool:
    """Whether it is written down already that the turn has decided, where that matters."""
    if not _counts(policy, point) or point is None:
        return True
    turn = await TurnRepository(connection, session.incarnation).find(point.turn_id)
    return turn is not None and turn.decided_call is not None


async def note_decision(
    connection: WriteConnection, session: Session, policy: Policy, point: TurnPoint | None
) -> None:
    """Write down that the turn has decided; the turn was touched before."""
    if not _counts(policy, point) or point is None:
        return
    turns = TurnWriter(connection, session.incarnation)
    turn = await turns.find(point.turn_id)
    if turn is not None and turn.decided_call is None:
        await turns.save(replace(turn, decided_call=point.model_call))


def without_second_decision(made: MadeCall) -> MadeCall:
    """The call of a turn that has decided: sent, and nothing is begun for it.

    A window that was asked for is opened all the same.
    """
    decision = replace(made.call.decision, prefetch_due=False)
    if decision.action == "compact" and decision.reason != "new_context_requested":
        detail = f"the turn has decided at an earlier call; {decision.detail}"
        decision = replace(decision, action="submit", reason="already_compacted", detail=detail)
    return made.with_decision(decision)


def _counts(policy: Policy, point: TurnPoint | None) -> bool:
    is_told = point is not None and point.model_call is not None
    return policy.decides_once_per_turn and is_told
