"""Sessions: create once, change with care, erase whole."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias, cast

from app.core import canonical
from app.core.agent import Agent, agent_ref, encode_agent
from app.core.engine import check_system_parts
from app.core.errors import PreconditionFailed, SessionConflict, VersionConflict
from app.core.ids import check_key
from app.core.model_profile import ModelProfile, profile_json, unknown_profile
from app.core.stored import Session, Window
from app.core.tool_surface import ToolDefinition, build_surface, resolve
from app.core.usage import NO_USAGE
from app.policies.presets import PresetPolicy, policy_json
from app.services.calls import recipe_of, surface_of, surface_options
from app.services.models import profile_of_model
from app.services.profiles import limits_of, profile_of
from app.services.provider_contexts import kept_context, refuse_unknown_messages
from app.services.resources import Resources, counter_of
from app.services.supersede import supersede_pending
from app.store.agents import erase_unused_agents, keep_agent, lock_agents
from app.store.compactions import CompactionWriter
from app.store.connections import WriteConnection
from app.store.messages import Order
from app.store.session_pages import Position, SessionFilter, Sort, session_page
from app.store.sessions import SessionRepository, SessionWriter

GivenProfile: TypeAlias = ModelProfile | Literal["unknown"] | None
"""A profile, the word that there is none, or nothing: then the operator's or the catalogue's
counts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewSession:
    """What a session is created with."""

    model: str
    model_profile: GivenProfile
    policy: PresetPolicy
    agent: Agent
    generation: Mapping[str, object]
    parent_session_id: str | None
    sandbox_available: bool
    spill_directory: str | None
    metadata: Mapping[str, object]


@dataclass(frozen=True, slots=True, kw_only=True)
class Precondition:
    """What the caller believes of the session that it changes."""

    expected_version: int | None
    etag: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionChange:
    """New values of a session's fields, by name; metadata is a merge patch."""

    values: Mapping[str, object]
    agent: Agent | None
    metadata: object
    """An RFC 7396 patch. None changes nothing."""


def etag_of(session: Session) -> str:
    """The entity tag of a session; it changes with every stored change."""
    return f'"{session.incarnation}-{session.version}"'


def names_etag(header: str, session: Session) -> bool:
    """Whether the value of `If-Match` or `If-None-Match` names a session as it is."""
    tags = [tag.strip() for tag in header.split(",")]
    return tags == ["*"] or etag_of(session) in tags


async def create_session(
    resources: Resources, session_id: str | None, new: NewSession
) -> tuple[Session, bool]:
    """The session, and whether it was created now; a repeat gives the one that is there.

    Raises:
        SessionConflict: The id is taken by a session created otherwise.
        ContextError: The agent, the policy, the profile or its window is refused.
    """
    if session_id is not None:
        check_key(session_id, "id")
    if new.parent_session_id is not None:
        check_key(new.parent_session_id, "parent_session_id")
    definition = encode_agent(new.agent)
    session = _new_session(resources, session_id, new, agent_ref(definition))
    if new.model_profile is None:
        async with resources.database.reading() as reader:
            found = await profile_of_model(resources, reader, new.model)
        session = replace(session, model_profile=found)
    _refuse_bad_agent(session, new.agent)
    limits_of(session)
    async with resources.database.writing() as connection:
        await keep_agent(connection, session.agent_ref, definition)
        taken = await SessionWriter(connection).insert(session)
        if taken is None:
            return session, True
        _refuse_difference(taken, session)
        return taken, False


async def change_session(
    resources: Resources, session_id: str, change: SessionChange, precondition: Precondition
) -> Session:
    """The session with some fields replaced. Equal values change nothing.

    Raises:
        SessionNotFound: There is no such session.
        VersionConflict, PreconditionFailed: It is not as the caller believes.
        ContextError: The agent or the provider context is refused.
    """
    async with resources.database.writing() as connection:
        writer = SessionWriter(connection)
        session = await writer.lock(session_id)
        _check(session, precondition)
        changed = replace(session, **dict(change.values))  # type: ignore[arg-type]
        if changed.model != session.model and "model_profile" not in change.values:
            # The old profile describes the old model, so it does not stay.
            found = await profile_of_model(resources, connection, changed.model)
            changed = replace(changed, model_profile=found)
        if change.metadata is not None:
            metadata = merge_patch(session.metadata, change.metadata)
            # A patch that is an object always gives an object.
            changed = replace(changed, metadata=cast("dict[str, object]", metadata))
        if change.agent is not None:
            changed = await _with_agent(connection, changed, change.agent)
        if "provider_context" not in change.values:
            changed = replace(changed, provider_context=kept_context(session, changed))
        refuse_unknown_messages(changed)
        if changed == session and same_json(_free_fields(changed), _free_fields(session)):
            return session
        limits_of(changed)
        changed = replace(changed, version=session.version + 1, updated_at=resources.now())
        await writer.save(changed)
        if (changed.agent_ref, changed.policy) != (session.agent_ref, session.policy):
            compactions = CompactionWriter(connection, session.incarnation)
            await supersede_pending(compactions, changed.updated_at)
        if changed.agent_ref != session.agent_ref:
            await erase_unused_agents(connection, {session.agent_ref})
        return changed


