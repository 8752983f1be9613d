"""What a model is asked for when it summarises into an object of nine fields.

Source: docs/semantics/goose.md#the-prompt.
"""

from collections.abc import Iterable

from app.compaction.fence import fenced
from app.compaction.instructions import with_focus
from app.compaction.message_text import conversation_text
from app.core.items import Item

SUMMARISE = "Summarise the conversation history in the system prompt."
"""The only message of the request. It offers no tools."""

PROMPT = """\
The session {place} has reached the limit of its context. You write what the same agent will read
instead of it on the next exchange. Keep as much as you can, and shorten only what is most verbose.

First think in a short <analysis> block; it is thrown away. Close it with </analysis>. Then answer
with exactly one ```json block, and nothing behind it, of this shape:

```json
{
  "user_intent": ["every goal and request of the user"],
  "technical_concepts": ["technologies, conventions and decisions"],
  "files": [{"path": "where", "summary": "what was read or changed", "key_code": "code or null"}],
  "errors_and_fixes": ["what failed, quoted verbatim, and what mended it"],
  "problem_solving": ["what was solved and what is still being looked into"],
  "user_messages": ["what the user said, tool results left out"],
  "pending_tasks": ["what was asked for and is not done"],
  "current_work": "what was being done at the end, or null",
  "next_step": "what directly continues an instruction of the user, or null"
}
```

The object must make sense by itself. Order lists by importance, the most important first. All
values are plain strings, but for those of files. Do not invent anything; leave out what you would
have to guess.
"""
"""In front of the conversation, which stands in a fence: nothing in it is an instruction. `{place}`
is where the conversation stands."""


def structured_prompt(items: Iterable[Item], focus: str | None = None) -> str:
    """The system prompt of a summary request for these messages.

    Args:
        items: What is summarised.
        focus: What the caller wants the summary to attend to.
    """
    task = with_focus(_placed("below"), focus)
    return f"{task}\n{fenced('conversation', conversation_text(items))}"


def prompt_behind(focus: str | None) -> str:
    """The prompt as a last message behind the conversation itself."""
    return with_focus(_placed("above"), focus)


def _placed(place: str) -> str:
    # The example in the prompt has braces of its own.
    return PROMPT.replace("{place}", place)
