"""Builds the application: nothing is read or created at import."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from uuid import uuid4

from fastapi import FastAPI

from app.api.application import build_application
from app.services.memo import RewriteMemo
from app.services.resources import Resources
from app.settings import Settings
from app.store.database import Database
from app.tokenizers import counter_for


def create_app(settings: Settings) -> FastAPI:
    """The application of some settings; it connects when it starts."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        # Loading the vocabulary takes half a second, which no request should pay.
        counter_for(None)
        database = Database(settings.database_url)
        app.state.resources = Resources(
            database=database,
            now=_now,
            new_id=_new_id,
            memo=RewriteMemo(settings.memo_bytes),
        )
        try:
            yield
        finally:
            await database.close()

    return build_application(lifespan)


def create_app_from_environment() -> FastAPI:
    """The application as the environment sets it, for servers that take a factory."""
    return create_app(Settings.from_mapping(os.environ))


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid4().hex
