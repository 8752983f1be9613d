"""What the service is, and whether it lives."""

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel
from starlette.responses import Response

from app.api.body import MAX_BODY_BYTES, MAX_DEPTH
from app.api.dependencies import Service
from app.api.message_models import MAX_BATCH
from app.api.openapi_docs import refuses
from app.api.pages import LARGEST_LIMIT
from app.api.responses import json_response
from app.core.append import MAX_MESSAGE_BYTES
from app.encoders.formats import ENCODERS
from app.policies.presets import PRESETS
from app.services.calls import NEUTRAL
from app.tokenizers import ENCODINGS
from app.version import VERSION

router = APIRouter(tags=["service"])

FEATURES = (
    "sessions",
    "turns",
    "messages",
    "world_state",
    "prepare",
    "context",
    "prepared",
    "compactions",
    "usage",
    "rewind",
    "fork",
    "history",
    "replay",
    "events",
    "models",
    "stateless",
    "formats",
    "lint",
    "import",
)


class IndexOut(BaseModel):
    """What this service can do."""

    name: str
    version: str
    formats: list[str]
    presets: list[str]
    encodings: list[str]
    limits: dict[str, Any]
    features: list[str]


class HealthOut(BaseModel):
    """Whether the service lives."""

    status: str


@router.get("/v1", response_model=IndexOut)
async def index() -> Response:
    """Version, formats, presets, limits and features: what there is, and nothing else."""
    return json_response(
        {
            "name": "foreword",
            "version": VERSION,
            "formats": [NEUTRAL, *ENCODERS],
            "presets": sorted(PRESETS),
            "encodings": list(ENCODINGS),
            "limits": {
                "body_bytes": MAX_BODY_BYTES,
                "message_bytes": MAX_MESSAGE_BYTES,
                "messages_per_append": MAX_BATCH,
                "json_depth": MAX_DEPTH,
                "page_items": LARGEST_LIMIT,
            },
            "features": list(FEATURES),
        }
    )


@router.get("/healthz", response_model=HealthOut)
async def health() -> Response:
    """Whether the process answers at all."""
    return json_response({"status": "ok"})


@router.get("/readyz", response_model=HealthOut, responses=refuses())
async def readiness(service: Service) -> Response:
    """Whether the process can serve: its database answers and is migrated."""
    await service.database.ping()
    return json_response({"status": "ok"})
