from dataclasses import replace

import pytest

from app.core.blocks import (
    Base64Source,
    Data,
    DataSource,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    Thinking,
    UrlSource,
    text_block,
)
from app.encoders.encoding import EncodingOptions
from app.encoders.openai_chat import encode
from app.encoders.request import NeutralTool
from tests.unit.core.builders import call, image, result
from tests.unit.encoders.builders import OPTIONS, READ, calls_of, neutral, said, told

STATE = ProviderState(driver="openai", model="model-1", data={"encrypted_content": "x"})
THINKING = Thinking(type="thinking", thinking="hm", provider_state=STATE)


def test_a_whole_request_becomes_a_whole_body() -> None:
    request = neutral(
        said("user", "Read a and b."),
        said("assistant", "I will.", call("c1", input='{"path": "a"}'), call("c2")),
        said("tool", result("c1", "text of a")),
        said("tool", result("c2", "text", "of b", state="error")),
        said("assistant", "Done."),
        said("user", "Thanks.", "And now?"),
        model="gpt-5.1",
        system=("You are careful.", "Rules."),
        tools=(READ,),
        generation={"reasoning_effort": "low", "stop": ["END"], "tool_choice": "auto"},
        max_output_tokens=1_000,
    )
    encoded = encode(request, OPTIONS)

    assert encoded.body() == {
        "model": "gpt-5.1",
        "messages": [
            {"role": "system", "content": "You are careful."},
            {"role": "system", "content": "Rules."},
            {"role": "user", "content": "Read a and b."},
            {
                "role": "assistant",
                "content": "I will.",
                "tool_calls": [
                    {
                        "id": "c1",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path": "a"}'},
                    },
                    {
                        "id": "c2",
                        "type": "function",
                        "function": {"name": "read", "arguments": "{}"},
                    },
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "text of a"},
            {
                "role": "tool",
                "tool_call_id": "c2",
                "content": [{"type": "text", "text": "text"}, {"type": "text", "text": "of b"}],
            },
            {"role": "assistant", "content": "Done."},
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Thanks."},
                    {"type": "text", "text": "And now?"},
                ],
            },
        ],
        "max_completion_tokens": 1_000,
        "tools": [
            {
                "type": "function",
                "function": {
                    "name": "read",
                    "description": "Read a file",
                    "parameters": {"type": "object"},
                },
            }
        ],
        "reasoning_effort": "low",
        "stop": ["END"],
        "tool_choice": "auto",
    }
    assert (encoded.repairs, encoded.call_ids) == ((), {})


def test_B037_a_message_of_calls_alone_has_the_content_null() -> None:
    request = neutral(said("assistant", call("c1")), said("tool", result("c1", "x")))

    assert encode(request, OPTIONS).elements[0]["content"] is None
    blank = neutral(said("assistant", "", call("c1")), said("tool", result("c1", "x")))
    encoded = encode(blank, OPTIONS)
    assert encoded.elements[0]["content"] is None
    assert told(encoded) == [("empty_text_dropped", 0)]


@pytest.mark.parametrize("output", [(), ("",), ("", "")])
def test_B038_an_empty_result_says_so(output: tuple[str, ...]) -> None:
    encoded = encode(
        neutral(said("assistant", call("c1")), said("tool", result("c1", *output))), OPTIONS
    )

    assert encoded.elements[1]["content"] == "(no output)"
    assert ("placeholder_added", 1, "c1") in told(encoded)


def test_an_empty_answer_is_left_out_and_an_empty_user_message_says_so() -> None:
    encoded = encode(
        neutral(said("user", ""), said("assistant"), said("assistant", ""), said("user", "x")),
        OPTIONS,
    )

    assert encoded.elements == (
        {"role": "user", "content": "(empty message)"},
        {"role": "user", "content": "x"},
    )
    assert told(encoded) == [
        ("empty_text_dropped", 0),
        ("placeholder_added", 0),
        ("empty_message_dropped", 1),
        ("empty_text_dropped", 2),
        ("empty_message_dropped", 2),
    ]


