"""Compactions that the service runs itself, with the summarizer that it is set up with.

Every run is a task of this process that reports as a worker would. Its claim
is its lease: it is renewed while the run lives, and another process takes the
compaction over once it has expired.

Source: docs/semantics/compaction.md#the-services-own-summarizer.
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self, TypeVar

from app.compaction.errors import CompactionNotFound
from app.compaction.refusals import ClaimLost, CompactionClosed, SummarizerNotConfigured
from app.compaction.summary_request import SummaryRequest
from app.core.errors import ContextError, ConversationMoved, SessionNotFound
from app.services.claims import Claimed, CompactionRequest
from app.services.compact import start_compaction
from app.services.complete import Completion, Failure, answer_compaction
from app.services.resources import Resources
from app.services.summary_bills import chat_usage
from app.services.summary_claims import keep_claim, lapsed, take_over
from app.store.errors import DatabaseUnavailable
from app.summarizer.answers import SummaryAnswer, SummaryFailure
from app.summarizer.client import Summarizer

T = TypeVar("T")

WATCH_SECONDS = 1.0
"""How soon a run learns that its compaction has ended otherwise."""
WATCHES_PER_CLAIM = 4
"""A claim is looked at this often at least, so that it is renewed well before it expires."""

_GONE = (SessionNotFound, CompactionNotFound)
_NOT_OURS = (*_GONE, CompactionClosed, ClaimLost, ConversationMoved)
"""The compaction has ended without this run, or is somebody else's now."""

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often and how much at once."""

    pause_seconds: float
    """Between two attempts."""
    sweep_seconds: float
    """Between two looks for runs that were left behind."""
    at_once: int
    """Summaries that this process asks for at the same time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A compaction whose claim this process holds."""

    session_id: str
    compaction_id: str
    token: str
    attempt: int
    request: SummaryRequest
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when nothing more is to be asked: the compaction has ended, or the process does."""


async def start_run(
    runs: "SummaryRuns | None", session_id: str, request: CompactionRequest
) -> Claimed:
    """Plan a compaction and have it run, or find the one with the same plan.

    The answer holds no claim: it stays with the service.

    Raises:
        SummarizerNotConfigured: There is nobody to run it.
        What `start_compaction` raises.
    """
    if runs is None:
        raise SummarizerNotConfigured("the service has no summarizer that could run a compaction")
    return await runs.start(session_id, request)


