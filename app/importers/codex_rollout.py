"""Rollouts that Codex CLI keeps: one JSON object a line, `{timestamp, type, payload}`.

Source: docs/semantics/importers.md#codexrollout.
"""

from dataclasses import dataclass

from app.core.blocks import text_block
from app.importers.gathering import Gathering
from app.importers.json_lines import read_rows
from app.importers.reading import JsonObject, object_of, objects, text_of, text_or_none
from app.importers.response_items import add_item
from app.importers.transcript import Imported

_ITEMS = frozenset(
    {
        *("message", "reasoning", "function_call", "function_call_output"),
        *("custom_tool_call", "custom_tool_call_output"),
        *("local_shell_call", "local_shell_call_output", "web_search_call"),
    }
)
"""Items that stand in a line without an envelope, as the first rollouts have them."""

_SNAPSHOT = "ghost_snapshot"
"""An item for undoing changes to files, which no model is sent."""


def read(transcript: object, model: str | None) -> Imported:
    """A rollout.

    Raises:
        InvalidTranscript: It is neither text nor a list.
    """
    reader = _Reader(gathering=Gathering(), model=model)
    read_rows(transcript, reader.gathering, reader.row)
    return reader.gathering.imported()


@dataclass(slots=True, kw_only=True)
class _Reader:
    gathering: Gathering
    model: str | None
    """Of the lines that come next."""
    is_instructed: bool = False

    def row(self, row: JsonObject, line: int) -> None:
        """Read one line."""
        sort = row.get("type")
        match sort:
            case "response_item":
                self._item(object_of(row.get("payload"), "payload"), line)
            case "compacted":
                self._compacted(object_of(row.get("payload"), "payload"))
            case "session_meta":
                self._meta(object_of(row.get("payload"), "payload"), line)
            case "turn_context":
                payload = object_of(row.get("payload"), "payload")
                self.model = text_or_none(payload.get("model")) or self.model
                self.gathering.skip(line, "note")
            case "event_msg":
                self.gathering.skip(line, "event")
            case str() if sort in _ITEMS:
                add_item(row, "", self.gathering, self.model)
            case None if "record_type" in row or "id" in row:
                self.gathering.skip(line, "note")
            case _:
                self.gathering.skip(line, "unknown_line")

    def _item(self, item: JsonObject, line: int) -> None:
        if item.get("type") == _SNAPSHOT:
            self.gathering.skip(line, "note")
        else:
            add_item(item, "payload", self.gathering, self.model)

    def _meta(self, payload: JsonObject, line: int) -> None:
        instructions = payload.get("base_instructions")
        text = instructions.get("text") if isinstance(instructions, dict) else None
        # A rollout that goes on with another one has the first lines of both.
        if isinstance(text, str) and not self.is_instructed:
            self.is_instructed = True
            self.gathering.system((text_block(text),))
        else:
            self.gathering.skip(line, "note")

    def _compacted(self, payload: JsonObject) -> None:
        """What took the place of the history, as Codex would send it."""
        replacement = payload.get("replacement_history")
        if replacement is None:
            summary = text_of(payload.get("message"), "payload.message")
            # Codex builds the new history from the user's messages and the summary.
            self.gathering.hide({"assistant", "tool"})
            self.gathering.readers = "model"
            self.gathering.user((text_block(summary),))
        else:
            items = list(objects(replacement, "payload.replacement_history"))
            self.gathering.hide({"user", "assistant", "tool"})
            self.gathering.readers = "model"
            for item, key in items:
                add_item(item, key, self.gathering, self.model)
        self.gathering.readers = "everybody"
