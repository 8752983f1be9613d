import pytest

from app.core.errors import InvalidId, ReservedId
from app.core.ids import (
    check_key,
    check_message_id,
    is_key,
    is_prepared_id,
    is_stored_message_id,
)

ODD = ["", "a" * 129, "a b", "é", "a\n", "a\0", "a?", "a#", "%41"]


@pytest.mark.parametrize("text", ["a", "A-Z.0_9~:x", "a" * 128, "..", "world-state:x"])
def test_a_key_is_made_of_unreserved_characters_and_colons(text: str) -> None:
    check_key(text, "id")

    assert is_key(text)


@pytest.mark.parametrize("text", [*ODD, "a/b"])
def test_anything_else_is_no_key(text: str) -> None:
    with pytest.raises(InvalidId) as refused:
        check_key(text, "turn_id")

    assert not is_key(text)
    assert refused.value.detail == "turn_id must be 1 to 128 characters of A-Z a-z 0-9 . _ ~ : -"
    assert refused.value.details == {"key": "turn_id"}


def test_a_key_of_a_message_names_the_message_too() -> None:
    with pytest.raises(InvalidId) as refused:
        check_key("a/b", "turn_id", 3)

    assert refused.value.details == {"key": "turn_id", "message_index": 3}


@pytest.mark.parametrize(
    ("text", "can_be"),
    [
        (f"prep-{'0a' * 16}", True),
        (f"prep-{'0a' * 15}", False),
        (f"prep-{'0A' * 16}", False),
        (f"prep-{'0a' * 16}\n", False),
        (f"x{'0a' * 16}", False),
    ],
)
def test_a_prepared_id_is_a_prefix_and_32_hexadecimal_digits(text: str, can_be: bool) -> None:
    assert is_prepared_id(text) is can_be


@pytest.mark.parametrize(
    ("text", "can_be"),
    [
        ("world-state:t1:1:1:project/AGENTS.md", True),
        ("a" * 512, True),
        ("a" * 513, False),
        ("", False),
        ("a b", False),
        ("a\n", False),
    ],
)
def test_ids_of_stored_messages_may_be_longer_and_reserved(text: str, can_be: bool) -> None:
    assert is_stored_message_id(text) is can_be


@pytest.mark.parametrize("text", ["a", "a/b", "/", "msg-1", "world-state", "xcompaction-", "Prep-"])
def test_a_message_id_may_hold_slashes(text: str) -> None:
    check_message_id(text, 0)


@pytest.mark.parametrize("text", ODD)
def test_anything_else_is_no_message_id(text: str) -> None:
    with pytest.raises(InvalidId) as refused:
        check_message_id(text, 3)

    assert refused.value.details == {"key": "id", "message_index": 3}


@pytest.mark.parametrize("prefix", ["world-state:", "compaction-", "prep-"])
def test_ids_of_what_is_made_here_are_reserved(prefix: str) -> None:
    with pytest.raises(ReservedId) as refused:
        check_message_id(f"{prefix}x", 1)

    assert refused.value.detail == f"message ids that begin with '{prefix}' are reserved"
    assert refused.value.details == {"message_index": 1, "message_id": f"{prefix}x"}
