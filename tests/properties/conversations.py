"""Strategies for conversations, good ones and such as chat state would refuse."""

from collections.abc import Sequence
from functools import partial
from typing import get_args

from hypothesis import strategies as st

from app.core.blocks import (
    Artifact,
    Base64Source,
    Block,
    Blocks,
    CallState,
    Data,
    DataSource,
    FileIdSource,
    ProviderOpaque,
    ProviderState,
    ResultState,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    UrlSource,
    text_block,
)
from app.core.items import Item, item_of
from app.core.messages import Kind, Real, Role, Synthetic
from tests.unit.core.builders import call, form, result

SHORT_TEXTS = st.sampled_from(["", "a", "中文", '\0\n"\\', "\U0001f378", "\x7f\u2028"])
LONG_TEXTS = st.builds(
    str.__mul__,
    st.sampled_from(["x", "é", "中", "\U0001f378", '"']),
    st.sampled_from([9, 100, 401, 9_000]),
)
TEXTS = st.one_of(SHORT_TEXTS, LONG_TEXTS)
IDS = st.sampled_from("ab")
CALL_STATES: st.SearchStrategy[CallState] = st.sampled_from(get_args(CallState))
RESULT_STATES: st.SearchStrategy[ResultState] = st.sampled_from(get_args(ResultState))
NAMES = st.sampled_from(["read", "list", "é"])
JSON: st.SearchStrategy[object] = st.sampled_from(
    [None, True, 2**70, -1.5, 1e300, "中\0", [], {}, {"b": [1, {"z": None, "a": ""}], "a": 0.1}]
)
STATES = st.sampled_from(
    [None, None, None, ProviderState(driver="d", model="m", data={"b": [1e-7], "a": "é"})]
)

TEXT_BLOCKS = st.builds(partial(Text, type="text"), text=TEXTS, provider_state=STATES)
PLAIN_TEXT_BLOCKS = TEXTS.map(text_block)
THINKING_BLOCKS = st.builds(
    partial(Thinking, type="thinking"), thinking=SHORT_TEXTS, provider_state=STATES
)
SOURCES: st.SearchStrategy[DataSource] = st.one_of(
    TEXTS.map(lambda text: UrlSource(source_type="url", url=text, media_type="a/b")),
    TEXTS.map(lambda text: Base64Source(source_type="base64", data=text, media_type="a/b")),
    SHORT_TEXTS.map(lambda text: FileIdSource(source_type="file_id", id=text)),
)
DATA_BLOCKS = st.builds(
    partial(Data, type="data"), source=SOURCES, name=st.sampled_from([None, "a.png"])
)
OPAQUE_BLOCKS = JSON.map(
    lambda value: ProviderOpaque(type="provider_opaque", driver="d", kind="k", payload=value)
)
CALL_BLOCKS = st.builds(
    partial(ToolCall, type="tool_call"),
    id=st.sampled_from("abc"),
    name=NAMES,
    input=SHORT_TEXTS,
    state=CALL_STATES,
    provider_state=STATES,
)
OUTPUTS = st.lists(
    st.one_of(PLAIN_TEXT_BLOCKS, PLAIN_TEXT_BLOCKS, DATA_BLOCKS, OPAQUE_BLOCKS), max_size=3
).map(tuple)
ARTIFACTS = JSON.map(lambda value: (Artifact(kind="file_change", payload=value),))
RESULT_BLOCKS = st.builds(
    partial(ToolResult, type="tool_result"),
    id=st.sampled_from(["a", "b", "c", "a", "b", "c", "ghost"]),
    name=st.one_of(st.none(), NAMES),
    output=OUTPUTS,
    state=RESULT_STATES,
    artifacts=st.one_of(st.just(()), ARTIFACTS),
)
ANY_BLOCKS: st.SearchStrategy[Block] = st.one_of(
    TEXT_BLOCKS, THINKING_BLOCKS, DATA_BLOCKS, CALL_BLOCKS, RESULT_BLOCKS, OPAQUE_BLOCKS
)

Message = tuple[Role, Kind, Blocks]


def _distinct(calls: Sequence[ToolCall]) -> list[ToolCall]:
    return list({call.id: call for call in calls}.values())


def _messages(role: Role, blocks: st.SearchStrategy[Sequence[Block]]) -> st.SearchStrategy[Message]:
    return blocks.map(lambda content: (role, "normal", tuple(content)))


USER_MESSAGES = st.builds(
    lambda kind, content: ("user", kind, tuple(content)),
    st.sampled_from(get_args(Kind)),
    st.lists(st.one_of(TEXT_BLOCKS, TEXT_BLOCKS, DATA_BLOCKS), min_size=1, max_size=2),
)
ANSWERS = _messages(
    "assistant",
    st.lists(st.one_of(TEXT_BLOCKS, THINKING_BLOCKS, DATA_BLOCKS, OPAQUE_BLOCKS), max_size=2),
)
CALLING = _messages("assistant", st.lists(CALL_BLOCKS, min_size=1, max_size=3).map(_distinct))
REPEATING = _messages("assistant", st.lists(CALL_BLOCKS, min_size=2, max_size=4))
"""Two calls of one message may share an id, which chat state refuses."""
TOOL_MESSAGES = _messages("tool", st.lists(RESULT_BLOCKS, min_size=1, max_size=3))
SYSTEM_MESSAGES = _messages("system", st.lists(TEXT_BLOCKS, max_size=1))

DENSE: st.SearchStrategy[Message] = st.one_of(
    st.just(("user", "normal", (text_block("and?"),))),
    _messages(
        "assistant", st.lists(st.builds(call, IDS, state=CALL_STATES), max_size=2).map(_distinct)
    ),
    _messages(
        "tool", st.lists(st.builds(result, IDS, state=RESULT_STATES), min_size=1, max_size=2)
    ),
)
"""Few ids and small messages, so that calls and results meet in every way."""

PAIRABLE = st.one_of(USER_MESSAGES, ANSWERS, CALLING, CALLING, TOOL_MESSAGES, TOOL_MESSAGES)
REPAIRABLE = st.one_of(PAIRABLE, REPEATING)
ANYTHING = st.one_of(PAIRABLE, REPEATING, SYSTEM_MESSAGES)


def as_stored(messages: Sequence[Message]) -> tuple[Item, ...]:
    """The messages as stored ones, with the sequences 1, 2 and so on."""
    return tuple(
        item_of(role, kind, form(role, *content), Real(id=f"m{sequence}", sequence=sequence))
        for sequence, (role, kind, content) in enumerate(messages, start=1)
    )


def as_replaced(messages: Sequence[Message]) -> tuple[Item, ...]:
    """The messages in three parts as behind a compaction: synthetic, stored, live."""
    sources = (Synthetic(reason="compaction_summary", id="s"), Real(id="m", sequence=5), Real())
    return tuple(
        item_of(role, kind, form(role, *content), sources[3 * index // len(messages)])
        for index, (role, kind, content) in enumerate(messages)
    )


def conversations(messages: st.SearchStrategy[Message]) -> st.SearchStrategy[tuple[Item, ...]]:
    """Items of some of these messages, from various sources."""
    return st.builds(
        lambda arranged, chosen: arranged(chosen),
        st.sampled_from([as_stored, as_replaced]),
        st.lists(messages, max_size=10),
    )
