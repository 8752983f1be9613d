"""What summary requests are made from, and shorter ways to look at them."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

from app.compaction.record import SummaryStyle
from app.compaction.summary_request import SummaryInput, SummaryRequest
from app.core.agent import SystemPart, Tool
from app.core.items import Item
from app.core.model_profile import ModelProfile
from app.core.request_copy import PruneBoundary
from tests.unit.core.builders import NOWHERE, PROFILE, PROMPT, READ, step_context, surface_of

UNKNOWN_WINDOW = ModelProfile(name="model-1", context_window=None)


def window(tokens: int, output_tokens: int = 1_000) -> ModelProfile:
    """A model that takes so many tokens."""
    return ModelProfile(name="model-1", context_window=tokens, max_output_tokens=output_tokens)


def summary_input(
    *items: Item,
    keep_from: int | None = None,
    style: SummaryStyle = "conversation",
    profile: ModelProfile = PROFILE,
    parts: Sequence[SystemPart] = (PROMPT,),
    tools: Sequence[Tool] = (READ,),
    instructions: str | None = None,
    boundary: PruneBoundary = NOWHERE,
    min_level: int = 0,
    overflowed_tokens: int | None = None,
) -> SummaryInput:
    return SummaryInput(
        model=profile.name,
        profile=profile,
        surface=surface_of(parts, tools),
        items=items,
        keep_from=len(items) if keep_from is None else keep_from,
        context=step_context(profile=profile, boundary=boundary),
        style=style,
        instructions=instructions,
        min_level=min_level,
        overflowed_tokens=overflowed_tokens,
    )


def body_of(request: SummaryRequest) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(request.body)
    return body


def roles_of(request: SummaryRequest) -> list[str]:
    return [message["role"] for message in body_of(request)["messages"]]


def blocks_of(request: SummaryRequest) -> Iterator[dict[str, Any]]:
    for message in body_of(request)["messages"]:
        yield from message["content"]


def texts_of(request: SummaryRequest) -> list[str]:
    """The texts of the last message."""
    return [block["text"] for block in body_of(request)["messages"][-1]["content"]]


def shown(request: SummaryRequest) -> str:
    """All of the request as text, for looking something up in it."""
    return json.dumps(body_of(request), ensure_ascii=False)
