"""Builds the application: nothing is read or created at import."""

import gc
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from time import time_ns
from uuid import UUID, uuid4

from fastapi import FastAPI

from app.api.application import build_application
from app.services.listeners import Listeners
from app.services.memo import RewriteMemo
from app.services.resources import Resources
from app.services.summaries import Pace, SummaryRuns
from app.settings import Settings
from app.store.database import Database
from app.summarizer.client import Endpoint, Summarizer
from app.tokenizers import counter_for

LISTENERS = "listeners"
"""What the server finds those under who listen to events."""


def create_app(settings: Settings) -> FastAPI:
    """The application of some settings; it connects when it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[Mapping[str, object]]:
        # Loading the vocabulary takes half a second, which no request should pay.
        counter_for(None)
        database = Database(settings.database_url)
        resources = Resources(
            database=database,
            now=_now,
            new_id=_new_id,
            new_window_id=_new_window_id,
            claim_seconds=settings.claim_seconds,
            memo=RewriteMemo(settings.memo_bytes),
            listeners=Listeners(settings.event_streams, settings.event_poll_seconds),
        )
        app.state.resources = resources
        try:
            async with _summary_runs(settings, resources) as app.state.summary_runs:
                # For the server, which is the first to know that the process is to stop.
                yield {LISTENERS: resources.listeners}
        finally:
            await database.close()

    return build_application(lifespan)


def create_app_from_environment() -> FastAPI:
    """The application as the environment sets it, for servers that take a factory."""
    app = create_app(Settings.from_mapping(os.environ))
    spare_collector()
    return app


def spare_collector() -> None:
    """Keep the garbage collector from looking at what lives as long as the process.

    A prepare makes many short-lived objects. Without this every full
    collection walks all modules and classes of the libraries again.
    """
    gc.collect()
    gc.freeze()


@asynccontextmanager
async def _summary_runs(
    settings: Settings, resources: Resources
) -> AsyncIterator[SummaryRuns | None]:
    """The runs of the service's own summarizer; None where it has none."""
    if settings.summarizer_url is None:
        yield None
        return
    endpoint = Endpoint(
        url=str(settings.summarizer_url),
        key=settings.summarizer_key,
        model=settings.summarizer_model,
        timeout_seconds=settings.summarizer_timeout_seconds,
    )
    pace = Pace(
        pause_seconds=settings.summarizer_pause_seconds,
        sweep_seconds=settings.summarizer_sweep_seconds,
        at_once=settings.summarizer_concurrency,
    )
    async with (
        Summarizer(endpoint) as summarizer,
        SummaryRuns(resources, summarizer, pace) as runs,
    ):
        yield runs


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid4().hex


def _new_window_id() -> str:
    """A UUIDv7 (RFC 9562 §5.7): the time in milliseconds, then random bits."""
    milliseconds = time_ns() // 1_000_000
    random_bits = uuid4().int & (1 << 80) - 1
    value = milliseconds << 80 | random_bits
    value = value & ~(0xF << 76) | 7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))
