"""What decoders have in common: values of a body under their paths, and calls with their ids.

Source: docs/semantics/encoders.md#answers.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any

from app.core import canonical
from app.core.blocks import ProviderState, ToolCall
from app.encoders.decoding import InvalidAnswer
from app.encoders.repairs import RepairLog

MADE_ID_LETTERS = 24
"""Of an id for a call that came without one: as many as OpenAI's have."""


def objects_of(value: object, key: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The objects of a list, each with its path.

    Raises:
        InvalidAnswer: It is no list, or an item is no object.
    """
    if not isinstance(value, Sequence) or isinstance(value, str | bytes):
        raise InvalidAnswer("this must be a list", key=key)
    for number, item in enumerate(value):
        yield f"{key}.{number}", object_of(item, f"{key}.{number}")


def object_of(value: object, key: str) -> Mapping[str, Any]:
    """The value, which is an object.

    Raises:
        InvalidAnswer: It is none.
    """
    if not isinstance(value, Mapping):
        raise InvalidAnswer("this must be an object", key=key)
    return value


def text_of(value: object, key: str) -> str:
    """The value, which is a text.

    Raises:
        InvalidAnswer: It is none.
    """
    if not isinstance(value, str):
        raise InvalidAnswer("this must be text", key=key)
    return value


def text_or_none(value: object) -> str | None:
    """A text; None for anything else."""
    return value if isinstance(value, str) else None


def mapping_or_none(value: object) -> Mapping[str, object] | None:
    """An object; None for anything else."""
    return value if isinstance(value, Mapping) else None


def argument_text_of(value: object, key: str) -> str:
    """The arguments of a call as text: as they were written, broken ones too.

    Raises:
        InvalidAnswer: They are neither text nor an object.
    """
    match value:
        case None:
            return "{}"
        case str():
            return value
        case Mapping():
            return canonical.encode(value).decode()
        case _:
            raise InvalidAnswer("arguments must be text or an object", key=key)


def call_of(
    call_id: object,
    name: str,
    arguments: str,
    place: object,
    call_ids: Mapping[str, str],
    log: RepairLog,
    state: ProviderState | None = None,
) -> ToolCall:
    """A call under the id that the conversation knows, or a made one where it came without.

    Args:
        call_id: As the answer has it.
        name: Of the tool.
        arguments: As text.
        place: What the answer says there, which a made id is derived from.
        call_ids: Neutral ids by those of the request.
        log: Is told of a made id.
        state: What the provider said beside the call.
    """
    # Mistral says "null" where it has no id, and local servers leave it empty.
    if not isinstance(call_id, str) or call_id in ("", "null"):
        digest = sha256(canonical.encode(place)).hexdigest()
        call_id = f"call_{digest[:MADE_ID_LETTERS]}"
        log.add("call_id_renamed", None, call_id=call_id)
    return ToolCall(
        type="tool_call",
        id=call_ids.get(call_id, call_id),
        name=name,
        input=arguments,
        provider_state=state,
    )
