"""Answers of Mistral's Chat Completions: text or chunks, thinking among them.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.core.blocks import Block, Blocks, ProviderOpaque, ProviderState, Thinking, text_block
from app.encoders.chat_answers import ANSWER_PATH, answered_calls, chat_answer
from app.encoders.decoding import Asked, Decoded, InvalidAnswer
from app.encoders.mistral import DRIVER
from app.encoders.repairs import RepairLog


def decode(body: Mapping[str, object], asked: Asked) -> Decoded:
    """The answer of a body that is not streamed.

    Args:
        body: A chat completion.
        asked: What is known of the request that it answers.

    Raises:
        InvalidAnswer: The body is no chat completion.
    """
    answer, log = chat_answer(body), RepairLog()
    known = Asked(call_ids=asked.call_ids, model=asked.state_model(answer.model))
    return answer.decoded(assistant_blocks(answer.message, known, log, ANSWER_PATH), log)


def assistant_blocks(
    message: Mapping[str, object], asked: Asked, log: RepairLog, path: str
) -> Blocks:
    """The blocks of an assistant message that stands at `path`.

    Raises:
        InvalidAnswer: It is none.
    """
    return (
        *_said(message.get("content"), asked.model, f"{path}.content"),
        *answered_calls(message, asked.call_ids, log, path),
    )


def _said(content: object, model: str | None, path: str) -> Iterator[Block]:
    if content is None or content == "":
        return
    if isinstance(content, str):
        yield text_block(content)
    elif isinstance(content, Sequence):
        for number, chunk in enumerate(content):
            if not isinstance(chunk, Mapping):
                raise InvalidAnswer("a chunk must be an object", key=f"{path}.{number}")
            yield from _chunk(chunk, f"{path}.{number}", model)
    else:
        raise InvalidAnswer("content must be text or a list of chunks", key=path)


def _chunk(chunk: Mapping[str, object], path: str, model: str | None) -> Iterator[Block]:
    sort, text = chunk.get("type"), chunk.get("text")
    if sort == "thinking":
        yield _thinking(chunk, path, model)
    elif isinstance(text, str):
        if text:
            yield text_block(text)
    else:
        # References, and what is new.
        yield ProviderOpaque(type="provider_opaque", driver=DRIVER, kind=str(sort), payload=chunk)


def _thinking(chunk: Mapping[str, object], path: str, model: str | None) -> Thinking:
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
        raise InvalidAnswer("thinking must be text or parts", key=f"{path}.thinking")
    text = "".join(texts)
    # What the text alone does not give again is kept, and nothing twice.
    plain = [{"type": "text", "text": text}]
    known = {"type": "thinking", "thinking": plain}
    data = {name: value for name, value in chunk.items() if known.get(name) != value}
    state = None if model is None else ProviderState(driver=DRIVER, model=model, data=data)
    return Thinking(type="thinking", thinking=text, provider_state=state)
