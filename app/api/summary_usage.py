"""What a summary's call took, on the wire."""

from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from app.api.usage_models import RawUsageIn, Tokens
from app.core.usage_report import UsageNumbers
from app.importers.usage import usage_from
from app.services.summary_bills import SummaryUsage

_NUMBERS = tuple(UsageNumbers.__dataclass_fields__)


class SummaryUsageIn(BaseModel):
    """Numbers, or a provider's own object as `raw`. Every other field is kept and not counted."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True)

    input_tokens: Tokens | None = None
    cached_input_tokens: Tokens | None = None
    cache_write_tokens: Tokens | None = None
    output_tokens: Tokens | None = None
    reasoning_output_tokens: Tokens | None = None
    total_tokens: Tokens | None = None
    raw: Annotated[RawUsageIn | None, Field(description="Instead of the numbers.")] = None

    @model_validator(mode="after")
    def _says_it_once(self) -> Self:
        if self.raw is not None and any(getattr(self, name) is not None for name in _NUMBERS):
            raise ValueError("usage is given either raw or in numbers")
        return self

    def usage(self) -> SummaryUsage:
        """The usage as the services take it.

        Raises:
            InvalidUsage: The provider's object is none.
        """
        given: dict[str, Any] = self.model_dump(exclude_unset=True)
        if self.raw is not None:
            numbers = usage_from(self.raw.format, self.raw.usage)
        else:
            numbers = UsageNumbers(**{name: getattr(self, name) for name in _NUMBERS})
        return SummaryUsage(given=given, numbers=numbers)