async def get_session(resources: Resources, session_id: str) -> Session:
    """A session.

    Raises:
        SessionNotFound: There is none of that id.
    """
    async with resources.database.reading() as connection:
        return await SessionRepository(connection).get(session_id)


async def list_sessions(
    resources: Resources,
    wanted: SessionFilter,
    sort: Sort,
    order: Order,
    after: Position | None,
    limit: int,
) -> list[Session]:
    """Up to `limit` sessions of a filter that come after a position."""
    async with resources.database.reading() as connection:
        return await session_page(connection, wanted, sort, order, after, limit)


async def delete_session(resources: Resources, session_id: str) -> None:
    """Erase a session.

    Raises:
        SessionNotFound: There is no such session.
    """
    async with resources.database.writing() as connection:
        writer = SessionWriter(connection)
        await writer.delete(await writer.lock(session_id))


async def get_tool(resources: Resources, session_id: str, name: str) -> ToolDefinition:
    """The definition that a session advertises under a name.

    Raises:
        SessionNotFound: There is no such session.
        ToolNotFound: It advertises no such tool.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        surface = await surface_of(resources, connection, recipe_of(session, {}))
    return resolve(surface, name)


def merge_patch(target: object, patch: object) -> object:
    """`target` with an RFC 7396 merge patch applied."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge_patch(merged.get(key), value)
    return merged


def _free_fields(session: Session) -> list[object]:
    """The fields that hold any JSON."""
    return [session.metadata, session.generation]


def same_json(left: object, right: object) -> bool:
    """Whether two JSON values are equal. Unlike in Python, true is not 1."""
    match left, right:
        case Mapping(), Mapping():
            return left.keys() == right.keys() and all(
                same_json(value, right[key]) for key, value in left.items()
            )
        case list(), list():
            return len(left) == len(right) and all(map(same_json, left, right))
        case _:
            return isinstance(left, bool) == isinstance(right, bool) and left == right


def _new_session(
    resources: Resources, session_id: str | None, new: NewSession, ref: str
) -> Session:
    now = resources.now()
    policy = policy_json(new.policy)
    window_id = resources.new_window_id()
    return Session(
        id=session_id or f"session-{resources.new_id()}",
        incarnation=resources.new_id(),
        model=new.model,
        model_profile=_known(new.model_profile),
        policy=policy,
        agent_ref=ref,
        generation=new.generation,
        parent_session_id=new.parent_session_id,
        sandbox_available=new.sandbox_available,
        spill_directory=new.spill_directory,
        metadata=new.metadata,
        original=_original(new, policy, ref),
        created_at=now,
        updated_at=now,
        version=0,
        message_count=0,
        cumulative_json_bytes=0,
        current_turn_id=None,
        pruned_through_sequence=None,
        view_id=None,
        visibility_ordinal=0,
        window=Window(
            number=0, window_id=window_id, first_window_id=window_id, previous_window_id=None
        ),
        forked_from=None,
        state="unknown",
        used_percent=None,
        usage=NO_USAGE,
    )


def _original(new: NewSession, policy: Mapping[str, object], ref: str) -> bytes:
    values: dict[str, object] = {field.name: getattr(new, field.name) for field in fields(new)}
    # What the catalogue says may change between a creation and its repeat, so it is not in here.
    values["model_profile"] = _given_json(new.model, new.model_profile)
    values |= {"policy": policy, "agent": ref}
    return canonical.encode(values)


def _known(given: GivenProfile) -> ModelProfile | None:
    return given if isinstance(given, ModelProfile) else None


def _given_json(model: str, given: GivenProfile) -> dict[str, object] | None:
    match given:
        case None:
            return None
        case "unknown":
            return profile_json(unknown_profile(model))
        case ModelProfile():
            return profile_json(given)


def _refuse_difference(taken: Session, session: Session) -> None:
    # Both are canonical objects that `_original` made.
    before = cast("dict[str, object]", canonical.decode(taken.original))
    now = cast("dict[str, object]", canonical.decode(session.original))
    differs = [name for name in now if not same_json(before[name], now[name])]
    if differs:
        raise SessionConflict(
            f"session {taken.id!r} was created with another {', '.join(differs)}",
            session_id=taken.id,
            differs=list(differs),
        )


def _refuse_bad_agent(session: Session, agent: Agent) -> None:
    """Refuse an agent that no request of the session could carry."""
    options = surface_options(recipe_of(session, {}))
    surface = build_surface(agent, options, counter_of(profile_of(session)))
    check_system_parts(surface.system)


def _check(session: Session, precondition: Precondition) -> None:
    if precondition.etag is not None and not names_etag(precondition.etag, session):
        raise PreconditionFailed(
            "the session has changed since that entity tag", session_id=session.id
        )
    if precondition.expected_version not in (None, session.version):
        raise VersionConflict(
            f"the session is at version {session.version}, not {precondition.expected_version}",
            session_id=session.id,
            version=session.version,
        )


async def _with_agent(connection: WriteConnection, session: Session, agent: Agent) -> Session:
    definition = encode_agent(agent)
    changed = replace(session, agent_ref=agent_ref(definition))
    _refuse_bad_agent(changed, agent)
    await lock_agents(connection, {session.agent_ref, changed.agent_ref})
    await keep_agent(connection, changed.agent_ref, definition)
    return changed
