"""Usage as tests report and read it."""

from typing import Any

import httpx

from tests.api.client import Json, SessionApi, succeeded

FIELDS = (
    *("turn_id", "model_call", "model", "input_tokens", "cached_input_tokens"),
    *("output_tokens", "event", "cause", "late"),
)


async def post_usage(session: SessionApi, **fields: Any) -> httpx.Response:
    """Report usage of the session's model unless the fields say otherwise."""
    return await session.post("usage", {"model": "model-a", **fields})


async def report(session: SessionApi, **fields: Any) -> Json:
    """The answer to a report."""
    return succeeded(await post_usage(session, **fields))


async def series(session: SessionApi) -> list[Json]:
    """All entries of the ledger."""
    items: list[Json] = (await session.read("usage", limit=500))["items"]
    return items


async def usage_of(session: SessionApi) -> Json:
    """What the session's own answer says of its usage."""
    usage: Json = (await session.read())["usage"]
    return usage


async def totals_of(session: SessionApi) -> Json:
    totals: Json = (await usage_of(session))["totals"]
    return totals


def totals(reports: int = 0, **tokens: int) -> Json:
    """Totals in which nothing counts but what is given."""
    names = ("input", "cached_input", "cache_write", "output", "reasoning_output")
    nothing = {f"{name}_tokens": 0 for name in names}
    return {"reports": reports, **nothing, **tokens}
