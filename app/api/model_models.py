"""Models of the catalogue on the wire."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from app.api.answers import Answer
from app.api.message_models import RepairOut
from app.api.pages import DEFAULT_LIMIT, LARGEST_LIMIT, OrderIn
from app.api.session_models import PlainText
from app.api.wire import ModelName, ProfileFieldsIn
from app.core.model_profile import ModelProfile, profile_json
from app.services.models import Model, ModelFilter


class OperatorProfileIn(ProfileFieldsIn):
    """A profile to put in front of the catalogue's."""

    name: ModelName | None = Field(
        default=None, description="How sessions show it; the name in the path unless given."
    )

    def profile(self, path_name: str) -> ModelProfile:
        """The core's profile.

        Raises:
            InvalidModelProfile: The reserves leave no room for input.
        """
        return self.named(self.name or path_name)


class ModelQuery(BaseModel):
    """Which models to list, and how."""

    model_config = ConfigDict(extra="forbid")

    provider: PlainText | None = None
    q: PlainText | None = Field(default=None, description="A part of the name.")
    order: OrderIn = "asc"
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT)

    def filter(self) -> ModelFilter:
        """The filter as the services take it."""
        return ModelFilter(provider=self.provider, q=self.q)


class SourceOut(BaseModel):
    """Who says a field, and on which day."""

    source: str
    date: str


class OtherOut(SourceOut):
    """What somebody else says of a field, where the two cannot both be right."""

    value: Any


class LearnedLimitOut(BaseModel):
    """A limit that providers named when they refused calls of the model as too long."""

    limit_tokens: int
    observed_at: str
    reports: int


class ModelOut(BaseModel):
    """What the name of a model means."""

    name: str
    resolved_name: str | None
    state: Literal["known", "unknown"]
    provider: str | None
    profile: dict[str, Any]
    max_input_tokens: int | None
    sources: dict[str, SourceOut]
    others: dict[str, OtherOut]
    learned: list[LearnedLimitOut]


class PutModelOut(ModelOut):
    """A model as a request left it, and what was mended in that request."""

    repairs: list[RepairOut]


class ModelPageOut(BaseModel):
    """A page of models."""

    items: list[ModelOut]
    next_cursor: str | None


def model_answer(model: Model) -> Answer:
    """A model as answers have it."""
    return {
        "name": model.name,
        "resolved_name": model.resolved_name,
        "state": model.state,
        "provider": model.provider,
        "profile": profile_json(model.profile),
        "max_input_tokens": model.max_input_tokens,
        "sources": {
            field: {"source": said.source, "date": said.date}
            for field, said in model.sources.items()
        },
        "others": {
            field: {"value": said.value, "source": said.source, "date": said.date}
            for field, said in model.others.items()
        },
        "learned": [
            {
                "limit_tokens": limit.limit_tokens,
                "observed_at": limit.observed_at.isoformat(),
                "reports": limit.reports,
            }
            for limit in model.learned
        ],
    }
