"""What holds of every transcript: bodies that were encoded come back, and nothing else breaks."""

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.core import canonical
from app.core.chat_state import Arrival, advance, check_placement, refuse_system_role
from app.core.content import block_json
from app.core.items import Item
from app.encoders.encoding import EncodingOptions, Format
from app.encoders.formats import ENCODERS
from app.encoders.request import NeutralMessage, NeutralRequest, NeutralTool
from app.importers.formats import IMPORTERS
from app.importers.transcript import Imported, ImportFormat, InvalidTranscript
from tests.properties.sound_transcripts import SOUND
from tests.properties.test_chat_encoders import CONVERSATIONS, SYSTEM, request_of
from tests.unit.core.builders import form

Path = tuple[str | int, ...]

FORMATS = sorted(ENCODERS)
OPTIONS = EncodingOptions(cache="none")
"""Breakpoints stand behind what somebody said, and what a format adds nobody said at first."""
MODEL = "model-1"
TOOLS = (
    NeutralTool(name="read", description="Read a file", parameters={"type": "object"}),
    NeutralTool(name="list", description="", parameters={"type": "object", "properties": {}}),
)

WORDS = st.sampled_from(
    [
        *("user", "assistant", "system", "tool", "model", "human", "ai", "constructor"),
        *("text", "tool_use", "tool_result", "image", "thinking", "message", "function_call"),
        *("function_call_output", "response_item", "compacted", "session_meta", "reasoning"),
        *("image_url", "input_audio", "file", "document_url", "reference", "", "a", "data:a/b,"),
    ]
)
NAMES = st.sampled_from(
    [
        *("role", "type", "content", "messages", "input", "contents", "parts", "text", "message"),
        *("tool_calls", "function", "name", "arguments", "id", "tool_call_id", "payload", "data"),
        *("kwargs", "source", "url", "functionCall", "functionResponse", "response", "toolUse"),
        *("toolResult", "tools", "system", "model", "uuid", "isCompactSummary", "output"),
        *("replacement_history", "tool_use_id", "thinking", "signature", "additional_kwargs"),
        *("image_url", "file", "file_data", "input_audio", "inlineData", "call_id", "summary"),
    ]
)
LEAVES = st.one_of(
    st.none(), st.booleans(), WORDS, st.integers(), st.floats(allow_nan=False, allow_infinity=False)
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(NAMES, inner, max_size=6)),
    max_leaves=40,
)
MESSAGES = st.lists(st.dictionaries(NAMES, JSON, max_size=6), max_size=6)
LINES = st.lists(
    st.one_of(
        MESSAGES.map(lambda rows: "\n".join(map(json.dumps, rows))),
        st.sampled_from(
            ["", "{", '{"type": "user"', "NaN", "[" * 100, '{"a": "\\ud800"}', "1e999"]
        ),
        st.text(max_size=20),
    ),
    max_size=4,
).map("\n".join)
TRANSCRIPTS = st.one_of(
    JSON,
    MESSAGES,
    LINES,
    st.builds(
        lambda key, rows: {key: rows}, st.sampled_from(["messages", "contents", "input"]), MESSAGES
    ),
)


@pytest.mark.parametrize("name", sorted(IMPORTERS))
@given(transcript=TRANSCRIPTS)
def test_any_json_is_imported_or_refused(name: ImportFormat, transcript: object) -> None:
    with suppress(InvalidTranscript):
        imported = IMPORTERS[name](transcript, None)

        assert_appendable(imported)
        assert IMPORTERS[name](transcript, None) == imported


@pytest.mark.parametrize("name", sorted(IMPORTERS))
@given(data=st.data())
def test_a_transcript_in_which_anything_is_replaced_is_imported_or_refused(
    name: ImportFormat, data: st.DataObject
) -> None:
    sound = data.draw(st.sampled_from(SOUND[name]))
    path = data.draw(st.sampled_from(list(paths(sound))))
    broken = replaced(sound, path, data.draw(JSON))
    with suppress(InvalidTranscript):
        assert_appendable(IMPORTERS[name](broken, data.draw(st.sampled_from([None, MODEL]))))


@pytest.mark.parametrize("name", sorted(IMPORTERS))
def test_sound_transcripts_are_imported_whole(name: ImportFormat) -> None:
    for transcript in SOUND[name]:
        imported = IMPORTERS[name](transcript, MODEL)
        codes = {repair.code for repair in imported.repairs}

        assert imported.messages
        assert {line.code for line in imported.skipped} <= {"note"}
        assert not codes & {"empty_message_dropped", "state_left_out", "tool_left_out"}


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    """The paths of all values in a value."""
    yield path
    match value:
        case dict():
            for key, inner in value.items():
                yield from paths(inner, (*path, key))
        case list():
            for number, inner in enumerate(value):
                yield from paths(inner, (*path, number))


def replaced(value: Any, path: Path, new: object) -> object:
    """The value with another one at a path."""
    if not path:
        return new
    first, *rest = path
    changed = replaced(value[first], tuple(rest), new)
    if isinstance(value, dict):
        return {**value, first: changed}
    return [changed if number == first else inner for number, inner in enumerate(value)]


@pytest.mark.parametrize("name", FORMATS)
@settings(derandomize=True)
@given(items=CONVERSATIONS, system=SYSTEM)
def test_a_body_that_was_encoded_is_encoded_again_as_it_was(
    name: Format, items: Sequence[Item], system: Any
) -> None:
    request = replace(request_of(items, system), tools=TOOLS)
    body = ENCODERS[name](request, OPTIONS).body()
    imported = IMPORTERS[name](json.loads(canonical.encode(body)), MODEL)

    assert_appendable(imported)
    assert canonical.encode(encoded_again(name, imported)) == canonical.encode(body)


def encoded_again(name: Format, imported: Imported) -> object:
    request = NeutralRequest(
        model=MODEL,
        system=tuple(part.content for part in imported.system_parts),
        messages=single_results(imported),
        tools=tuple(
            NeutralTool(name=tool.name, description=tool.description, parameters=tool.parameters)
            for tool in imported.tools
        ),
        generation={},
        max_output_tokens=None,
    )
    return ENCODERS[name](request, OPTIONS).body()


def single_results(imported: Imported) -> tuple[NeutralMessage, ...]:
    """The messages as a prepared request has them: a tool message for every result."""
    return tuple(
        NeutralMessage(role=message.role, blocks=blocks)
        for message in imported.messages
        for blocks in (
            [(block,) for block in message.blocks] if message.role == "tool" else [message.blocks]
        )
    )


def assert_appendable(imported: Imported) -> None:
    """What was imported pairs, stands where it may, and is JSON."""
    arrivals = []
    for index, message in enumerate(imported.messages):
        refuse_system_role(message.role, index)
        check_placement(message.role, "normal", message.blocks, index)
        facts = form(message.role, *message.blocks).facts
        arrivals.append(
            Arrival(
                index=index,
                sequence=index + 1,
                message_id=f"m{index}",
                calls=facts.calls,
                results=facts.results,
            )
        )
    advance({}, arrivals)
    for part in imported.system_parts:
        assert part.content
        assert {block_json(block)["type"] for block in part.content} <= {
            *("text", "data", "provider_opaque")
        }
