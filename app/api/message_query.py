"""Which messages to list, and how."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from app.api.pages import DEFAULT_LIMIT, LARGEST_LIMIT, OrderIn
from app.core.messages import Kind, Role
from app.store.messages import MessageFilter


class MessageQuery(BaseModel):
    """The query of a list of messages."""

    model_config = ConfigDict(extra="forbid")

    kind: Kind | None = None
    role: Role | None = None
    turn_id: Annotated[str, Field(pattern=r"^[A-Za-z0-9._~:-]{1,128}$")] | None = None
    user_visible: bool | None = None
    agent_visible: bool | None = None
    after_sequence: int | None = Field(default=None, ge=0, lt=2**63)
    order: OrderIn = "asc"
    cursor: str | None = Field(default=None, description="`next_cursor` of the page before.")
    limit: int = Field(default=DEFAULT_LIMIT, ge=1, le=LARGEST_LIMIT)

    def filter(self) -> MessageFilter:
        """The filter as the store takes it."""
        return MessageFilter(
            kind=self.kind,
            role=self.role,
            turn_id=self.turn_id,
            user_visible=self.user_visible,
            after_sequence=self.after_sequence,
            agent_visible=self.agent_visible,
        )
