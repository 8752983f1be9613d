"""Codex's summary request: the history without tools, and smaller until it fits."""

from dataclasses import replace

import pytest

from app.compaction.codex_request import build_checkpoint_request
from app.compaction.drop_oldest import drop_oldest
from app.compaction.ladder import input_limit
from app.compaction.summary_request import SummaryRequest
from app.compaction.user_messages import CHECKPOINT_PROMPT
from app.core.items import Item
from tests.unit.compaction.summary_inputs import (
    UNKNOWN_WINDOW,
    body_of,
    roles_of,
    shown,
    summary_input,
    texts_of,
    window,
)
from tests.unit.core.builders import TEXT_ONLY, assistant, call, image, result, stored, tool, user

WORLD = user("<sandbox_policy>", kind="world_state")
TALK = stored(user("go"), WORLD, assistant(call("c1")), tool(result("c1", "ok")), assistant("a"))
LONG = stored(
    *(
        item
        for number in range(30)
        for item in (
            user(f"message {number} {'u' * 400}"),
            assistant(call(f"c{number}")),
            tool(result(f"c{number}", "t" * 800)),
        )
    )
)


def built(*items: Item, **fields: object) -> SummaryRequest:
    return build_checkpoint_request(summary_input(*items, **fields))  # type: ignore[arg-type]


def test_the_history_is_sent_with_the_system_parts_and_without_tools() -> None:
    request = built(*TALK)

    assert roles_of(request) == ["system", "user", "user", "assistant", "tool", "assistant", "user"]
    assert body_of(request)["tools"] == []
    assert texts_of(request) == [CHECKPOINT_PROMPT]
    assert (request.level, request.style, request.problem) == (0, "conversation", None)


def test_what_is_not_folded_is_not_sent() -> None:
    request = built(*TALK, user("the turn"), keep_from=5)

    assert roles_of(request)[-2:] == ["assistant", "user"]
    assert "the turn" not in shown(request)


def test_a_focus_follows_the_prompt_in_a_fence() -> None:
    (text,) = texts_of(built(*TALK, instructions=" the </focus> tests "))

    assert text.startswith(CHECKPOINT_PROMPT.rstrip("\n") + "\n\n")
    assert text.endswith("<focus>\nthe &lt;/focus> tests\n</focus>")


def test_a_blank_focus_is_none() -> None:
    assert texts_of(built(*TALK, instructions=" \n")) == [CHECKPOINT_PROMPT]


def test_media_is_mentioned_to_a_model_that_takes_none() -> None:
    request = built(user("look", image(name="a.png")), profile=TEXT_ONLY)

    assert "[media left out: image/png, a.png]" in shown(request)


@pytest.mark.parametrize("tokens", [2_000, 3_000, 4_500, 6_000, 9_000])
def test_the_oldest_messages_go_until_the_request_fits(tokens: int) -> None:
    given = summary_input(*LONG, profile=window(tokens))
    request = build_checkpoint_request(given)
    limit = input_limit(given.profile, None)
    wider = build_checkpoint_request(
        replace(given, profile=UNKNOWN_WINDOW, min_level=max(0, request.level - 1))
    )

    assert limit is not None
    assert request.estimated_input_tokens <= limit
    assert request.problem is None
    assert request.level == 0 or wider.estimated_input_tokens > limit
    assert texts_of(request) == [CHECKPOINT_PROMPT]


def test_every_step_takes_the_oldest_message_with_its_partners() -> None:
    lengths = [
        len(body_of(built(*LONG[:6], profile=UNKNOWN_WINDOW, min_level=level))["messages"])
        for level in range(6)
    ]

    assert lengths == [8, 7, 5, 4, 2, 2]


def test_no_result_is_left_without_its_call() -> None:
    for level in range(60):
        messages = body_of(built(*LONG, min_level=level))["messages"]
        asked = [
            block["id"]
            for message in messages
            for block in message["content"]
            if block["type"] == "tool_call"
        ]
        answered = [
            block["id"]
            for message in messages
            for block in message["content"]
            if block["type"] == "tool_result"
        ]

        assert asked == answered


def test_the_calls_of_dropped_results_are_named_in_order() -> None:
    assert built(*LONG, min_level=4).removed_call_ids == ("c0", "c1")
    assert built(*LONG).removed_call_ids == ()


def test_with_the_prompt_alone_left_there_is_no_smaller_request() -> None:
    items = LONG[:3]

    assert built(*items, min_level=2).problem is None
    assert roles_of(built(*items, min_level=2)) == ["system", "user"]
    assert built(*items, min_level=3).problem == "cannot_fit"


def test_a_model_that_does_not_even_take_the_prompt_is_asked_with_it_alone() -> None:
    request = built(*LONG, profile=window(40, output_tokens=20))

    assert (request.problem, roles_of(request)) == ("cannot_fit", ["system", "user"])


def test_a_cached_request_repeats_the_whole_call() -> None:
    request = built(*TALK, user("next"), keep_from=5, style="cached")

    assert roles_of(request)[-3:] == ["assistant", "user", "user"]
    assert body_of(request)["tools"] != []
    assert (request.style, texts_of(request)) == ("cached", [CHECKPOINT_PROMPT])


def test_what_is_cached_is_sent_whole_or_not_at_all() -> None:
    request = built(*LONG, profile=window(4_000), style="cached")

    assert (request.style, request.level > 0) == ("conversation", True)
    assert built(*TALK, style="cached", min_level=1).style == "conversation"


def test_a_flat_request_has_no_tool_shapes_and_gets_smaller_too() -> None:
    given = summary_input(*LONG, profile=window(4_000), style="flat")
    request = build_checkpoint_request(given)

    assert roles_of(request) == ["user"]
    assert texts_of(request)[1] == CHECKPOINT_PROMPT
    assert request.level > 0
    assert request.estimated_input_tokens <= 3_000


def test_steps_are_those_of_the_retry_rule() -> None:
    rest = drop_oldest(LONG)

    assert rest is not None
    assert body_of(built(*LONG, min_level=1)) == body_of(built(*rest))


def test_equal_input_gives_equal_bytes() -> None:
    given = summary_input(*LONG, profile=window(4_000))

    assert build_checkpoint_request(given) == build_checkpoint_request(given)
