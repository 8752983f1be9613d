"""Compactions come back from their bytes as they were, their times from columns beside."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from app.compaction.checkpoint_items import KeptItem, MadeItem, OpaqueItem, ReplayedItem
from app.compaction.codec import decode_compaction, encode_compaction
from app.compaction.openwork_items import framed_summary
from app.compaction.record import (
    Answered,
    Checkpoint,
    Claim,
    Compaction,
    Plan,
    PlannedPair,
    Rung,
    blank_compaction,
)
from app.compaction.view import PairPlace, View
from app.core import canonical
from app.core.model_profile import ModelProfile

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
LATER = NOON + timedelta(minutes=3)
BLANK = blank_compaction("compaction-1", 1, "manual", NOON)
PLAN = Plan(
    key="ab" * 32,
    base_version=7,
    view_id=None,
    pruned_through=4,
    shown_through=9,
    visibility_ordinal=2,
    keep_from=8,
    through_sequence=8,
    message_count=8,
    tokens={"json_bytes": 100, "tokenizer": 90},
    anchor_message_id="m1",
    anchor_sequence=1,
)
PENDING = replace(
    BLANK,
    kind="overflow",
    style="cached",
    turn_id="t",
    model_call=2,
    phase="mid_turn",
    instructions="Keep 名前.",
    compact_with=ModelProfile(name="large", context_window=200_000, comp_hash="a"),
    attempt=2,
    max_attempts=3,
    rung=Rung(min_level=1, overflowed_tokens=120),
    plan=PLAN,
    claim=Claim(token="claim-2", expires_at=LATER, key="k"),
    issued_tokens=("claim-1", "claim-2"),
    answered=(
        Answered(
            attempt=1,
            event_sha256="cd" * 32,
            answer={"status": "pending", "attempt": 2},
            rung=Rung(min_level=1, overflowed_tokens=120),
        ),
        Answered(attempt=2, event_sha256="ef" * 32, answer={"status": "failed"}, rung=None),
    ),
    updated_at=LATER,
)
COMPLETED = replace(
    PENDING,
    status="completed",
    claim=None,
    checkpoint=Checkpoint(
        sequence=3,
        through_sequence=8,
        replaced_through_sequence=9,
        last_user_message_id="m1",
        last_user_message_sequence=1,
        summary="What happened.",
        runtime_reminder="<system_reminder>",
        runtime_state={"schema_version": 1, "edited_paths": ["a.rs"]},
        created_at=LATER,
        items=(
            KeptItem(message_id="m1"),
            ReplayedItem(message_id="m3", reason="last_user_request_replay", suffix="last-user"),
            MadeItem(reason="compaction_summary", suffix="summary", role="user", text="Done."),
            OpaqueItem(suffix="provider", content='[{"type":"provider_opaque"}]'),
        ),
    ),
    tokens={"before": 10, "after": 1, "reclaimed": 9},
    view=View(checkpoint_id="compaction-1", ranges=((4, 6), (8, 9)), open_after=12, again=(1, 3)),
)
REWIND = replace(
    BLANK,
    kind="rewind",
    status="completed",
    parent_id="compaction-0",
    previous_view_id="compaction-0",
    checkpoint=Checkpoint(
        sequence=1,
        through_sequence=0,
        replaced_through_sequence=4,
        last_user_message_id=None,
        last_user_message_sequence=None,
        summary=None,
        runtime_reminder=None,
        runtime_state=None,
        created_at=NOON,
    ),
    view=View(checkpoint_id=None, ranges=(), open_after=4),
)
BATCH = replace(
    COMPLETED,
    kind="tool_pairs",
    plan=replace(
        PLAN,
        pairs=(PlannedPair(call_ids=("a", "b"), message_ids=("m2", "m3"), sequences=(2, 3)),),
    ),
    view=View(
        checkpoint_id=None,
        ranges=((0, 1),),
        open_after=3,
        pairs=(PairPlace(compaction_id="compaction-1", index=0, sequences=(2, 3)),),
        stands_on="compaction-0",
    ),
)
FAILED = replace(PENDING, status="failed", claim=None, failure_code="cannot_fit")


def through_bytes(compaction: Compaction) -> Compaction:
    claim, checkpoint = compaction.claim, compaction.checkpoint
    return decode_compaction(
        encode_compaction(compaction),
        compaction.created_at,
        compaction.updated_at,
        None if claim is None else claim.expires_at,
        None if checkpoint is None else checkpoint.created_at,
    )


@pytest.mark.parametrize(
    "compaction",
    [BLANK, PENDING, COMPLETED, REWIND, BATCH, FAILED],
    ids=["blank", "pending", "completed", "rewind", "tool pairs", "failed"],
)
def test_a_compaction_comes_back_as_it_was(compaction: Compaction) -> None:
    assert through_bytes(compaction) == compaction
    assert encode_compaction(through_bytes(compaction)) == encode_compaction(compaction)


def test_times_are_no_part_of_the_bytes() -> None:
    moved = replace(PENDING, claim=Claim(token="claim-2", expires_at=NOON, key="k"))

    assert encode_compaction(replace(moved, created_at=LATER)) == encode_compaction(PENDING)
    assert "2026" not in encode_compaction(COMPLETED).decode()


def test_the_bytes_are_json_of_the_fields() -> None:
    fields = json.loads(encode_compaction(COMPLETED))

    assert fields["view"] == {
        "checkpoint_id": "compaction-1",
        "ranges": [[4, 6], [8, 9]],
        "open_after": 12,
        "again": [1, 3],
        "pairs": [],
        "stands_on": None,
    }
    assert fields["instructions"] == "Keep 名前."


def without(fields: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name not in names}


def test_a_record_from_before_there_were_styles_has_the_three_items() -> None:
    fields = json.loads(encode_compaction(COMPLETED))
    former = {
        **without(fields, "compact_with"),
        "checkpoint": without(fields["checkpoint"], "items"),
        "view": without(fields["view"], "again"),
    }
    found = decode_compaction(canonical.encode(former), NOON, LATER, None, LATER)

    assert found.compact_with is None
    assert found.view is not None
    assert found.view.again == ()
    assert found.checkpoint is not None
    assert found.checkpoint.items == (
        ReplayedItem(message_id="m1", reason="last_user_request_replay", suffix="last-user"),
        MadeItem(
            reason="compaction_summary",
            suffix="summary",
            role="user",
            text=framed_summary("What happened."),
        ),
        MadeItem(
            reason="system_reminder", suffix="reminder", role="user", text="<system_reminder>"
        ),
    )


def test_a_rewind_from_before_there_were_styles_has_no_items() -> None:
    fields = json.loads(encode_compaction(REWIND))
    former = {**fields, "checkpoint": without(fields["checkpoint"], "items")}
    found = decode_compaction(canonical.encode(former), NOON, NOON, None, NOON)

    assert found == REWIND


def test_a_plan_from_before_visibility_could_change_saw_no_change() -> None:
    former = cast("dict[str, Any]", canonical.decode(encode_compaction(PENDING)))
    del former["plan"]["visibility_ordinal"]
    decoded = decode_compaction(canonical.encode(former), NOON, LATER, LATER, None)

    assert decoded.plan == replace(PLAN, visibility_ordinal=0)


def test_tool_pairs_begin_no_window() -> None:
    assert [each.window_view_id for each in (COMPLETED, BATCH, replace(BATCH, view=None))] == [
        "compaction-1",
        "compaction-0",
        "compaction-1",
    ]
