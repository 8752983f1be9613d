"""Answers of OpenAI Chat Completions, and of servers that speak it.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.core.blocks import Block, Thinking, text_block
from app.encoders.chat_answers import answered_calls, chat_answer
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
    blocks: list[Block] = [
        *_reasoning(answer.message),
        *_said(answer.message),
        *answered_calls(answer.message, asked.call_ids, log),
    ]
    return answer.decoded(tuple(blocks), log)


def _reasoning(message: Mapping[str, object]) -> Iterator[Block]:
    for name in _REASONING_FIELDS:
        text = message.get(name)
        if isinstance(text, str) and text:
            # No state: there is no field to send it back in.
            yield Thinking(type="thinking", thinking=text)
            return


def _said(message: Mapping[str, object]) -> Iterator[Block]:
    """What the model says: text, a refusal, or what it spoke."""
    content = message.get("content")
    if isinstance(content, str):
        texts = [content]
    elif content is None:
        texts = []
    elif isinstance(content, Sequence):
        texts = [_part_text(part, number) for number, part in enumerate(content)]
    else:
        raise InvalidAnswer(
            "content must be text or a list of parts", key="choices.0.message.content"
        )
    audio = message.get("audio")
    spoken = audio.get("transcript") if isinstance(audio, Mapping) else None
    for text in (*texts, message.get("refusal"), spoken):
        if isinstance(text, str) and text:
            yield text_block(text)


def _part_text(part: object, number: int) -> str:
    if isinstance(part, Mapping):
        text = part.get("refusal") if part.get("type") == "refusal" else part.get("text")
        if isinstance(text, str):
            return text
    raise InvalidAnswer("a part must have text", key=f"choices.0.message.content.{number}")
