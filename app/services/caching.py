"""What a provider may still hold of a session's last request, told by the service's clock.

Source: docs/semantics/compaction.md#when-the-cache-is-cold.
"""

from datetime import datetime, timedelta

from app.core.policy import Policy
from app.core.shaping import CacheState
from app.core.stored import Session
from app.store.connections import ReadConnection
from app.store.prepared import PreparedRepository


async def prunes_now(
    connection: ReadConnection, session: Session, policy: Policy, now: datetime
) -> bool:
    """Whether the watermark may move although the line is not reached."""
    shaping = policy.shaping
    if not policy.auto_prune or not shaping.prunes_under_line("cold"):
        return False
    cache = await _cache_state(connection, session, shaping.cache_ttl_seconds, now)
    return shaping.prunes_under_line(cache)


async def _cache_state(
    connection: ReadConnection, session: Session, ttl_seconds: int, now: datetime
) -> CacheState:
    """Whether the next call finds anything of the last one in the provider's cache.

    It does not where the model was not called for so long, or not at all, nor
    where a compaction or a rewind has changed what the call begins with.
    """
    calls = PreparedRepository(connection, session.incarnation)
    last = await calls.last(session.model)
    if last is None or last.view_id != session.view_id:
        return "cold"
    return "warm" if now - last.prepared_at < timedelta(seconds=ttl_seconds) else "cold"
