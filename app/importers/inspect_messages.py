"""Message lists of Inspect: chat messages whose calls have parsed arguments.

Source: docs/semantics/importers.md#inspectmessages.
"""

from app.core.blocks import (
    Block,
    Blocks,
    ResultState,
    Thinking,
    ToolCall,
    ToolResult,
    text_block,
)
from app.importers.gathering import Gathering
from app.importers.json_lines import read_rows
from app.importers.media import at_url, medium
from app.importers.reading import JsonObject, arguments_of, objects, text_of, text_or_none
from app.importers.transcript import Imported, InvalidTranscript

DRIVER = "inspect"

_SOUNDS = {"wav": "audio/wav", "mp3": "audio/mpeg"}


def read(transcript: object, model: str | None) -> Imported:
    """Messages, in one list or one a line.

    Raises:
        InvalidTranscript: It is neither text nor a list.
    """
    gathering = Gathering()
    read_rows(transcript, gathering, lambda row, _: _message(row, gathering))
    return gathering.imported()


def _message(row: JsonObject, gathering: Gathering) -> None:
    content = _content(row.get("content"), gathering)
    match row.get("role"):
        case "system":
            gathering.system(_without_thinking(content))
        case "user":
            gathering.user(_without_thinking(content))
        case "assistant":
            said = tuple(block for block in content if block != text_block(""))
            gathering.assistant((*said, *_calls(row)))
        case "tool":
            state: ResultState = "success" if row.get("error") is None else "error"
            result = ToolResult(
                type="tool_result",
                id=text_or_none(row.get("tool_call_id")) or "",
                name=text_or_none(row.get("function")),
                output=_without_thinking(content),
                state=state,
            )
            gathering.results([result])
        case _:
            raise InvalidTranscript("a message must have a known role", key="role")


def _calls(row: JsonObject) -> tuple[ToolCall, ...]:
    return tuple(
        ToolCall(
            type="tool_call",
            id=text_or_none(call.get("id")) or "",
            name=text_of(call.get("function"), f"{key}.function"),
            input=arguments_of(call.get("arguments"), f"{key}.arguments"),
        )
        for call, key in objects(row.get("tool_calls"), "tool_calls")
    )


def _without_thinking(blocks: Blocks) -> Blocks:
    if any(isinstance(block, Thinking) for block in blocks):
        raise InvalidTranscript("only an answer holds reasoning", key="content")
    return blocks


def _content(content: object, gathering: Gathering) -> Blocks:
    if isinstance(content, str):
        return (text_block(content),)
    return tuple(_part(part, key, gathering) for part, key in objects(content, "content"))


def _part(part: JsonObject, key: str, gathering: Gathering) -> Block:
    match part:
        case {"type": "text", "text": str(text)}:
            return text_block(text)
        case {"type": "reasoning", "reasoning": str(text)}:
            # Whose signature it is stands nowhere, so nobody can be sent it.
            if part.get("signature") is not None or part.get("redacted") is True:
                gathering.repair("state_left_out", detail="reasoning")
            return Thinking(type="thinking", thinking=text)
        case {"type": "image", "image": str(url)}:
            return medium(at_url(url, "image/*"))
        case {"type": "audio", "audio": str(url)}:
            return medium(at_url(url, _SOUNDS.get(str(part.get("format")), "audio/*")))
        case {"type": "video", "video": str(url)}:
            return medium(at_url(url, f"video/{part.get('format') or '*'}"))
        case {"type": str(sort)}:
            return gathering.opaque(DRIVER, sort, part)
        case _:
            raise InvalidTranscript("a part must have a type", key=f"{key}.type")
