"""Answers of Mistral's Chat Completions: text or chunks, thinking among them.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.core.blocks import Block, ProviderOpaque, ProviderState, Thinking, text_block
from app.encoders.chat_answers import answered_calls, chat_answer
from app.encoders.decoding import Asked, Decoded, InvalidAnswer
from app.encoders.mistral import DRIVER
from app.encoders.repairs import RepairLog

_CONTENT = "choices.0.message.content"


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
        *_said(answer.message.get("content"), asked.state_model(answer.model)),
        *answered_calls(answer.message, asked.call_ids, log),
    ]
    return answer.decoded(tuple(blocks), log)


def _said(content: object, model: str | None) -> Iterator[Block]:
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield text_block(content)
    elif isinstance(content, Sequence):
        for number, chunk in enumerate(content):
            if not isinstance(chunk, Mapping):
                raise InvalidAnswer("a chunk must be an object", key=f"{_CONTENT}.{number}")
            yield from _chunk(chunk, number, model)
    else:
        raise InvalidAnswer("content must be text or a list of chunks", key=_CONTENT)


def _chunk(chunk: Mapping[str, object], number: int, model: str | None) -> Iterator[Block]:
    sort, text = chunk.get("type"), chunk.get("text")
    if sort == "thinking":
        yield _thinking(chunk, number, model)
    elif isinstance(text, str):
        if text:
            yield text_block(text)
    else:
        # References, and what is new.
        yield ProviderOpaque(type="provider_opaque", driver=DRIVER, kind=str(sort), payload=chunk)


def _thinking(chunk: Mapping[str, object], number: int, model: str | None) -> Thinking:
    thoughts = chunk.get("thinking")
    if isinstance(thoughts, str):
        texts = [thoughts]
    elif isinstance(thoughts, Sequence):
        texts = [
            part["text"]
            for part in thoughts
            if isinstance(part, Mapping) and isinstance(part.get("text"), str)
        ]
    else:
        raise InvalidAnswer("thinking must be text or parts", key=f"{_CONTENT}.{number}.thinking")
    text = "".join(texts)
    # What the text alone does not give again is kept, and nothing twice.
    plain = [{"type": "text", "text": text}]
    known = {"type": "thinking", "thinking": plain}
    data = {name: value for name, value in chunk.items() if known.get(name) != value}
    state = None if model is None else ProviderState(driver=DRIVER, model=model, data=data)
    return Thinking(type="thinking", thinking=text, provider_state=state)
