"""What the bad-input table of docs/errors.md sends: the cases that are about what is said."""

from collections.abc import Mapping
from typing import Any

from tests.api.bad_input import (
    HELLO,
    MESSAGES,
    PREPARE,
    SESSION,
    WORLD_STATE,
    Case,
    appended,
    created,
    faults,
    reading,
)
from tests.api.client import (
    PROFILE,
    Json,
    calls,
    message,
    results,
    text_block,
    tool_call,
    tool_result,
    user,
)

IMAGE = {"type": "data", "source": {"source_type": "file_id", "id": "f1"}}
READ: Json = {"name": "read", "description": "Read a file", "parameters": {}}
TEXT_ONLY: Json = {**PROFILE, "accepts_data_blocks": False}
POINT = {"turn_id": "t", "model_call": 1, "sample": 1}
FAILED = {"error": {"code": "disk", "detail": "the disk is gone"}}

UNKNOWN_PREPARED = f"prep-{0:032}"


def refused_block(role: str, *content: Json, **fields: Any) -> Case:
    """A message whose first block stands in the wrong role."""
    body = appended(message(role, list(content), **fields))
    return Case(body=body, named={"message_index": 0, "block_index": 0})


def bad_id(**fields: Any) -> Case:
    (key,) = fields
    return Case(body=appended({**HELLO, **fields}), named={"key": key, "message_index": 0})


def creating(named: Json, **fields: Any) -> Case:
    return Case(path="/v1/sessions", body=created(**fields), named=named)


def profiled(detail: str, named: Json, **fields: Any) -> Case:
    profile = {"name": "model-a", "context_window": 1_000, **fields}
    body = created(model_profile=profile)
    return Case(path="/v1/sessions", body=body, named=named, detail=detail)


def patching(named: Json, headers: Mapping[str, str] | None = None, **fields: Any) -> Case:
    return Case(method="PATCH", path=SESSION, body=fields, headers=headers or {}, named=named)


def sampling(capture: Json, named: Json, **fields: Any) -> Case:
    return Case(path=WORLD_STATE, body={**POINT, "capture": capture, **fields}, named=named)


def section(key: str, **details: Any) -> Json:
    return {"key": key, **details}


IDS: Mapping[str, Case] = {
    "empty message id": bad_id(id=""),
    "message id of 129 characters": bad_id(id="m" * 129),
    "message id with a space": bad_id(id="a b"),
    "message id with NUL": bad_id(id="a\0b"),
    "message id that is not ASCII": bad_id(id="é"),
    "empty turn id": bad_id(turn_id=""),
    "turn id with a slash": bad_id(turn_id="a/b"),
    "bad turn id of a sample": sampling({}, {"key": "turn_id"}, turn_id="a b"),
    "bad turn id of a prepare": Case(
        path=PREPARE, body={"turn_id": "", "append": [HELLO]}, named={"key": "turn_id"}
    ),
    "empty session id": creating({"key": "id"}, id=""),
    "session id with a slash": creating({"key": "id"}, id="a/b"),
    "empty parent id": creating({"key": "parent_session_id"}, parent_session_id=""),
    "reserved message id": Case(
        body=appended(user("x", "prep-1")), named={"message_index": 0, "message_id": "prep-1"}
    ),
    "reserved kind": Case(
        body=appended(user("x", "m3", kind="world_state")),
        named={"message_index": 0, "message_id": "m3"},
    ),
    "unknown session": Case(
        path="/v1/sessions/nobody/messages",
        body=appended(HELLO),
        named={"session_id": "nobody"},
    ),
    "impossible session id": reading("/v1/sessions/a%00b"),
    "unknown message": reading(f"{MESSAGES}/m9", message_id="m9"),
    "impossible message id": reading(f"{MESSAGES}/a%00b"),
    "unknown prepared id": reading(
        f"{SESSION}/prepared/{UNKNOWN_PREPARED}", prepared_id=UNKNOWN_PREPARED
    ),
    "impossible prepared id": reading(f"{SESSION}/prepared/a%00b"),
    "unknown tool": reading(f"{SESSION}/tools/nope", key="nope"),
}

