"""Repairs of a body, told in the answer to it."""

import re
from collections.abc import Iterable

from app.api.answers import Answer
from app.api.body import Body
from app.api.responses import spliced
from app.core import canonical
from app.core.errors import TooManyMessages

_MESSAGE = re.compile(r"/(?:messages|append)/(\d+)")


def body_repairs(body: Body, message_ids: list[str]) -> list[Answer]:
    """A repair for every text of a body in which lone surrogates were replaced."""
    return [_repair(path, message_ids) for path in body.repaired]


def with_repairs(answer: bytes, body: Body) -> bytes:
    """An answer with what was mended in its body, where anything was."""
    if not body.repaired:
        return answer
    return spliced(answer, "repairs", [canonical.encode(body_repairs(body, []))])


def hidden_results(hidden: Iterable[tuple[str, str]]) -> list[Answer]:
    """A repair for every stored result, by message and call id, whose call requests do not show."""
    return [
        {"code": "result_of_summarised_call", "message_id": message_id, "call_id": call_id}
        for message_id, call_id in hidden
    ]


def _repair(path: str, message_ids: list[str]) -> Answer:
    answer: Answer = {"code": "lone_surrogate_replaced", "path": path}
    match = _MESSAGE.match(path)
    if match and int(match.group(1)) < len(message_ids):
        answer["message_id"] = message_ids[int(match.group(1))]
    return answer


def refuse_large_batch(value: object, field: str, limit: int) -> None:
    """Refuse a batch by its length, before its messages are looked at.

    Raises:
        TooManyMessages: It is longer than `limit`.
    """
    batch = value.get(field) if isinstance(value, dict) else None
    if isinstance(batch, list) and len(batch) > limit:
        raise TooManyMessages(
            f"{field} holds {len(batch)} messages, more than {limit}",
            key=field,
            limit=limit,
        )
