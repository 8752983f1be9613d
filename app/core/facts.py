"""Facts: what the rules need to know of a message without parsing it.

They are derived once, when a message is stored or a rewritten form is first
made; prune, project, normalize and the budget look at nothing else.

Source: docs/semantics/content.md#facts.
"""

from dataclasses import dataclass
from hashlib import sha256

from app.core import canonical
from app.core.blocks import (
    Base64Source,
    Block,
    Blocks,
    CallState,
    Data,
    FileIdSource,
    ResultState,
    Text,
    ToolCall,
    ToolResult,
    UrlSource,
)
from app.core.content import artifacts_json, encode_content
from app.core.counting import TokenCounter, count_blocks, media_count
from app.core.messages import Role

_ARTIFACTS_FIELD_BYTES = len(b',"artifacts":')


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFact:
    """A tool call of the message, in block order."""

    id: str
    name: str
    state: CallState


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultFact:
    """A tool result of the message, in block order."""

    id: str
    name: str | None
    state: ResultState
    joined_chars: int
    """Code points of the text blocks joined with one newline: what prune compares."""
    visible_bytes: int
    """Raw UTF-8 bytes of text and media: what project compares."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Sizes, identity and pairing facts of one content array."""

    content_bytes: int
    """Bytes of the canonical content array."""
    json_bytes: int
    """The same without artifacts: what the budget measures."""
    tokenizer_tokens: int
    token_basis: str
    has_data: bool
    """Whether a data block stands anywhere in it, tool results included."""
    element_sha256: bytes
    """Of the message's neutral JSON (`neutral_element`): its identity and its link in the chain."""
    calls: tuple[CallFact, ...]
    results: tuple[ResultFact, ...]
    text_bytes: int | None = None
    """UTF-8 bytes of the message's own text blocks; None where nobody measured them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """A content array as canonical bytes together with its facts."""

    content: bytes
    facts: Facts


def neutral_element(role: Role, content: bytes) -> bytes:
    """The JSON of one message of a neutral request."""
    return b'{"role":"%b","content":%b}' % (role.encode(), content)


def form_of(role: Role, blocks: Blocks, counter: TokenCounter) -> Form:
    """The canonical form of `blocks` in a message of `role`."""
    return form_with_tokens(role, blocks, count_blocks(blocks, counter), counter.basis)


def form_with_tokens(role: Role, blocks: Blocks, tokens: int, basis: str) -> Form:
    """The canonical form of blocks whose tokens are counted already."""
    content = encode_content(blocks)
    facts = Facts(
        content_bytes=len(content),
        json_bytes=len(content) - _artifact_bytes(blocks),
        tokenizer_tokens=tokens,
        token_basis=basis,
        has_data=media_count(blocks) > 0,
        element_sha256=sha256(neutral_element(role, content)).digest(),
        calls=tuple(
            CallFact(id=block.id, name=block.name, state=block.state)
            for block in blocks
            if isinstance(block, ToolCall)
        ),
        results=tuple(_result_fact(block) for block in blocks if isinstance(block, ToolResult)),
        text_bytes=sum(len(block.text.encode()) for block in blocks if isinstance(block, Text)),
    )
    return Form(content=content, facts=facts)


def joined_text(output: Blocks) -> str:
    """The text blocks of a result's output, joined with one newline."""
    return "\n".join(block.text for block in output if isinstance(block, Text))


def visible_bytes(output: Blocks) -> int:
    """Raw bytes that a model sees of a result's output, not their JSON."""
    return sum(map(_visible_block_bytes, output))


def _result_fact(result: ToolResult) -> ResultFact:
    return ResultFact(
        id=result.id,
        name=result.name,
        state=result.state,
        joined_chars=len(joined_text(result.output)),
        visible_bytes=visible_bytes(result.output),
    )


def _visible_block_bytes(block: Block) -> int:
    match block:
        case Text():
            return len(block.text.encode())
        case Data():
            return sum(len(part.encode()) for part in _data_strings(block))
        case _:
            return 0


def _data_strings(block: Data) -> tuple[str, ...]:
    name = block.name or ""
    match block.source:
        case UrlSource(url=url, media_type=media_type):
            return (url, media_type, name)
        case Base64Source(data=data, media_type=media_type):
            return (data, media_type, name)
        case FileIdSource(id=file_id):
            return (file_id, name)


def _artifact_bytes(blocks: Blocks) -> int:
    return sum(
        _ARTIFACTS_FIELD_BYTES + len(canonical.encode(artifacts_json(block.artifacts)))
        for block in blocks
        if isinstance(block, ToolResult) and block.artifacts
    )
