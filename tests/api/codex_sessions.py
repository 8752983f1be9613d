"""Sessions of preset codex, and what a request shows of them."""

from typing import Any

from app.compaction.user_messages import SUMMARY_PREFIX
from tests.api.client import Json, SessionApi, assistant, calls, results, user
from tests.api.compacting import Timed, reasons, texts

SAID = "The build works; the tests are next."
"""A summary in a model's own words."""


async def codex_session(timed: Timed, **fields: Any) -> SessionApi:
    """A session without a message."""
    return await timed.session(policy="codex", **fields)


async def codex_talk(timed: Timed, **fields: Any) -> SessionApi:
    """A session with two requests: one worked on with a tool, one answered."""
    session = await codex_session(timed, **fields)
    await session.append(user("Fix the build.", "m1"), calls("c1", message_id="m2"))
    await session.append(results("c1", message_id="m3"), assistant("Fixed.", "m4"))
    await session.append(user("Run it.", "m5"), assistant("It runs.", "m6"))
    return session


def summary(text: str = SAID) -> str:
    """A summary as a model finds it."""
    return f"{SUMMARY_PREFIX}\n{text}"


async def seen(session: SessionApi) -> list[tuple[str, str]]:
    """Where each message of the next request comes from, and its text."""
    prepared = await session.prepare(include=["provenance"])
    return shown(prepared)


def shown(prepared: Json) -> list[tuple[str, str]]:
    return list(zip(reasons(prepared), texts(prepared["request"]), strict=True))
