"""Sample world state: what changed is appended, and the baseline follows.

The whole answer of a sample is stored, so that a repeat gets it again.
"""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Literal, cast

from app.compaction.view import Coverage, View
from app.core import canonical
from app.core.blocks import Text, text_block
from app.core.content import decode_content
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.ids import check_key
from app.core.items import Item
from app.core.stored import NewMessage, Session, StoredMessage, item_of_message
from app.services.append import store_messages
from app.services.messages import coverage_of
from app.services.profiles import profile_of
from app.services.resources import Resources, counter_of
from app.services.turns import TurnPoint, touch_turn
from app.store.connections import WriteConnection
from app.store.messages import MessageRepository
from app.store.sessions import SessionRepository, SessionWriter
from app.store.world_state import (
    SampleKey,
    StoredEmission,
    StoredSection,
    WorldStateRepository,
    WorldStateWriter,
)
from app.world_state.baseline import Absent, Baseline, Known, SectionBaseline, Unknown
from app.world_state.capture import Capture
from app.world_state.diff import Emission
from app.world_state.on_error import OnError
from app.world_state.rendering import SectionWarning
from app.world_state.retained import retained_sections
from app.world_state.sample_point import SamplePoint
from app.world_state.sampling import SampledSection, Sampling, sample
from app.world_state.sandbox import AVAILABILITY, availability_warning
from app.world_state.sections import BUILT_IN, sections_with


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleRequest:
    """A capture and the point at which it was taken."""

    key: SampleKey
    capture: Capture
    on_error: Mapping[str, OnError]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """What a sample did. `answer` is its JSON without the messages it emitted."""

    session: Session
    answer: dict[str, object]
    emitted: tuple[StoredMessage, ...]
    coverage: Coverage
    replayed: bool

    @property
    def items(self) -> tuple[Item, ...]:
        """The messages that this sample itself added to the conversation."""
        return () if self.replayed else tuple(map(item_of_message, self.emitted))


async def sample_world_state(
    resources: Resources, session_id: str, request: SampleRequest
) -> Sampled:
    """Take a sample, or answer what it was answered before.

    Raises:
        SessionNotFound: There is no such session.
        ContextError: A section cannot be taken; nothing is stored then.
    """
    key, now = request.key, resources.now()
    check_key(key.turn_id, "turn_id")
    point = TurnPoint(turn_id=key.turn_id, model_call=key.model_call, sample=key.sample)
    async with resources.database.writing() as connection:
        writer = SessionWriter(connection)
        session = await writer.lock(session_id)
        await touch_turn(connection, session, point, now)
        sampled = await sample_in_transaction(
            connection, session, request, counter_of(profile_of(session)), now
        )
        if sampled.session != session:
            await writer.save(replace(sampled.session, version=session.version + 1))
        return sampled


async def sample_in_transaction(
    connection: WriteConnection,
    session: Session,
    request: SampleRequest,
    counter: TokenCounter,
    now: datetime,
) -> Sampled:
    """Sample inside a transaction that has locked the session; its row is not saved."""
    state = WorldStateWriter(connection, session.incarnation)
    coverage = await coverage_of(connection, session)
    known = await state.answer(request.key)
    if known is not None:
        return await _replayed(connection, session, known, coverage)
    before = await state.sections()
    sampling = _sampling(session, request, before, await _texts(connection, session, coverage.view))
    new = [_message(emission, request.key, counter, now) for emission in sampling.emissions]
    messages = MessageRepository(connection, session.incarnation)
    existing = await messages.by_ids([message.id for message in new])
    # A fork or an imported session may hold the message already; its baseline still advances.
    missing = [message for message in new if message.id not in existing]
    after, emitted = await store_messages(connection, session, missing, now)
    await state.record_emissions(_emissions(sampling, emitted))
    updated = _updated(before, sampling, _untold(sampling, new, existing))
    has_changed = bool(emitted) or updated != list(before)
    if has_changed:
        await state.replace_sections(updated)
    answer = _answer(sampling, session, request, [stored.message.id for stored in emitted])
    await state.record_answer(request.key, canonical.encode(answer), now)
    return Sampled(
        session=replace(after, updated_at=now) if has_changed else after,
        answer=answer,
        emitted=emitted,
        coverage=coverage,
        replayed=False,
    )


def _sampling(
    session: Session,
    request: SampleRequest,
    before: Sequence[StoredSection],
    texts: Sequence[str],
) -> Sampling:
    key = request.key
    return sample(
        request.capture,
        point=SamplePoint(turn_id=key.turn_id, model_call=key.model_call, sample=key.sample),
        baseline=_baseline(before),
        kept=retained_sections(texts, sections_with(request.capture.custom)),
        on_error=request.on_error,
        last_good={
            section.section_id: section.last_text
            for section in before
            if section.last_text is not None
        },
    )


async def _replayed(
    connection: WriteConnection, session: Session, known: bytes, coverage: Coverage
) -> Sampled:
    answer = cast("dict[str, Any]", canonical.decode(known))
    messages = MessageRepository(connection, session.incarnation)
    stored = await messages.by_ids(answer["message_ids"])
    emitted = tuple(stored[message_id] for message_id in answer["message_ids"])
    return Sampled(
        session=session, answer=answer, emitted=emitted, coverage=coverage, replayed=True
    )


