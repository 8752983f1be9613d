"""Answers of Bedrock's Converse: content blocks in order.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Mapping
from typing import Any

from app.core.blocks import Block, ProviderOpaque, ProviderState, Text, Thinking
from app.encoders.answered import (
    argument_text_of,
    call_of,
    mapping_or_none,
    object_of,
    objects_of,
    text_of,
    text_or_none,
)
from app.encoders.bedrock import DRIVER
from app.encoders.decoding import Asked, Decoded
from app.encoders.repairs import RepairLog


def decode(body: Mapping[str, object], asked: Asked) -> Decoded:
    """The answer of a body that is not streamed.

    Args:
        body: A Converse response.
        asked: What is known of the request that it answers: the answer names no model.

    Raises:
        InvalidAnswer: The body is no Converse response.
    """
    log = RepairLog()
    output = object_of(body.get("output"), "output")
    message = object_of(output.get("message"), "output.message")
    reader = ConverseReader(asked=asked, log=log)
    parts = objects_of(message.get("content"), "output.message.content")
    blocks = [reader.block(part, key) for key, part in parts]
    return Decoded(
        blocks=tuple(block for block in blocks if block is not None),
        model=asked.model,
        finish_reason=text_or_none(body.get("stopReason")),
        usage=mapping_or_none(body.get("usage")),
        repairs=log.all(),
    )


class ConverseReader:
    """Reads the content blocks of what the assistant said."""

    def __init__(self, *, asked: Asked, log: RepairLog) -> None:
        self._asked = asked
        self._log = log

    def block(self, part: Mapping[str, Any], key: str) -> Block | None:
        """The neutral block; None of a text of no characters.

        Raises:
            InvalidAnswer: A block has not its shape.
        """
        if "text" in part:
            text = text_of(part["text"], f"{key}.text")
            return Text(type="text", text=text) if text else None
        if "toolUse" in part:
            call = object_of(part["toolUse"], f"{key}.toolUse")
            return call_of(
                call.get("toolUseId"),
                text_of(call.get("name"), f"{key}.toolUse.name"),
                argument_text_of(call.get("input"), f"{key}.toolUse.input"),
                [key, part],
                self._asked.call_ids,
                self._log,
            )
        if "reasoningContent" in part:
            thought = object_of(part["reasoningContent"], f"{key}.reasoningContent")
            return self._thinking(thought, f"{key}.reasoningContent", part)
        return _opaque(part)

    def _thinking(self, thought: Mapping[str, Any], key: str, part: Mapping[str, Any]) -> Block:
        hidden = thought.get("redactedContent")
        if isinstance(hidden, str):
            state = self._state({"redactedContent": hidden})
            if state is None:
                return _opaque(part)
            return Thinking(type="thinking", thinking="", provider_state=state)
        said = object_of(thought.get("reasoningText"), f"{key}.reasoningText")
        text = text_of(said.get("text"), f"{key}.reasoningText.text")
        signature = text_or_none(said.get("signature"))
        state = self._state({"signature": signature}) if signature else None
        return Thinking(type="thinking", thinking=text, provider_state=state)

    def _state(self, data: Mapping[str, object]) -> ProviderState | None:
        if self._asked.model is None:
            return None
        return ProviderState(driver=DRIVER, model=self._asked.model, data=dict(data))


def _opaque(part: Mapping[str, Any]) -> ProviderOpaque:
    kind = next(iter(part), "unknown")
    return ProviderOpaque(type="provider_opaque", driver=DRIVER, kind=kind, payload=dict(part))
