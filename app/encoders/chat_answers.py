"""Answers of the chat family: the first choice, its calls with their neutral ids.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.core.blocks import Blocks, ToolCall
from app.encoders.answered import argument_text_of, call_of, mapping_or_none, text_or_none
from app.encoders.decoding import Decoded, InvalidAnswer
from app.encoders.repairs import RepairLog

ANSWER_PATH = "choices.0.message"
"""Of the message that is read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatAnswer:
    """The parts of a body that every member of the family has."""

    message: Mapping[str, object]
    model: str | None
    finish_reason: str | None
    usage: Mapping[str, object] | None

    def decoded(self, blocks: Blocks, log: RepairLog) -> Decoded:
        """The answer with these blocks."""
        return Decoded(
            blocks=blocks,
            model=self.model,
            finish_reason=self.finish_reason,
            usage=self.usage,
            repairs=log.all(),
        )


def chat_answer(body: Mapping[str, object]) -> ChatAnswer:
    """The first choice of a body that is not streamed.

    Raises:
        InvalidAnswer: There is no choice with a message.
    """
    choices = body.get("choices")
    if not isinstance(choices, Sequence) or isinstance(choices, str) or not choices:
        raise InvalidAnswer("an answer must have a choice", key="choices")
    choice = choices[0]
    message = choice.get("message") if isinstance(choice, Mapping) else None
    if not isinstance(choice, Mapping) or not isinstance(message, Mapping):
        raise InvalidAnswer("a choice must have a message", key="choices.0.message")
    return ChatAnswer(
        message=message,
        model=text_or_none(body.get("model")),
        finish_reason=text_or_none(choice.get("finish_reason")),
        usage=mapping_or_none(body.get("usage")),
    )


def answered_calls(
    message: Mapping[str, object],
    call_ids: Mapping[str, str],
    log: RepairLog,
    path: str = ANSWER_PATH,
) -> tuple[ToolCall, ...]:
    """The calls of a message, under the ids that the conversation knows.

    `path` is where the message stands, for what is wrong with it.

    Raises:
        InvalidAnswer: A call is none of a function, or has no name.
    """
    calls = message.get("tool_calls")
    if calls is None:
        return ()
    if not isinstance(calls, Sequence) or isinstance(calls, str):
        raise InvalidAnswer("tool_calls must be a list", key=f"{path}.tool_calls")
    return tuple(
        _call(call, number, call_ids, log, f"{path}.tool_calls.{number}")
        for number, call in enumerate(calls)
    )


def _call(
    call: object, number: int, call_ids: Mapping[str, str], log: RepairLog, key: str
) -> ToolCall:
    function = call.get("function") if isinstance(call, Mapping) else None
    name = function.get("name") if isinstance(function, Mapping) else None
    if (
        not isinstance(call, Mapping)
        or not isinstance(function, Mapping)
        or not isinstance(name, str)
    ):
        raise InvalidAnswer("a call must name a function", key=key)
    arguments = argument_text_of(function.get("arguments"), f"{key}.function.arguments")
    return call_of(call.get("id"), name, arguments, [number, call], call_ids, log)