def test_a_request_without_any_message_gets_one() -> None:
    encoded = encode(neutral(said("assistant")), OPTIONS)

    assert encoded.elements == ({"role": "user", "content": "(empty message)"},)
    assert told(encoded) == [("empty_message_dropped", 0), ("placeholder_added",)]


def test_B029_thinking_is_never_sent_and_told_by_whether_it_was_signed() -> None:
    unsigned = Thinking(type="thinking", thinking="hm")
    encoded = encode(
        neutral(said("assistant", THINKING, "a"), said("assistant", unsigned), said("user", "b")),
        OPTIONS,
    )

    assert encoded.elements == (
        {"role": "assistant", "content": "a"},
        {"role": "user", "content": "b"},
    )
    assert told(encoded) == [
        ("foreign_thinking_dropped", 0),
        ("unsigned_thinking_dropped", 1),
        ("empty_message_dropped", 1),
    ]


def test_B028_provider_state_and_blocks_are_left_out_and_told() -> None:
    opaque = ProviderOpaque(type="provider_opaque", driver="openai", kind="compaction", payload={})
    encoded = encode(
        neutral(
            said("user", replace(text_block("a"), provider_state=STATE)),
            said("assistant", opaque, replace(call("c1"), provider_state=STATE)),
            said("tool", result("c1", "x")),
        ),
        OPTIONS,
    )

    assert encoded.elements[0] == {"role": "user", "content": "a"}
    assert told(encoded) == [
        ("foreign_state_dropped", 0),
        ("foreign_block_dropped", 1, "openai"),
        ("foreign_state_dropped", 1, "c1"),
    ]


@pytest.mark.parametrize("call_id", ["", "c 1", "é", "x" * 41])
def test_B049_an_id_that_openai_refuses_is_replaced_on_both_sides(call_id: str) -> None:
    encoded = encode(
        neutral(said("assistant", call(call_id)), said("tool", result(call_id, "x"))), OPTIONS
    )
    (made,) = encoded.call_ids

    assert (len(made), made[:5]) == (29, "call_")
    assert encoded.call_ids == {made: call_id}
    assert calls_of(encoded, 0)[0]["id"] == made
    assert encoded.elements[1]["tool_call_id"] == made


@pytest.mark.parametrize("call_id", ["functions.read:0", "x" * 40, "toolu_01", "1"])
def test_an_id_that_openai_takes_stays(call_id: str) -> None:
    encoded = encode(
        neutral(said("assistant", call(call_id)), said("tool", result(call_id, "x"))), OPTIONS
    )

    assert (encoded.call_ids, encoded.repairs) == ({}, ())


def test_B017_a_constant_id_is_sent_again_and_again() -> None:
    turn = (said("assistant", call("call_0")), said("tool", result("call_0", "x")))
    encoded = encode(neutral(*turn * 50), OPTIONS)

    assert {element.get("tool_call_id") for element in encoded.elements} == {None, "call_0"}
    assert encoded.repairs == ()


def test_B019_two_calls_of_a_message_that_share_an_id_are_told_apart() -> None:
    encoded = encode(
        neutral(
            said("assistant", call("x"), call("x")),
            said("tool", result("x", "r1")),
            said("tool", result("x", "r2")),
        ),
        OPTIONS,
    )
    (made,) = encoded.call_ids

    assert [sent["id"] for sent in calls_of(encoded, 0)] == ["x", made]
    assert [(e["tool_call_id"], e["content"]) for e in encoded.elements[1:]] == [
        ("x", "r1"),
        (made, "r2"),
    ]


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("", "{}"),
        ("{broken", '{"_raw":"{broken"}'),
        ("[1]", '{"_raw":"[1]"}'),
        ('{"a": NaN}', '{"_raw":"{\\"a\\": NaN}"}'),
    ],
)
def test_arguments_that_are_no_object_are_wrapped_and_none_are_lost(text: str, sent: str) -> None:
    encoded = encode(
        neutral(said("assistant", call("c1", input=text)), said("tool", result("c1", "x"))),
        OPTIONS,
    )

    assert calls_of(encoded, 0)[0]["function"]["arguments"] == sent
    assert told(encoded) == [("arguments_wrapped", 0, "c1")]


