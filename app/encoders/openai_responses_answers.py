"""Answers of OpenAI's Responses: output items in order.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from app.core.blocks import Block, ProviderOpaque, ProviderState, Thinking, text_block
from app.encoders.answered import (
    argument_text_of,
    call_of,
    mapping_or_none,
    objects_of,
    text_of,
    text_or_none,
)
from app.encoders.decoding import Asked, Decoded, InvalidAnswer
from app.encoders.openai_responses import CUSTOM_CALL, DRIVER
from app.encoders.repairs import RepairLog


def decode(body: Mapping[str, object], asked: Asked) -> Decoded:
    """The answer of a body that is not streamed.

    Args:
        body: A response.
        asked: What is known of the request that it answers.

    Raises:
        InvalidAnswer: The body is no response.
    """
    log, model = RepairLog(), text_or_none(body.get("model"))
    reader = ItemReader(asked=asked, model=asked.state_model(model), log=log)
    items = objects_of(body.get("output"), "output")
    return Decoded(
        blocks=tuple(block for key, item in items for block in reader.blocks(item, key)),
        model=model,
        finish_reason=_finish_reason(body),
        usage=mapping_or_none(body.get("usage")),
        repairs=log.all(),
    )


def _finish_reason(body: Mapping[str, object]) -> str | None:
    """Why the answer is cut off, or else the state that it is in."""
    details = mapping_or_none(body.get("incomplete_details")) or {}
    return text_or_none(details.get("reason")) or text_or_none(body.get("status"))


class ItemReader:
    """Reads the items of what the assistant said."""

    def __init__(self, *, asked: Asked, model: str | None, log: RepairLog) -> None:
        self._asked = asked
        self._model = model
        self._log = log

    def blocks(self, item: Mapping[str, Any], key: str) -> Iterator[Block]:
        """The neutral blocks of an item.

        Raises:
            InvalidAnswer: It has not its shape.
        """
        match item.get("type"):
            case "message":
                yield from _texts(item, key)
            case "reasoning":
                yield self._reasoning(item, key)
            case "function_call":
                yield self._call(
                    item, key, argument_text_of(item.get("arguments"), f"{key}.arguments")
                )
            case "custom_tool_call":
                state = self._state({"type": CUSTOM_CALL})
                yield self._call(item, key, text_of(item.get("input"), f"{key}.input"), state)
            case str(kind):
                # Tools that the provider runs itself, compactions, and what is new.
                payload = dict(item)
                yield ProviderOpaque(
                    type="provider_opaque", driver=DRIVER, kind=kind, payload=payload
                )
            case _:
                raise InvalidAnswer("an item must have a type", key=f"{key}.type")

    def _state(self, data: Mapping[str, object]) -> ProviderState | None:
        if self._model is None:
            return None
        return ProviderState(driver=DRIVER, model=self._model, data=dict(data))

    def _call(
        self, item: Mapping[str, Any], key: str, text: str, state: ProviderState | None = None
    ) -> Block:
        name = text_of(item.get("name"), f"{key}.name")
        return call_of(
            item.get("call_id"), name, text, [key, item], self._asked.call_ids, self._log, state
        )

    def _reasoning(self, item: Mapping[str, Any], key: str) -> Thinking:
        summary = _joined(item.get("summary"), f"{key}.summary")
        text = summary or _joined(item.get("content"), f"{key}.content")
        # What the text alone does not give again is kept, and nothing twice.
        plain = [{"type": "summary_text", "text": text}] if text else []
        known = {"type": "reasoning", "summary": plain}
        data = {
            name: value
            for name, value in item.items()
            if value is not None and known.get(name) != value
        }
        return Thinking(type="thinking", thinking=text, provider_state=self._state(data))


def _texts(item: Mapping[str, Any], key: str) -> Iterator[Block]:
    for path, part in objects_of(item.get("content"), f"{key}.content"):
        match part.get("type"):
            case "output_text":
                text = text_of(part.get("text"), f"{path}.text")
            case "refusal":
                text = text_of(part.get("refusal"), f"{path}.refusal")
            case sort:
                raise InvalidAnswer(f"a part of type {sort!r} is not known", key=f"{path}.type")
        if text:
            yield text_block(text)


def _joined(value: object, key: str) -> str:
    if value is None:
        return ""
    return "\n\n".join(
        text_of(part.get("text"), f"{path}.text") for path, part in objects_of(value, key)
    )
