"""Short ways to say a neutral request and what becomes of it."""

from collections.abc import Mapping
from typing import Any

from app.core.blocks import Block, Blocks, text_block
from app.core.messages import Role
from app.encoders import anthropic
from app.encoders.encoding import Encoded, EncodingOptions
from app.encoders.request import NeutralMessage, NeutralRequest, NeutralTool

OPTIONS = EncodingOptions()
READ = NeutralTool(name="read", description="Read a file", parameters={"type": "object"})


def neutral(
    *messages: NeutralMessage,
    model: str = "model-1",
    system: tuple[str, ...] = (),
    tools: tuple[NeutralTool, ...] = (),
    generation: Mapping[str, object] | None = None,
    max_output_tokens: int | None = None,
) -> NeutralRequest:
    return NeutralRequest(
        model=model,
        system=tuple((text_block(text),) for text in system),
        messages=messages,
        tools=tools,
        generation={} if generation is None else generation,
        max_output_tokens=max_output_tokens,
    )


def said(role: Role, *content: str | Block) -> NeutralMessage:
    return NeutralMessage(role=role, blocks=_blocks(content))


def sent(*messages: NeutralMessage, model: str = "model-1") -> list[list[Any]]:
    """The content of each message to Anthropic."""
    elements: Any = anthropic.encode(neutral(*messages, model=model), OPTIONS).elements
    return [element["content"] for element in elements]


def calls_of(encoded: Encoded, index: int) -> list[Any]:
    """The calls of an element."""
    calls = encoded.elements[index]["tool_calls"]
    assert isinstance(calls, list)
    return calls


def told(encoded: Encoded) -> list[tuple[Any, ...]]:
    """The repairs as tuples, without what is not there."""
    return [
        tuple(
            value
            for value in (repair.code, repair.message_index, repair.call_id, repair.detail)
            if value is not None
        )
        for repair in encoded.repairs
    ]


def _blocks(content: tuple[str | Block, ...]) -> Blocks:
    return tuple(text_block(part) if isinstance(part, str) else part for part in content)