async def _texts(connection: WriteConnection, session: Session, view: View) -> list[str]:
    messages = MessageRepository(connection, session.incarnation)
    return [
        block.text
        for sequence, _, content in await messages.world_state_contents(session.visibility_ordinal)
        if view.shows(sequence)
        for block in decode_content(content)
        if isinstance(block, Text)
    ]


def _baseline(sections: Sequence[StoredSection]) -> Baseline:
    return {section.section_id: _section_baseline(section) for section in sections}


def _section_baseline(section: StoredSection) -> SectionBaseline:
    if section.baseline_state == "unknown":
        return Unknown()
    text = section.baseline_text
    return Absent() if text is None else Known(text=text)


def _message(
    emission: Emission, key: SampleKey, counter: TokenCounter, now: datetime
) -> NewMessage:
    form = form_of("user", (text_block(emission.text),), counter)
    return NewMessage(
        id=emission.message_id,
        turn_id=key.turn_id,
        role="user",
        kind="world_state",
        agent_visible=True,
        user_visible=False,
        created_at=now,
        content=form.content,
        facts=form.facts,
    )


def _emissions(sampling: Sampling, stored: Sequence[StoredMessage]) -> list[StoredEmission]:
    sequences = {message.message.id: message.sequence for message in stored}
    return [
        StoredEmission(
            sequence=sequences[emission.message_id],
            section_id=emission.section,
            state="absent" if isinstance(emission.state, Absent) else "known",
            notice_chars=len(emission.text) - len(_text(emission.state) or ""),
        )
        for emission in sampling.emissions
        if emission.message_id in sequences
    ]


def _untold(
    sampling: Sampling, new: Sequence[NewMessage], existing: Mapping[str, StoredMessage]
) -> frozenset[str]:
    """The sections whose message cannot be stored, since another text stands under its id.

    The first capture of a sample wins: the model keeps what that one told, and
    the next sample tells the difference.
    """
    return frozenset(
        emission.section
        for emission, message in zip(sampling.emissions, new, strict=True)
        if message.id in existing and existing[message.id].message.content != message.content
    )


def _updated(
    before: Sequence[StoredSection], sampling: Sampling, untold: Set[str]
) -> list[StoredSection]:
    """What is known of every section after a sample, built-in ones first."""
    known = {section.section_id: section for section in before}
    told_before = _baseline(before)
    carriers = {
        emission.section: emission.message_id
        for emission in sampling.emissions
        if emission.section not in untold
    }
    for section in sampling.sections:
        stored = known.get(section.id)
        baselines = told_before if section.id in untold else sampling.baseline
        baseline = baselines.get(section.id, Unknown())
        known[section.id] = StoredSection(
            section_id=section.id,
            baseline_state=_state_name(baseline),
            baseline_text=_text(baseline),
            message_id=carriers.get(section.id, stored.message_id if stored else None),
            last_state="absent" if isinstance(section.state, Absent) else "known",
            last_text=_text(section.state),
        )
    built_in = {section.id: position for position, section in enumerate(BUILT_IN)}
    return sorted(
        known.values(), key=lambda section: built_in.get(section.section_id, len(built_in))
    )


def _state_name(baseline: SectionBaseline) -> Literal["unknown", "absent", "known"]:
    match baseline:
        case Unknown():
            return "unknown"
        case Absent():
            return "absent"
        case Known():
            return "known"


def _text(state: SectionBaseline) -> str | None:
    return state.text if isinstance(state, Known) else None


def _answer(
    sampling: Sampling, session: Session, request: SampleRequest, message_ids: Sequence[str]
) -> dict[str, object]:
    warning = availability_warning(
        request.capture.sandbox, session=AVAILABILITY[session.sandbox_available]
    )
    warnings = (*sampling.warnings, *([] if warning is None else [warning]))
    return {
        "message_ids": list(message_ids),
        "sections": [section_answer(section) for section in sampling.sections],
        "warnings": [warning_answer(warning) for warning in warnings],
    }


def section_answer(section: SampledSection) -> dict[str, object]:
    """A sampled section as answers have it."""
    text = _text(section.state)
    return {
        "id": section.id,
        "state": _state_name(section.state),
        "changed": section.changed,
        "text_bytes": len((text or "").encode()),
    }


def warning_answer(warning: SectionWarning) -> dict[str, object]:
    """A warning as answers have it."""
    answer: dict[str, object] = {
        "code": warning.code,
        "section": warning.section,
        "detail": warning.detail,
    }
    return answer if warning.path is None else {**answer, "path": warning.path}


async def known_sections(resources: Resources, session_id: str) -> tuple[StoredSection, ...]:
    """What a session knows of every section.

    Raises:
        SessionNotFound: There is no such session.
    """
    async with resources.database.reading() as connection:
        session = await SessionRepository(connection).get(session_id)
        return await WorldStateRepository(connection, session.incarnation).sections()
