"""Appends on the wire: messages, and what the provider reported of the call that they answer."""

from typing import Annotated

from pydantic import BaseModel, Field

from app.api.message_models import PlacedOut, RepairOut
from app.api.usage_models import ReportedOut, UsageIn
from app.api.validation import WireModel
from app.api.wire import Count, MessageIn


class AppendIn(WireModel):
    """Messages to append, all or none."""

    messages: Annotated[list[MessageIn], Field(min_length=1)]
    expected_message_count: Count | None = None
    base_compaction_id: str | None = None
    usage: UsageIn | None = None


class AppendOut(BaseModel):
    """What an append did."""

    messages: list[PlacedOut]
    message_count: int
    repairs: list[RepairOut]
    usage: ReportedOut | None = None
