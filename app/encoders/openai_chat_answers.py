"""Answers of OpenAI Chat Completions, and of servers that speak it.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.core.blocks import Block, Blocks, Thinking, text_block
from app.encoders.chat_answers import ANSWER_PATH, answered_calls, chat_answer
from app.encoders.decoding import Asked, Decoded, InvalidAnswer
from app.encoders.repairs import RepairLog

_REASONING_FIELDS = ("reasoning_content", "reasoning")
"""Where servers other than OpenAI's own tell the reasoning. The first that is text counts."""


def decode(body: Mapping[str, object], asked: Asked) -> Decoded:
    """The answer of a body that is not streamed.

    Args:
        body: A chat completion.
        asked: What is known of the request that it answers.

    Raises:
        InvalidAnswer: The body is no chat completion.
    """
    answer, log = chat_answer(body), RepairLog()
    return answer.decoded(assistant_blocks(answer.message, asked, log, ANSWER_PATH), log)


def assistant_blocks(
    message: Mapping[str, object], asked: Asked, log: RepairLog, path: str
) -> Blocks:
    """The blocks of an assistant message that stands at `path`.

    Raises:
        InvalidAnswer: It is none.
    """
    return (
        *_reasoning(message),
        *_said(message, path),
        *answered_calls(message, asked.call_ids, log, path),
    )


def _reasoning(message: Mapping[str, object]) -> Iterator[Block]:
    for name in _REASONING_FIELDS:
        text = message.get(name)
        if isinstance(text, str) and text:
            # No state: there is no field to send it back in.
            yield Thinking(type="thinking", thinking=text)
            return


def _said(message: Mapping[str, object], path: str) -> Iterator[Block]:
    """What the model says: text, a refusal, or what it spoke."""
    content = message.get("content")
    if isinstance(content, str):
        texts = [content]
    elif content is None:
        texts = []
    elif isinstance(content, Sequence):
        texts = [
            _part_text(part, f"{path}.content.{number}") for number, part in enumerate(content)
        ]
    else:
        raise InvalidAnswer("content must be text or a list of parts", key=f"{path}.content")
    audio = message.get("audio")
    spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
    for text in (*texts, message.get("refusal"), spoken):
        if isinstance(text, str) and text:
            yield text_block(text)


def _part_text(part: object, key: str) -> str:
    if isinstance(part, Mapping):
        text = part.get("refusal") if part.get("type") == "refusal" else part.get("text")
        if isinstance(text, str):
            return text
    raise InvalidAnswer("a part must have text", key=key)
