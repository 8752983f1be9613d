"""Answers of Gemini's generateContent: the parts of the first candidate.

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
from app.encoders.decoding import Asked, Decoded, InvalidAnswer
from app.encoders.gemini import DRIVER, SIGNATURE
from app.encoders.repairs import RepairLog

_CONTENT = "candidates.0.content"


def decode(body: Mapping[str, object], asked: Asked) -> Decoded:
    """The answer of a body that is not streamed; of a prompt that was blocked it is empty.

    Args:
        body: A generateContent response.
        asked: What is known of the request that it answers.

    Raises:
        InvalidAnswer: The body is no such response.
    """
    log, model = RepairLog(), text_or_none(body.get("modelVersion"))
    reader = PartReader(asked=asked, model=asked.state_model(model), log=log)
    candidate = _candidate(body)
    content = candidate.get("content")
    parts = None if content is None else object_of(content, _CONTENT).get("parts")
    blocks = (
        []
        if parts is None
        else [reader.block(part, key) for key, part in objects_of(parts, f"{_CONTENT}.parts")]
    )
    return Decoded(
        blocks=tuple(block for block in blocks if block is not None),
        model=model,
        finish_reason=text_or_none(candidate.get("finishReason")),
        usage=mapping_or_none(body.get("usageMetadata")),
        repairs=log.all(),
    )


def _candidate(body: Mapping[str, object]) -> Mapping[str, Any]:
    """The first candidate; where the prompt was blocked, one that says so."""
    feedback = mapping_or_none(body.get("promptFeedback")) or {}
    if not body.get("candidates") and "blockReason" in feedback:
        return {"finishReason": feedback["blockReason"]}
    candidates = list(objects_of(body.get("candidates"), "candidates"))
    if not candidates:
        raise InvalidAnswer("an answer must have a candidate", key="candidates")
    return candidates[0][1]


class PartReader:
    """Reads the parts of what the model said."""

    def __init__(self, *, asked: Asked, model: str | None, log: RepairLog) -> None:
        self._asked = asked
        self._model = model
        self._log = log

    def block(self, part: Mapping[str, Any], key: str) -> Block | None:
        """The neutral block; None of a text of no characters without a signature.

        Raises:
            InvalidAnswer: A part has not its shape.
        """
        state = self._state(part.get(SIGNATURE))
        if "functionCall" in part:
            call = object_of(part["functionCall"], f"{key}.functionCall")
            return call_of(
                call.get("id"),
                text_of(call.get("name"), f"{key}.functionCall.name"),
                argument_text_of(call.get("args"), f"{key}.functionCall.args"),
                [key, part],
                self._asked.call_ids,
                self._log,
                state,
            )
        if "text" in part:
            text = text_of(part["text"], f"{key}.text")
            if part.get("thought") is True:
                return Thinking(type="thinking", thinking=text, provider_state=state)
            if not text and state is None:
                return None
            return Text(type="text", text=text, provider_state=state)
        # Code that the provider ran itself, media, and what is new.
        kind = next((name for name in part if name != SIGNATURE), "part")
        return ProviderOpaque(type="provider_opaque", driver=DRIVER, kind=kind, payload=dict(part))

    def _state(self, signature: object) -> ProviderState | None:
        if not isinstance(signature, str) or not signature or self._model is None:
            return None
        return ProviderState(driver=DRIVER, model=self._model, data={SIGNATURE: signature})
