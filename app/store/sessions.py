"""Sessions: one row each, which orders its writers."""

from typing import cast

from sqlalchemy import Row, delete, select, update
from sqlalchemy.dialects import postgresql, sqlite

from app.core import canonical
from app.core.errors import SessionNotFound
from app.core.model_profile import ModelProfile, profile_from_json, stored_profile_json
from app.core.provider_context import (
    ProviderContext,
    provider_context_from_json,
    provider_context_json,
)
from app.core.stored import Origin, Session, Window
from app.core.usage import NO_USAGE, UsageState, usage_from_json, usage_json
from app.store.agents import erase_unused_agents, lock_agents
from app.store.connections import ReadConnection, WriteConnection
from app.store.tables import prepared_calls, sessions


class SessionRepository:
    """Reads of sessions."""

    def __init__(self, connection: ReadConnection) -> None:
        self._connection = connection

    async def get(self, session_id: str) -> Session:
        """The session of an id.

        Raises:
            SessionNotFound: There is none.
        """
        session = await self.find(session_id)
        if session is None:
            raise session_not_found(session_id)
        return session

    async def find(self, session_id: str) -> Session | None:
        """The session of an id, if there is one."""
        rows = await self._connection.execute(select(sessions).where(sessions.c.id == session_id))
        row = rows.first()
        return None if row is None else session_of(row)


class SessionWriter(SessionRepository):
    """Changes of sessions."""

    _connection: WriteConnection

    def __init__(self, connection: WriteConnection) -> None:
        super().__init__(connection)

    async def lock(self, session_id: str) -> Session:
        """The session of an id, with every other writer of it kept waiting.

        On SQLite the transaction itself already keeps them out.

        Raises:
            SessionNotFound: There is none.
        """
        statement = select(sessions).where(sessions.c.id == session_id).with_for_update()
        row = (await self._connection.execute(statement)).first()
        if row is None:
            raise session_not_found(session_id)
        return session_of(row)

    async def insert(self, session: Session) -> Session | None:
        """Store a new session. None where its id was free, else the session that has it."""
        dialect = postgresql if self._connection.dialect.name == "postgresql" else sqlite
        statement = dialect.insert(sessions).values(**_columns(session))
        unless_taken = statement.on_conflict_do_nothing(index_elements=[sessions.c.id])
        while not (await self._connection.execute(unless_taken)).rowcount:
            taken = await self.find(session.id)
            # It may have been erased in between; then the id is free after all.
            if taken is not None:
                return taken
        return None

    async def save(self, session: Session) -> None:
        """Replace the stored fields of a session that this transaction locked."""
        await self._connection.execute(
            update(sessions).where(sessions.c.id == session.id).values(**_columns(session))
        )

    async def delete(self, session: Session) -> None:
        """Erase a session with all that belongs to it alone."""
        recipes = select(prepared_calls.c.agent_ref).where(
            prepared_calls.c.incarnation == session.incarnation
        )
        refs = set((await self._connection.execute(recipes)).scalars()) | {session.agent_ref}
        await lock_agents(self._connection, refs)
        await self._connection.execute(delete(sessions).where(sessions.c.id == session.id))
        await erase_unused_agents(self._connection, refs)


def session_not_found(session_id: str) -> SessionNotFound:
    """The refusal of an id that no session has."""
    return SessionNotFound(f"there is no session {session_id!r}", session_id=session_id)


def _columns(session: Session) -> dict[str, object]:
    return {
        "id": session.id,
        "incarnation": session.incarnation,
        "model": session.model,
        "model_profile": _profile_bytes(session.model_profile),
        "preset": session.policy["preset"],
        "policy": canonical.encode(session.policy),
        "agent_ref": session.agent_ref,
        "generation": canonical.encode(session.generation),
        "parent_session_id": session.parent_session_id,
        "sandbox_available": session.sandbox_available,
        "spill_directory": _encoded(session.spill_directory),
        "metadata": canonical.encode(session.metadata),
        "original": session.original,
        "created_at": session.created_at,
        "updated_at": session.updated_at,
        "version": session.version,
        "message_count": session.message_count,
        "cumulative_json_bytes": session.cumulative_json_bytes,
        "current_turn_id": session.current_turn_id,
        "pruned_through_sequence": session.pruned_through_sequence,
        "view_id": session.view_id,
        "visibility_ordinal": session.visibility_ordinal,
        "window_number": session.window.number,
        "window_id": session.window.window_id,
        "first_window_id": session.window.first_window_id,
        "previous_window_id": session.window.previous_window_id,
        "forked_from": _origin_bytes(session.forked_from),
        "state": session.state,
        "used_percent": session.used_percent,
        "usage": _usage_bytes(session.usage),
        "provider_context": _provider_context_bytes(session.provider_context),
    }


def session_of(row: Row[tuple[object, ...]]) -> Session:
    """The session of a whole row."""
    fields = dict(row._mapping)
    del fields["preset"]
    fields["model_profile"] = _profile(fields["model_profile"])
    directory = fields["spill_directory"]
    fields["spill_directory"] = None if directory is None else directory.decode()
    for name in ("policy", "generation", "metadata"):
        fields[name] = canonical.decode(fields[name])
    fields["window"] = Window(
        number=fields.pop("window_number"),
        window_id=fields.pop("window_id"),
        first_window_id=fields.pop("first_window_id"),
        previous_window_id=fields.pop("previous_window_id"),
    )
    fields["forked_from"] = _origin(fields["forked_from"])
    fields["usage"] = _usage(fields["usage"])
    fields["provider_context"] = _provider_context(fields["provider_context"])
    return Session(**fields)


def _origin_bytes(origin: Origin | None) -> bytes | None:
    if origin is None:
        return None
    return canonical.encode([origin.session_id, origin.through_sequence])


def _origin(data: bytes | None) -> Origin | None:
    if data is None:
        return None
    # Only bytes made by `_origin_bytes` are stored, so their shape is known.
    session_id, through = cast("tuple[str, int]", canonical.decode(data))
    return Origin(session_id=session_id, through_sequence=through)


def _encoded(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _profile_bytes(profile: ModelProfile | None) -> bytes | None:
    return None if profile is None else canonical.encode(stored_profile_json(profile))


def _profile(data: bytes | None) -> ModelProfile | None:
    return None if data is None else profile_from_json(canonical.decode(data))


def _usage_bytes(usage: UsageState) -> bytes | None:
    return None if usage == NO_USAGE else canonical.encode(usage_json(usage))


def _usage(data: bytes | None) -> UsageState:
    return NO_USAGE if data is None else usage_from_json(canonical.decode(data))


def _provider_context_bytes(context: ProviderContext | None) -> bytes | None:
    return None if context is None else canonical.encode(provider_context_json(context))


def _provider_context(data: bytes | None) -> ProviderContext | None:
    return None if data is None else provider_context_from_json(canonical.decode(data))
