"""Turns of two speakers: what Anthropic and Bedrock are given, rule by rule."""

from dataclasses import replace
from typing import Any

import pytest

from app.core.blocks import (
    Base64Source,
    Block,
    ProviderOpaque,
    ProviderState,
    Text,
    Thinking,
)
from app.encoders import anthropic, bedrock
from app.encoders.encoding import Encode
from app.encoders.request import NeutralMessage, NeutralTool
from tests.unit.core.builders import call, result
from tests.unit.encoders.builders import OPTIONS, READ, neutral, said, sent, told

BOTH = pytest.mark.parametrize("encode", [anthropic.encode, bedrock.encode])
SIGNED = ProviderState(driver="anthropic", model="model-1", data={"signature": "sig"})
PNG = Base64Source(source_type="base64", data="AAAA", media_type="image/png")


def thought(text: str, state: ProviderState | None = None) -> Thinking:
    return Thinking(type="thinking", thinking=text, provider_state=state)


def texts(encode: Encode, *messages: NeutralMessage) -> list[tuple[str, list[Any]]]:
    """Speaker and texts of each message."""
    elements: Any = encode(neutral(*messages), OPTIONS).elements
    return [
        (element["role"], [part.get("text") for part in element["content"]]) for element in elements
    ]


@BOTH
def test_C_nothing_is_asked_of_nobody(encode: Encode) -> None:
    assert texts(encode) == [("user", ["(empty message)"])]


@BOTH
def test_an_answer_in_front_gets_a_user_and_one_at_the_end_too(encode: Encode) -> None:
    assert texts(encode, said("assistant", "a")) == [
        ("user", ["(empty message)"]),
        ("assistant", ["a"]),
        ("user", ["Continue."]),
    ]


def test_B040_two_user_messages_stay_two_for_anthropic_and_are_parted_for_bedrock() -> None:
    messages = said("user", "a"), said("user", "b")

    assert texts(anthropic.encode, *messages) == [("user", ["a"]), ("user", ["b"])]
    assert texts(bedrock.encode, *messages) == [
        *(("user", ["a"]), ("assistant", ["Understood."]), ("user", ["b"])),
    ]


def test_two_answers_are_parted_for_bedrock() -> None:
    messages = said("user", "q"), said("assistant", "a"), said("assistant", "b"), said("user", "r")

    assert texts(bedrock.encode, *messages)[1:4] == [
        *(("assistant", ["a"]), ("user", ["Continue."]), ("assistant", ["b"])),
    ]


@pytest.mark.parametrize("blank", ["", " ", "\n\t"])
@BOTH
def test_B038_blank_texts_and_empty_results_are_never_sent(encode: Encode, blank: str) -> None:
    encoded: Any = encode(
        neutral(
            said("user", blank),
            said("assistant", blank, call("c1")),
            said("tool", result("c1", blank)),
            said("assistant", blank),
            said("user", "x"),
        ),
        OPTIONS,
    )
    contents = [element["content"] for element in encoded.elements]

    assert [part.get("text") for part in contents[0]] == ["(empty message)"]
    assert len(contents[1]) == 1
    assert "(no output)" in str(contents[2])
    assert "x" in str(contents[-1])
    assert all(part.get("text", "x").strip() for content in contents for part in content)


def test_results_of_one_message_stand_in_one_user_message_with_their_states() -> None:
    contents = sent(
        said("user", "q"),
        said("assistant", call("c1"), call("c2")),
        said("tool", result("c1", "x")),
        said("tool", result("c2", "y", state="error")),
        said("user", "z"),
    )

    assert contents[2] == [
        {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "x"}]},
        {
            "type": "tool_result",
            "tool_use_id": "c2",
            "content": [{"type": "text", "text": "y"}],
            "is_error": True,
        },
    ]
    assert contents[3] == [{"type": "text", "text": "z"}]


def test_B016_B017_an_id_that_comes_again_is_another_one() -> None:
    rounds = [said("assistant", call("call_0")), said("tool", result("call_0"))] * 50
    contents = sent(said("user", "q"), *rounds)
    ids = [part["id"] for content in contents for part in content if part["type"] == "tool_use"]
    answered = [
        part["tool_use_id"]
        for content in contents
        for part in content
        if part["type"] == "tool_result"
    ]

    assert len(set(ids)) == 50
    assert ids == answered
    assert ids[0] == "call_0"


