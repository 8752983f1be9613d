"""Bodies of OpenAI Chat Completions, and of whatever speaks it.

Source: docs/semantics/importers.md#openaichat.
"""

from app.core.blocks import Block, text_block
from app.encoders.openai_chat_answers import assistant_blocks
from app.importers.chat_messages import ChatReader
from app.importers.gathering import Gathering
from app.importers.media import ANY_IMAGE, PDF_TYPE, at_url, in_message, medium, under_id
from app.importers.reading import JsonObject, object_of, text_of, text_or_none
from app.importers.transcript import Imported

DRIVER = "openai"

AUDIO_TYPES = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read(transcript: object, model: str | None) -> Imported:
    """A body, or its messages alone.

    Raises:
        InvalidTranscript: It is no body of a chat completion.
    """
    return _READER.body(transcript, model)


def chat_part(part: JsonObject, key: str, gathering: Gathering) -> Block | None:
    """A part of a user message, a system message or a result; None for an unknown sort."""
    match part.get("type"):
        case "text":
            gathering.left_out(part, {"type", "text"})
            return text_block(text_of(part.get("text"), f"{key}.text"))
        case "image_url":
            return _image(part, f"{key}.image_url", gathering)
        case "input_audio":
            sound = object_of(part.get("input_audio"), f"{key}.input_audio")
            form = text_of(sound.get("format"), f"{key}.input_audio.format")
            data = text_of(sound.get("data"), f"{key}.input_audio.data")
            return medium(in_message(data, AUDIO_TYPES.get(form, f"audio/{form}")))
        case "file":
            return _file(object_of(part.get("file"), f"{key}.file"), f"{key}.file")
        case _:
            return None


def _image(part: JsonObject, key: str, gathering: Gathering) -> Block:
    image = part.get("image_url")
    if isinstance(image, str):
        return medium(at_url(image, ANY_IMAGE))
    given = object_of(image, key)
    gathering.left_out(given, {"url"})
    return medium(at_url(text_of(given.get("url"), f"{key}.url"), ANY_IMAGE))


def _file(file: JsonObject, key: str) -> Block:
    file_id = text_or_none(file.get("file_id"))
    if file_id is not None:
        return medium(under_id(file_id))
    data = text_of(file.get("file_data"), f"{key}.file_data")
    name = text_or_none(file.get("filename"))
    source = at_url(data, PDF_TYPE) if data.startswith("data:") else in_message(data, PDF_TYPE)
    return medium(source, name)


_READER = ChatReader(
    driver=DRIVER,
    read_part=chat_part,
    read_answer=assistant_blocks,
    of_answer=frozenset(
        {
            "role",
            "content",
            "tool_calls",
            "function_call",
            "refusal",
            "reasoning_content",
            "reasoning",
        }
    ),
)
