"""A conversation in messages of 1 KB, shaped like a coding agent's."""

import json
from collections.abc import Iterator
from itertools import cycle, islice
from random import Random
from typing import Literal, TypeAlias

Message: TypeAlias = dict[str, object]
Part: TypeAlias = Literal["request", "call", "result", "answer"]

SEED = 1
MESSAGE_BYTES = 1_024
"""Of each message's content as compact JSON."""

TURN: tuple[Part, ...] = ("request", "call", "result", "call", "result", "call", "result", "answer")

_PROSE = (
    "The parser reads one token after another. When no rule of the grammar expects the token, it "
    "returns an error that names the line, the column and what it expected instead; self.buffer "
    "keeps what was read since the last newline, so that `def peek(self) -> Token:` can look ahead "
    "without reading anything twice. We first test whether the file exists, then build the module."
)
_WORDS = _PROSE.split(" ")


def conversation(count: int) -> Iterator[Message]:
    """The first `count` messages of the conversation; equal calls give equal messages."""
    random = Random(SEED)
    for number, part in enumerate(islice(cycle(TURN), count)):
        yield _message(random, number, part)


def user_message(number: int) -> Message:
    """A user message that may come at any place where a turn may begin."""
    return _message(Random(number), number, "request")


def _message(random: Random, number: int, part: Part) -> Message:
    role = {"request": "user", "call": "assistant", "result": "tool", "answer": "assistant"}[part]
    size = MESSAGE_BYTES - len(_encoded(_content(part, number, "")))
    text = " ".join(random.choices(_WORDS, k=size))[:size]
    return {
        "id": f"m-{number}",
        "turn_id": f"t-{number // len(TURN)}",
        "role": role,
        "content": _content(part, number, text),
    }


def _content(part: Part, number: int, text: str) -> list[Message]:
    said: Message = {"type": "text", "text": text}
    match part:
        case "call":
            return [said, _call(number)]
        case "result":
            return [_result(number - 1, said)]
        case _:
            return [said]


def _call(number: int) -> Message:
    return {
        "type": "tool_call",
        "id": f"call-{number}",
        "name": "read",
        "input": '{"path":"src/parser.py"}',
        "state": "finished",
    }


def _result(call: int, said: Message) -> Message:
    return {
        "type": "tool_result",
        "id": f"call-{call}",
        "name": "read",
        "output": [said],
        "state": "success",
    }


def _encoded(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
