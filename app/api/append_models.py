"""Appends on the wire: messages, and what the provider reported of the call that they answer."""

from typing import Annotated

from pydantic import BaseModel, Field, JsonValue

from app.api.message_models import PlacedOut, RepairOut
from app.api.usage_models import ReportedOut, UsageIn
from app.api.validation import WireModel
from app.api.wire import Count, MessageIn
from app.core.ids import check_key, check_message_id
from app.encoders.encoding import Format
from app.services.provider_answers import ProviderAnswer


class AppendIn(WireModel):
    """Messages to append, all or none."""

    messages: Annotated[list[MessageIn], Field(min_length=1)]
    expected_message_count: Count | None = None
    base_compaction_id: str | None = None
    usage: UsageIn | None = None


class ResponseIn(WireModel):
    """A provider's answer, whole and as it came."""

    format: Format
    body: dict[str, JsonValue]


class AnswerIn(WireModel):
    """The answer to a prepared call, to be appended as a message of the assistant."""

    response: ResponseIn
    prepared_id: str
    id: str | None = Field(default=None, description="None: one that `prepared_id` gives.")
    turn_id: str | None = None
    expected_message_count: Count | None = None
    base_compaction_id: str | None = None

    def answer(self) -> ProviderAnswer:
        """The answer as the services take it.

        Raises:
            InvalidId, ReservedId: No turn or message can have that id.
        """
        if self.turn_id is not None:
            check_key(self.turn_id, "turn_id")
        if self.id is not None:
            check_message_id(self.id, 0)
        return ProviderAnswer(
            format=self.response.format,
            body=self.response.body,
            prepared_id=self.prepared_id,
            message_id=self.id,
            turn_id=self.turn_id,
        )


class AppendOut(BaseModel):
    """What an append did."""

    messages: list[PlacedOut]
    message_count: int
    repairs: list[RepairOut]
    usage: ReportedOut | None = None
