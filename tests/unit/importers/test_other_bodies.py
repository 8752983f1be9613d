"""Bodies of Gemini and Bedrock, and the message lists of LangChain and Inspect."""

from typing import Any

import pytest

from app.importers.transcript import InvalidTranscript
from tests.unit.importers.builders import (
    Json,
    call,
    imported,
    messages_of,
    result,
    skipped,
    state,
    system_of,
    text,
    told,
)

PNG: Json = {
    "type": "data",
    "source": {"source_type": "base64", "data": "AAAA", "media_type": "image/png"},
}


@pytest.mark.parametrize("spelling", ["camel", "snake"])
def test_contents_of_gemini_become_messages(spelling: str) -> None:
    def name(camel: str, snake: str) -> str:
        return camel if spelling == "camel" else snake

    call_of = name("functionCall", "function_call")
    response = name("functionResponse", "function_response")
    found = imported(
        "gemini.generate_content",
        {
            name("systemInstruction", "system_instruction"): {"parts": [{"text": "s"}]},
            "contents": [
                {"role": "user", "parts": [{"text": "q"}]},
                {
                    "role": "model",
                    "parts": [
                        {"text": "hm", "thought": True},
                        {
                            call_of: {"name": "read", "args": {"a": 1}, "id": "c1"},
                            name("thoughtSignature", "thought_signature"): "x",
                        },
                    ],
                },
                {
                    "role": "user",
                    "parts": [
                        {response: {"id": "c1", "name": "read", "response": {"output": "r"}}},
                        {
                            name("inlineData", "inline_data"): {
                                name("mimeType", "mime_type"): "image/png",
                                "data": "AAAA",
                            }
                        },
                    ],
                },
            ],
            "tools": [
                {
                    name("functionDeclarations", "function_declarations"): [
                        {"name": "read", "description": "R", "parameters": {"type": "object"}}
                    ],
                    "googleSearch": {},
                }
            ],
        },
        "m",
    )

    assert system_of(found) == [("imported/0", [text("s")])]
    assert messages_of(found) == [
        ("user", [text("q")]),
        (
            "assistant",
            [
                {"type": "thinking", "thinking": "hm"},
                call("c1", arguments='{"a":1}', **state("gemini", {"thoughtSignature": "x"})),
            ],
        ),
        ("tool", [{**result("c1", name="read"), "output": [text("r"), PNG]}]),
    ]
    assert [tool.name for tool in found.tools] == ["read"]
    assert told(found) == [("tool_left_out", "googleSearch")]


def test_calls_of_gemini_without_ids_pair_by_name_in_order() -> None:
    calls = [{"functionCall": {"name": name}} for name in ("read", "list", "read")]
    responses: list[Json] = [
        {"functionResponse": {"name": name, "response": answer}}
        for name, answer in [
            ("read", {"result": "1"}),
            ("read", {"error": "2"}),
            ("list", {"a": 1}),
        ]
    ]
    found = imported(
        "gemini.generate_content",
        [{"role": "model", "parts": calls}, {"role": "user", "parts": responses}],
    )
    first, listed, second = (block["id"] for block in messages_of(found)[0][1])

    assert messages_of(found)[1] == (
        "tool",
        [
            result(first, "1", name="read"),
            result(second, "2", name="read", state="error"),
            result(listed, '{"a":1}', name="list"),
        ],
    )


def test_a_part_of_gemini_that_is_not_known_is_kept_for_gemini() -> None:
    part = {"executableCode": {"code": "1"}}
    found = imported("gemini.generate_content", [{"role": "model", "parts": [part]}])

    assert messages_of(found) == [
        (
            "assistant",
            [
                {
                    "type": "provider_opaque",
                    "driver": "gemini",
                    "kind": "executableCode",
                    "payload": part,
                }
            ],
        )
    ]


