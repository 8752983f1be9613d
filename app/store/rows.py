"""Message rows as core values, and back."""

from collections.abc import Sequence
from typing import Any, cast

from sqlalchemy import RowMapping

from app.core import canonical
from app.core.facts import CallFact, Facts, ResultFact
from app.core.items import Item
from app.core.messages import Real
from app.core.stored import NewMessage, StoredMessage
from app.core.visibility import Visibility

FACT_COLUMNS = (
    "content_bytes",
    "json_bytes",
    "tokenizer_tokens",
    "token_basis",
    "has_data",
    "element_sha256",
    "pairing",
    "text_bytes",
)
ITEM_COLUMNS = ("sequence", "id", "role", "kind", "content", *FACT_COLUMNS)


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
        "text_bytes": facts.text_bytes,
    }


def item_of_row(row: Sequence[Any]) -> Item:
    """The item of a row that holds the values of `ITEM_COLUMNS`, in that order.

    It is taken apart by position: a session has many rows.
    """
    sequence, id_, role, kind, content, *facts = row
    return Item(
        role=role,
        kind=kind,
        content=content,
        facts=_facts(facts),
        source=Real(id=id_, sequence=sequence),
        depends_on=sequence,
    )


def _facts(values: Sequence[Any]) -> Facts:
    """The facts of the values of `FACT_COLUMNS`, in that order."""
    content_bytes, json_bytes, tokens, basis, has_data, digest, pairing, text = values
    calls, results = pairing_of(pairing)
    return Facts(
        content_bytes=content_bytes,
        json_bytes=json_bytes,
        tokenizer_tokens=tokens,
        token_basis=basis,
        has_data=has_data,
        element_sha256=digest,
        calls=calls,
        results=results,
        text_bytes=text,
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
    """The message of a whole row and the newest change of who sees it."""
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
            facts=_facts([row[name] for name in FACT_COLUMNS]),
        ),
        changed=_changed(row),
    )


def _changed(row: RowMapping) -> Visibility | None:
    agent, user = row["changed_agent"], row["changed_user"]
    return None if agent is None else Visibility(user=user, agent=agent)


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


def pairing_of(data: bytes | None) -> tuple[tuple[CallFact, ...], tuple[ResultFact, ...]]:
    """The calls and results of a stored pairing."""
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
