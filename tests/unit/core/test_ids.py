import pytest

from app.core.errors import InvalidId, ReservedId
from app.core.ids import check_key, check_message_id, is_key

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
