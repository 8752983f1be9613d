"""What can be known of prepared requests from their bytes alone, worked out independently."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from itertools import accumulate, takewhile
from typing import Any

from app.tokenizers import counter_for
from tests.api.client import Json

MESSAGES = '"messages":['
_decoder = json.JSONDecoder()


@dataclass(frozen=True, slots=True, kw_only=True)
class Element:
    """One message of a request: its exact text and what it means."""

    text: str
    message: Json
    size_bytes: int
    digest: bytes
    counted_bytes: int
    """Of its content as compact JSON without artifacts."""
    tokenizer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """A request as it was read: the text of all of it, and its messages."""

    text: str
    elements: tuple[Element, ...]
    end: int
    """Where the last message ends in the text."""
    tools: tuple[Json, ...]
    encoded_tools: tuple[bytes, ...]
    """Each tool as compact JSON."""

    @property
    def system(self) -> tuple[Element, ...]:
        """The leading system messages."""
        return self.elements[: len(self.elements) - len(self.conversation)]

    @property
    def conversation(self) -> tuple[Element, ...]:
        """The messages after the system messages."""
        is_system = (element.message["role"] == "system" for element in self.elements)
        return self.elements[sum(takewhile(bool, is_system)) :]


def read_request(text: str, before: Read | None = None) -> Read:
    """The messages of a request; those that repeat the request before are not parsed again."""
    known: tuple[Element, ...] = ()
    position = text.index(MESSAGES) + len(MESSAGES)
    if before is not None and before.elements and text.startswith(before.text[: before.end]):
        known, position = before.elements, before.end
    new, end = _elements(text, position)
    tools, encoded = _tools_of(text[end:])
    return Read(text=text, elements=(*known, *new), end=end, tools=tools, encoded_tools=encoded)


@cache
def _tools_of(tail: str) -> tuple[tuple[Json, ...], tuple[bytes, ...]]:
    """The tools in what follows the messages, which one request repeats of another."""
    fields: Json = json.loads('{"' + tail.partition('],"')[2])
    return tuple(fields["tools"]), tuple(map(compact, fields["tools"]))


def _elements(text: str, position: int) -> tuple[list[Element], int]:
    elements: list[Element] = []
    while text[position] != "]":
        start = position + 1 if text[position] == "," else position
        message, position = _decoder.raw_decode(text, start)
        elements.append(_element(text[start:position], message))
    return elements, position


def _element(text: str, message: Json) -> Element:
    encoded, content = text.encode(), message["content"]
    return Element(
        text=text,
        message=message,
        size_bytes=len(encoded),
        digest=sha256(encoded).digest(),
        counted_bytes=len(compact([_counted(block) for block in content])),
        tokenizer_tokens=count(visible_texts(content)),
    )


def _counted(block: Json) -> Json:
    return {key: value for key, value in block.items() if key != "artifacts"}


def visible_texts(content: Sequence[Json]) -> Iterator[str]:
    """The strings that a model sees of content without media and provider state."""
    for block in content:
        match block:
            case {"type": "text", "text": text} | {"type": "thinking", "thinking": text}:
                yield text
            case {"type": "tool_call", "name": name, "input": arguments}:
                yield from (name, arguments)
            case {"type": "tool_result", "output": output}:
                yield from visible_texts(output)


def count(texts: Iterable[str]) -> int:
    """Tokens of texts that are encoded one by one."""
    return sum(map(_tokens_of_text, texts))


@cache
def _tokens_of_text(text: str) -> int:
    """Tokens of one text; a request repeats most of the one before."""
    return counter_for(None).count(text)


def compact(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def chain_of(digests: Sequence[bytes]) -> str:
    """The hash chain: h0 is 32 zero bytes, each next one hashes the last and an element's hash."""
    *_, last = accumulate(digests, lambda h, d: sha256(h + d).digest(), initial=bytes(32))
    return last.hex()


def budget_of(request: Read) -> Json:
    """The regions of a request measured anew: bytes of compact JSON / 4, rounded up once each."""
    tools = b"[%s]" % b",".join(request.encoded_tools) if request.tools else b""
    regions = {
        "system_context_tokens": tokens(sum(part.counted_bytes for part in request.system)),
        "conversation_tokens": tokens(sum(part.counted_bytes for part in request.conversation)),
        "tool_surface_tokens": tokens(len(tools)),
    }
    return {**regions, "estimated_input_tokens": sum(regions.values())}


def tokenizer_tokens_of(request: Read) -> int:
    """The request as the model's own vocabulary counts it."""
    tools = count(tool.decode() for tool in request.encoded_tools)
    return tools + sum(element.tokenizer_tokens for element in request.elements)


def tokens(size_bytes: int) -> int:
    return -(-size_bytes // 4)


def segments_of(request: Read) -> list[Json]:
    """The segments that a provider may cache, with their bytes and chains."""
    system, rest, tools = request.system, request.conversation, request.encoded_tools
    return [
        segment("system", sum(part.size_bytes for part in system), [p.digest for p in system]),
        segment("tools", sum(map(len, tools)), [sha256(tool).digest() for tool in tools]),
        segment("messages", sum(p.size_bytes for p in rest), [p.digest for p in request.elements]),
    ]


def segment(name: str, size_bytes: int, digests: Sequence[bytes]) -> Json:
    return {"name": name, "bytes": size_bytes, "sha256": chain_of(digests)}


def common_of(before: Read, after: Read) -> int:
    """How many leading messages two requests share, byte for byte."""
    if after.elements[: len(before.elements)] == before.elements:
        return len(before.elements)
    pairs = zip(before.elements, after.elements, strict=False)
    return next(index for index, (old, new) in enumerate(pairs) if old.text != new.text)


def badly_paired(messages: Sequence[Json]) -> list[str]:
    """What a provider would refuse: a call without its result directly behind, or the reverse."""
    faults: list[str] = []
    waiting: list[str] = []
    for index, message in enumerate(messages):
        found = list(results_in(message))
        if message["role"] == "tool" and found == waiting[:1]:
            waiting = waiting[1:]
            continue
        if found or waiting:
            faults.append(f"message {index}: {found} where {waiting} was due")
        waiting = [block["id"] for block in calls_in(message)]
    return faults + [f"at the end {waiting} was due"] * bool(waiting)


def calls_in(message: Json) -> Iterator[dict[str, Any]]:
    return (block for block in message["content"] if block["type"] == "tool_call")


def results_in(message: Json) -> Iterator[str]:
    return (block["id"] for block in message["content"] if block["type"] == "tool_result")
