"""Lint by hand-made bodies: at least one for every code, and one of each format without a fault."""

from base64 import b64encode
from pathlib import Path
from struct import pack
from typing import Any, get_args

import pytest

from app.core.model_profile import ModelProfile, unknown_profile
from app.encoders.encoding import Format
from app.encoders.lint.findings import MOST_FINDINGS, SEVERITIES, FindingCode
from app.encoders.lint.formats import lint

UUID = "5b0f6f0e-3a3c-4a38-9e0c-0d4d3f7f0a11"
GOOD: dict[Format, dict[str, Any]] = {
    "openai.chat": {
        "model": "m",
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": "q"}]},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "c1", "type": "function", "function": {"name": "r", "arguments": "{}"}}
                ],
            },
            {"role": "tool", "tool_call_id": "c1", "content": "x"},
        ],
        "tools": [{"type": "function", "function": {"name": "r", "parameters": {}}}],
    },
    "mistral.chat": {
        "model": "m",
        "messages": [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "abcdefghi", "function": {"name": "r", "arguments": "{}"}}],
            },
            {"role": "tool", "name": "r", "tool_call_id": "abcdefghi", "content": "x"},
        ],
    },
    "openai.responses": {
        "model": "m",
        "input": [
            {"role": "user", "content": "q"},
            {"type": "reasoning", "id": "rs_1", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "r", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c1", "output": "x"},
        ],
        "tools": [{"type": "function", "name": "r", "parameters": {"type": "object"}}],
    },
    "anthropic.messages": {
        "model": "m",
        "max_tokens": 10,
        "system": [{"type": "text", "text": "s"}],
        "messages": [
            {"role": "user", "content": "q"},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "s"},
                    {"type": "tool_use", "id": "c1", "name": "r", "input": {}},
                ],
            },
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1"}]},
        ],
        "tools": [{"name": "r", "input_schema": {"type": "object"}}],
    },
    "bedrock.converse": {
        "system": [{"text": "s"}],
        "messages": [
            {"role": "user", "content": [{"text": "q"}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "c1", "name": "r", "input": {}}}],
            },
            {
                "role": "user",
                "content": [{"toolResult": {"toolUseId": "c1", "content": [{"text": "x"}]}}],
            },
        ],
        "toolConfig": {
            "tools": [{"toolSpec": {"name": "r", "inputSchema": {"json": {"type": "object"}}}}]
        },
    },
    "gemini.generate_content": {
        "systemInstruction": {"parts": [{"text": "s"}]},
        "contents": [
            {"role": "user", "parts": [{"text": "q"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "r", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "r", "response": {}}}]},
        ],
        "tools": [{"functionDeclarations": [{"name": "r"}]}],
    },
}
USER = {"role": "user", "content": "q"}
SAID = {"role": "assistant", "content": "a"}


def of(body_format: Format, body: dict[str, Any], profile: ModelProfile | None = None) -> set[Any]:
    found = lint(body_format, body, profile or unknown_profile("m"))
    return {(finding.code, finding.path) for finding in found}


@pytest.mark.parametrize("body_format", get_args(Format))
def test_nothing_is_found_in_a_body_without_a_fault(body_format: Format) -> None:
    assert of(body_format, GOOD[body_format]) == set()


def chat(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "messages": list(messages), **fields}


def claude(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "m", "max_tokens": 9, "messages": list(messages), **fields}


def asked(*ids: str, arguments: Any = "{}") -> dict[str, Any]:
    calls = [{"id": id_, "function": {"name": "r", "arguments": arguments}} for id_ in ids]
    return {"role": "assistant", "tool_calls": calls}


