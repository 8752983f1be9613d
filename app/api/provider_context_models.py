"""What a provider holds of a session, on the wire."""

from typing import Annotated

from pydantic import BaseModel, Field

from app.api.answers import Answer
from app.api.validation import WireModel
from app.api.wire import Count
from app.core.provider_context import ProviderContext, provider_context_json

DriverName = Annotated[str, Field(min_length=1, max_length=128)]
ThreadRef = Annotated[str, Field(min_length=1, max_length=1024)]


class ProviderContextIn(WireModel):
    """A provider's thread, and the last message that is in it."""

    driver: DriverName
    ref: ThreadRef
    through_sequence: Count

    def context(self) -> ProviderContext:
        """The core's provider context."""
        return ProviderContext(
            driver=self.driver, ref=self.ref, through_sequence=self.through_sequence
        )


class ProviderContextOut(BaseModel):
    """A provider's thread, and the last message that is in it."""

    driver: str
    ref: str
    through_sequence: int


def provider_context_answer(context: ProviderContext | None) -> Answer | None:
    """What a provider holds, as answers have it."""
    return None if context is None else provider_context_json(context)
