"""Settings: one frozen value, built from a mapping that is passed in.

Source: docs/settings.md.
"""

from collections.abc import Mapping
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, HttpUrl, ValidationError, field_validator

DEFAULT_DATABASE_URL = "sqlite:///foreword.db"
PREFIX = "FOREWORD_"
UNPREFIXED = {"database_url": "DATABASE_URL"}
"""Settings whose environment variable is one that many tools share."""


class InvalidSettings(ValueError):
    """A setting has a value that it cannot have."""


class Settings(BaseModel):
    """How a process serves. Every field is an environment variable too."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    database_url: str = Field(
        default=DEFAULT_DATABASE_URL,
        description="sqlite:///PATH for one process, postgresql://… for several.",
    )
    host: str = Field(default="127.0.0.1", description="The address to listen on.")
    port: int = Field(default=8000, ge=0, le=65_535, description="0 picks a free port.")
    workers: int = Field(
        default=1, ge=1, le=64, description="Processes; more than one needs PostgreSQL."
    )
    allow_anonymous: bool = Field(
        default=False,
        description="Whether anybody may use the service on an address other than loopback.",
    )
    claim_seconds: int = Field(
        default=180,
        ge=1,
        le=86_400,
        description="How long a claim on a compaction keeps other workers off it.",
    )
    memo_bytes: int = Field(
        default=64 * 1024 * 1024,
        ge=0,
        description="Memory for rewritten messages, per process.",
    )
    summarizer_url: HttpUrl | None = Field(
        default=None, description="An OpenAI-compatible endpoint, up to /chat/completions."
    )
    summarizer_key: str | None = Field(
        default=None, pattern=r"^[!-~]+$", repr=False, description="Its bearer key."
    )
    summarizer_model: str | None = Field(
        default=None, description="The model that summarises, if not the session's own."
    )
    summarizer_timeout_seconds: float = Field(
        default=120, gt=0, le=3_600, description="How long one attempt may take."
    )
    summarizer_pause_seconds: float = Field(
        default=3, ge=0, le=600, description="Between two attempts."
    )
    summarizer_sweep_seconds: float = Field(
        default=5, gt=0, le=3_600, description="Between two looks for runs that were left behind."
    )
    summarizer_concurrency: int = Field(
        default=4, ge=1, le=256, description="Summaries at once, per process."
    )
    event_streams: int = Field(
        default=100, ge=0, le=10_000, description="Streams of events at once, per process."
    )
    event_poll_seconds: float = Field(
        default=1,
        gt=0,
        le=60,
        description="Between two looks of a stream for events of other processes.",
    )

    @field_validator("summarizer_url", "summarizer_key", "summarizer_model", mode="before")
    @classmethod
    def _unset(cls, value: object) -> object:
        # An environment can hardly say that a variable is not there, so an empty one says it.
        return None if value == "" else value

    @classmethod
    def from_mapping(
        cls, environment: Mapping[str, str], over: Mapping[str, object] | None = None
    ) -> Self:
        """The settings that an environment gives, with those of `over` over them.

        What neither names keeps its default.

        Raises:
            InvalidSettings: A value is not one that its setting can have.
        """
        given: dict[str, object] = {
            name: environment[variable_of(name)]
            for name in cls.model_fields
            if variable_of(name) in environment
        }
        try:
            return cls.model_validate({**given, **(over or {})})
        except ValidationError as error:
            faults = (f"{fault['loc'][0]}: {fault['msg']}" for fault in error.errors())
            raise InvalidSettings("; ".join(faults)) from error


def variable_of(name: str) -> str:
    """The environment variable of a setting."""
    return UNPREFIXED.get(name, f"{PREFIX}{name.upper()}")