def _base64(media_type: str, name: str | None = None) -> Data:
    source = Base64Source(source_type="base64", data="AAAA", media_type=media_type)
    return Data(type="data", source=source, name=name)


def _at(url: str, media_type: str) -> Data:
    source = UrlSource(source_type="url", url=url, media_type=media_type)
    return Data(type="data", source=source)


FILE = Data(type="data", source=FileIdSource(source_type="file_id", id="file-1"))
IMAGE_PART = {"type": "image_url", "image_url": {"url": "data:image/png;base64,ZZZZ"}}


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (image("ZZZZ"), IMAGE_PART),
        (
            _at("https://a.test/b", "image/*"),
            {"type": "image_url", "image_url": {"url": "https://a.test/b"}},
        ),
        (
            _base64("audio/mpeg"),
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "mp3"}},
        ),
        (
            _at("data:audio/wav;base64,AAAA", "audio/wav"),
            {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        ),
        (
            _base64("application/pdf", "a.pdf"),
            {
                "type": "file",
                "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AAAA"},
            },
        ),
        (
            _base64("application/pdf"),
            {
                "type": "file",
                "file": {
                    "filename": "document.pdf",
                    "file_data": "data:application/pdf;base64,AAAA",
                },
            },
        ),
        (FILE, {"type": "file", "file": {"file_id": "file-1"}}),
    ],
)
def test_media_of_the_user_are_parts(data: Data, part: dict[str, object]) -> None:
    encoded = encode(neutral(said("user", "See:", data)), OPTIONS)

    assert encoded.elements == (
        {"role": "user", "content": [{"type": "text", "text": "See:"}, part]},
    )
    assert encoded.repairs == ()


@pytest.mark.parametrize(
    ("source", "media_type"),
    [
        (UrlSource(source_type="url", url="https://a.test", media_type="audio/wav"), "audio/wav"),
        (UrlSource(source_type="url", url="file:///a", media_type="image/png"), "image/png"),
        (Base64Source(source_type="base64", data="A", media_type="image/svg+xml"), "image/svg+xml"),
        (Base64Source(source_type="base64", data="", media_type="image/png"), "image/png"),
        (FileIdSource(source_type="file_id", id=""), "file"),
    ],
)
def test_media_that_no_part_carries_leave_a_line(source: DataSource, media_type: str) -> None:
    encoded = encode(neutral(said("user", Data(type="data", source=source))), OPTIONS)

    line = f"[media left out: {media_type}]"
    assert encoded.elements == ({"role": "user", "content": line},)
    assert told(encoded) == [("media_replaced", 0, media_type)]


def test_a_model_without_eyes_gets_lines_only() -> None:
    options = EncodingOptions(accepts_data_blocks=False)
    encoded = encode(neutral(said("user", "See:", image())), options)

    assert told(encoded) == [("media_replaced", 0, "image/png")]


def test_media_of_results_stand_in_a_user_message_behind_all_results() -> None:
    request = neutral(
        said("assistant", call("c1"), call("c2"), call("c3")),
        said("tool", result("c1", "shot", image("ZZZZ"))),
        said("tool", result("c2", "text")),
        said("tool", result("c3", image("ZZZZ"))),
        said("assistant", "Seen."),
    )
    encoded = encode(request, OPTIONS)

    assert encoded.elements[1:] == (
        {
            "role": "tool",
            "tool_call_id": "c1",
            "content": [
                {"type": "text", "text": "shot"},
                {"type": "text", "text": "[media in the next user message: image/png]"},
            ],
        },
        {"role": "tool", "tool_call_id": "c2", "content": "text"},
        {
            "role": "tool",
            "tool_call_id": "c3",
            "content": "[media in the next user message: image/png]",
        },
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Media of the tool result c1:"},
                IMAGE_PART,
                {"type": "text", "text": "Media of the tool result c3:"},
                IMAGE_PART,
            ],
        },
        {"role": "assistant", "content": "Seen."},
    )
    assert told(encoded) == [("media_moved", 1, "image/png"), ("media_moved", 3, "image/png")]
    waiting = encode(replace(request, messages=request.messages[:-1]), OPTIONS)
    assert waiting.elements == encoded.elements[:-1]


