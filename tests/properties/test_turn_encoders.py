"""What holds of every conversation as turns, by the providers' own rules."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import canonical
from app.core.blocks import Block, Thinking
from app.core.items import Item
from app.encoders import anthropic, bedrock, gemini
from app.encoders.encoding import Encode, Encoded, EncodingOptions
from app.encoders.placeholders import CONTINUE_TEXT, EMPTY_MESSAGE_TEXT
from app.encoders.request import NeutralRequest
from tests.properties.test_chat_encoders import CONVERSATIONS, SYSTEM, request_of

OPTIONS = EncodingOptions()
CLAUDE = "anthropic.claude-sonnet-4-5"
ENCODERS = pytest.mark.parametrize("encode", [anthropic.encode, bedrock.encode, gemini.encode])
MARKED = pytest.mark.parametrize("encode", [anthropic.encode, bedrock.encode])
DRIVERS: list[tuple[str, Encode]] = [
    (anthropic.DRIVER, anthropic.encode),
    (bedrock.DRIVER, bedrock.encode),
    (gemini.DRIVER, gemini.encode),
]
ENDS = (CONTINUE_TEXT, EMPTY_MESSAGE_TEXT)


def own_request(encode: Encode, items: Sequence[Item], system: Any = ()) -> NeutralRequest:
    """The request, with the thinking of the property's own model signed by this provider."""
    driver = next(driver for driver, made in DRIVERS if made is encode)
    request = request_of(items, system)
    messages = [
        replace(message, blocks=tuple(_owned(block, driver) for block in message.blocks))
        for message in request.messages
    ]
    return replace(request, messages=tuple(messages))


def _owned(block: Block, driver: str) -> Block:
    state = getattr(block, "provider_state", None)
    if not isinstance(block, Thinking) or state is None:
        return block
    data = {"signature": "c2ln", "thoughtSignature": "c2ln"}
    return replace(block, provider_state=replace(state, driver=driver, data=data))


def parts_of(element: Any) -> list[Any]:
    parts: list[Any] = element["parts"] if "parts" in element else element["content"]
    return parts


def text_of(part: Any) -> str | None:
    text: str | None = part.get("text")
    return text


def call_id_of(part: Any) -> str | None:
    if part.get("type") == "tool_use":
        return str(part["id"])
    if "functionCall" in part:
        return str(part["functionCall"]["id"])
    return part["toolUse"]["toolUseId"] if "toolUse" in part else None


def result_id_of(part: Any) -> str | None:
    if part.get("type") == "tool_result":
        return str(part["tool_use_id"])
    if "functionResponse" in part:
        return str(part["functionResponse"]["id"])
    return part["toolResult"]["toolUseId"] if "toolResult" in part else None


def check(elements: Sequence[Any], is_strict: bool) -> None:
    assert elements[0]["role"] == elements[-1]["role"] == "user"
    seen: set[str] = set()
    waiting: list[str] = []
    previous = ""
    for element in elements:
        role, parts = element["role"], parts_of(element)
        assert role in ("user", "assistant", "model")
        assert not (is_strict and role == previous)
        previous = role
        assert parts
        assert all((text_of(part) or "x").strip() for part in parts)
        answered = [made for part in parts if (made := result_id_of(part)) is not None]
        assert answered == waiting
        if answered:
            assert all(
                result_id_of(part) or "inlineData" in part or "fileData" in part for part in parts
            )
        waiting = [made for part in parts if (made := call_id_of(part)) is not None]
        assert not waiting or role != "user"
        if "content" in element:
            assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", made) for made in waiting)
            assert not seen.intersection(waiting)
            seen.update(waiting)
        assert len(set(waiting)) == len(waiting)
    assert not waiting


@ENCODERS
@given(items=CONVERSATIONS, system=SYSTEM)
def test_every_conversation_keeps_the_rules_of_the_provider(
    encode: Encode, items: Sequence[Item], system: Any
) -> None:
    request = replace(own_request(encode, items, system), model=CLAUDE)
    encoded = encode(request, OPTIONS)

    check(encoded.elements, is_strict=encode is not anthropic.encode)
    assert encode(request, OPTIONS) == encoded
    canonical.encode(encoded.body())
    assert count_marks(encoded) <= 4


def count_marks(encoded: Encoded) -> int:
    text = canonical.encode(encoded.body()).decode()
    return text.count('"cache_control":{') + text.count('{"cachePoint":')


@ENCODERS
@given(items=CONVERSATIONS, data=st.data())
def test_a_longer_request_begins_with_the_turns_of_a_shorter_one(
    encode: Encode, items: Sequence[Item], data: st.DataObject
) -> None:
    longer = own_request(encode, items)
    # No cut parts a call from its result.
    ends = [end for end, message in enumerate(longer.messages) if message.role != "tool"]
    end = data.draw(st.sampled_from([*ends, len(longer.messages)]))
    shorter = replace(longer, messages=longer.messages[:end])

    first, second = (encode(request, OPTIONS).elements for request in (shorter, longer))
    assert list(second[: len(first)]) == list(first) or ends_alone(first, second)


def ends_alone(first: Sequence[Any], second: Sequence[Any]) -> bool:
    """Whether nothing but the last word, which nobody said, is other than in the longer request."""
    last = first[-1]
    is_made = any(text_of(part) in ENDS for part in parts_of(last)) and len(parts_of(last)) == 1
    return is_made and list(second[: len(first) - 1]) == list(first[:-1])


@MARKED
@given(items=CONVERSATIONS)
def test_breakpoints_change_nothing_but_themselves(encode: Encode, items: Sequence[Item]) -> None:
    request = replace(request_of(items), model=CLAUDE)
    with_marks = encode(request, OPTIONS)
    without = encode(request, EncodingOptions(cache="none"))

    assert with_marks.elements == without.elements
    assert without.cached == {}
    for element in with_marks.cached.values():
        assert count_marks(replace(without, elements=(element,), fields={})) == 1
