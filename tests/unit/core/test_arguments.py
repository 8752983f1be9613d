import json

import pytest

from app.core.arguments import (
    LEAST_ARGUMENT_CHARS,
    shorten_arguments,
    shortened_input,
)
from app.core.blocks import ProviderState, ToolCall, text_block
from app.core.items import Item
from app.core.json_text import MAX_DEPTH
from app.core.request_copy import Memo, PruneBoundary, PruneCounts, RequestCopy
from app.policies.shaping import Shaping
from tests.unit.core.builders import (
    assistant,
    call,
    copy_of,
    said,
    step_context,
    stored,
    user,
)

LONG = json.dumps({"path": "a.py", "text": "x" * 400})
SHAPING = Shaping(old_call_argument_chars=120)


def shortened(*items: Item, through: int = 99, memo: Memo | None = None) -> RequestCopy:
    boundary = PruneBoundary(through_sequence=through)
    return shorten_arguments(
        copy_of(*items), step_context(boundary=boundary, shaping=SHAPING, memo=memo)
    )


def inputs(copy: RequestCopy) -> list[str]:
    return [
        block.input
        for _, blocks in said(copy.items)
        for block in blocks
        if isinstance(block, ToolCall)
    ]


def test_the_longest_text_of_an_input_gives_way_and_the_rest_stays() -> None:
    text = shortened_input(LONG, 120)

    assert len(text) == 120
    assert json.loads(text) == {"path": "a.py", "text": "x" * 69 + "… [331 characters omitted]"}


def test_texts_are_cut_to_one_length_however_deep_they_stand() -> None:
    value = {"edits": [{"old": "o" * 300, "new": ["n" * 500]}], "path": "a.py", "count": 3}
    text = shortened_input(json.dumps(value), 200)
    cut = json.loads(text)

    assert len(text) <= 200
    assert (cut["path"], cut["count"]) == ("a.py", 3)
    assert cut["edits"] == [
        {
            "old": "o" * 45 + "… [255 characters omitted]",
            "new": ["n" * 45 + "… [455 characters omitted]"],
        }
    ]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(json.dumps(list(range(200))), id="an array"),
        pytest.param(json.dumps("x" * 200), id="a text"),
        pytest.param(json.dumps({"numbers": list(range(200))}), id="nothing to cut"),
        pytest.param('{"text": "' + "x" * 200, id="broken"),
        pytest.param('{"a":NaN,"text":"' + "x" * 200 + '"}', id="not a number"),
        pytest.param('{"\\ud800":1,"text":"' + "x" * 200 + '"}', id="half a pair"),
        pytest.param('{"n":' + "1" * 5_000 + "}", id="too many digits"),
        pytest.param("]" * 300, id="no JSON"),
    ],
)
def test_what_cannot_be_shortened_by_its_texts_becomes_its_own_head(text: str) -> None:
    made = shortened_input(text, LEAST_ARGUMENT_CHARS)
    (kept,) = json.loads(made).values()
    head, _, marker = kept.partition("… [")

    assert made.startswith('{"_shortened":"')
    assert len(made) in (LEAST_ARGUMENT_CHARS, LEAST_ARGUMENT_CHARS - 1)
    assert text.startswith(head)
    assert marker == f"{len(text) - len(head)} characters omitted]"


@pytest.mark.parametrize(
    ("depth", "is_parsed"), [(MAX_DEPTH, True), (MAX_DEPTH + 1, False), (100_000, False)]
)
def test_how_deep_an_input_is_read_does_not_depend_on_the_caller(
    depth: int, is_parsed: bool
) -> None:
    inner = '{"a":' * (depth - 1) + "1" + "}" * (depth - 1)
    text = f'{{"b":{inner},"text":"{"[" * 900}"}}'

    assert ("_shortened" not in shortened_input(text, 800)) is is_parsed


def test_an_input_within_the_limit_stays_as_it_is() -> None:
    text = '{ "a" : 1.50 }' + " " * 86

    assert shortened_input(text, 100) is text


def test_only_calls_in_front_of_the_boundary_are_shortened() -> None:
    items = stored(
        assistant(call("c1", input=LONG)),
        user("go on"),
        assistant("and", call("c2", input=LONG), call("c3", input="{}")),
        assistant(call("c4", input=LONG)),
    )
    copy = shortened(*items, through=4)

    assert [len(text) for text in inputs(copy)] == [120, 120, 2, len(LONG)]
    assert copy.pruned == PruneCounts(arguments=2)
    assert copy.items[3] is items[3]


def test_a_call_that_a_provider_signed_stays() -> None:
    state = ProviderState(driver="d", model="m", data="signature")
    signed = ToolCall(type="tool_call", id="c", name="n", input=LONG, provider_state=state)
    items = stored(assistant(signed))

    assert shortened(*items).items == items


def test_nothing_is_shortened_unless_it_is_asked_for() -> None:
    copy = copy_of(*stored(assistant(call("c1", input=LONG), text_block("x" * 900))))
    behind = PruneBoundary(through_sequence=9)

    assert shorten_arguments(copy, step_context(boundary=behind)) is copy
    assert shorten_arguments(copy, step_context(shaping=SHAPING)) is copy


def test_long_texts_beside_short_arguments_change_nothing() -> None:
    copy = copy_of(*stored(assistant("x" * 900, call("c1"))))
    context = step_context(boundary=PruneBoundary(through_sequence=9), shaping=SHAPING)

    assert shorten_arguments(copy, context) is copy


def test_arguments_are_shortened_once() -> None:
    memo: Memo = {}
    items = stored(assistant(call("c1", input=LONG)), user("go on"))
    first, again = shortened(*items, memo=memo), shortened(*items, memo=memo)

    assert len(memo) == 1
    assert again.items[0].content is first.items[0].content
