import pytest

from app.compaction.ladder import (
    droppable_rounds,
    first_fitting,
    input_limit,
    live_message,
    output_tokens,
    with_media_noted,
    with_noted_results,
    with_short_results,
    without_rounds,
)
from app.core.blocks import text_block
from app.core.items import Item
from app.core.model_profile import ModelProfile
from tests.unit.compaction.summary_inputs import UNKNOWN_WINDOW, window
from tests.unit.core.builders import (
    assistant,
    call,
    image,
    result,
    said,
    stored,
    synthetic,
    texts_of,
    tool,
    user,
)

MEDIA_NOTE = "[media left out: image/png]"


@pytest.mark.parametrize(
    ("profile", "tokens"),
    [
        (window(200_000, 32_000), 16_384),
        (window(200_000, 4_000), 4_000),
        (UNKNOWN_WINDOW, 16_384),
        (ModelProfile(name="m", context_window=None, max_output_tokens=9), 9),
        (window(2_000, 1_500), 1_000),
        (ModelProfile(name="m", context_window=8_000), 4_000),
        (window(2, 1), 1),
        (ModelProfile(name="m", context_window=1), 1),
    ],
)
def test_a_summary_takes_16384_tokens_and_at_most_half_of_the_window(
    profile: ModelProfile, tokens: int
) -> None:
    assert output_tokens(profile) == tokens


@pytest.mark.parametrize(
    ("profile", "overflowed", "limit"),
    [
        (UNKNOWN_WINDOW, None, None),
        (UNKNOWN_WINDOW, 1_001, 750),
        (window(10_000), None, 9_000),
        (window(10_000), 8_000, 6_000),
        (window(10_000), 20_000, 9_000),
    ],
)
def test_the_request_may_take_what_the_window_leaves_and_less_than_what_overflowed(
    profile: ModelProfile, overflowed: int | None, limit: int | None
) -> None:
    assert input_limit(profile, overflowed) == limit


@pytest.mark.parametrize(("needed", "found"), [(0, 3), (3, 3), (5, 5), (7, 7), (8, 7)])
def test_the_first_count_that_fits_or_the_last_of_all(needed: int, found: int) -> None:
    assert first_fitting(range(3, 8), lambda count: count >= needed) == found


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (2_048, "h" * 2_048),
        (
            2_049,
            f"{'h' * 1_024}\n... [tool result shortened: 1 characters omitted]\n{'h' * 1_024}",
        ),
        (
            9_000,
            f"{'h' * 1_024}\n... [tool result shortened: 6952 characters omitted]\n{'h' * 1_024}",
        ),
    ],
)
def test_a_long_result_keeps_1024_characters_of_each_end(length: int, text: str) -> None:
    item = tool(result("c1", "h" * length, state="error"))

    assert said([with_short_results(item)]) == said([tool(result("c1", text, state="error"))])


def test_a_short_result_keeps_its_blocks() -> None:
    item = tool(result("c1", "one", "two"))

    assert said([with_short_results(item)]) == said([item])
    assert said([with_noted_results(item)]) == said([item])


def test_media_in_a_result_becomes_a_note() -> None:
    item = with_short_results(tool(result("c1", "one", image("Z" * 9_000))))

    assert texts_of(item) == [f"one\n{MEDIA_NOTE}"]


@pytest.mark.parametrize(
    ("text", "noted"),
    [
        ("x" * 9_000, "[tool result left out: 9000 characters]"),
        ("x" * 38, "[tool result left out: 38 characters]"),
        ("x" * 37, "x" * 37),
        ("", ""),
    ],
)
def test_a_line_stands_for_a_result_that_is_longer(text: str, noted: str) -> None:
    assert texts_of(with_noted_results(tool(result("c1", text)))) == [noted]


def test_messages_without_results_stay_as_they_are() -> None:
    item = assistant("x" * 9_000, call("c1"))

    assert with_short_results(item) is item
    assert with_noted_results(item) is item
    assert with_media_noted(item) is item


def test_a_block_that_is_no_result_stays_beside_the_results_of_its_message() -> None:
    item = live_message("tool", (text_block("odd"), result("c1", "x" * 99)))

    assert said([with_noted_results(item)]) == [
        ("tool", (text_block("odd"), result("c1", "[tool result left out: 99 characters]")))
    ]


def test_media_beside_text_becomes_a_note_in_its_place() -> None:
    item = user("look", image(), "here", sequence=3)
    noted = with_media_noted(item)

    assert said([noted]) == said([user("look", MEDIA_NOTE, "here")])
    assert (noted.source, noted.kind, noted.depends_on) == (item.source, "normal", 3)


COMPACTED = (
    synthetic("user", "last_user_request_replay", "do the task"),
    synthetic("user", "compaction_summary", "what happened"),
    synthetic("user", "system_reminder", "nothing durable"),
)
ROUND = (assistant(call("c1"), call("c2")), tool(result("c1")), tool(result("c2")))
DROPPED = "messages left out here: they do not fit the summarising model]"


def as_dropped(*items: Item, rounds: int) -> list[object]:
    return list(said(without_rounds(items, droppable_rounds(items)[:rounds])))


def test_rounds_are_dropped_whole_and_from_the_oldest_on() -> None:
    items = stored(user("one"), *ROUND, assistant("done"), user("two"), assistant("yes"))

    assert droppable_rounds(items) == [range(1), range(1, 4), range(4, 5), range(6, 7)]
    assert without_rounds(items, []) == items
    assert as_dropped(*items, rounds=2) == said([user(f"[4 {DROPPED}"), *items[4:]])
    assert as_dropped(*items, rounds=4) == said([user(f"[6 {DROPPED}"), items[5]])


def test_the_anchor_and_an_earlier_compaction_stay() -> None:
    items = (*COMPACTED, *stored(*ROUND, assistant("done")))

    assert droppable_rounds(items) == [range(3, 6), range(6, 7)]
    assert as_dropped(*items, rounds=1) == said([*COMPACTED, user(f"[3 {DROPPED}"), items[6]])


def test_no_messages_have_no_rounds() -> None:
    assert droppable_rounds(()) == []