def answer(call_id: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": "x"}


def used(*ids: str) -> dict[str, Any]:
    parts = [{"type": "tool_use", "id": id_, "name": "r", "input": {}} for id_ in ids]
    return {"role": "assistant", "content": parts}


def result(*ids: str, front: Any = ()) -> dict[str, Any]:
    parts = [{"type": "tool_result", "tool_use_id": id_} for id_ in ids]
    return {"role": "user", "content": [*front, *parts]}


def tool(**fields: Any) -> dict[str, Any]:
    return {"type": "function", "function": {"name": "r", **fields}}


TOOLS = [{"name": "r", "input_schema": {"type": "object"}}]
TEXT = {"type": "text", "text": "q"}
HUGE = "iVBORw0KGgoAAAANSUhEUgAAJxAAACcQCAYAAAA="
BAD: list[tuple[FindingCode, str, Format, dict[str, Any]]] = [
    ("invalid_shape", "messages", "openai.chat", {"model": "m", "messages": 7}),
    ("invalid_shape", "messages.0", "openai.chat", chat(7)),
    ("invalid_shape", "messages.0.content.0.text", "anthropic.messages",
     claude({"role": "user", "content": [{"type": "text"}]})),
    ("invalid_shape", "input.0.call_id", "openai.responses",
     {"model": "m", "input": [{"type": "function_call", "name": "r", "arguments": "{}"}]}),
    ("missing_field", "model", "openai.chat", {"messages": [USER]}),
    ("missing_field", "max_tokens", "anthropic.messages", {"model": "m", "messages": [USER]}),
    ("missing_field", "contents", "gemini.generate_content", {}),
    ("unknown_role", "messages.0.role", "mistral.chat", chat({"role": "robot", "content": "x"})),
    ("unknown_role", "contents.0.role", "gemini.generate_content",
     {"contents": [{"role": "assistant", "parts": []}]}),
    ("first_role", "messages.0", "anthropic.messages", claude(SAID, USER)),
    ("first_role", "messages.0", "mistral.chat", chat(SAID)),
    ("last_role", "messages.1", "anthropic.messages", claude(USER, SAID)),
    ("role_order", "messages.1", "bedrock.converse",
     {"messages": [{"role": "user", "content": [{"text": "a"}]}] * 2}),
    ("role_order", "contents.1", "gemini.generate_content",
     {"contents": [{"role": "user", "parts": [{"text": "a"}]}] * 2}),
    ("role_order", "messages.3", "mistral.chat",
     chat(USER, asked("abcdefghi"), answer("abcdefghi"), USER)),
    ("system_in_conversation", "messages.1.role", "anthropic.messages",
     claude(USER, {"role": "system", "content": "s"}, USER)),
    ("system_in_conversation", "messages.1", "mistral.chat",
     chat(USER, {"role": "system", "content": "s"})),
    ("no_messages", "", "openai.chat", chat()),
    ("empty_content", "messages.0", "openai.chat", chat({"role": "user", "content": []})),
    ("empty_content", "messages.1", "openai.chat", chat(USER, {"role": "assistant"})),
    ("empty_text", "messages.0.content", "anthropic.messages",
     claude({"role": "user", "content": " "})),
    ("empty_text", "messages.0.content.0.text", "bedrock.converse",
     {"messages": [{"role": "user", "content": [{"text": "\n"}]}]}),
    ("empty_text", "contents.0.parts.0.text", "gemini.generate_content",
     {"contents": [{"role": "user", "parts": [{"text": ""}]}]}),
    ("empty_text", "messages.2.content.0.content.0.text", "anthropic.messages",
     claude(USER, used("c1"), {"role": "user", "content": [
         {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": ""}]}
     ]}, tools=TOOLS)),
    ("call_without_result", "messages.1.tool_calls.0.id", "openai.chat", chat(USER, asked("c1"))),
    ("call_without_result", "messages.1.tool_calls.1.id", "openai.chat",
     chat(USER, asked("c1", "c2"), answer("c1"), USER)),
    ("call_without_result", "messages.1.content.0.id", "anthropic.messages",
     claude(USER, used("c1"), USER, result("c1"), tools=TOOLS)),
    ("result_without_call", "messages.1.tool_call_id", "openai.chat", chat(USER, answer("c9"))),
    ("result_without_call", "messages.3.content.0.tool_use_id", "anthropic.messages",
     claude(USER, used("c1"), USER, result("c1"), tools=TOOLS)),
    ("duplicate_result", "messages.3.tool_call_id", "openai.chat",
     chat(USER, asked("c1"), answer("c1"), answer("c1"))),
    ("result_behind_other", "messages.2", "anthropic.messages",
     claude(USER, used("c1"), result("c1", front=[TEXT]), tools=TOOLS)),
    ("invalid_call_id", "messages.1.tool_calls.0.id", "mistral.chat",
     chat(USER, asked("call_1"), answer("call_1"))),
    ("invalid_call_id", "messages.1.content.0.id", "anthropic.messages",
     claude(USER, used("a.b"), result("a.b"), tools=TOOLS)),
    ("duplicate_call_id", "messages.1.tool_calls.1.id", "openai.chat",
     chat(USER, asked("c1", "c1"), answer("c1"), answer("c1"))),
    ("duplicate_call_id", "messages.3.content.0.id", "anthropic.messages",
     claude(USER, used("c1"), result("c1"), used("c1"), result("c1"), tools=TOOLS)),
    ("invalid_arguments", "messages.1.tool_calls.0.function.arguments", "openai.chat",
     chat(USER, asked("c1", arguments="{broken"), answer("c1"))),
    ("unsigned_thinking", "messages.1.content.0", "anthropic.messages",
     claude(USER, {"role": "assistant", "content": [{"type": "thinking", "thinking": "x"}, TEXT]},
            USER)),
    ("unsigned_thinking", "input.1", "openai.responses",
     {"model": "m", "input": [USER, {"type": "reasoning"}, SAID]}),
    ("reasoning_alone", "input.1", "openai.responses",
     {"model": "m", "input": [USER, {"type": "reasoning", "id": "rs_1"}, USER]}),
    ("media_type", "messages.0.content.0", "openai.chat",
     chat({"role": "user", "content": [
         {"type": "image_url", "image_url": {"url": "data:image/tiff;base64,AAAA"}}
     ]})),
    ("media_type", "contents.0.parts.0", "gemini.generate_content",
     {"contents": [{"role": "user", "parts": [
         {"inlineData": {"mimeType": "image/gif", "data": "AAAA"}}
     ]}]}),
    ("media_size", "messages.0.content.0", "bedrock.converse",
     {"messages": [{"role": "user", "content": [
         {"image": {"format": "png", "source": {"bytes": "A" * (5 * 1024 * 1024 + 1)}}}
     ]}]}),
    ("media_count", "messages.0.content.600", "anthropic.messages",
     claude({"role": "user", "content": [
         {"type": "image", "source": {"type": "url", "url": "https://a.test"}}
     ] * 601})),
    ("image_dimensions", "messages.0.content.0", "anthropic.messages",
     claude({"role": "user", "content": [
         {"type": "image",
          "source": {"type": "base64", "media_type": "image/png", "data": HUGE}}
     ]})),
    ("tools_missing", "", "anthropic.messages", claude(USER, used("c1"), result("c1"))),
    ("tool_name", "tools.0.function.name", "openai.chat",
     chat(USER, tools=[{"type": "function", "function": {"name": "a b"}}])),
    ("duplicate_tool", "tools.1.function.name", "openai.chat", chat(USER, tools=[tool(), tool()])),
    ("tool_schema", "tools.0.function.parameters.anyOf", "openai.chat",
     chat(USER, tools=[tool(parameters={"anyOf": []})])),
    ("tool_schema", "tools.0.input_schema.type", "anthropic.messages",
     claude(USER, tools=[{"name": "r", "input_schema": {"type": "array"}}])),
    ("too_many_breakpoints", "", "anthropic.messages",
     claude({"role": "user", "content": [{**TEXT, "cache_control": {"type": "ephemeral"}}] * 5})),
    ("too_many_breakpoints", "", "bedrock.converse",
     {"messages": [{"role": "user", "content": [{"text": "a"}, *[{"cachePoint": {}}] * 5]}]}),
    ("thinking_budget", "thinking.budget_tokens", "anthropic.messages",
     claude(USER, thinking={"type": "enabled", "budget_tokens": 9})),
    ("volatile_prefix", "messages.0.content", "openai.chat",
     chat({"role": "system", "content": "It is 2026-01-01T10:00:00."}, USER)),
    ("volatile_prefix", "messages.0.content", "mistral.chat",
     chat({"role": "system", "content": "Current time is 15:09:20"}, USER)),
    ("volatile_prefix", "system.0.text", "bedrock.converse",
     {"system": [{"text": UUID}], "messages": [{"role": "user", "content": [{"text": "q"}]}]}),
    ("volatile_prefix", "tools.0.function.description", "openai.chat",
     chat(USER, tools=[tool(description=f"Session {UUID}")])),
]  # fmt: skip


@pytest.mark.parametrize(("code", "path", "body_format", "body"), BAD)
def test_a_fault_is_found_where_it_is(
    code: FindingCode, path: str, body_format: Format, body: dict[str, Any]
) -> None:
    assert (code, path) in of(body_format, body)


def test_B155_many_images_must_be_small() -> None:
    # 2 162 x 322 pixels, of which the head of the file is enough.
    png = b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + pack(">II", 2_162, 322)).decode()
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}
    few, many = ([image] * count for count in (20, 25))

    assert of("anthropic.messages", claude({"role": "user", "content": few})) == set()
    found = of("anthropic.messages", claude({"role": "user", "content": many}))
    assert {code for code, _ in found} == {"image_dimensions"}
    assert len(found) == 25