CONVERSATIONS: Mapping[str, Case] = {
    "empty content": Case(body=appended(message("user", [])), named={"message_index": 0}),
    "empty tool message": Case(body=appended(message("tool", [])), named={"message_index": 0}),
    "system role": Case(body=appended(HELLO, message("system", "x")), named={"message_index": 1}),
    "text in a tool message": refused_block("tool", text_block("x")),
    "result in a result": refused_block("tool", tool_result("c1", output=[tool_result("c2")])),
    "call in a user message": refused_block("user", tool_call("c2")),
    "thinking in a user message": refused_block("user", {"type": "thinking", "thinking": "x"}),
    "result in an assistant message": refused_block("assistant", tool_result("c1")),
    "skill by the assistant": Case(
        body=appended(message("assistant", "x", kind="skill_instruction")),
        named={"message_index": 0},
    ),
    "same id, other content": Case(
        body=appended(HELLO, user("other", "m1")),
        named={"message_index": 1, "message_id": "m1"},
    ),
    "same id twice, different": Case(
        body=appended(HELLO, user("other", "m3")),
        named={"message_index": 1, "message_id": "m3"},
    ),
    "stale message count": Case(
        body=appended(HELLO, expected_message_count=1), named={"message_count": 2}
    ),
    "stale message count of a prepare": Case(
        path=PREPARE,
        body={"append": [HELLO], "expected_message_count": 3},
        named={"message_count": 2},
    ),
    "unmatched result": Case(
        body=appended(results("c9", message_id="m3")),
        named={"message_index": 0, "message_id": "m3", "call_id": "c9"},
    ),
    "second result": Case(
        body=appended(results("c1", message_id="m3"), results("c1", message_id="m4")),
        named={"message_index": 1, "message_id": "m4", "call_id": "c1"},
    ),
    "duplicate unresolved call": Case(
        body=appended(calls("c1", message_id="m3")),
        named={"message_index": 0, "message_id": "m3", "call_id": "c1"},
    ),
    "one id for two calls": Case(
        body=appended(calls("c2", "c2", message_id="m3")),
        named={"message_index": 0, "message_id": "m3", "call_id": "c2"},
    ),
    "good message before a bad one": Case(
        body=appended(HELLO, results("c1", "c9", message_id="m4")),
        named={"message_index": 1, "message_id": "m4", "call_id": "c9"},
    ),
    "oversized skill": Case(
        body=appended(HELLO, user("x" * 31_970, "m4", kind="skill_instruction")),
        named={
            "subject": "m4",
            "message_index": 1,
            "message_id": "m4",
            "tokens": 8_000,
            "limit_tokens": 8_000,
        },
    ),
    "oversized agent message": Case(
        body=appended(HELLO, user("x" * 15_970, "m4", kind="agent_message")),
        named={
            "subject": "m4",
            "message_index": 1,
            "message_id": "m4",
            "tokens": 4_000,
            "limit_tokens": 4_000,
        },
    ),
    "media for a model without media": Case(
        body=appended(message("user", [IMAGE], "m3")),
        named={"message_index": 0, "message_id": "m3"},
    ),
}

OVERSIZED_PART = {"subject": "p", "key": "p", "tokens": 10_000, "limit_tokens": 10_000}


def part(key: str, content: object) -> Json:
    return {"key": key, "content": content}


NO_WINDOW = "contextWindowTokens must be positive"

SETTINGS: Mapping[str, Case] = {
    "oversized system part": creating(
        OVERSIZED_PART, agent={"system_parts": [part("p", "x" * 39_970)]}
    ),
    "oversized system part later": patching(
        OVERSIZED_PART, agent={"system_parts": [part("p", "x" * 39_970)]}
    ),
    "blank system key": creating({"key": " "}, agent={"system_parts": [part(" ", "x")]}),
    "repeated system key": creating(
        {"key": "p"}, agent={"system_parts": [part("p", "x"), part("p", "y")]}
    ),
    "system part without blocks": creating({"key": "p"}, agent={"system_parts": [part("p", [])]}),
    "thinking in a system part": creating(
        faults("/agent/system_parts/0/content/0"),
        agent={"system_parts": [part("p", [{"type": "thinking", "thinking": "x"}])]},
    ),
    "prompt and parts": creating(
        faults("/agent"), agent={"system_prompt": "x", "system_parts": []}
    ),
    "neither prompt nor parts": creating(faults("/agent"), agent={"tools": []}),
    "tool name collision": creating(
        {"key": "read"}, agent={"system_prompt": "x", "tools": [READ, {**READ, "control": True}]}
    ),
    "tool defined twice": creating(
        {"key": "read"}, agent={"system_prompt": "x", "tools": [READ, READ]}
    ),
    "unknown policy": creating({"key": "preset"}, policy="morse"),
    "unknown override": creating({"key": "nope"}, policy={"preset": "openwork", "nope": 1}),
    "override of a wrong type": creating(
        {"key": "auto_compact_percent"}, policy={"auto_compact_percent": True}
    ),
    "override out of range": creating(
        {"key": "auto_compact_percent"}, policy={"auto_compact_percent": 101}
    ),
    "unknown tool order": creating({"key": "tool_order"}, policy={"tool_order": "random"}),
    "window override of 0": creating(
        {"key": "model_context_window"}, policy={"preset": "codex", "model_context_window": 0}
    ),
    "window of 0": profiled(NO_WINDOW, {"key": "context_window"}, context_window=0),
    "negative window": profiled(NO_WINDOW, {"key": "context_window"}, context_window=-1),
    "output of 0": profiled(
        "maxOutputTokens must be positive", {"key": "max_output_tokens"}, max_output_tokens=0
    ),
    "negative reasoning": profiled(
        "maxReasoningTokens must not be negative",
        {"key": "max_reasoning_tokens"},
        max_reasoning_tokens=-1,
    ),
    "reserves that overflow": profiled(
        "the output and reasoning reservation overflowed",
        {"key": "max_output_tokens"},
        max_output_tokens=2**64 - 1,
        max_reasoning_tokens=1,
    ),
    "reserves of the whole window": profiled(
        "output and reasoning reserve 100 tokens, which must be less than "
        "the 100-token context window",
        {"key": "max_output_tokens", "tokens": 100, "limit_tokens": 100},
        context_window=100,
        max_output_tokens=60,
        max_reasoning_tokens=40,
    ),
    "impossible profile later": patching(
        {"key": "context_window"}, model_profile={"name": "model-a", "context_window": 0}
    ),
    "impossible profile for limits": Case(
        path="/v1/limits",
        body={"model_profile": {"name": "model-a", "context_window": 0}},
        named={"key": "context_window"},
    ),
    "window over 64 bits": creating(
        faults("/model_profile/context_window"),
        model_profile={"name": "model-a", "context_window": 2**64},
    ),
    "generation of a reserved field": creating(
        faults("/generation"), generation={"max_output_tokens": 1}
    ),
    "same session id, other body": creating(
        {"session_id": "s", "differs": ["model", "model_profile"]}, id="s", model="model-b"
    ),
    "immutable field": patching({"key": "id"}, id="s"),
    "null for a field that has a value": patching(faults(""), model=None),
    "stale version": patching({"session_id": "s", "version": 1}, expected_version=0, metadata={}),
    "If-Match of another version": patching(
        {"session_id": "s"}, headers={"If-Match": '"s-0"'}, metadata={"a": 1}
    ),
}

