"""Events as listeners read them: the data of each, and which of them are wanted."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, RootModel

from app.api.session_models import WindowOut
from app.compaction.record import CompactionKind
from app.core.events import EventType
from app.core.limits import CompactionTrigger, Reason
from app.core.prefix import Cause
from app.store.events import EventFilter


class EventQuery(BaseModel):
    """Which events are wanted; without any of these all are."""

    model_config = ConfigDict(extra="forbid")

    session_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._~:-]{1,128}$")] | None = None
    type: EventType | None = None

    def filter(self) -> EventFilter:
        """The same for the store."""
        return EventFilter(session_id=self.session_id, type=self.type)


class CompactionNeededEvent(BaseModel):
    """A prepared call is not to be sent before the session is compacted."""

    session_id: str
    type: Literal["compaction_needed"]
    plan_key: str
    kind: CompactionTrigger
    reason: Reason


class HistoryReplacedEvent(BaseModel):
    """Another view of the session is shown from now on, in a new window."""

    session_id: str
    type: Literal["history_replaced"]
    compaction_id: str
    kind: CompactionKind
    window: WindowOut


class CompactionCompletedEvent(BaseModel):
    """A fold is installed."""

    session_id: str
    type: Literal["compaction_completed"]
    compaction_id: str
    kind: CompactionKind
    plan_key: str | None


class PrefixBrokenEvent(BaseModel):
    """A prepared call does not repeat the one before it."""

    session_id: str
    type: Literal["prefix_broken"]
    prepared_id: str
    cause: Cause
    message_index: int | None


class ResetEvent(BaseModel):
    """Events may be missing: what is known of every session has to be read again."""

    session_id: None
    type: Literal["reset"]


class EventOut(
    RootModel[
        Annotated[
            CompactionNeededEvent
            | HistoryReplacedEvent
            | CompactionCompletedEvent
            | PrefixBrokenEvent
            | ResetEvent,
            Field(discriminator="type"),
        ]
    ]
):
    """The `data` of one event, in one line; its `type` is the event's name too."""
