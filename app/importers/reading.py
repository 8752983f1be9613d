"""Members of a transcript's JSON, or a refusal that says where the wrong one is.

Source: docs/semantics/importers.md#what-is-refused.
"""

from collections.abc import Iterator, Mapping, Sequence

from app.core import canonical
from app.core.json_text import parsed_json
from app.importers.transcript import InvalidTranscript

JsonObject = Mapping[str, object]


def whole(transcript: object, elements: str) -> tuple[JsonObject, str]:
    """A provider's body, and the path of its elements; a bare list is the elements alone.

    Raises:
        InvalidTranscript: It is neither, nor the text of one.
    """
    if isinstance(transcript, str):
        transcript = parsed_json(transcript)
        if not _is_sound(transcript):
            raise InvalidTranscript("the transcript is no JSON", key="transcript")
    if isinstance(transcript, list):
        return {elements: transcript}, "transcript"
    if not isinstance(transcript, Mapping):
        raise InvalidTranscript("a transcript must be a provider's body", key="transcript")
    if transcript.get(elements) is None:
        raise InvalidTranscript(f"a body must have {elements}", key=f"transcript.{elements}")
    return transcript, f"transcript.{elements}"


def _is_sound(value: object) -> bool:
    """Whether it holds no number that JSON does not have, and no half of a surrogate pair."""
    try:
        canonical.encode(value)
    except ValueError:
        return False
    return True


def objects(value: object, key: str) -> Iterator[tuple[JsonObject, str]]:
    """The objects of a list, each with its path; nothing for null.

    Raises:
        InvalidTranscript: It is no list, or holds something else.
    """
    if value is None:
        return
    if not isinstance(value, Sequence) or isinstance(value, str):
        raise InvalidTranscript(f"{key} must be a list", key=key)
    for number, each in enumerate(value):
        yield object_of(each, f"{key}.{number}"), f"{key}.{number}"


def object_of(value: object, key: str) -> JsonObject:
    """An object.

    Raises:
        InvalidTranscript: It is none.
    """
    if not isinstance(value, Mapping):
        raise InvalidTranscript(f"{key} must be an object", key=key)
    return value


def text_of(value: object, key: str) -> str:
    """A text.

    Raises:
        InvalidTranscript: It is none.
    """
    if not isinstance(value, str):
        raise InvalidTranscript(f"{key} must be text", key=key)
    return value


def text_or_none(value: object) -> str | None:
    """A text; None for anything else."""
    return value if isinstance(value, str) else None


def arguments_of(value: object, key: str) -> str:
    """Arguments of a call: text as it was written, an object as compact JSON, nothing as `{}`.

    Raises:
        InvalidTranscript: It is neither.
    """
    match value:
        case None:
            return "{}"
        case str():
            return value
        case Mapping():
            return canonical.encode(value).decode()
        case _:
            raise InvalidTranscript(f"{key} must be text or an object", key=key)