def test_a_body_of_bedrock_becomes_messages() -> None:
    found = imported(
        "bedrock.converse",
        {
            "modelId": "m",
            "inferenceConfig": {"maxTokens": 1},
            "system": [{"text": "s"}, {"cachePoint": {"type": "default"}}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"text": "q"},
                        {"image": {"format": "png", "source": {"bytes": "AAAA"}}},
                    ],
                },
                {
                    "role": "assistant",
                    "content": [
                        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "x"}}},
                        {"toolUse": {"toolUseId": "t", "name": "read", "input": {}}},
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {
                            "toolResult": {
                                "toolUseId": "t",
                                "content": [{"text": "r"}, {"json": {"a": 1}}],
                                "status": "error",
                            }
                        },
                        {"guardContent": {}},
                    ],
                },
            ],
            "toolConfig": {
                "tools": [
                    {"toolSpec": {"name": "read", "inputSchema": {"json": {"type": "object"}}}},
                    {"cachePoint": {"type": "default"}},
                ],
                "toolChoice": {"auto": {}},
            },
        },
    )

    assert system_of(found) == [("imported/0", [text("s")])]
    assert messages_of(found) == [
        ("user", [text("q"), PNG]),
        (
            "assistant",
            [
                {"type": "thinking", "thinking": "hm", **state("bedrock", {"signature": "x"})},
                call("t"),
            ],
        ),
        ("tool", [result("t", "r", '{"a":1}', state="error")]),
        (
            "user",
            [
                {
                    "type": "provider_opaque",
                    "driver": "bedrock",
                    "kind": "guardContent",
                    "payload": {"guardContent": {}},
                }
            ],
        ),
    ]
    assert found.tools[0].parameters == {"type": "object"}
    assert told(found) == [
        ("field_left_out", 0, "cachePoint"),
        ("block_kept_opaque", 2, "guardContent"),
        ("setting_left_out", "inferenceConfig"),
        ("setting_left_out", "toolConfig.toolChoice"),
        ("tool_left_out", "cachePoint"),
    ]


BROKEN: list[tuple[Any, object, str]] = [
    ("gemini.generate_content", [{"role": "robot"}], "transcript.0.role"),
    ("gemini.generate_content", [{"parts": [{}]}], "transcript.0.parts.0"),
    (
        "gemini.generate_content",
        [{"role": "model", "parts": [{"functionCall": {}}]}],
        "transcript.0.parts.0.functionCall.name",
    ),
    ("bedrock.converse", [{"role": "user", "content": "q"}], "transcript.0.content"),
    ("bedrock.converse", [{"role": "user", "content": [{}]}], "transcript.0.content.0"),
    ("bedrock.converse", [{"role": "robot", "content": []}], "transcript.0.role"),
]


@pytest.mark.parametrize(("name", "transcript", "key"), BROKEN)
def test_what_has_no_known_shape_is_refused(name: Any, transcript: object, key: str) -> None:
    with pytest.raises(InvalidTranscript) as refused:
        imported(name, transcript)

    assert refused.value.details["key"] == key


def constructor(of: str, **kwargs: Any) -> Json:
    return {
        "lc": 1,
        "type": "constructor",
        "id": ["langchain", "schema", "messages", of],
        "kwargs": kwargs,
    }


CALLED: Json = {
    "content": [text("a"), {"type": "tool_use", "id": "c", "name": "read", "input": {}}],
    "tool_calls": [{"id": "c", "name": "read", "args": {"a": 1}}],
    "additional_kwargs": {
        "tool_calls": [{"id": "c", "function": {"name": "read", "arguments": '{"a":  1}'}}]
    },
}
SPELLINGS: list[list[Json]] = [
    [
        {"type": "system", "content": "s"},
        {"type": "human", "content": "q"},
        {"type": "ai", **CALLED},
        {"type": "tool", "tool_call_id": "c", "name": "read", "content": "r", "status": "error"},
    ],
    [
        {"type": "system", "data": {"content": "s"}},
        {"type": "human", "data": {"content": "q"}},
        {"type": "ai", "data": CALLED},
        {
            "type": "tool",
            "data": {"tool_call_id": "c", "name": "read", "content": "r", "status": "error"},
        },
    ],
    [
        constructor("SystemMessage", content="s"),
        constructor("HumanMessage", content="q"),
        constructor("AIMessage", **CALLED),
        constructor("ToolMessage", tool_call_id="c", name="read", content="r", status="error"),
    ],
]


