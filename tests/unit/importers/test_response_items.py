"""Items of OpenAI's Responses: bodies, and the rollouts of Codex."""

import pytest

from app.importers.transcript import InvalidTranscript
from tests.unit.importers.builders import (
    Json,
    call,
    imported,
    lines,
    messages_of,
    result,
    skipped,
    state,
    system_of,
    text,
    told,
)

REASONING: Json = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hm"}],
    "encrypted_content": "x",
}
THOUGHT: Json = {
    "type": "thinking",
    "thinking": "hm",
    **state("openai", {"id": "rs_1", "encrypted_content": "x"}),
}
CALL: Json = {"type": "function_call", "call_id": "c1", "name": "read", "arguments": '{"a": 1}'}
OUTPUT: Json = {"type": "function_call_output", "call_id": "c1", "output": "r"}


def said(role: str, sort: str, words: str) -> Json:
    return {"type": "message", "role": role, "content": [{"type": sort, "text": words}]}


def test_items_of_an_answer_make_one_message() -> None:
    found = imported(
        "openai.responses",
        {
            "model": "m",
            "instructions": "s",
            "store": False,
            "input": [
                {"role": "user", "content": "q"},
                REASONING,
                said("assistant", "output_text", "a"),
                CALL,
                {**CALL, "call_id": "c2"},
                OUTPUT,
                {**OUTPUT, "call_id": "c2", "output": [{"type": "input_text", "text": "r2"}]},
                said("assistant", "output_text", "done"),
            ],
            "tools": [
                {"type": "function", "name": "read", "parameters": {"type": "object"}},
                {"type": "web_search"},
            ],
        },
    )

    assert system_of(found) == [("imported/0", [text("s")])]
    assert messages_of(found) == [
        ("user", [text("q")]),
        (
            "assistant",
            [
                THOUGHT,
                text("a"),
                call("c1", arguments='{"a": 1}'),
                call("c2", arguments='{"a": 1}'),
            ],
        ),
        ("tool", [result("c1", "r")]),
        ("tool", [result("c2", "r2")]),
        ("assistant", [text("done")]),
    ]
    assert [tool.name for tool in found.tools] == ["read"]
    assert told(found) == [("setting_left_out", "store"), ("tool_left_out", "web_search")]


def test_an_input_of_text_is_the_users() -> None:
    found = imported("openai.responses", {"input": "q"})

    assert messages_of(found) == [("user", [text("q")])]


ITEMS: list[tuple[Json, Json]] = [
    (
        {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
        call("c", "patch", "*** Begin", **state("openai", {"type": "custom_tool_call"})),
    ),
    (
        {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
        call(
            "c",
            "local_shell",
            '{"command":["ls"]}',
            **state("openai", {"type": "local_shell_call"}),
        ),
    ),
    (
        {"type": "web_search_call", "id": "ws"},
        {
            "type": "provider_opaque",
            "driver": "openai",
            "kind": "web_search_call",
            "payload": {"type": "web_search_call", "id": "ws"},
        },
    ),
]


@pytest.mark.parametrize(("item", "block"), ITEMS)
def test_an_item_becomes_a_block_of_an_answer(item: Json, block: Json) -> None:
    assert messages_of(imported("openai.responses", [item], "m")) == [("assistant", [block])]


PARTS: list[tuple[Json, Json]] = [
    (
        {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
        {"source_type": "base64", "data": "AAAA", "media_type": "image/png"},
    ),
    (
        {"type": "input_image", "file_id": "f"},
        {"source_type": "file_id", "id": "f"},
    ),
    (
        {"type": "input_file", "file_url": "https://a.test/b"},
        {"source_type": "url", "url": "https://a.test/b", "media_type": "application/pdf"},
    ),
    (
        {"type": "input_file", "file_data": "AAAA"},
        {"source_type": "base64", "data": "AAAA", "media_type": "application/pdf"},
    ),
]


@pytest.mark.parametrize(("part", "source"), PARTS)
def test_a_part_becomes_a_medium(part: Json, source: Json) -> None:
    found = imported("openai.responses", [{"role": "user", "content": [part]}])

    assert messages_of(found) == [("user", [{"type": "data", "source": source}])]


@pytest.mark.parametrize(
    ("item", "key"),
    [
        ({}, "transcript.0.type"),
        ({"role": "robot", "content": ""}, "transcript.0.role"),
        ({**CALL, "name": None}, "transcript.0.name"),
        ({"role": "user", "content": [{}]}, "transcript.0.content.0.type"),
    ],
)
def test_an_item_without_its_shape_is_refused(item: Json, key: str) -> None:
    with pytest.raises(InvalidTranscript) as refused:
        imported("openai.responses", [item])

    assert refused.value.details["key"] == key


def item(payload: Json) -> Json:
    return {"timestamp": "2026-01-01T00:00:00Z", "type": "response_item", "payload": payload}


def test_a_rollout_is_read_in_the_model_of_its_turns() -> None:
    found = imported(
        "codex.rollout",
        lines(
            {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "s"}}},
            {"type": "turn_context", "payload": {"model": "m"}},
            item(said("developer", "input_text", "d")),
            item(said("user", "input_text", "q")),
            {"type": "event_msg", "payload": {"type": "user_message", "message": "q"}},
            item(REASONING),
            item(CALL),
            item({**OUTPUT, "output": {"content": "r", "success": False}}),
            {"type": "hologram"},
            item({"type": "function_call"}),
            item({"type": "ghost_snapshot"}),
            {"type": "session_meta", "payload": {"id": "s", "base_instructions": {"text": "s"}}},
            '{"timestamp": "2026',
        ),
    )

    assert system_of(found) == [("imported/0", [text("s")]), ("imported/1", [text("d")])]
    assert messages_of(found) == [
        ("user", [text("q")]),
        ("assistant", [THOUGHT, call("c1", arguments='{"a": 1}')]),
        ("tool", [result("c1", "r", state="error")]),
    ]
    assert skipped(found) == [
        (2, "note"),
        (5, "event"),
        (9, "unknown_line"),
        (10, "invalid_message"),
        (11, "note"),
        (12, "note"),
        (13, "not_json"),
    ]


def test_a_rollout_without_envelopes_is_read() -> None:
    found = imported(
        "codex.rollout",
        lines(
            {"id": "s", "timestamp": "t"},
            said("user", "input_text", "q"),
            {"record_type": "state"},
            CALL,
            OUTPUT,
        ),
    )

    assert [role for role, _ in messages_of(found)] == ["user", "assistant", "tool"]
    assert skipped(found) == [(1, "note"), (3, "note")]


COMPACTED: list[tuple[Json, list[tuple[bool, bool, str]]]] = [
    (
        {"message": "summary"},
        [(True, True, "q"), (False, True, "a"), (True, False, "summary"), (True, True, "b")],
    ),
    (
        {"message": "", "replacement_history": [said("user", "input_text", "new")]},
        [(False, True, "q"), (False, True, "a"), (True, False, "new"), (True, True, "b")],
    ),
]


@pytest.mark.parametrize(("payload", "expected"), COMPACTED)
def test_a_compaction_takes_the_place_of_the_history(
    payload: Json, expected: list[tuple[bool, bool, str]]
) -> None:
    found = imported(
        "codex.rollout",
        lines(
            item(said("user", "input_text", "q")),
            item(said("assistant", "output_text", "a")),
            {"type": "compacted", "payload": payload},
            item(said("assistant", "output_text", "b")),
        ),
    )

    assert [
        (message.agent_visible, message.user_visible, block["text"])
        for message, (_, (block,)) in zip(found.messages, messages_of(found), strict=True)
    ] == expected
