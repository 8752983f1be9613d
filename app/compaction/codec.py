"""Compactions as canonical bytes, and back. Times stand beside, as columns."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, cast

from app.compaction.record import Answered, Checkpoint, Claim, Compaction, Plan, Rung
from app.compaction.view import View
from app.core import canonical

_TIMES = ("created_at", "updated_at")


def encode_compaction(compaction: Compaction) -> bytes:
    """Everything of a compaction but its times."""
    fields = {name: value for name, value in asdict(compaction).items() if name not in _TIMES}
    if compaction.claim is not None:
        del fields["claim"]["expires_at"]
    if compaction.checkpoint is not None:
        del fields["checkpoint"]["created_at"]
    return canonical.encode(fields)


def decode_compaction(
    data: bytes,
    created_at: datetime,
    updated_at: datetime,
    claim_expires_at: datetime | None,
    completed_at: datetime | None,
) -> Compaction:
    """The compaction of bytes that `encode_compaction` made."""
    # Only bytes made by `encode_compaction` come here, so their shape is known.
    fields = cast("dict[str, Any]", canonical.decode(data))
    return Compaction(
        **{
            **fields,
            "created_at": created_at,
            "updated_at": updated_at,
            "issued_tokens": tuple(fields["issued_tokens"]),
            "answered": tuple(_answered(answered) for answered in fields["answered"]),
            "plan": None if fields["plan"] is None else Plan(**fields["plan"]),
            "rung": Rung(**fields["rung"]),
            "claim": _claim(fields["claim"], claim_expires_at),
            "checkpoint": _checkpoint(fields["checkpoint"], completed_at),
            "view": _view(fields["view"]),
        }
    )


def _answered(fields: Mapping[str, Any]) -> Answered:
    rung = None if fields["rung"] is None else Rung(**fields["rung"])
    return Answered(**{**fields, "rung": rung})


def _claim(fields: Mapping[str, Any] | None, expires_at: datetime | None) -> Claim | None:
    if fields is None or expires_at is None:
        return None
    return Claim(token=fields["token"], key=fields["key"], expires_at=expires_at)


def _checkpoint(fields: Mapping[str, Any] | None, created_at: datetime | None) -> Checkpoint | None:
    if fields is None or created_at is None:
        return None
    return Checkpoint(**fields, created_at=created_at)


def _view(fields: Mapping[str, Any] | None) -> View | None:
    if fields is None:
        return None
    view = View(**cast("dict[str, Any]", fields))
    return replace(view, ranges=tuple((after, last) for after, last in view.ranges))
