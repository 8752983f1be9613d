"""Every summary request fits the model that summarises, or says that none can."""

from dataclasses import replace
from itertools import pairwise

import pytest

from app.compaction.instructions import SUMMARY_INSTRUCTIONS
from app.compaction.record import SummaryStyle
from app.compaction.summary_request import SummaryInput, SummaryRequest, build_summary_request
from app.core.items import Item
from app.core.model_profile import ModelProfile
from tests.unit.compaction.summary_inputs import (
    UNKNOWN_WINDOW,
    body_of,
    roles_of,
    shown,
    summary_input,
    texts_of,
    window,
)
from tests.unit.core.builders import (
    NOWHERE,
    assistant,
    call,
    image,
    part,
    result,
    stored,
    synthetic,
    tool,
    user,
)

WORLD = user("<sandbox_policy>" + "w" * 20_000, kind="world_state")
STYLES: tuple[SummaryStyle, ...] = ("conversation", "cached", "flat")


def rounds(count: int, chars: int) -> list[Item]:
    return [
        message
        for number in range(count)
        for message in (assistant(call(f"c{number}")), tool(result(f"c{number}", "r" * chars)))
    ]


def chatter(count: int, chars: int) -> list[Item]:
    return [
        message
        for number in range(count)
        for message in (user(f"ask {number}"), assistant(f"answer {number} " + "a" * chars))
    ]


def fits(request: SummaryRequest, given: SummaryInput) -> bool:
    tokens = request.estimated_input_tokens + request.max_output_tokens
    return request.problem is None and tokens <= (given.profile.context_window or tokens)


def test_B058_a_history_of_almost_the_whole_window_can_be_summarised() -> None:
    items = stored(user("go"), *rounds(120, 6_400), user("and now?"))
    given = summary_input(*items, profile=window(200_000, 32_000))
    request = build_summary_request(given)

    assert len(shown(build_summary_request(replace(given, profile=UNKNOWN_WINDOW)))) > 760_000
    assert (request.level, request.style) == (1, "conversation")
    assert fits(request, given)
    assert "tool result shortened: 4352 characters omitted" in shown(request)


@pytest.mark.parametrize("style", STYLES)
def test_B059_one_user_message_of_900000_characters_loses_its_middle(style: SummaryStyle) -> None:
    text = "start " + "m" * 900_000 + " end"
    given = summary_input(*stored(user(text)), profile=window(200_000, 32_000), style=style)
    request = build_summary_request(given)
    conversation, instructions = texts_of(request)

    assert (request.level, request.style, roles_of(request)) == (4, "flat", ["user"])
    assert fits(request, given)
    # Nothing is given away: not four characters more would fit.
    assert request.estimated_input_tokens + request.max_output_tokens == 200_000
    assert "characters left out here" in conversation
    assert conversation.startswith("The Conversation is rendered as text below")
    assert "\nstart mmm" in conversation
    assert conversation.endswith("mmm end\n</message>\n</conversation>")
    assert instructions == SUMMARY_INSTRUCTIONS


def test_B061_a_smaller_model_summarises_what_a_larger_one_has_seen() -> None:
    items = stored(user("go"), *chatter(100, 9_600), user("last request"))
    given = summary_input(*items, profile=window(128_000, 16_000))
    request = build_summary_request(given)
    texts = [block["text"] for m in body_of(request)["messages"] for block in m["content"]]

    assert (request.level, request.style) == (3, "conversation")
    assert fits(request, given)
    assert roles_of(request)[:2] == ["system", "user"]
    assert texts[1].endswith("messages left out here: they do not fit the summarising model]")
    assert texts[-2:] == ["last request", SUMMARY_INSTRUCTIONS]


def test_as_few_messages_as_possible_are_dropped() -> None:
    items = stored(*chatter(10, 4_000), user("last request"))
    given = summary_input(*items, profile=window(8_000))
    request = build_summary_request(given)

    assert fits(request, given)
    assert "[8 messages left out here" in shown(request)
    assert "ask 4" in shown(request)
    # One more answer takes a thousand tokens.
    assert request.estimated_input_tokens + 1_000 > 7_000


def test_calls_are_dropped_with_their_results_and_the_anchor_stays() -> None:
    items = stored(
        user("last request"),
        *(assistant("t" * 4_000, call("c1")), tool(result("c1", "one"))),
        *(assistant("t" * 4_000, call("c2")), tool(result("c2", "two"))),
    )
    given = summary_input(*items, profile=window(3_000))
    request = build_summary_request(given)

    assert roles_of(request) == ["system", "user", "user", "assistant", "tool", "user"]
    assert "last request" in shown(request)
    assert "[2 messages left out here" in shown(request)
    assert fits(request, given)


def test_an_earlier_summary_is_not_dropped_with_the_oldest() -> None:
    items = (
        synthetic("user", "last_user_request_replay", "do the task"),
        synthetic("user", "compaction_summary", "what happened"),
        *stored(*chatter(5, 4_000)),
    )
    given = summary_input(*items, profile=window(4_000))
    request = build_summary_request(given)

    assert request.level == 3
    assert "what happened" in shown(request)