class SummaryRuns:
    """The runs of one process. Leaving it ends them; their claims are left to expire."""

    def __init__(self, resources: Resources, summarizer: Summarizer, pace: Pace) -> None:
        self._resources = resources
        self._summarizer = summarizer
        self._pace = pace
        self._watch_seconds = min(WATCH_SECONDS, resources.claim_seconds / WATCHES_PER_CLAIM)
        self._slots = asyncio.Semaphore(pace.at_once)
        self._runs: dict[asyncio.Task[None], Run] = {}
        self._closing = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._sweeper = asyncio.create_task(self._sweep_until_closing())
        self._sweeper.add_done_callback(_report_death)
        return self

    async def __aexit__(self, *_error: object) -> None:
        self._closing.set()
        await asyncio.wait((self._sweeper,))
        for run in self._runs.values():
            run.ended.set()
        await asyncio.gather(*self._runs, return_exceptions=True)

    async def start(self, session_id: str, request: CompactionRequest) -> Claimed:
        """Plan a compaction and run it, or find the one with the same plan.

        Raises:
            What `start_compaction` raises.
        """
        claimed = await start_compaction(self._resources, session_id, request)
        self._begin(session_id, claimed)
        return replace(claimed, request=None)

    async def sweep(self) -> None:
        """Take over runs that were left behind, as many as can be asked for at once."""
        free = self._pace.at_once - len(self._runs)
        if free <= 0:
            return
        for session_id, compaction_id in await lapsed(self._resources, free):
            # What one session refuses must not keep the others waiting.
            with suppress(ContextError):
                taken = await take_over(self._resources, session_id, compaction_id)
                if taken is not None:
                    self._begin(session_id, taken)

    async def _sweep_until_closing(self) -> None:
        while True:
            # The database may come back, or be migrated, at any time.
            with suppress(DatabaseUnavailable):
                await self.sweep()
            if await _came(self._closing, self._pace.sweep_seconds):
                return

    def _begin(self, session_id: str, claimed: Claimed) -> None:
        claim = claimed.compaction.claim
        if claimed.request is None or claim is None:
            return
        run = Run(
            session_id=session_id,
            compaction_id=claimed.compaction.id,
            token=claim.token,
            attempt=claimed.compaction.attempt,
            request=claimed.request,
        )
        task = asyncio.create_task(self._run(run), name=run.compaction_id)
        self._runs[task] = run
        task.add_done_callback(self._runs.pop)
        task.add_done_callback(_report_death)

    async def _run(self, run: Run) -> None:
        watch = asyncio.create_task(self._watch(run))
        try:
            # Without its database a run ends; once its claim has expired it is taken over.
            with suppress(*_NOT_OURS, DatabaseUnavailable):
                await self._attempts(run)
        finally:
            run.ended.set()
            await watch

    async def _attempts(self, run: Run) -> None:
        request: SummaryRequest | None = run.request
        attempt = run.attempt
        while request is not None:
            answer = await _unless(run.ended, self._answer(request))
            if answer is None:
                return
            event = _event(run, attempt, answer)
            reply = await answer_compaction(
                self._resources, run.session_id, run.compaction_id, event
            )
            request, attempt = reply.request, attempt + 1
            if request is not None and await _came(run.ended, self._pace.pause_seconds):
                return

    async def _answer(self, request: SummaryRequest) -> SummaryAnswer:
        async with self._slots:
            return await self._summarizer.summarize(request.body)

    async def _watch(self, run: Run) -> None:
        """Renew the claim of a run while it stands, and end the run when it does not."""
        while not await _came(run.ended, self._watch_seconds):
            try:
                stands = await keep_claim(
                    self._resources, run.session_id, run.compaction_id, run.token
                )
            except _GONE:
                stands = False
            except DatabaseUnavailable:
                continue
            if not stands:
                run.ended.set()


def _event(run: Run, attempt: int, answer: SummaryAnswer) -> Completion | Failure:
    """The answer as a worker would report it."""
    if isinstance(answer, SummaryFailure):
        _LOG.warning(
            "%s: attempt %d failed: %s: %s",
            run.compaction_id,
            attempt,
            answer.error,
            answer.detail,
        )
        return Failure(claim=run.token, attempt=attempt, error=answer.error, detail=answer.detail)
    return Completion(
        claim=run.token,
        attempt=attempt,
        summary=answer.text,
        finish_reason=answer.finish_reason,
        tool_calls=answer.tool_calls,
        usage=chat_usage(answer.usage),
    )


async def _came(event: asyncio.Event, seconds: float) -> bool:
    """Whether an event came within some seconds."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
    return event.is_set()


async def _unless(event: asyncio.Event, work: Coroutine[Any, Any, T]) -> T | None:
    """The result of some work; None where an event came first, and the work is then cancelled."""
    working, waiting = asyncio.create_task(work), asyncio.create_task(event.wait())
    try:
        await asyncio.wait((working, waiting), return_when=asyncio.FIRST_COMPLETED)
        return working.result() if working.done() else None
    finally:
        working.cancel()
        waiting.cancel()
        await asyncio.wait((working, waiting))


def _report_death(task: asyncio.Task[None]) -> None:
    """Log that a task ended by an error, but not its words, which may quote a conversation."""
    error = None if task.cancelled() else task.exception()
    if error is not None:
        _LOG.error("%s ended with %s", task.get_name(), type(error).__name__)
