"""Fork: a session of its own with the history of another one up to a legal cut.

Source: docs/semantics/compaction.md#fork.
"""

from dataclasses import replace

from app.compaction.refusals import InvalidBoundary
from app.core import canonical
from app.core.errors import SessionConflict
from app.core.ids import check_key
from app.core.stored import Origin, Session, Window
from app.core.usage import NO_USAGE
from app.services.baselines import rebase_world_state
from app.services.cuts import session_cut
from app.services.resources import Resources
from app.store.compactions import CompactionRepository
from app.store.connections import WriteConnection
from app.store.copies import copy_history
from app.store.messages import MessageWriter
from app.store.sessions import SessionWriter


async def fork_session(
    resources: Resources, session_id: str, new_id: str | None, through_sequence: int | None
) -> tuple[Session, bool]:
    """The fork, and whether it was made now; a repeat gives the one that is there.

    Raises:
        SessionNotFound: There is no such session.
        InvalidBoundary: It has no such sequence.
        SessionConflict: The id is taken by a session made otherwise.
    """
    if new_id is not None:
        check_key(new_id, "id")
    async with resources.database.writing() as connection:
        sessions = SessionWriter(connection)
        source = await sessions.lock(session_id)
        wanted = source.message_count if through_sequence is None else through_sequence
        if wanted > source.message_count:
            raise InvalidBoundary(
                f"the session holds {source.message_count} messages", through_sequence=wanted
            )
        cut = await session_cut(connection, source, wanted)
        made = await _forked(resources, connection, source, new_id, cut)
        original = canonical.encode(
            {"forked_from": source.incarnation, "through": through_sequence}
        )
        made = replace(made, original=original)
        taken = await sessions.insert(made)
        if taken is not None:
            return _same(taken, made), False
        await _copy(connection, source, made, cut)
        return made, True


async def _forked(
    resources: Resources,
    connection: WriteConnection,
    source: Session,
    new_id: str | None,
    cut: int,
) -> Session:
    now = resources.now()
    installed = await CompactionRepository(connection, source.incarnation).installed_at(cut)
    pruned = source.pruned_through_sequence
    window_id = resources.new_window_id()
    messages = MessageWriter(connection, source.incarnation)
    return replace(
        source,
        id=new_id or f"session-{resources.new_id()}",
        incarnation=resources.new_id(),
        parent_session_id=None,
        forked_from=Origin(session_id=source.id, through_sequence=cut),
        created_at=now,
        updated_at=now,
        version=0,
        message_count=cut,
        cumulative_json_bytes=await messages.cumulative_json_bytes(cut),
        current_turn_id=None,
        pruned_through_sequence=None if pruned is None else min(pruned, cut) or None,
        view_id=None if installed is None else installed.id,
        window=Window(
            number=0, window_id=window_id, first_window_id=window_id, previous_window_id=None
        ),
        state="unknown",
        used_percent=None,
        # What was reported speaks of the other session's windows.
        usage=NO_USAGE,
        # The provider's thread goes on with the other session.
        provider_context=None,
    )


async def _copy(connection: WriteConnection, source: Session, made: Session, cut: int) -> None:
    await copy_history(connection, source.incarnation, made.incarnation, cut)
    messages = MessageWriter(connection, made.incarnation)
    await messages.replace_open_calls({}, await messages.recount_open_calls())
    view = await CompactionRepository(connection, made.incarnation).view(made.view_id)
    await rebase_world_state(connection, made, view)


def _same(taken: Session, made: Session) -> Session:
    if taken.original != made.original:
        raise SessionConflict(
            f"session {taken.id!r} was made otherwise",
            session_id=taken.id,
            differs=["forked_from"],
        )
    return taken