KNOWN = ModelProfile(name="gemini-3-pro", context_window=20, max_output_tokens=5)


@pytest.mark.parametrize(
    ("code", "path", "body_format", "body"),
    [
        ("output_limit", "max_tokens", "anthropic.messages", claude(USER)),
        (
            "output_limit",
            "generationConfig.maxOutputTokens",
            "gemini.generate_content",
            {"contents": [], "generationConfig": {"maxOutputTokens": 6}},
        ),
        ("window", "", "openai.chat", chat({"role": "user", "content": "x" * 100})),
        (
            "unsigned_call",
            "contents.1.parts.0.functionCall",
            "gemini.generate_content",
            GOOD["gemini.generate_content"],
        ),
    ],
)
def test_what_is_known_of_a_model_is_compared(
    code: FindingCode, path: str, body_format: Format, body: dict[str, Any]
) -> None:
    assert (code, path) in of(body_format, body, KNOWN)


def test_every_code_has_a_body_that_shows_it() -> None:
    shown = {code for code, *_ in BAD} | {"output_limit", "window", "unsigned_call"}

    assert shown == set(get_args(FindingCode))


def test_B119_a_clock_in_front_of_everything_is_told() -> None:
    body = chat({"role": "system", "content": "Current time is 15:09:20"}, USER)

    assert of("openai.chat", body) == {("volatile_prefix", "messages.0.content")}
    assert of("openai.chat", chat({"role": "system", "content": "Today is Monday."}, USER)) == set()


def test_the_page_has_every_code_with_its_severity() -> None:
    page = (Path(__file__).parents[4] / "docs" / "semantics" / "lint.md").read_text("utf-8")
    rows = [line.split("|")[1:3] for line in page.splitlines() if line.startswith("| `")]
    told = {
        code.strip(" `"): severity.strip() for codes, severity in rows for code in codes.split(",")
    }

    assert {code: told.get(code) for code in get_args(FindingCode)} == {
        code: SEVERITIES.get(code, "error") for code in get_args(FindingCode)
    }


def test_warnings_are_no_reason_to_refuse() -> None:
    (found,) = lint(
        "openai.chat", chat({"role": "system", "content": UUID}, USER), unknown_profile("m")
    )

    assert found.severity == "warning"


def test_findings_are_bounded() -> None:
    found = lint("openai.chat", chat(*[7] * 5_000), unknown_profile("m"))

    assert len(found) == MOST_FINDINGS
