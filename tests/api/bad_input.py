"""What the bad-input table of docs/errors.md sends: the cases that are about requests as such."""

import base64
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.api.client import AGENT, PROFILE, Json, message, text_block, tool_result, user

SESSION = "/v1/sessions/s"
MESSAGES = f"{SESSION}/messages"
PREPARE = f"{SESSION}/prepare"
WORLD_STATE = f"{SESSION}/world-state"

MEGABYTE = b" " * 1_000_000


class Chunks:
    """A body without a Content-Length."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for _ in range(100):
            yield MEGABYTE


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request that is refused, and the members of the problem that name the offender."""

    body: object = None
    """Bytes and streams are sent as they are, anything else as JSON."""
    named: Json = field(default_factory=dict)
    """Of `errors`, the paths alone: the sentences are the validator's."""
    detail: str | None = None
    """The sentence, where it is a rule's own."""
    method: str = "POST"
    path: str = MESSAGES
    headers: Mapping[str, str] = field(default_factory=dict)

    async def send(self, client: httpx.AsyncClient) -> httpx.Response:
        match self.body:
            case bytes() | Chunks():
                content: Any = self.body
            case None:
                content = None
            case _:
                content = json.dumps(self.body)
        return await client.request(
            self.method, self.path, content=content, headers=dict(self.headers)
        )


def appended(*messages: Json, **fields: Any) -> Json:
    return {"messages": list(messages), **fields}


def created(**fields: Any) -> Json:
    return {"id": "new", "model": "model-a", "agent": AGENT, **fields}


def number(text: str) -> bytes:
    """A body with a number that no JSON library would write."""
    return b'{"messages": [], "expected_message_count": %b}' % text.encode()


def faults(*paths: str) -> Json:
    return {"errors": list(paths)}


def unknown(key: str, path: str) -> Json:
    return {"key": key, "errors": [path]}


def cursor(*parts: object) -> str:
    """A cursor that somebody made up."""
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def for_cursor(path: str, made_up: str) -> Case:
    return Case(method="GET", path=f"{path}?cursor={made_up}", named={"cursor": made_up[:100]})


def reading(path: str, **named: Any) -> Case:
    return Case(method="GET", path=path, named=named)


HELLO = user("hello", "m3")
MISSPELT = {**text_block("x"), "nope": 1}
DEEP_CURSOR = base64.urlsafe_b64encode(b"[" * 30_000).decode()
TIME = "2026-01-01T00:00:00"

BODIES: Mapping[str, Case] = {
    "malformed JSON": Case(body=b'{"messages": ['),
    "text behind the JSON": Case(body=b"{} {}"),
    "blank body": Case(body=b"  "),
    "empty body": Case(body=b"", named=faults("/messages")),
    "not an object": Case(body=[], named=faults("")),
    "NaN": Case(body=number("NaN")),
    "Infinity": Case(body=number("-Infinity")),
    "1e400": Case(body=number("1e400")),
    "5 000-digit integer": Case(body=number("1" * 5_000)),
    "not UTF-8": Case(body=json.dumps(appended(HELLO)).encode().replace(b"hello", b"\xff")),
    "UTF-16": Case(body=json.dumps(appended(HELLO)).encode("utf-16")),
    "byte-order mark": Case(body=b"\xef\xbb\xbf" + json.dumps(appended(HELLO)).encode()),
    "raw control character": Case(
        body=json.dumps(appended(HELLO)).encode().replace(b"hello", b"\0")
    ),
    "65 levels": Case(body=b"[" * 65 + b"]" * 65, named={"limit": 64}),
    "100 000 levels": Case(body=b"[" * 100_000 + b"]" * 100_000, named={"limit": 64}),
    "100 000 levels of objects": Case(
        body=b'{"a":' * 100_000 + b"1" + b"}" * 100_000, named={"limit": 64}
    ),
    "100 MB body": Case(body=MEGABYTE * 100, named={"limit_bytes": 33_554_432}),
    "100 MB body in chunks": Case(body=Chunks(), named={"limit_bytes": 33_554_432}),
    "1 001 messages": Case(
        body=appended(*[user("x")] * 1_001), named={"key": "messages", "limit": 1_000}
    ),
    "1 001 messages to prepare": Case(
        path=PREPARE,
        body={"append": [user("x")] * 1_001},
        named={"key": "append", "limit": 1_000},
    ),
    "17 MB message": Case(
        body=appended(HELLO, user("x" * 17_000_000)),
        named={"message_index": 1, "limit_bytes": 16_777_216},
    ),
    "keys that become equal": Case(
        path="/v1/sessions",
        body=created(metadata={f"a{half}": 1 for half in ("\ud800", "\udfff")}),
        named={"path": "/metadata"},
    ),
}