def test_media_of_the_assistant_and_the_system_leave_a_line() -> None:
    request = replace(neutral(said("assistant", image())), system=((image(),), (text_block(""),)))
    encoded = encode(request, OPTIONS)

    line = "[media left out: image/png]"
    assert encoded.elements == (
        {"role": "system", "content": line},
        {"role": "assistant", "content": line},
    )
    assert told(encoded) == [
        ("media_replaced", "image/png"),
        ("empty_text_dropped",),
        ("media_replaced", 0, "image/png"),
    ]


@pytest.mark.parametrize(
    ("choice", "sent"),
    [
        ("auto", "auto"),
        ("none", "none"),
        ("required", "required"),
        ("any", "required"),
        ({"type": "any"}, "required"),
        ({"name": "read"}, {"type": "function", "function": {"name": "read"}}),
        (
            {"type": "function", "function": {"name": "read"}},
            {"type": "function", "function": {"name": "read"}},
        ),
    ],
)
def test_a_tool_choice_is_said_in_openais_words(choice: object, sent: object) -> None:
    request = neutral(said("user", "x"), tools=(READ,), generation={"tool_choice": choice})

    assert encode(request, OPTIONS).fields["tool_choice"] == sent


def test_settings_without_a_field_are_left_out_and_told() -> None:
    encoded = encode(
        neutral(
            said("user", "x"),
            generation={
                "parallel_tool_calls": True,
                "random_seed": 7,
                "stream": True,
                "temperature": 0.5,
                "thinking": {"mode": "enabled"},
                "tool_choice": "auto",
                "top_k": 3,
                "top_p": None,
            },
        ),
        OPTIONS,
    )

    assert encoded.fields == {"model": "model-1", "seed": 7, "temperature": 0.5}
    assert told(encoded) == [
        ("setting_dropped", "parallel_tool_calls"),
        ("setting_dropped", "stream"),
        ("setting_dropped", "thinking"),
        ("setting_dropped", "tool_choice"),
        ("setting_dropped", "top_k"),
    ]


@pytest.mark.parametrize("choice", ["sometimes", 7, {}, {"type": "allowed_tools"}])
def test_a_tool_choice_in_unknown_words_is_left_out_and_told(choice: object) -> None:
    encoded = encode(
        neutral(said("user", "x"), tools=(READ,), generation={"tool_choice": choice}), OPTIONS
    )

    assert "tool_choice" not in encoded.fields
    assert told(encoded) == [("setting_dropped", "tool_choice")]


def test_a_tool_without_a_schema_gets_one_that_takes_nothing() -> None:
    tool = NeutralTool(name="now", description="", parameters={})
    encoded = encode(neutral(said("user", "x"), tools=(tool,)), OPTIONS)

    function = {
        "name": "now",
        "description": "",
        "parameters": {"type": "object", "properties": {}},
    }
    assert encoded.fields["tools"] == [{"type": "function", "function": function}]
    assert told(encoded) == [("placeholder_added", "now")]


def test_an_address_with_the_data_in_it_tells_its_own_type() -> None:
    source = UrlSource(source_type="url", url="data:image/tiff;base64,AAAA", media_type="image/png")
    request = neutral(said("user", Data(type="data", source=source)))

    assert encode(request, OPTIONS).elements[0]["content"] == "[media left out: image/png]"