def test_what_is_shortened_first_is_tool_results() -> None:
    items = stored(user("go"), *rounds(10, 8_000))
    levels = {
        tokens: build_summary_request(summary_input(*items, profile=window(tokens, 100))).level
        for tokens in (25_000, 10_000, 2_000, 1_000)
    }

    assert levels == {25_000: 0, 10_000: 1, 2_000: 2, 1_000: 3}


def test_media_gives_way_before_anything_is_dropped() -> None:
    items = stored(user("look", image("Z" * 400_000)), *rounds(1, 100))
    given = summary_input(*items, profile=window(20_000))
    request = build_summary_request(given)

    assert (request.level, fits(request, given)) == (1, True)
    assert "[media left out: image/png]" in shown(request)


def test_a_cached_request_that_does_not_fit_is_sent_without_tools_and_world_state() -> None:
    items = stored(user("go"), WORLD, *rounds(1, 30_000))
    request = build_summary_request(summary_input(*items, profile=window(10_000), style="cached"))

    assert (request.style, body_of(request)["tools"]) == ("conversation", [])
    assert "sandbox_policy" not in shown(request)


def test_flat_climbs_the_same_ladder() -> None:
    items = stored(*rounds(10, 8_000), *chatter(3, 2_000), user("last request"))
    built = [
        build_summary_request(summary_input(*items, profile=window(tokens, 100), style="flat"))
        for tokens in (25_000, 10_000, 3_000, 1_500)
    ]

    assert [request.level for request in built] == [0, 1, 2, 3]
    assert {request.style for request in built} == {"flat"}
    assert "messages left out here" in texts_of(built[-1])[0]
    assert "last request" in texts_of(built[-1])[0]


def test_the_last_rung_needs_no_more_than_the_instructions() -> None:
    """A system prompt over the window does not keep a session from its summary."""
    items = stored(user("u" * 100_000))
    given = summary_input(
        *items, parts=(part("core/agent-system", "s" * 30_000),), profile=window(600, 100)
    )

    assert fits(build_summary_request(given), given)


@pytest.mark.parametrize("style", STYLES)
def test_K27_a_window_that_holds_not_even_the_instructions_is_told_and_changes_nothing(
    style: SummaryStyle,
) -> None:
    given = summary_input(*stored(user("go"), *rounds(3, 9_000)), profile=window(2, 1), style=style)
    unlimited = build_summary_request(replace(given, profile=UNKNOWN_WINDOW))
    request = build_summary_request(given)

    assert request.problem == "cannot_fit"
    assert (request.level, request.style) == (0, style)
    assert body_of(request)["messages"] == body_of(unlimited)["messages"]
    assert request.max_output_tokens == 1


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("profile", [UNKNOWN_WINDOW, window(60_000)], ids=["unknown", "60 000"])
def test_after_each_reported_overflow_the_request_is_smaller(
    style: SummaryStyle, profile: ModelProfile
) -> None:
    items = stored(user("go"), *rounds(20, 5_000), *chatter(20, 2_000), user("last request"))
    given = summary_input(*items, profile=profile, style=style)
    requests = [build_summary_request(given)]
    while requests[-1].problem is None:
        last = requests[-1]
        requests.append(
            build_summary_request(
                replace(
                    given,
                    min_level=last.level + 1,
                    overflowed_tokens=last.estimated_input_tokens,
                )
            )
        )
    sizes = [request.estimated_input_tokens for request in requests[:-1]]

    assert all(after <= before * 3 // 4 for before, after in pairwise(sizes))
    assert len(sizes) > 5
    assert [request.level for request in requests[-3:]] == [4, 4, 4]
    # When nothing is left to cut, the instructions stand there alone.
    assert sizes[-1] < 700


@pytest.mark.parametrize(
    ("level", "style", "note"),
    [
        (0, "conversation", "r" * 3_000),
        (1, "conversation", "tool result shortened: 952 characters omitted"),
        (2, "conversation", "tool result left out: 3000 characters"),
        (3, "conversation", "tool result left out: 3000 characters"),
        (4, "flat", "tool result left out: 3000 characters"),
        (9, "flat", "tool result left out: 3000 characters"),
    ],
)
def test_a_rung_can_be_asked_for(level: int, style: SummaryStyle, note: str) -> None:
    items = stored(user("go"), *rounds(1, 3_000))
    request = build_summary_request(summary_input(*items, min_level=level))

    assert (request.level, request.style) == (min(level, 4), style)
    assert note in shown(request)
    assert "messages left out" not in shown(request)


def test_equal_input_gives_equal_bytes() -> None:
    items = stored(*chatter(10, 4_000), user("last request"))
    given = summary_input(*items, profile=window(8_000), boundary=NOWHERE)

    assert build_summary_request(given) == build_summary_request(given)
