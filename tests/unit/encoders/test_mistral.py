import re
from dataclasses import replace

import pytest

from app.core.blocks import (
    Base64Source,
    Data,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    Thinking,
    UrlSource,
)
from app.encoders.mistral import encode
from tests.unit.core.builders import call, image, result
from tests.unit.encoders.builders import OPTIONS, READ, neutral, said, told

STATE = ProviderState(driver="mistral", model="model-1", data={"closed": True})
THINKING = Thinking(type="thinking", thinking="hm", provider_state=STATE)
CHUNK = {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True}
USER = said("user", "Go.")


def test_a_whole_request_becomes_a_whole_body() -> None:
    request = neutral(
        USER,
        said("assistant", "I will.", call("abcDEF123", input='{"path": "a"}')),
        said("tool", result("abcDEF123", "text of a")),
        said("assistant", "Done."),
        said("user", "Thanks."),
        model="mistral-large-latest",
        system=("You are careful.",),
        tools=(READ,),
        generation={"seed": 7, "stop": "END", "temperature": 0, "tool_choice": "required"},
        max_output_tokens=1_000,
    )
    encoded = encode(request, OPTIONS)

    assert encoded.body() == {
        "model": "mistral-large-latest",
        "messages": [
            {"role": "system", "content": "You are careful."},
            {"role": "user", "content": "Go."},
            {
                "role": "assistant",
                "content": "I will.",
                "tool_calls": [
                    {
                        "id": "abcDEF123",
                        "type": "function",
                        "function": {"name": "read", "arguments": '{"path": "a"}'},
                    }
                ],
            },
            {
                "role": "tool",
                "name": "read",
                "tool_call_id": "abcDEF123",
                "content": "text of a",
            },
            {"role": "assistant", "content": "Done."},
            {"role": "user", "content": "Thanks."},
        ],
        "max_tokens": 1_000,
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
        "random_seed": 7,
        "stop": "END",
        "temperature": 0,
        "tool_choice": "any",
    }
    assert (encoded.repairs, encoded.call_ids) == ((), {})


def test_B047_ids_have_nine_letters_and_digits_on_both_sides() -> None:
    call_id = "call_PTLP8xhu3uwZk4l3nlnrrJha"
    encoded = encode(
        neutral(USER, said("assistant", call(call_id)), said("tool", result(call_id, "x"))),
        OPTIONS,
    )
    (made,) = encoded.call_ids

    assert re.fullmatch(r"[a-zA-Z0-9]{9}", made)
    assert encoded.call_ids == {made: call_id}
    assert encoded.elements[2]["tool_call_id"] == made
    assert told(encoded) == [("call_id_renamed", 1, call_id)]


def test_B037_a_message_of_calls_alone_has_the_content_null() -> None:
    encoded = encode(
        neutral(USER, said("assistant", call("abcDEF123")), said("tool", result("abcDEF123", "x"))),
        OPTIONS,
    )

    assert encoded.elements[1]["content"] is None


def test_B038_an_empty_result_says_so() -> None:
    encoded = encode(
        neutral(USER, said("assistant", call("abcDEF123")), said("tool", result("abcDEF123", ""))),
        OPTIONS,
    )

    assert encoded.elements[2]["content"] == "(no output)"


def test_a_user_message_behind_results_gets_an_answer_in_front() -> None:
    request = neutral(
        USER,
        said("assistant", call("abcDEF123")),
        said("tool", result("abcDEF123", "x")),
        said("assistant"),
        said("user", "Stop."),
        said("user", "Please."),
    )
    encoded = encode(request, OPTIONS)

    assert encoded.elements[2:] == (
        {"role": "tool", "name": "read", "tool_call_id": "abcDEF123", "content": "x"},
        {"role": "assistant", "content": "Understood."},
        {"role": "user", "content": "Stop."},
        {"role": "user", "content": "Please."},
    )
    assert told(encoded) == [("empty_message_dropped", 3), ("bridge_added", 4)]


def test_an_answer_that_is_last_is_gone_on_with() -> None:
    encoded = encode(neutral(USER, said("assistant", "Once")), OPTIONS)

    assert encoded.elements[-1] == {"role": "assistant", "content": "Once", "prefix": True}
    assert told(encoded) == [("last_message_continued", 1)]


def test_a_conversation_does_not_begin_with_an_answer() -> None:
    encoded = encode(neutral(said("assistant", "Hi."), USER), OPTIONS)
    with_system = encode(neutral(said("assistant", "Hi."), USER, system=("S",)), OPTIONS)

    assert encoded.elements[:2] == (
        {"role": "user", "content": "(empty message)"},
        {"role": "assistant", "content": "Hi."},
    )
    assert told(encoded) == [("placeholder_added",)]
    assert with_system.repairs == ()


