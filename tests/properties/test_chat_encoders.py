"""What holds of every conversation in the words of the chat family, by the providers' own rules."""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.core import canonical
from app.core.blocks import Base64Source, Data, ProviderOpaque, ProviderState, Thinking, UrlSource
from app.core.items import Item
from app.core.normalize import normalize
from app.core.request_copy import RequestCopy
from app.encoders import mistral, openai_chat
from app.encoders.encoding import Encode, EncodingOptions
from app.encoders.request import NeutralRequest, messages_of
from tests.properties.conversations import (
    DENSE,
    REPAIRABLE,
    SHORT_TEXTS,
    TEXT_BLOCKS,
    Message,
    as_stored,
    conversations,
)
from tests.unit.core.builders import call, result, step_context

OPTIONS = EncodingOptions()

MEDIA = st.builds(
    partial(Data, type="data"),
    source=st.one_of(
        st.builds(
            partial(Base64Source, source_type="base64"),
            data=st.sampled_from(["", "AAAA"]),
            media_type=st.sampled_from(["image/png", "application/pdf", "audio/wav", "text/csv"]),
        ),
        st.builds(
            partial(UrlSource, source_type="url"),
            url=st.sampled_from(["", "https://a.test/b", "data:audio/wav;base64,AAAA"]),
            media_type=st.sampled_from(["image/*", "application/pdf", "audio/wav"]),
        ),
    ),
    name=st.sampled_from([None, "a.b"]),
)
OWN = ProviderState(driver="mistral", model="model-1", data={"closed": True})
THOUGHTS = st.builds(
    partial(Thinking, type="thinking"),
    thinking=SHORT_TEXTS,
    provider_state=st.sampled_from([None, OWN, replace(OWN, model="model-2")]),
)
REFERENCES = st.sampled_from([{"type": "reference", "reference_ids": [1]}, None, [1]]).map(
    lambda payload: ProviderOpaque(
        type="provider_opaque", driver="mistral", kind="reference", payload=payload
    )
)
CALL_IDS = st.sampled_from(["", "abcDEF123", "call_PTLP8xhu3uwZk4l3nlnrrJha", "é", "x" * 50])
RICH: st.SearchStrategy[Message] = st.one_of(
    st.lists(st.one_of(TEXT_BLOCKS, MEDIA), min_size=1, max_size=3).map(
        lambda blocks: ("user", "normal", tuple(blocks))
    ),
    st.lists(
        st.one_of(TEXT_BLOCKS, THOUGHTS, MEDIA, REFERENCES, st.builds(call, CALL_IDS)), max_size=4
    ).map(lambda blocks: ("assistant", "normal", tuple(blocks))),
    st.lists(
        st.builds(result, CALL_IDS, st.one_of(SHORT_TEXTS, MEDIA)), min_size=1, max_size=2
    ).map(lambda results: ("tool", "normal", tuple(results))),
)
CONVERSATIONS = st.one_of(
    conversations(REPAIRABLE), conversations(DENSE), st.lists(RICH, max_size=10).map(as_stored)
)
SYSTEM = st.lists(st.lists(TEXT_BLOCKS, min_size=1, max_size=2).map(tuple), max_size=2).map(tuple)


def request_of(items: Sequence[Item], system: Any = ()) -> NeutralRequest:
    paired = normalize(RequestCopy(items=tuple(items)), step_context()).items
    return NeutralRequest(
        model="model-1",
        system=system,
        messages=messages_of(paired),
        tools=(),
        generation={},
        max_output_tokens=None,
    )


def assert_contents(element: Any, sorts: dict[str, set[str]]) -> None:
    role, content = element["role"], element["content"]
    if content is None:
        assert role == "assistant"
        assert element["tool_calls"]
        return
    assert content
    if isinstance(content, str):
        return
    for part in content:
        assert part["type"] in sorts[role]
        assert part.get("text", "x")


def assert_calls(elements: Sequence[Any], pattern: str) -> None:
    """Right behind a message with calls stands one result for each, and nowhere else."""
    open_ids: list[str] = []
    for element in elements:
        if element["role"] == "tool":
            open_ids.remove(element["tool_call_id"])
            continue
        assert not open_ids
        calls = element.get("tool_calls", [])
        open_ids = [each["id"] for each in calls]
        assert len(set(open_ids)) == len(open_ids)
        for each in calls:
            assert re.fullmatch(pattern, each["id"])
            assert each["type"] == "function"
            assert isinstance(canonical.decode(each["function"]["arguments"].encode()), dict)
    assert not open_ids


def check_openai(elements: Sequence[Any]) -> None:
    assert elements
    media = {"image_url", "input_audio", "file"}
    sorts = {"system": {"text"}, "assistant": {"text"}, "tool": {"text"}, "user": {"text", *media}}
    for element in elements:
        assert_contents(element, sorts)
    assert_calls(elements, r"[!-~]{1,40}")


def check_mistral(elements: Sequence[Any]) -> None:
    media = {"text", "image_url", "input_audio", "document_url", "file"}
    sorts = {
        "system": {"text"},
        "assistant": {"text", "thinking", "reference"},
        "tool": media,
        "user": media,
    }
    behind = {
        "": {"system", "user"},
        "system": {"system", "user", "assistant"},
        "user": {"user", "assistant"},
        "assistant": {"assistant", "user", "tool"},
        "tool": {"tool", "assistant"},
    }
    previous = ""
    for number, element in enumerate(elements):
        assert element["role"] in behind[previous]
        assert_contents(element, sorts)
        is_last = number == len(elements) - 1
        assert element.get("prefix", False) == (is_last and element["role"] == "assistant")
        previous = element["role"]
    assert elements
    assert_calls(elements, r"[a-zA-Z0-9]{9}")


PROVIDERS = pytest.mark.parametrize(
    ("encode", "check"), [(openai_chat.encode, check_openai), (mistral.encode, check_mistral)]
)


@PROVIDERS
@given(items=CONVERSATIONS, system=SYSTEM)
def test_every_conversation_keeps_the_rules_of_the_provider(
    encode: Encode, check: Callable[[Sequence[Any]], None], items: Sequence[Item], system: Any
) -> None:
    request = request_of(items, system)
    encoded = encode(request, OPTIONS)

    check(encoded.elements)
    assert encode(request, OPTIONS) == encoded
    canonical.encode(encoded.body())


@PROVIDERS
@given(items=CONVERSATIONS, data=st.data())
def test_a_longer_request_begins_with_the_elements_of_a_shorter_one(
    encode: Encode,
    check: Callable[[Sequence[Any]], None],
    items: Sequence[Item],
    data: st.DataObject,
) -> None:
    longer = request_of(items)
    # No cut parts a call from its result.
    ends = [end for end, message in enumerate(longer.messages) if message.role != "tool"]
    end = data.draw(st.sampled_from([*ends, len(longer.messages)]))
    shorter = replace(longer, messages=longer.messages[:end])

    first, second = (front(encode(request, OPTIONS).elements) for request in (shorter, longer))
    assert second[: len(first)] == first


def front(elements: Sequence[Any]) -> list[bytes]:
    """The elements without what only the end of a request has.

    That is the mark of a last answer, and a message that stands for a
    conversation without any.
    """
    unmarked = [
        {key: value for key, value in element.items() if key != "prefix"} for element in elements
    ]
    if unmarked == [{"role": "user", "content": "(empty message)"}]:
        return []
    return [canonical.encode(element) for element in unmarked]
