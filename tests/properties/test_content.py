"""What holds of any content, text and batch of messages."""

import json

from hypothesis import given
from hypothesis import strategies as st

from app.core.blocks import Artifact, Block, ProviderOpaque, ToolResult, text_block
from app.core.chat_state import Arrival, OpenCall, advance
from app.core.content import decode_content, encode_content
from app.core.errors import DuplicateToolCall, UnmatchedToolResult
from app.core.facts import form_of
from app.core.items import Item
from app.core.text import (
    WHITE_SPACE,
    collapse_white_space,
    escape_markup,
    is_blank,
    is_control,
    prefix_within,
    suffix_within,
    trim,
)
from tests.properties.conversations import ANY_BLOCKS, REPAIRABLE, conversations
from tests.unit.core.builders import COUNTER, call, result

CONTENTS = st.lists(ANY_BLOCKS, max_size=4).map(tuple)


@given(CONTENTS)
def test_content_comes_back_from_its_bytes(blocks: tuple[Block, ...]) -> None:
    content = encode_content(blocks)

    assert decode_content(content) == blocks
    assert encode_content(decode_content(content)) == content


TREES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.text(), TREES)
def test_any_text_and_any_json_come_back(text: str, value: object) -> None:
    blocks: tuple[Block, ...] = (
        text_block(text),
        call(text, text, input=text),
        result(text, text, artifacts=(Artifact(kind=text, payload=value),)),
        ProviderOpaque(type="provider_opaque", driver=text, kind=text, payload=value),
    )

    assert decode_content(encode_content(blocks)) == blocks


@given(CONTENTS)
def test_canonical_bytes_are_compact_json_in_utf8(blocks: tuple[Block, ...]) -> None:
    content = encode_content(blocks)
    again = json.dumps(json.loads(content), ensure_ascii=False, separators=(",", ":"))

    assert content == again.encode()


@given(CONTENTS)
def test_json_bytes_are_those_without_artifacts(blocks: tuple[Block, ...]) -> None:
    entries = json.loads(encode_content(blocks))
    for entry, block in zip(entries, blocks, strict=True):
        if isinstance(block, ToolResult):
            entry.pop("artifacts", None)
    bare = json.dumps(entries, ensure_ascii=False, separators=(",", ":"))

    assert form_of("tool", blocks, COUNTER).facts.json_bytes == len(bare.encode())


SPACED = st.text(st.sampled_from([*WHITE_SPACE, "\x1c", "\x1f", "\u200b", "a", "中"]))


@given(SPACED)
def test_trimming_takes_white_space_from_the_ends_alone(text: str) -> None:
    trimmed = trim(text)

    assert trimmed in text
    assert trimmed == "" or (trimmed[0] not in WHITE_SPACE and trimmed[-1] not in WHITE_SPACE)
    assert set(text.replace(trimmed, "", 1)) <= set(WHITE_SPACE)
    assert is_blank(text) is (trimmed == "")


@given(SPACED)
def test_collapsed_text_has_the_same_words_with_one_space_between(text: str) -> None:
    spaced = "".join(" " if character in WHITE_SPACE else character for character in text)

    assert collapse_white_space(text) == " ".join(word for word in spaced.split(" ") if word)


@given(st.text())
def test_escaped_text_opens_no_tag_and_holds_no_control_character(text: str) -> None:
    escaped = escape_markup(text)

    assert "<" not in escaped
    assert ">" not in escaped
    assert not any(map(is_control, escaped))


@given(st.text(max_size=20), st.integers(-1, 90))
def test_a_cut_keeps_as_many_whole_characters_as_fit(text: str, limit: int) -> None:
    encoded = text.encode()
    fitting = [end for end in range(len(text) + 1) if len(text[:end].encode()) <= max(limit, 0)]
    starting = [
        start for start in range(len(text) + 1) if len(text[start:].encode()) <= max(limit, 0)
    ]

    assert prefix_within(encoded, limit).decode() == text[: max(fitting)]
    assert suffix_within(encoded, limit).decode() == text[min(starting) :]


def arrival(item: Item) -> Arrival:
    return Arrival(
        index=0,
        sequence=1,
        message_id="m",
        calls=item.facts.calls,
        results=item.facts.results,
    )


@given(conversations(REPAIRABLE))
def test_a_batch_does_what_its_messages_do_one_by_one(items: tuple[Item, ...]) -> None:
    open_calls: dict[str, OpenCall] = {}
    refusals: list[type[Exception]] = []
    for item in items:
        try:
            open_calls = advance(open_calls, [arrival(item)])
        except (DuplicateToolCall, UnmatchedToolResult) as error:
            refusals.append(type(error))
            break
    try:
        outcome: object = advance({}, list(map(arrival, items)))
    except (DuplicateToolCall, UnmatchedToolResult) as error:
        outcome = type(error)

    assert outcome == (refusals[0] if refusals else open_calls)