def test_B028_thinking_goes_back_to_its_own_model_alone_and_comes_back_after_a_switch() -> None:
    request = neutral(USER, said("assistant", THINKING, "Done."), said("user", "More."))
    own, other = encode(request, OPTIONS), encode(replace(request, model="model-2"), OPTIONS)

    assert own.elements[1] == {
        "role": "assistant",
        "content": [CHUNK, {"type": "text", "text": "Done."}],
    }
    assert own.repairs == ()
    assert other.elements[1] == {"role": "assistant", "content": "Done."}
    assert told(other) == [("foreign_thinking_dropped", 1)]
    assert encode(request, OPTIONS) == own


def test_B026_a_tool_loop_keeps_its_thinking_or_loses_all_of_it() -> None:
    def loop(state: ProviderState) -> list[object]:
        thinking = replace(THINKING, provider_state=state)
        encoded = encode(
            neutral(
                USER,
                said("assistant", thinking, call("abcDEF123")),
                said("tool", result("abcDEF123", "x")),
                said("assistant", thinking, call("abcDEF124")),
                said("tool", result("abcDEF124", "x")),
            ),
            OPTIONS,
        )
        return [e["content"] for e in encoded.elements if e["role"] == "assistant"]

    assert loop(STATE) == [[CHUNK], [CHUNK]]
    assert loop(replace(STATE, model="model-2")) == [None, None]


@pytest.mark.parametrize("state", [None, replace(STATE, data="x"), replace(STATE, driver="d")])
def test_B025_thinking_that_is_not_mistrals_is_never_sent(state: ProviderState | None) -> None:
    thinking = replace(THINKING, provider_state=state)
    encoded = encode(neutral(USER, said("assistant", thinking), said("user", "x")), OPTIONS)

    assert [element["role"] for element in encoded.elements] == ["user", "user"]


def test_blocks_of_mistral_go_back_as_they_came() -> None:
    reference = {"type": "reference", "reference_ids": [1]}
    own = ProviderOpaque(
        type="provider_opaque", driver="mistral", kind="reference", payload=reference
    )
    encoded = encode(
        neutral(USER, said("assistant", "a", own, replace(own, driver="d")), said("user", own)),
        OPTIONS,
    )

    assert encoded.elements[1]["content"] == [{"type": "text", "text": "a"}, reference]
    assert told(encoded) == [
        ("foreign_block_dropped", 1, "d"),
        ("foreign_block_dropped", 2, "mistral"),
        ("placeholder_added", 2),
    ]


PDF = Data(
    type="data",
    source=Base64Source(source_type="base64", data="AAAA", media_type="application/pdf"),
    name="a.pdf",
)


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (
            image("ZZZZ"),
            {"type": "image_url", "image_url": {"url": "data:image/png;base64,ZZZZ"}},
        ),
        (
            PDF,
            {
                "type": "document_url",
                "document_url": "data:application/pdf;base64,AAAA",
                "document_name": "a.pdf",
            },
        ),
        (
            Data(
                type="data",
                source=UrlSource(
                    source_type="url", url="https://a.test/b", media_type="application/pdf"
                ),
            ),
            {"type": "document_url", "document_url": "https://a.test/b"},
        ),
        (
            Data(
                type="data",
                source=Base64Source(source_type="base64", data="AAAA", media_type="audio/wav"),
            ),
            {"type": "input_audio", "input_audio": "AAAA"},
        ),
        (
            Data(type="data", source=FileIdSource(source_type="file_id", id="f1")),
            {"type": "file", "file_id": "f1"},
        ),
    ],
)
def test_media_are_chunks_of_users_and_of_results(data: Data, part: dict[str, object]) -> None:
    encoded = encode(
        neutral(
            said("user", data),
            said("assistant", call("abcDEF123")),
            said("tool", result("abcDEF123", data)),
        ),
        OPTIONS,
    )

    assert encoded.elements[0]["content"] == encoded.elements[2]["content"] == [part]
    assert encoded.repairs == ()


def test_media_that_no_chunk_carries_leave_a_line() -> None:
    svg = Data(
        type="data",
        source=Base64Source(source_type="base64", data="AAAA", media_type="image/svg+xml"),
    )
    encoded = encode(neutral(said("user", svg)), OPTIONS)

    assert encoded.elements[0]["content"] == "[media left out: image/svg+xml]"
    assert told(encoded) == [("media_replaced", 0, "image/svg+xml")]


def test_settings_without_a_field_are_left_out_and_told() -> None:
    encoded = encode(
        neutral(USER, generation={"logit_bias": {}, "prompt_mode": "reasoning", "top_k": 3}),
        OPTIONS,
    )

    assert encoded.fields == {"model": "model-1", "prompt_mode": "reasoning"}
    assert told(encoded) == [("setting_dropped", "logit_bias"), ("setting_dropped", "top_k")]
