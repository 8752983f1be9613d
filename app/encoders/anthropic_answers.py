"""Answers of Anthropic's Messages: content blocks in order.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Mapping
from typing import Any

from app.core.blocks import Block, ProviderOpaque, ProviderState, Text, Thinking
from app.encoders.answered import (
    argument_text_of,
    call_of,
    mapping_or_none,
    objects_of,
    text_of,
    text_or_none,
)
from app.encoders.anthropic import DRIVER
from app.encoders.decoding import Asked, Decoded
from app.encoders.repairs import RepairLog

_TEXT_FIELDS = frozenset({"type", "text"})
_CALL_FIELDS = frozenset({"type", "id", "name", "input"})


def decode(body: Mapping[str, object], asked: Asked) -> Decoded:
    """The answer of a body that is not streamed.

    Args:
        body: A message.
        asked: What is known of the request that it answers.

    Raises:
        InvalidAnswer: The body is no message.
    """
    log, model = RepairLog(), text_or_none(body.get("model"))
    reader = BlockReader(asked=asked, model=asked.state_model(model), log=log)
    blocks = [reader.block(part, key) for key, part in objects_of(body.get("content"), "content")]
    return Decoded(
        blocks=tuple(block for block in blocks if block is not None),
        model=model,
        finish_reason=text_or_none(body.get("stop_reason")),
        usage=mapping_or_none(body.get("usage")),
        repairs=log.all(),
    )


class BlockReader:
    """Reads the content blocks of what the assistant said."""

    def __init__(self, *, asked: Asked, model: str | None, log: RepairLog) -> None:
        self._asked = asked
        self._model = model
        self._log = log

    def block(self, part: Mapping[str, Any], key: str) -> Block | None:
        """The neutral block; None of a text of no characters.

        Raises:
            InvalidAnswer: A block has not its shape.
        """
        match part.get("type"):
            case "text":
                return self._text(part, key)
            case "thinking":
                text = text_of(part.get("thinking"), f"{key}.thinking")
                signature = text_or_none(part.get("signature"))
                state = self._state({"signature": signature}) if signature else None
                return Thinking(type="thinking", thinking=text, provider_state=state)
            case "redacted_thinking":
                hidden = text_of(part.get("data"), f"{key}.data")
                state = self._state({"type": "redacted_thinking", "data": hidden})
                if state is not None:
                    return Thinking(type="thinking", thinking="", provider_state=state)
                return _opaque(part)
            case "tool_use":
                return self._call(part, key)
            case _:
                # Tools that the provider runs itself, and what is new.
                return _opaque(part)

    def _state(self, data: Mapping[str, object]) -> ProviderState | None:
        """State of the model that was asked; None where nobody knows which it was."""
        if self._model is None or not data:
            return None
        return ProviderState(driver=DRIVER, model=self._model, data=dict(data))

    def _text(self, part: Mapping[str, Any], key: str) -> Block | None:
        text = text_of(part.get("text"), f"{key}.text")
        if not text:
            return None
        beside = _beside(part, _TEXT_FIELDS)
        return Text(type="text", text=text, provider_state=self._state(beside))

    def _call(self, part: Mapping[str, Any], key: str) -> Block:
        return call_of(
            part.get("id"),
            text_of(part.get("name"), f"{key}.name"),
            argument_text_of(part.get("input"), f"{key}.input"),
            [key, part],
            self._asked.call_ids,
            self._log,
            self._state(_beside(part, _CALL_FIELDS)),
        )


def _opaque(part: Mapping[str, Any]) -> ProviderOpaque:
    kind = str(part.get("type"))
    return ProviderOpaque(type="provider_opaque", driver=DRIVER, kind=kind, payload=dict(part))


def _beside(part: Mapping[str, Any], fields: frozenset[str]) -> dict[str, Any]:
    """What a block says beside its fields; what is null says nothing."""
    return {name: value for name, value in part.items() if name not in fields and value is not None}
