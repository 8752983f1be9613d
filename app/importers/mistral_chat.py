"""Bodies of Mistral's Chat Completions.

Source: docs/semantics/importers.md#mistralchat.
"""

from app.core.blocks import Block, text_block
from app.encoders.mistral import DRIVER
from app.encoders.mistral_answers import assistant_blocks
from app.importers.chat_messages import ChatReader
from app.importers.gathering import Gathering
from app.importers.media import ANY_IMAGE, PDF_TYPE, at_url, in_message, medium, under_id
from app.importers.reading import JsonObject, object_of, text_of, text_or_none
from app.importers.transcript import Imported

_WAV_HEAD = "UklGR"
"""How base64 of a WAV file begins; a sound that does not is an MP3."""


def read(transcript: object, model: str | None) -> Imported:
    """A body, or its messages alone.

    Raises:
        InvalidTranscript: It is no body of a chat completion.
    """
    return _READER.body(transcript, model)


def _chunk(chunk: JsonObject, key: str, gathering: Gathering) -> Block | None:
    match chunk.get("type"):
        case "text":
            gathering.left_out(chunk, {"type", "text"})
            return text_block(text_of(chunk.get("text"), f"{key}.text"))
        case "image_url":
            image = chunk.get("image_url")
            if not isinstance(image, str):
                given = object_of(image, f"{key}.image_url")
                gathering.left_out(given, {"url"})
                image = text_of(given.get("url"), f"{key}.image_url.url")
            return medium(at_url(image, ANY_IMAGE))
        case "document_url":
            url = text_of(chunk.get("document_url"), f"{key}.document_url")
            return medium(at_url(url, PDF_TYPE), text_or_none(chunk.get("document_name")))
        case "input_audio":
            return _sound(chunk.get("input_audio"), f"{key}.input_audio")
        case "file":
            return medium(under_id(text_of(chunk.get("file_id"), f"{key}.file_id")))
        case _:
            return None


def _sound(value: object, key: str) -> Block:
    if isinstance(value, dict):
        value = value.get("data")
    sound = text_of(value, key)
    sort = "audio/wav" if sound.startswith(_WAV_HEAD) else "audio/mpeg"
    if sound.lower().startswith(("http://", "https://", "data:")):
        return medium(at_url(sound, sort))
    return medium(in_message(sound, sort))


_READER = ChatReader(
    driver=DRIVER,
    read_part=_chunk,
    read_answer=assistant_blocks,
    # A mark of the last message, which asks the model to go on with it.
    of_answer=frozenset({"role", "content", "tool_calls", "prefix"}),
)
