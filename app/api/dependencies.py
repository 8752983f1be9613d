"""What routes depend on, by name."""

from typing import Annotated

from fastapi import Depends, Path
from starlette.requests import Request

from app.api.body import Body, read_body
from app.core.errors import SessionNotFound
from app.core.ids import is_key
from app.services.resources import Resources
from app.services.summaries import SummaryRuns


def _resources(request: Request) -> Resources:
    resources: Resources = request.app.state.resources
    return resources


def _summary_runs(request: Request) -> SummaryRuns | None:
    runs: SummaryRuns | None = request.app.state.summary_runs
    return runs


def _session_id(session_id: Annotated[str, Path(description="The session's id.")]) -> str:
    # An id that no session can have never reaches the database.
    if not is_key(session_id):
        raise SessionNotFound(f"there is no session {session_id!r}")
    return session_id


Service = Annotated[Resources, Depends(_resources)]
Runs = Annotated[SummaryRuns | None, Depends(_summary_runs)]
SessionId = Annotated[str, Depends(_session_id)]
JsonBody = Annotated[Body, Depends(read_body)]
