"""Anthropic's messages: bodies, and the sessions of Claude Code."""

from typing import Any

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

SIGNED: Json = {"type": "thinking", "thinking": "hm", "signature": "s"}
THOUGHT: Json = {"type": "thinking", "thinking": "hm", **state("anthropic", {"signature": "s"})}
USE: Json = {"type": "tool_use", "id": "t1", "name": "read", "input": {"a": 1}}
RESULT: Json = {"type": "tool_result", "tool_use_id": "t1", "content": "r"}


def test_a_message_splits_where_results_and_other_blocks_meet() -> None:
    found = imported(
        "anthropic.messages",
        {
            "model": "m",
            "max_tokens": 10,
            "system": [{**text("s"), "cache_control": {"type": "ephemeral"}}, text("t")],
            "messages": [
                {"role": "user", "content": "q"},
                {"role": "assistant", "content": [SIGNED, text("a"), USE]},
                {"role": "user", "content": [{**RESULT, "is_error": True}, text("and?")]},
            ],
            "tools": [
                {"name": "read", "description": "R", "input_schema": {"type": "object"}},
                {"type": "web_search_20250305", "name": "web_search"},
            ],
        },
    )

    assert system_of(found) == [("imported/0", [text("s"), text("t")])]
    assert messages_of(found) == [
        ("user", [text("q")]),
        ("assistant", [THOUGHT, text("a"), call("t1", arguments='{"a":1}')]),
        ("tool", [result("t1", "r", state="error")]),
        ("user", [text("and?")]),
    ]
    assert [tool.name for tool in found.tools] == ["read"]
    assert told(found) == [
        ("field_left_out", 0, "cache_control"),
        ("setting_left_out", "max_tokens"),
        ("tool_left_out", "web_search_20250305"),
    ]


BLOCKS: list[tuple[Json, Json]] = [
    (
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
        {
            "type": "data",
            "source": {"source_type": "base64", "data": "AAAA", "media_type": "image/png"},
        },
    ),
    (
        {"type": "document", "title": "b", "source": {"type": "url", "url": "https://a.test/b"}},
        {
            "type": "data",
            "source": {
                "source_type": "url",
                "url": "https://a.test/b",
                "media_type": "application/pdf",
            },
            "name": "b",
        },
    ),
    (
        {"type": "image", "source": {"type": "file", "file_id": "f"}},
        {"type": "data", "source": {"source_type": "file_id", "id": "f"}},
    ),
    (
        {"type": "search_result", "title": "x"},
        {
            "type": "provider_opaque",
            "driver": "anthropic",
            "kind": "search_result",
            "payload": {"type": "search_result", "title": "x"},
        },
    ),
]


@pytest.mark.parametrize(("given", "block"), BLOCKS)
def test_a_block_becomes_a_block(given: Json, block: Json) -> None:
    found = imported("anthropic.messages", [{"role": "user", "content": [given]}])

    assert messages_of(found) == [("user", [block])]


def test_a_signature_of_a_model_that_nobody_names_is_left_out_and_told() -> None:
    body = [{"role": "assistant", "content": [SIGNED, {"type": "redacted_thinking", "data": "x"}]}]
    found = imported("anthropic.messages", body)

    assert [code for code, *_ in told(found)] == ["state_left_out", "state_left_out"]
    assert messages_of(imported("anthropic.messages", body, "m")) == [
        (
            "assistant",
            [
                THOUGHT,
                {
                    "type": "thinking",
                    "thinking": "",
                    **state("anthropic", {"type": "redacted_thinking", "data": "x"}),
                },
            ],
        )
    ]


@pytest.mark.parametrize(
    ("content", "key"),
    [
        ([{"type": "text"}], "transcript.0.content.0.text"),
        ([{}], "transcript.0.content.0.type"),
        (1, "transcript.0.content"),
    ],
)
def test_a_block_without_its_shape_is_refused(content: object, key: str) -> None:
    with pytest.raises(InvalidTranscript) as refused:
        imported("anthropic.messages", [{"role": "user", "content": content}])

    assert refused.value.details["key"] == key


def line(sort: str, uuid: str, content: object, **fields: Any) -> Json:
    message = {"role": sort, "content": content, **fields.pop("message", {})}
    return {"type": sort, "uuid": uuid, "isSidechain": False, "message": message, **fields}


def answer(uuid: str, *content: Json, message_id: str = "msg_1") -> Json:
    return line("assistant", uuid, list(content), message={"id": message_id, "model": "m"})


def test_lines_of_one_answer_become_one_message() -> None:
    other = {**USE, "id": "t2", "input": {}}
    found = imported(
        "claude_code.jsonl",
        lines(
            line("user", "1", "q"),
            answer("2", SIGNED),
            answer("3", text("a")),
            answer("4", USE),
            line("user", "5", [RESULT], toolUseResult={"stdout": "r"}),
            answer("6", other),
            line("user", "7", [{**RESULT, "tool_use_id": "t2"}]),
            answer("8", text("done"), message_id="msg_2"),
        ),
    )

    assert messages_of(found) == [
        ("user", [text("q")]),
        ("assistant", [THOUGHT, text("a"), call("t1", arguments='{"a":1}'), call("t2")]),
        ("tool", [result("t1", "r")]),
        ("tool", [result("t2", "r")]),
        ("assistant", [text("done")]),
    ]
    assert (told(found), skipped(found)) == ([], [])


def test_lines_that_no_model_was_sent_are_skipped_with_their_code() -> None:
    found = imported(
        "claude_code.jsonl",
        lines(
            {"type": "summary", "summary": "s", "leafUuid": "1"},
            {"type": "file-history-snapshot", "snapshot": {}},
            line("user", "1", "q"),
            {**line("user", "2", "sub"), "isSidechain": True},
            line("user", "1", "q"),
            {"type": "system", "uuid": "3", "content": "Running", "level": "info"},
            line("assistant", "4", [text("API Error")], isApiErrorMessage=True),
            {"type": "hologram"},
            {"type": "user", "uuid": "5"},
            '{"type": "user", "mess',
        ),
    )

    assert messages_of(found) == [("user", [text("q")])]
    assert skipped(found) == [
        (1, "note"),
        (2, "note"),
        (4, "sidechain"),
        (5, "repeated_line"),
        (6, "note"),
        (7, "note"),
        (8, "unknown_line"),
        (9, "invalid_message"),
        (10, "not_json"),
    ]


def test_a_compact_summary_hides_what_stands_in_front_of_it_from_the_model() -> None:
    found = imported(
        "claude_code.jsonl",
        lines(
            line("user", "1", "q"),
            answer("2", text("a")),
            {"type": "system", "subtype": "compact_boundary", "uuid": "3"},
            line("user", "4", "summary", isCompactSummary=True),
            line("user", "5", "caveat", isMeta=True),
            line("user", "6", "r"),
        ),
    )

    assert [
        (message.agent_visible, message.user_visible, block["text"])
        for message, (_, (block,)) in zip(found.messages, messages_of(found), strict=True)
    ] == [
        (False, True, "q"),
        (False, True, "a"),
        (True, False, "summary"),
        (True, False, "caveat"),
        (True, True, "r"),
    ]
