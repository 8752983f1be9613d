"""Fixed texts for what a provider demands and a conversation does not have.

They never change: a provider's cache holds them.

Source: docs/semantics/encoders.md#placeholders.
"""

from app.core.blocks import Data, FileIdSource

EMPTY_RESULT_TEXT = "(no output)"
"""For a tool result without content."""

EMPTY_MESSAGE_TEXT = "(empty message)"
"""For a user message without content, and where a provider demands one that nobody wrote."""

BRIDGE_TEXT = "Understood."
"""An assistant's turn between tool results and a user message. It has to read well both where the
user interrupts and where notes for the model follow the results."""

CONTINUE_TEXT = "Continue."
"""A user's turn behind an answer, where a provider gives the user the last word or wants the
speakers to take turns."""

NO_TOOL_NAME = "no_tool"
"""Of the tool that a request advertises where it has calls and results and no tools."""
NO_TOOL_DESCRIPTION = "Not to be called."


def moved_note(data: Data) -> str:
    """A line that stands in a tool result for a medium that the next message carries.

    >>> from app.core.blocks import UrlSource
    >>> source = UrlSource(source_type="url", url="https://a.test/b", media_type="image/png")
    >>> moved_note(Data(type="data", source=source))
    '[media in the next user message: image/png]'
    """
    return f"[media in the next user message: {_label(data)}]"


def moved_heading(call_id: str) -> str:
    """What is said in front of the media of a tool result that stand in a user message.

    >>> moved_heading("call_1")
    'Media of the tool result call_1:'
    """
    return f"Media of the tool result {call_id}:"


def _label(data: Data) -> str:
    source = data.source
    sort = "file" if isinstance(source, FileIdSource) else source.media_type
    return sort if data.name is None else f"{sort}, {data.name}"
