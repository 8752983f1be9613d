from app.core.facts import form_of
from app.core.items import Item
from app.core.media import DEFAULT_MEDIA_RULE, MediaRule
from app.core.recount import recounted
from app.core.request_copy import Memo
from tests.unit.core.builders import COUNTER, as_blocks, image, stored, user


class DoubleCounter:
    basis = "double/1"
    media_rule = DEFAULT_MEDIA_RULE

    def count(self, text: str) -> int:
        return 2 * len(text)


ITEMS = stored(user("one"), user("three"))


def doubled(item: Item, text: str) -> Item:
    return item.with_form(form_of("user", as_blocks([text]), DoubleCounter()))


def test_counts_of_the_counter_in_force_are_left_alone() -> None:
    assert recounted(ITEMS, COUNTER, {}) is ITEMS


def test_counts_of_another_basis_are_made_anew() -> None:
    assert recounted(ITEMS, DoubleCounter(), {}) == (
        doubled(ITEMS[0], "one"),
        doubled(ITEMS[1], "three"),
    )


def test_only_the_others_are_counted_again() -> None:
    mixed = (doubled(ITEMS[0], "one"), ITEMS[1])
    memo: Memo = {}
    again = recounted(mixed, DoubleCounter(), memo)

    assert again == (mixed[0], doubled(ITEMS[1], "three"))
    assert again[0] is mixed[0]
    assert len(memo) == 1


def test_a_new_count_is_remembered_by_its_content() -> None:
    memo: Memo = {}
    first = recounted(ITEMS, DoubleCounter(), memo)
    again = recounted(ITEMS, DoubleCounter(), memo)

    assert [item.content for item in again] == [item.content for item in first]
    assert again[0].content is first[0].content
    assert len(memo) == 2


class OtherMedia:
    """Counts text as `COUNTER` does, and media by another rule."""

    basis = f"{COUNTER.basis}, media/3"
    media_rule: MediaRule = "bytes"

    def count(self, text: str) -> int:
        return len(text)


def test_only_what_holds_media_is_counted_again_for_another_media_rule() -> None:
    items = stored(user("one"), user(image("Z" * 400)))
    again = recounted(items, OtherMedia(), {})

    assert again[0] is items[0]
    assert [item.facts.tokenizer_tokens for item in again] == [3, 100]
    assert again[1].facts.token_basis == OtherMedia.basis
    assert recounted(again, OtherMedia(), {}) is again
