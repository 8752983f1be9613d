"""Sessions that Claude Code keeps: one JSON object a line, in the order of the file.

Source: docs/semantics/importers.md#claude_codejsonl.
"""

from app.importers.anthropic_blocks import answer_blocks, content_blocks
from app.importers.gathering import Gathering
from app.importers.json_lines import read_rows
from app.importers.reading import JsonObject, object_of, text_or_none
from app.importers.transcript import Imported, InvalidTranscript

_NOTES = frozenset(
    {
        "summary",
        "custom-title",
        "ai-title",
        "agent-name",
        "tag",
        "file-history-snapshot",
        "queue-operation",
        "last-prompt",
        "progress",
        "attachment",
        "pr-link",
        "mode",
        "permission-mode",
        "system",
        "assistant",
    }
)
"""Lines for people and for the program itself, which no model was sent as they stand. An answer is
one where it tells of an error of the API."""

_MADE_HERE = "<synthetic>"
"""The model of answers that the program wrote itself."""


def read(transcript: object, model: str | None) -> Imported:
    """A session.

    Raises:
        InvalidTranscript: It is neither text nor a list.
    """
    gathering = Gathering()
    met: set[str] = set()

    def read_row(row: JsonObject, line: int) -> None:
        uuid = text_or_none(row.get("uuid"))
        if row.get("isSidechain") is True:
            gathering.skip(line, "sidechain")
        elif uuid is not None and uuid in met:
            gathering.skip(line, "repeated_line")
        else:
            _row(row, line, gathering, model)
            met.update(() if uuid is None else (uuid,))

    read_rows(transcript, gathering, read_row)
    return gathering.imported()


def _row(row: JsonObject, line: int, gathering: Gathering, model: str | None) -> None:
    match row.get("type"):
        case "user":
            _user(row, gathering)
        case "assistant" if row.get("isApiErrorMessage") is not True:
            _answer(object_of(row.get("message"), "message"), gathering, model)
        case str(sort) if sort in _NOTES:
            gathering.skip(line, "note")
        case _:
            gathering.skip(line, "unknown_line")


def _user(row: JsonObject, gathering: Gathering) -> None:
    message = object_of(row.get("message"), "message")
    blocks = content_blocks(message.get("content"), "message.content", gathering)
    is_summary = row.get("isCompactSummary") is True
    if is_summary:
        gathering.hide({"user", "assistant", "tool"})
    # People see neither what the program adds nor its summaries.
    gathering.readers = "model" if is_summary or row.get("isMeta") is True else "everybody"
    gathering.given(blocks)
    gathering.readers = "everybody"


def _answer(message: JsonObject, gathering: Gathering, model: str | None) -> None:
    named = text_or_none(message.get("model"))
    if named is None or named == _MADE_HERE:
        named = model
    if message.get("content") is None:
        raise InvalidTranscript("an answer must have content", key="message.content")
    blocks = answer_blocks(message["content"], "message.content", gathering, named)
    gathering.assistant(blocks, text_or_none(message.get("id")))