@BOTH
def test_B049_ids_of_other_letters_are_replaced_alike_for_call_and_result(encode: Encode) -> None:
    encoded = encode(
        neutral(
            said("user", "q"),
            said("assistant", call("a/b"), call("a.b")),
            said("tool", result("a/b")),
            said("tool", result("a.b")),
        ),
        OPTIONS,
    )

    assert sorted(encoded.call_ids.values()) == ["a.b", "a/b"]
    assert told(encoded)[:2] == [("call_id_renamed", 1, "a/b"), ("call_id_renamed", 1, "a.b")]


def test_thinking_goes_back_signed_or_hidden_to_its_own_model() -> None:
    hidden = ProviderState(
        driver="anthropic", model="model-1", data={"type": "redacted_thinking", "data": "zzz"}
    )
    message = said("assistant", thought("hm", SIGNED), thought("", hidden), "a")

    assert sent(said("user", "q"), message, said("user", "r"))[1] == [
        {"type": "thinking", "thinking": "hm", "signature": "sig"},
        {"type": "redacted_thinking", "data": "zzz"},
        {"type": "text", "text": "a"},
    ]
    switched = sent(said("user", "q"), message, said("user", "r"), model="model-2")
    assert switched[1] == [{"type": "text", "text": "a"}]


@pytest.mark.parametrize(
    ("block", "code"),
    [
        (thought("", None), "unsigned_thinking_dropped"),
        (thought("hm"), "unsigned_thinking_dropped"),
        (
            thought("hm", ProviderState(driver="openai", model="model-1", data={"id": "rs_1"})),
            "foreign_thinking_dropped",
        ),
        (
            thought("hm", ProviderState(driver="anthropic", model="model-1", data={})),
            "foreign_thinking_dropped",
        ),
    ],
)
def test_B025_B029_thinking_that_is_unsigned_or_of_others_is_left_out(
    block: Thinking, code: str
) -> None:
    encoded = anthropic.encode(neutral(said("user", "q"), said("assistant", block, "a")), OPTIONS)

    assert (code, 1) in told(encoded)
    assert "hm" not in str(encoded.body())


def test_B026_a_loop_keeps_its_thinking_up_to_the_first_that_cannot_go_back() -> None:
    first = said("assistant", thought("one", SIGNED), call("c1")), said("tool", result("c1"))
    second = said("assistant", thought("two"), call("c2")), said("tool", result("c2"))
    third = said("assistant", thought("three", SIGNED), call("c3")), said("tool", result("c3"))
    before = sent(said("user", "q"), *first)
    contents = sent(said("user", "q"), *first, *second, *third)

    assert contents[: len(before)] == before
    assert [content[0]["type"] for content in contents[1::2]] == [
        "thinking",
        "tool_use",
        "tool_use",
    ]


def test_B026_a_loop_whose_beginning_was_cut_off_has_no_thinking() -> None:
    unsigned = said("assistant", thought("one"), call("c1")), said("tool", result("c1"))
    signed = said("assistant", thought("two", SIGNED), call("c2")), said("tool", result("c2"))
    contents = sent(said("user", "q"), *unsigned, *signed)

    assert "thinking" not in [part["type"] for content in contents for part in content]


@pytest.mark.parametrize("name", ["id", "input", "type", "cache_control"])
def test_state_replaces_nothing_of_a_call(name: str) -> None:
    state = ProviderState(driver="anthropic", model="model-1", data={name: "odd", "caller": {}})
    odd = replace(call("c1"), provider_state=state)
    contents = sent(said("user", "q"), said("assistant", odd), said("tool", result("c1")))

    assert contents[1] == [
        {"type": "tool_use", "id": "c1", "name": "read", "input": {}, "caller": {}}
    ]


def test_thinking_on_bedrock_fits_and_rules_out_what_claude_refuses() -> None:
    asked = {
        "thinking": {"type": "enabled", "budget_tokens": 9_000},
        "temperature": 0.5,
        "top_k": 3,
        "tool_choice": "required",
    }
    encoded = bedrock.encode(
        neutral(said("user", "q"), tools=(READ,), generation=asked, max_output_tokens=8_000),
        OPTIONS,
    )

    assert encoded.fields["additionalModelRequestFields"] == {
        "thinking": {"type": "enabled", "budget_tokens": 7_999}
    }
    assert encoded.fields["inferenceConfig"] == {"maxTokens": 8_000}
    assert "toolChoice" not in str(encoded.fields)
    assert {entry[-1] for entry in told(encoded)} == {
        *("thinking.budget_tokens", "temperature", "top_k", "tool_choice"),
    }


