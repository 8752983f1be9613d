import pytest

from app.core.blocks import (
    Artifact,
    Block,
    ProviderOpaque,
    ProviderState,
    Text,
    Thinking,
    ToolCall,
    text_block,
)
from app.core.counting import (
    count_blocks,
    media_count,
    tokens_of_bytes,
    visible_strings,
)
from app.core.media import DEFAULT_MEDIA_RULE, UNKNOWN_MEDIA_TOKENS
from tests.requirements import requirement
from tests.unit.core.builders import COUNTER, call, image, result

STATE = ProviderState(driver="d", model="m", data={"b": "é", "a": 1})
STATE_JSON = '{"driver":"d","model":"m","data":{"b":"é","a":1}}'


@requirement("OW-7.1-bytes-over-four")
@pytest.mark.parametrize(
    ("size_bytes", "tokens"), [(0, 0), (1, 1), (4, 1), (5, 2), (2**40 + 1, 2**38 + 1)]
)
def test_B1_a_token_is_four_bytes_rounded_up(size_bytes: int, tokens: int) -> None:
    assert tokens_of_bytes(size_bytes) == tokens


@pytest.mark.parametrize(
    ("block", "strings"),
    [
        (text_block("a"), ["a"]),
        (Text(type="text", text="a", provider_state=STATE), ["a", STATE_JSON]),
        (Thinking(type="thinking", thinking="t"), ["t"]),
        (Thinking(type="thinking", thinking="t", provider_state=STATE), ["t", STATE_JSON]),
        (call("id-is-not-seen", "read", input='{"p": 1}'), ["read", '{"p": 1}']),
        (
            ToolCall(type="tool_call", id="c", name="n", input="{}", provider_state=STATE),
            ["n", "{}", STATE_JSON],
        ),
        (result("id-is-not-seen", "one", image(), "two", name="nor-is-the-name"), ["one", "two"]),
        (result("c", "out", artifacts=(Artifact(kind="k", payload="hidden"),)), ["out"]),
        (
            ProviderOpaque(
                type="provider_opaque", driver="d", kind="k", payload={"b": 1, "a": "中"}
            ),
            ['{"b":1,"a":"中"}'],
        ),
        (image(name="not-a-string-of-the-model"), []),
    ],
)
def test_a_model_sees_these_strings_of_a_block(block: Block, strings: list[str]) -> None:
    assert list(visible_strings((block,))) == strings


def test_strings_come_in_the_order_of_the_blocks() -> None:
    blocks = (text_block("a"), call("c", "b", input="d"), result("c", "e", result("n", "f")))

    assert list(visible_strings(blocks)) == ["a", "b", "d", "e", "f"]


def test_media_is_counted_wherever_it_stands() -> None:
    assert media_count(()) == 0
    assert media_count((image(), text_block("a"), result("c", image(), result("n", image())))) == 3


def test_media_costs_the_same_whatever_its_length() -> None:
    small = count_blocks((text_block("four"), image("Z")), COUNTER)
    large = count_blocks((text_block("four"), image("Z" * 100_000)), COUNTER)

    assert small == large == 4 + UNKNOWN_MEDIA_TOKENS == 1_604


def test_each_string_is_counted_alone() -> None:
    class OneEach:
        basis = "one-each/1"
        media_rule = DEFAULT_MEDIA_RULE

        def count(self, text: str) -> int:
            return 1

    assert count_blocks((text_block(""), call("c"), result("c", "a", "b")), OneEach()) == 5
