"""Message rows as core values, and back."""

from typing import Any, cast

from sqlalchemy import RowMapping

from app.core import canonical
from app.core.facts import CallFact, Facts, ResultFact
from app.core.stored import NewMessage, StoredMessage

FACT_COLUMNS = (
    "content_bytes",
    "json_bytes",
    "tokenizer_tokens",
    "token_basis",
    "has_data",
    "element_sha256",
    "pairing",
)


def facts_columns(facts: Facts) -> dict[str, object]:
    """The columns of a message's facts."""
    return {
        "content_bytes": facts.content_bytes,
        "json_bytes": facts.json_bytes,
        "tokenizer_tokens": facts.tokenizer_tokens,
        "token_basis": facts.token_basis,
        "has_data": facts.has_data,
        "element_sha256": facts.element_sha256,
        "pairing": _pairing_bytes(facts),
    }


def facts_of(row: RowMapping) -> Facts:
    """The facts of a row that holds `FACT_COLUMNS`."""
    calls, results = _pairing(row["pairing"])
    return Facts(
        content_bytes=row["content_bytes"],
        json_bytes=row["json_bytes"],
        tokenizer_tokens=row["tokenizer_tokens"],
        token_basis=row["token_basis"],
        has_data=row["has_data"],
        element_sha256=row["element_sha256"],
        calls=calls,
        results=results,
    )


def message_columns(message: NewMessage) -> dict[str, object]:
    """The columns of a message, but for its place in a session."""
    return {
        "id": message.id,
        "turn_id": message.turn_id,
        "role": message.role,
        "kind": message.kind,
        "agent_visible": message.agent_visible,
        "user_visible": message.user_visible,
        "created_at": message.created_at,
        "content": message.content,
        **facts_columns(message.facts),
    }


def stored_message(row: RowMapping) -> StoredMessage:
    """The message of a whole row."""
    return StoredMessage(
        sequence=row["sequence"],
        message=NewMessage(
            id=row["id"],
            turn_id=row["turn_id"],
            role=row["role"],
            kind=row["kind"],
            agent_visible=row["agent_visible"],
            user_visible=row["user_visible"],
            created_at=row["created_at"],
            content=row["content"],
            facts=facts_of(row),
        ),
    )


def _pairing_bytes(facts: Facts) -> bytes | None:
    if not facts.calls and not facts.results:
        return None
    return canonical.encode(
        [
            [[call.id, call.name, call.state] for call in facts.calls],
            [
                [result.id, result.name, result.state, result.joined_chars, result.visible_bytes]
                for result in facts.results
            ],
        ]
    )


def _pairing(data: bytes | None) -> tuple[tuple[CallFact, ...], tuple[ResultFact, ...]]:
    if data is None:
        return (), ()
    # Only bytes made by `_pairing_bytes` are stored, so their shape is known.
    calls, results = cast("list[list[list[Any]]]", canonical.decode(data))
    return (
        tuple(CallFact(id=id_, name=name, state=state) for id_, name, state in calls),
        tuple(
            ResultFact(id=id_, name=name, state=state, joined_chars=chars, visible_bytes=size)
            for id_, name, state, chars, size in results
        ),
    )
