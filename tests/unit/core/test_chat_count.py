import pytest

from app.core.agent import Tool
from app.core.blocks import Block, Thinking
from app.core.chat_count import (
    SpecialTokens,
    chat_tokens,
    retained_tokens,
    separate_tokens,
    tools_tokens,
)
from app.tokenizers import counter_for
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    as_blocks,
    assistant,
    call,
    image,
    result,
    tool,
    user,
)

O200K = SpecialTokens(counter=counter_for("o200k_base"))
PING = Tool(name="ping", description="", parameters={})
WEATHER = Tool(
    name="get_current_weather",
    description="Get the current weather in a given location",
    parameters={
        "type": "object",
        "properties": {
            "location": {
                "type": "string",
                "description": "The city and state, e.g. San Francisco, CA",
            },
            "unit": {
                "type": "string",
                "description": "The unit of temperature to return",
                "enum": ["celsius", "fahrenheit"],
            },
        },
    },
)
TEXTS = [
    pytest.param("", 0, id="K1"),
    pytest.param("hello", 1, id="K1 a word"),
    pytest.param("hello world", 2, id="K1 two words"),
    pytest.param("Hello, how are you?", 6, id="K1 a sentence"),
    pytest.param("read hello.txt", 3, id="K1 a name"),
    pytest.param("你好，世界", 3, id="K1 Chinese"),
    pytest.param("<|endoftext|>", 1, id="K1 a special token"),
    pytest.param("hello<|endofprompt|> world", 3, id="a special token inside"),
]
MESSAGES = [
    pytest.param(["hello", "world"], 9, id="K5"),
    pytest.param([image()], 7, id="K6"),
    pytest.param([call("tool_0", "read_file", input="")], 15, id="K8"),
    pytest.param([call("tool_0", "read_file", input='{"path":"/tmp/a.txt"}')], 25, id="K9"),
    pytest.param([result("tool_0", "hello, world")], 10, id="K10"),
    pytest.param([Thinking(type="thinking", thinking="hello")], 7, id="thinking"),
    pytest.param([call("tool_0", "read_file", input='{"path')], 7, id="a call that was cut off"),
    pytest.param([result("tool_0", state="error")], 7, id="a result without text"),
]


@pytest.mark.parametrize(("text", "tokens"), TEXTS)
def test_a_text_has_its_tokens_and_special_ones_are_one_each(text: str, tokens: int) -> None:
    assert O200K.count(text) == tokens


@pytest.mark.parametrize(("blocks", "tokens"), MESSAGES)
def test_a_message_alone_has_7_tokens_more_than_its_texts(
    blocks: list[str | Block], tokens: int
) -> None:
    assert chat_tokens("", [as_blocks(blocks)], [], O200K) == tokens


def test_K2_an_empty_chat_has_the_tokens_of_the_reply() -> None:
    assert chat_tokens("", [], [], O200K) == 3


def test_K4_a_prompt_has_4_tokens_around_it() -> None:
    assert chat_tokens("You are helpful.", [as_blocks(["hello world"])], [], O200K) == 17


def test_K12_tools_cost_12_tokens_once_and_7_each() -> None:
    assert tools_tokens([], O200K) == 0
    assert tools_tokens([PING], O200K) == 21
    assert tools_tokens([PING, PING], O200K) == 30


def test_K13_properties_and_their_values_are_counted() -> None:
    assert tools_tokens([WEATHER], O200K) == 68
    assert chat_tokens("", [], [WEATHER], O200K) == 71


def test_dots_at_the_end_of_a_description_do_not_count() -> None:
    dotted = Tool(name="ping", description="Pings...", parameters={})
    plain = Tool(name="ping", description="Pings", parameters={})

    assert tools_tokens([dotted], COUNTER) == tools_tokens([plain], COUNTER)


@pytest.mark.parametrize(
    ("parameters", "more"),
    [
        pytest.param({"properties": {}}, 0, id="no properties"),
        pytest.param({"properties": []}, 0, id="properties that are no object"),
        pytest.param({"properties": {"a": True}}, 3 + 3 + len("a::"), id="no schema"),
        pytest.param(
            {"properties": {"a": {"type": ["string", "null"]}}}, 3 + 3 + len("a::"),
            id="a type that is no string",
        ),
        pytest.param(
            {"properties": {"a": {"type": "t", "enum": ["x", 1]}}},
            3 + 3 + len("a:t:") - 3 + 3 + len("x"),
            id="values that are no strings do not count",
        ),
    ],
)  # fmt: skip
def test_odd_parameters_count_what_can_be_read(parameters: dict[str, object], more: int) -> None:
    bare = Tool(name="a", description="", parameters={})
    odd = Tool(name="a", description="", parameters=parameters)

    assert tools_tokens([odd], COUNTER) - tools_tokens([bare], COUNTER) == more


@requirement("GO-7.2-estimate-without-usage")
def test_messages_are_counted_each_alone() -> None:
    messages = [user("hello"), assistant(call("c1", input="")), tool(result("c1", "ok"))]
    alone = [separate_tokens([message], O200K) for message in messages]

    assert separate_tokens(messages, O200K) == sum(alone)
    assert alone[0] == 8


def test_S5_without_a_counter_the_answer_of_the_summary_is_what_is_retained() -> None:
    assert retained_tokens([user("hello")], None, 200) == 200
    assert retained_tokens([user("hello")], None, None) == 0


def test_S4_what_is_retained_is_counted_as_it_was_rendered() -> None:
    assert retained_tokens([user("hello")], O200K, 900) == 8


def test_the_basis_says_that_special_tokens_are_recognised() -> None:
    assert O200K.basis == f"{counter_for('o200k_base').basis}, special tokens"
    assert O200K.media_rule == counter_for("o200k_base").media_rule
