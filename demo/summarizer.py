"""A summarizer without a model: it counts and names what a summary request holds."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

Block: TypeAlias = Mapping[str, Any]

OPEN_ROOT = "<conversation_summary"
CLOSE_ROOT = "</conversation_summary>"
CONTROL_TAGS = (OPEN_ROOT, "<system_reminder")
"""A user's text that holds one was put there by an earlier compaction or by world state."""

NAMED_FILE = re.compile(r"^- `([^`\n]+)`", re.MULTILINE)
QUOTED_REQUEST = re.compile(r"^- “(.+)”$", re.MULTILINE)
"""How a summary names files and requests, so that the next one finds them again."""

LONGEST_QUOTE = 160
NOTHING = ("None",)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Material:
    """What a summary is made of."""

    message_count: int
    requests: tuple[str, ...]
    files: Mapping[str, Counter[str]]
    """How often each tool named a file."""
    tools: Counter[str]
    error_count: int
    last_words: str | None


def canned_summary(request: Mapping[str, Any]) -> str:
    """A summary in the form that the request asks for; equal requests give equal summaries."""
    *conversation, instructions = request["messages"]
    form = _texts(instructions)[-1]
    opening, *headings, closing = form[form.index(OPEN_ROOT) :].split("\n")
    sections = zip(headings, _sections(_material(conversation)), strict=True)
    body = (line for heading, lines in sections for line in (heading, *lines))
    return "\n".join((opening, *body, closing))


def without_last_section(summary: str) -> str:
    """What a model writes that stops too early: a summary that cannot be used."""
    return "\n".join((summary.rpartition("\n## ")[0], CLOSE_ROOT))


def _material(conversation: Sequence[Mapping[str, Any]]) -> _Material:
    earlier = "\n".join(text for text in _all_texts(conversation, "user") if OPEN_ROOT in text)
    calls = [block for block in _blocks(conversation) if block["type"] == "tool_call"]
    files = {path: Counter({"earlier summary": 1}) for path in NAMED_FILE.findall(earlier)}
    for call in calls:
        path = json.loads(call["input"]).get("path")
        if path is not None:
            files.setdefault(path, Counter())[call["name"]] += 1
    said = list(_all_texts(conversation, "assistant"))
    return _Material(
        message_count=sum(message["role"] != "system" for message in conversation),
        requests=tuple(dict.fromkeys((*QUOTED_REQUEST.findall(earlier), *_requests(conversation)))),
        files=files,
        tools=Counter(call["name"] for call in calls),
        error_count=sum(block.get("state") == "error" for block in _blocks(conversation)),
        last_words=_quote(said[-1]) if said else None,
    )


def _sections(material: _Material) -> Iterator[Sequence[str]]:
    yield (
        f"The last of {len(material.requests)} requests: “{material.requests[-1]}”",
        f"This summary stands for {material.message_count} messages.",
    )
    yield [f"- {_times(material.tools)}"] if material.tools else NOTHING
    yield [f"- `{path}`: {_times(uses)}" for path, uses in material.files.items()] or NOTHING
    yield (f"- tool results that ended in an error: {material.error_count}",)
    yield NOTHING
    yield [f"- “{request}”" for request in material.requests]
    yield NOTHING
    yield NOTHING if material.last_words is None else (f"“{material.last_words}”",)
    yield ("Go on with the last request. Read a file again before changing it.",)


def _times(uses: Counter[str]) -> str:
    return ", ".join(f"{name} {times}" for name, times in sorted(uses.items()))


def _requests(conversation: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    for text in _all_texts(conversation, "user"):
        if not any(tag in text for tag in CONTROL_TAGS):
            yield _quote(text)


def _quote(text: str) -> str:
    """The beginning of a text, without anything that looks like a tag."""
    line = text.strip().partition("\n")[0].replace("<", "‹").replace(">", "›")
    return line if len(line) <= LONGEST_QUOTE else f"{line[:LONGEST_QUOTE]}…"


def _all_texts(conversation: Iterable[Mapping[str, Any]], role: str) -> Iterator[str]:
    for message in conversation:
        if message["role"] == role:
            yield from filter(str.strip, _texts(message))


def _texts(message: Mapping[str, Any]) -> list[str]:
    return [block["text"] for block in message["content"] if block["type"] == "text"]


def _blocks(conversation: Iterable[Mapping[str, Any]]) -> Iterator[Block]:
    for message in conversation:
        yield from message["content"]
