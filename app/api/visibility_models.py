"""Changes of who sees a message, on the wire."""

from typing import Self

from pydantic import model_validator

from app.api.message_models import MessageOut
from app.api.validation import WireModel
from app.services.visibility import VisibilityChange


class VisibilityIn(WireModel):
    """Who sees a message from now on; at least one of the fields."""

    agent_visible: bool | None = None
    user_visible: bool | None = None

    @model_validator(mode="after")
    def _says_something(self) -> Self:
        if self.agent_visible is None and self.user_visible is None:
            raise ValueError("a change has agent_visible, user_visible or both")
        return self

    def change(self) -> VisibilityChange:
        """The change as the services take it."""
        return VisibilityChange(agent=self.agent_visible, user=self.user_visible)


class SeenMessageOut(MessageOut):
    """A message after a change of who sees it."""

    version: int
    """Of the session."""
