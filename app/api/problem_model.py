"""A problem on the wire, for OpenAPI."""

from typing import Any

from pydantic import BaseModel, ConfigDict


class Problem(BaseModel):
    """RFC 9457, with a stable code and what names the offender."""

    model_config = ConfigDict(extra="allow")

    type: str
    title: str
    status: int
    detail: str
    instance: str
    code: str
    retryable: bool
    message_index: int | None = None
    message_id: str | None = None
    block_index: int | None = None
    item_index: int | None = None
    key: str | None = None
    tokens: int | None = None
    limit_tokens: int | None = None
    limit_bytes: int | None = None
    errors: list[dict[str, Any]] | None = None