TYPES: Mapping[str, Case] = {
    "wrong types": Case(body={"messages": "hi"}, named=faults("/messages")),
    "wrong type in a block": Case(
        body=appended(message("user", [{"type": "text", "text": 5}])),
        named=faults("/messages/0/content/0/text"),
    ),
    "missing field": Case(body=appended({"content": "x"}), named=faults("/messages/0/role")),
    "missing tag": Case(
        body=appended(message("user", [{"text": "x"}])), named=faults("/messages/0/content/0")
    ),
    "unknown tag": Case(
        body=appended(message("user", [{"type": "image"}])),
        named=faults("/messages/0/content/0"),
    ),
    "unknown role": Case(
        body=appended(message("developer", "x")), named=faults("/messages/0/role")
    ),
    "unknown kind": Case(
        body=appended(message("user", "x", kind="memo")), named=faults("/messages/0/kind")
    ),
    "unknown field": Case(body=appended(HELLO, nope=1), named=unknown("nope", "/nope")),
    "unknown field in a block": Case(
        body=appended(message("user", [MISSPELT])),
        named=unknown("nope", "/messages/0/content/0/nope"),
    ),
    "unknown field in an output": Case(
        body=appended(
            message("tool", [tool_result("c1", output=[{**text_block("x"), "nope": 1}])])
        ),
        named=unknown("nope", "/messages/0/content/0/output/0/nope"),
    ),
    "unknown field in a profile": Case(
        path="/v1/sessions",
        body=created(model_profile={**PROFILE, "nope": 1}),
        named=unknown("nope", "/model_profile/nope"),
    ),
    "integer for a truth value": Case(
        body=appended({**HELLO, "agent_visible": 1}), named=faults("/messages/0/agent_visible")
    ),
    "truth value for an integer": Case(
        body=appended(HELLO, expected_message_count=True), named=faults("/expected_message_count")
    ),
    "float for an integer": Case(
        body=appended(HELLO, expected_message_count=2.0), named=faults("/expected_message_count")
    ),
    "number as text": Case(
        body=appended(HELLO, expected_message_count="2"), named=faults("/expected_message_count")
    ),
    "huge integer": Case(
        body=appended(HELLO, expected_message_count=2**64), named=faults("/expected_message_count")
    ),
    "negative count": Case(
        body=appended(HELLO, expected_message_count=-1), named=faults("/expected_message_count")
    ),
    "time without an offset": Case(
        body=appended({**HELLO, "created_at": TIME}), named=faults("/messages/0/created_at")
    ),
    "time as a number": Case(
        body=appended({**HELLO, "created_at": "1767225600"}),
        named=faults("/messages/0/created_at"),
    ),
    "no messages": Case(body=appended(), named=faults("/messages")),
    "format that is not there": Case(
        path=PREPARE, body={"format": "morse", "append": [HELLO]}, named=faults("/format")
    ),
}

ADDRESSES: Mapping[str, Case] = {
    "unknown route": reading("/v1/nothing"),
    "trailing slash": reading("/v1/sessions/"),
    "wrong method": Case(method="DELETE", path="/v1/sessions"),
    "unknown query parameter": reading("/v1/sessions?nope=1", **unknown("nope", "/query/nope")),
    "limit 0": reading("/v1/sessions?limit=0", **faults("/query/limit")),
    "limit 501": reading(f"{MESSAGES}?limit=501", **faults("/query/limit")),
    "limit that is no number": reading("/v1/sessions?limit=many", **faults("/query/limit")),
    "unknown sort": reading("/v1/sessions?sort=name", **faults("/query/sort")),
    "NaN in a query": reading(
        "/v1/sessions?min_used_percent=nan", **faults("/query/min_used_percent")
    ),
    "NUL in a query": reading("/v1/sessions?q=%00", **faults("/query/q")),
    "invalid cursor": for_cursor("/v1/sessions", "nope"),
    "cursor of another list": for_cursor("/v1/sessions", cursor("messages", 1)),
    "cursor with a truth value": for_cursor(MESSAGES, cursor("messages", True)),
    "cursor with a lone surrogate": for_cursor(
        "/v1/sessions", cursor("sessions", "created_at", f"{TIME}+00:00", "a\ud800")
    ),
    "cursor with a time without an offset": for_cursor(
        "/v1/sessions", cursor("sessions", "created_at", TIME, "s")
    ),
    "cursor that is too deep": for_cursor("/v1/sessions", DEEP_CURSOR),
}
