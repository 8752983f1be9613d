"""Items of a checkpoint: the same bytes from what is kept of them."""

from datetime import UTC, datetime

from app.compaction.checkpoint_items import (
    Anchored,
    KeptItem,
    MadeItem,
    OpaqueItem,
    ReplayedItem,
    checkpoint_items,
    items_again,
    named_messages,
    with_reminder,
)
from app.compaction.codex_style import CodexStyle
from app.compaction.openwork_style import OpenWorkStyle
from app.compaction.style import Folded, Style
from app.compaction.user_messages import SUMMARY_PREFIX
from app.core.items import Item
from app.core.messages import Real, Synthetic
from app.core.stored import NewMessage, StoredMessage
from tests.unit.core.builders import COUNTER, assistant, image, stored, user

ITEMS = stored(
    user("first"),
    user("<sandbox_policy>", kind="world_state"),
    user("look", image()),
    assistant("done"),
)
ANCHOR = Anchored(message_id="m3", content=ITEMS[2].content)


def standing(style: Style) -> tuple[Item, ...]:
    return style.replacement(
        Folded(
            compaction_id="compaction-1",
            items=ITEMS,
            replaced_through_sequence=4,
            phase="mid_turn",
            summary="It is done.",
            reminder="<system_reminder>",
            context=(ITEMS[1],),
            counter=COUNTER,
        )
    )


def rows() -> dict[str, StoredMessage]:
    found = {}
    for sequence, item in enumerate(ITEMS, start=1):
        message = NewMessage(
            id=f"m{sequence}",
            turn_id=None,
            role=item.role,
            kind=item.kind,
            agent_visible=True,
            user_visible=True,
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            content=item.content,
            facts=item.facts,
        )
        found[message.id] = StoredMessage(sequence=sequence, message=message)
    return found


def test_what_is_stored_is_named_and_what_is_made_is_kept() -> None:
    assert checkpoint_items(standing(CodexStyle()), "compaction-1", ANCHOR) == (
        KeptItem(message_id="m1"),
        KeptItem(message_id="m2"),
        MadeItem(reason="last_user_request_replay", suffix="user-2", role="user", text="look"),
        MadeItem(
            reason="compaction_summary",
            suffix="summary",
            role="user",
            text=f"{SUMMARY_PREFIX}\nIt is done.",
        ),
    )


def test_a_replay_of_the_anchor_is_named() -> None:
    kept = checkpoint_items(standing(OpenWorkStyle()), "compaction-1", ANCHOR)

    assert kept[0] == ReplayedItem(
        message_id="m3", reason="last_user_request_replay", suffix="last-user"
    )
    assert named_messages(kept) == ["m3"]


def test_the_items_come_back_with_the_same_bytes() -> None:
    for style in (OpenWorkStyle(), CodexStyle()):
        items = standing(style)
        kept = checkpoint_items(items, "compaction-1", ANCHOR)
        again = items_again(kept, rows(), "compaction-1", 4, COUNTER)

        assert [(item.role, item.kind, item.content, item.facts) for item in again] == [
            (item.role, item.kind, item.content, item.facts) for item in items
        ]
        assert [item.source for item in again] == [item.source for item in items]
        assert {item.depends_on for item in again} == {4}


def test_a_kept_message_is_the_stored_one() -> None:
    kept = (KeptItem(message_id="m2"),)
    (item,) = items_again(kept, rows(), "compaction-1", 4, COUNTER)

    assert (item.source, item.kind) == (Real(id="m2", sequence=2), "world_state")


def test_a_restored_checkpoint_tells_the_state_of_now() -> None:
    kept = checkpoint_items(standing(OpenWorkStyle()), "compaction-1", ANCHOR)
    restored = with_reminder(kept, "<new>")

    assert restored[:2] == kept[:2]
    assert restored[2] == MadeItem(
        reason="system_reminder", suffix="reminder", role="user", text="<new>"
    )


def test_what_a_provider_made_is_a_message_of_the_assistant_and_names_nothing_stored() -> None:
    content = '[{"type":"provider_opaque","driver":"d","kind":"fold","payload":{"a":1}}]'
    kept = (OpaqueItem(suffix="provider", content=content),)
    (item,) = items_again(kept, {}, "compaction-1", 4, COUNTER)

    assert (item.role, item.content, item.depends_on) == ("assistant", content.encode(), 4)
    assert item.source == Synthetic(reason="provider_fold", id="compaction-1:provider")
    assert named_messages(kept) == []