def test_without_system_parts_the_breakpoint_stands_behind_the_tools_of_bedrock_too() -> None:
    request = neutral(said("user", "q"), model="claude-x", tools=(READ,))
    tools: object = bedrock.encode(request, OPTIONS).fields["toolConfig"]

    assert "cachePoint" in str(tools)


def test_a_loop_that_began_without_thinking_goes_on_without() -> None:
    loop = said("user", "q"), said("assistant", call("c1")), said("tool", result("c1"))
    asked = {"thinking": {"type": "enabled", "budget_tokens": 2_000}}
    going_on = anthropic.encode(neutral(*loop, generation=asked), OPTIONS)
    new = anthropic.encode(neutral(*loop, said("user", "r"), generation=asked), OPTIONS)

    assert "thinking" not in going_on.fields
    assert ("setting_dropped", "thinking") in told(going_on)
    assert new.fields["thinking"] == asked["thinking"]
    assert new.fields["max_tokens"] == 6_096


@pytest.mark.parametrize(
    ("limit", "budget", "sent_budget"),
    [(8_000, 2_000, 2_000), (2_000, 2_000, 1_999), (1_024, 2_000, None)],
)
def test_a_thinking_budget_fits_the_output_limit(
    limit: int, budget: int, sent_budget: int | None
) -> None:
    asked = {"thinking": {"type": "enabled", "budget_tokens": budget}}
    fields: Any = anthropic.encode(
        neutral(said("user", "q"), generation=asked, max_output_tokens=limit), OPTIONS
    ).fields

    assert fields["max_tokens"] == limit
    assert fields.get("thinking", {}).get("budget_tokens") == sent_budget


@pytest.mark.parametrize(
    ("model", "taken"),
    [
        ("claude-3-5-sonnet-20241022", True),
        ("claude-sonnet-4-20250514", True),
        ("claude-opus-4-6", True),
        ("anthropic.claude-sonnet-4-5-20250929-v1:0", True),
        ("claude-opus-4-7", False),
        ("claude-sonnet-5", False),
        ("model-1", False),
    ],
)
def test_sampling_is_set_for_models_that_take_it(model: str, taken: bool) -> None:
    fields = anthropic.encode(
        neutral(said("user", "q"), model=model, generation={"temperature": 0.5, "top_p": 0.9}),
        OPTIONS,
    ).fields

    assert fields.get("temperature") == (0.5 if taken else None)
    assert "top_p" not in fields


@pytest.mark.parametrize(
    ("choice", "part"),
    [
        ("auto", {"type": "auto"}),
        ("none", {"type": "none"}),
        ("required", {"type": "any"}),
        ({"name": "read"}, {"type": "tool", "name": "read"}),
        ("what", None),
    ],
)
def test_a_choice_is_said_in_anthropic_s_words(choice: object, part: object) -> None:
    fields = anthropic.encode(
        neutral(said("user", "q"), tools=(READ,), generation={"tool_choice": choice}), OPTIONS
    ).fields

    assert fields.get("tool_choice") == part


def test_one_call_at_a_time_is_asked_for_beside_the_choice() -> None:
    fields = anthropic.encode(
        neutral(said("user", "q"), tools=(READ,), generation={"parallel_tool_calls": False}),
        OPTIONS,
    ).fields

    assert fields["tool_choice"] == {"type": "auto", "disable_parallel_tool_use": True}


@BOTH
def test_calls_beside_no_tools_get_a_tool_that_is_never_called(encode: Encode) -> None:
    encoded = encode(
        neutral(said("user", "q"), said("assistant", call("c1")), said("tool", result("c1"))),
        OPTIONS,
    )

    assert ("placeholder_added", "no_tool") in told(encoded)
    assert "no_tool" in str(encoded.fields)


def test_a_schema_says_that_it_is_of_an_object() -> None:
    tool = NeutralTool(name="t", description="", parameters={"properties": {"a": {}}})
    fields: Any = anthropic.encode(neutral(said("user", "q"), tools=(tool,)), OPTIONS).fields
    schema = {"properties": {"a": {}}, "type": "object"}

    assert {**fields["tools"][0], "cache_control": None} == {
        "name": "t",
        "input_schema": schema,
        "cache_control": None,
    }