LARGE_INSTRUCTIONS = {"instructions": {"content": "x" * 65_537}}
PROJECT_AT_ITS_LIMIT = 16_384 - len(
    '<user_project_context format_version="1">\nWorking directory: \nRepository root: None detected'
    "\nProject layout:\n- None\n</user_project_context>"
)

CAPTURES: Mapping[str, Case] = {
    "capture without its point": Case(
        path=WORLD_STATE, body={"turn_id": "t", "model_call": 1, "capture": {}}
    ),
    "capture without its point to prepare": Case(
        path=PREPARE, body={"append": [HELLO], "world_state": {"instructions": None}}
    ),
    "model call 0": sampling({}, faults("/model_call"), model_call=0),
    "AGENTS.md of 65 537 bytes": sampling(LARGE_INSTRUCTIONS, section("project/AGENTS.md")),
    "AGENTS.md of 65 537 bytes to prepare": Case(
        path=PREPARE,
        body={**POINT, "append": [HELLO], "world_state": LARGE_INSTRUCTIONS},
        named=section("project/AGENTS.md"),
    ),
    "AGENTS.md that is not UTF-8": sampling(
        {"instructions": {"content_base64": "//4="}}, section("project/AGENTS.md")
    ),
    "AGENTS.md that is not base64": sampling(
        {"instructions": {"content_base64": "?"}}, section("project/AGENTS.md")
    ),
    "AGENTS.md twice": sampling(
        {"instructions": {"content": "x", "content_base64": "eA=="}},
        faults("/capture/instructions"),
    ),
    "project of 16 385 characters": sampling(
        {"project": {"working_directory": "x" * (PROJECT_AT_ITS_LIMIT + 1)}},
        section("runtime/user-project-context"),
    ),
    "project that could not be read": sampling(
        {"project": FAILED}, section("runtime/user-project-context", capture_code="disk")
    ),
    "skills that could not be scanned": sampling(
        {"skills": FAILED}, section("skills/catalog", capture_code="disk")
    ),
    "sandbox that could not be asked": sampling(
        {"sandbox": FAILED}, section("runtime/sandbox-policy", capture_code="disk")
    ),
    "custom section at its cap": sampling(
        {"custom": [{"id": "goals", "tag": "goals", "body": "x", "max_tokens": 12}]},
        section("goals", tokens=12, limit_tokens=12),
    ),
    "custom section with our tag": sampling(
        {"custom": [{"id": "mine", "tag": "sandbox_policy", "body": "x"}]}, section("mine")
    ),
    "policy for an unknown section": sampling({}, section("nope"), on_error={"nope": "skip"}),
    "unknown failure policy": sampling(
        {}, faults("/on_error/skills"), on_error={"skills": "ignore"}
    ),
}

STATELESS: Mapping[str, Case] = {
    "media for a stateless model without media": Case(
        path="/v1/prepare",
        body={
            "model_profile": TEXT_ONLY,
            "conversation": [message("user", "x"), message("user", [IMAGE])],
        },
        named={"item_index": 1},
    ),
    "system role in a stateless conversation": Case(
        path="/v1/prepare",
        body={"model_profile": PROFILE, "conversation": [message("system", "x")]},
        named={"item_index": 0},
    ),
    "estimate of two things": Case(
        path="/v1/estimate", body={"text": "x", "tools": []}, named=faults("")
    ),
    "estimate of nothing": Case(path="/v1/estimate", body={}, named=faults("")),
    "known baseline without a text": Case(
        path="/v1/world-state/diff",
        body={**POINT, "capture": {}, "baseline": {"skills/catalog": {"state": "known"}}},
        named=faults("/baseline/skills~1catalog"),
    ),
}
