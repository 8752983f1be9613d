"""Compactions as canonical bytes, and back. Times stand beside, as columns."""

from collections.abc import Mapping
from dataclasses import asdict, replace
from datetime import datetime
from typing import Any, cast

from app.compaction.checkpoint_items import (
    CheckpointItem,
    KeptItem,
    MadeItem,
    OpaqueItem,
    ReplayedItem,
)
from app.compaction.openwork_items import framed_summary
from app.compaction.record import (
    Answered,
    Checkpoint,
    Claim,
    Compaction,
    Plan,
    PlannedPair,
    Rung,
)
from app.compaction.view import PairPlace, View
from app.core import canonical
from app.core.model_profile import ModelProfile, profile_from_json, stored_profile_json

_TIMES = ("created_at", "updated_at")


def encode_compaction(compaction: Compaction) -> bytes:
    """Everything of a compaction but its times."""
    fields = {name: value for name, value in asdict(compaction).items() if name not in _TIMES}
    if compaction.compact_with is not None:
        fields["compact_with"] = stored_profile_json(compaction.compact_with)
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
            "plan": _plan(fields["plan"]),
            "rung": Rung(**fields["rung"]),
            "claim": _claim(fields["claim"], claim_expires_at),
            "checkpoint": _checkpoint(fields["checkpoint"], completed_at),
            "view": _view(fields["view"]),
            "compact_with": _profile(fields.get("compact_with")),
        }
    )


def _plan(fields: Mapping[str, Any] | None) -> Plan | None:
    if fields is None:
        return None
    pairs = (
        PlannedPair(**{name: tuple(values) for name, values in pair.items()})
        for pair in fields.get("pairs", ())
    )
    return Plan(**{**fields, "pairs": tuple(pairs)})


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
    kept = fields.get("items")
    items = _former_items(fields) if kept is None else tuple(map(_item, kept))
    return Checkpoint(**{**fields, "items": items}, created_at=created_at)


def _item(fields: Mapping[str, Any]) -> CheckpointItem:
    if "text" in fields:
        return MadeItem(**{**fields, "more": tuple(fields.get("more", ()))})
    if "content" in fields:
        return OpaqueItem(**fields)
    return ReplayedItem(**fields) if "reason" in fields else KeptItem(**fields)


def _former_items(fields: Mapping[str, Any]) -> tuple[CheckpointItem, ...]:
    """The items of a checkpoint from before checkpoints kept them: they were OpenWork's."""
    if fields["summary"] is None:
        return ()
    return (
        ReplayedItem(
            message_id=fields["last_user_message_id"],
            reason="last_user_request_replay",
            suffix="last-user",
        ),
        MadeItem(
            reason="compaction_summary",
            suffix="summary",
            role="user",
            text=framed_summary(fields["summary"]),
        ),
        MadeItem(
            reason="system_reminder",
            suffix="reminder",
            role="user",
            text=fields["runtime_reminder"],
        ),
    )


def _profile(fields: Mapping[str, Any] | None) -> ModelProfile | None:
    return None if fields is None else profile_from_json(fields)


def _view(fields: Mapping[str, Any] | None) -> View | None:
    if fields is None:
        return None
    view = View(**cast("dict[str, Any]", fields))
    ranges = tuple((after, last) for after, last in view.ranges)
    pairs = tuple(
        PairPlace(**{**pair, "sequences": tuple(pair["sequences"])})
        for pair in fields.get("pairs", ())
    )
    return replace(view, ranges=ranges, again=tuple(view.again), pairs=pairs)