def test_the_model_of_bedrock_is_in_the_address() -> None:
    encoded = bedrock.encode(
        neutral(said("user", "q"), model="arn:aws:bedrock:x/y", max_output_tokens=7), OPTIONS
    )

    assert encoded.target is not None
    assert encoded.target.path == "/model/arn%3Aaws%3Abedrock%3Ax%2Fy/converse"
    assert "model" not in encoded.body()
    assert encoded.fields["inferenceConfig"] == {"maxTokens": 7}


@pytest.mark.parametrize(
    ("model", "marks"), [("us.amazon.nova-pro-v1:0", 3), ("claude-x", 3), ("llama", 0)]
)
def test_breakpoints_are_for_models_of_bedrock_that_take_them(model: str, marks: int) -> None:
    request = neutral(
        *(said("user", "q"), said("assistant", "a"), said("user", "r")),
        model=model,
        system=("s",),
    )

    assert str(bedrock.encode(request, OPTIONS).body()).count("cachePoint") == marks


def test_breakpoints_stand_behind_the_system_and_the_last_two_user_messages() -> None:
    messages = [said("user", "1"), said("assistant", "2"), said("user", "3")]
    shorter = anthropic.encode(neutral(*messages[:1], system=("s",), tools=(READ,)), OPTIONS)
    longer = anthropic.encode(neutral(*messages, system=("s",), tools=(READ,)), OPTIONS)

    assert (sorted(shorter.cached), sorted(longer.cached)) == ([0], [0, 2])
    assert shorter.cached[0] == longer.cached[0]
    assert "cache_control" in str(longer.fields["system"])
    assert "cache_control" not in str(longer.fields["tools"])


def test_state_of_texts_and_blocks_of_its_own_go_back_to_anthropic_alone() -> None:
    cited = ProviderState(driver="anthropic", model="model-1", data={"citations": []})
    own: Block = ProviderOpaque(
        type="provider_opaque",
        driver="anthropic",
        kind="server_tool_use",
        payload={"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
    )
    text = Text(type="text", text="a", provider_state=cited)
    request = neutral(said("user", "q"), said("assistant", text, own), said("user", "r"))
    elements: Any = anthropic.encode(request, OPTIONS).elements
    foreign = bedrock.encode(request, OPTIONS)

    assert elements[1]["content"] == [
        {"type": "text", "text": "a", "citations": []},
        {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
    ]
    assert told(foreign) == [
        ("foreign_state_dropped", 1),
        ("foreign_block_dropped", 1, "anthropic"),
    ]


def test_B041_B043_system_parts_are_no_turn() -> None:
    encoded = anthropic.encode(neutral(said("user", "q"), system=("a", " ", "b")), OPTIONS)
    system: Any = encoded.fields["system"]

    assert [part["text"] for part in system] == ["a", "b"]
    assert [element["role"] for element in encoded.elements] == ["user"]


@pytest.mark.parametrize(
    ("encode", "driver", "payload", "sent_as"),
    [
        (anthropic.encode, "anthropic", {"cachePoint": {}}, None),
        (anthropic.encode, "anthropic", {"type": 7}, None),
        (anthropic.encode, "anthropic", {"type": "x", "cache_control": {}}, {"type": "x"}),
        (bedrock.encode, "bedrock", {"cachePoint": {}}, None),
        (bedrock.encode, "bedrock", {}, None),
        (bedrock.encode, "bedrock", {"x": 1}, {"x": 1}),
    ],
)
def test_blocks_of_a_provider_s_own_have_its_shape_and_no_breakpoint(
    encode: Encode, driver: str, payload: dict[str, Any], sent_as: object
) -> None:
    own = ProviderOpaque(type="provider_opaque", driver=driver, kind="k", payload=payload)
    request = neutral(said("user", "q"), said("assistant", "a", own), said("user", "r"))
    content: Any = encode(request, OPTIONS).elements[1]["content"]

    assert content[1:] == ([] if sent_as is None else [sent_as])
    assert (("foreign_block_dropped", 1, driver) in told(encode(request, OPTIONS))) is (
        sent_as is None
    )