@pytest.mark.parametrize("rows", SPELLINGS, ids=["dicts", "data", "dumps"])
def test_messages_of_langchain_are_read_however_they_are_written(rows: list[Json]) -> None:
    found = imported("langchain.messages", rows)

    assert system_of(found) == [("imported/0", [text("s")])]
    assert messages_of(found) == [
        ("user", [text("q")]),
        ("assistant", [text("a"), call("c", arguments='{"a":  1}')]),
        ("tool", [result("c", "r", name="read", state="error")]),
    ]
    assert (told(found), skipped(found)) == ([], [])


PARTS: list[tuple[object, Json]] = [
    ("t", text("t")),
    ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, PNG),
    ({"type": "image", "base64": "AAAA", "mime_type": "image/png"}, PNG),
    ({"type": "image", "source_type": "base64", "data": "AAAA", "mime_type": "image/png"}, PNG),
    (
        {
            "type": "image",
            "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"},
        },
        PNG,
    ),
    (
        {"type": "hologram"},
        {
            "type": "provider_opaque",
            "driver": "langchain",
            "kind": "hologram",
            "payload": {"type": "hologram"},
        },
    ),
]


@pytest.mark.parametrize(("part", "block"), PARTS)
def test_a_part_of_langchain_becomes_a_block(part: object, block: Json) -> None:
    found = imported("langchain.messages", [{"type": "human", "content": [part]}])

    assert messages_of(found) == [("user", [block])]


def test_an_artifact_of_langchain_stays_beside_its_result() -> None:
    found = imported(
        "langchain.messages",
        [
            {"type": "ai", "content": "", "tool_calls": [{"id": "c", "name": "read", "args": {}}]},
            {"type": "tool", "tool_call_id": "c", "content": "r", "artifact": {"rows": 2}},
        ],
    )

    assert messages_of(found)[1][1] == [
        result("c", "r", artifacts=[{"kind": "langchain", "payload": {"rows": 2}}])
    ]


def test_broken_calls_of_langchain_are_kept() -> None:
    row = {
        "type": "ai",
        "content": "",
        "invalid_tool_calls": [{"id": "c", "name": "read", "args": "{"}],
    }

    assert messages_of(imported("langchain.messages", [row])) == [
        ("assistant", [call("c", arguments="{")])
    ]


def test_thinking_of_langchain_is_anthropics() -> None:
    row = {
        "type": "ai",
        "content": [{"type": "thinking", "thinking": "hm", "signature": "x"}],
        "response_metadata": {"model_name": "m"},
    }

    assert messages_of(imported("langchain.messages", [row])) == [
        (
            "assistant",
            [{"type": "thinking", "thinking": "hm", **state("anthropic", {"signature": "x"})}],
        )
    ]


def test_messages_of_inspect_become_messages() -> None:
    found = imported(
        "inspect.messages",
        [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "image", "image": "data:image/png;base64,AAAA"}]},
            {
                "role": "assistant",
                "content": [{"type": "reasoning", "reasoning": "hm", "signature": "x"}, text("a")],
                "tool_calls": [
                    {"id": "c", "function": "read", "arguments": {"a": 1}, "type": "function"}
                ],
            },
            {
                "role": "tool",
                "tool_call_id": "c",
                "function": "read",
                "content": "r",
                "error": {"type": "timeout", "message": "late"},
            },
            {"role": "user", "content": [{"type": "reasoning", "reasoning": "no"}]},
        ],
    )

    assert system_of(found) == [("imported/0", [text("s")])]
    assert messages_of(found) == [
        ("user", [PNG]),
        (
            "assistant",
            [{"type": "thinking", "thinking": "hm"}, text("a"), call("c", arguments='{"a":1}')],
        ),
        ("tool", [result("c", "r", name="read", state="error")]),
    ]
    assert told(found) == [("state_left_out", 1, "reasoning")]
    assert skipped(found) == [(5, "invalid_message")]
