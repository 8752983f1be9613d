"""Claims of the service's own summarizer: a claim is a lease that is kept or taken over.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

from dataclasses import replace
from datetime import datetime

from app.compaction.protocol import transition
from app.compaction.record import Compaction
from app.services.claims import Claimed, claim_end, claimed_anew
from app.services.plans import request_of
from app.services.resources import Resources
from app.store.compactions import CompactionRepository, CompactionWriter, lapsed_runs
from app.store.sessions import SessionRepository, SessionWriter

MAX_CLAIMS = 10
"""Claims on one compaction before the service gives it up. A run that ends with its process every
time, whatever the reason, would otherwise be taken over for ever."""


async def lapsed(resources: Resources, limit: int) -> list[tuple[str, str]]:
    """Session and id of up to `limit` compactions whose runs ended without an answer."""
    async with resources.database.reading() as connection:
        return await lapsed_runs(connection, resources.now(), limit)


async def take_over(resources: Resources, session_id: str, compaction_id: str) -> Claimed | None:
    """A lapsed run under a new claim; None where somebody was faster or nothing is left to run.

    Raises:
        SessionNotFound, CompactionNotFound: It is gone.
    """
    now = resources.now()
    async with resources.database.writing() as connection:
        session = await SessionWriter(connection).lock(session_id)
        compactions = CompactionWriter(connection, session.incarnation)
        found = await compactions.get(compaction_id)
        if found.runner == "worker" or found.claim is None or found.claim.expires_at > now:
            return None
        if len(found.issued_tokens) >= MAX_CLAIMS:
            await compactions.save(_given_up(found, now))
            return None
        taken = claimed_anew(resources, found, None, now)
        await compactions.save(taken)
        request = await request_of(resources, connection, session, taken, taken.rung)
        return Claimed(compaction=taken, outcome="claimed", request=request)


def _given_up(compaction: Compaction, now: datetime) -> Compaction:
    outcome = transition("pending", "fail_for_good")
    return replace(
        compaction, status=outcome.status, failure_code=outcome.code, claim=None, updated_at=now
    )


async def keep_claim(resources: Resources, session_id: str, compaction_id: str, token: str) -> bool:
    """Whether the claim still stands; one whose time is half over is renewed.

    Raises:
        SessionNotFound, CompactionNotFound: It is gone.
    """
    async with resources.database.reading() as reader:
        session = await SessionRepository(reader).get(session_id)
        found = await CompactionRepository(reader, session.incarnation).get(compaction_id)
    if not _is_held(found, token) or not _is_half_over(resources, found):
        return _is_held(found, token)
    async with resources.database.writing() as connection:
        session = await SessionWriter(connection).lock(session_id)
        compactions = CompactionWriter(connection, session.incarnation)
        found = await compactions.get(compaction_id)
        if found.claim is None or not _is_held(found, token):
            return False
        renewed = replace(found.claim, expires_at=claim_end(resources, resources.now()))
        await compactions.save(replace(found, claim=renewed))
        return True


def _is_held(compaction: Compaction, token: str) -> bool:
    """Whether a claim is the current one; a compaction that has ended has none."""
    return compaction.claim is not None and compaction.claim.token == token


def _is_half_over(resources: Resources, compaction: Compaction) -> bool:
    assert compaction.claim is not None
    remaining = compaction.claim.expires_at - resources.now()
    return remaining.total_seconds() * 2 < resources.claim_seconds
