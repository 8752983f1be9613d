"""The importers by the names of their formats.

Source: docs/semantics/importers.md.
"""

from collections.abc import Mapping

from app.importers import anthropic_messages, claude_code, mistral_chat, openai_chat
from app.importers.transcript import Import, ImportFormat

IMPORTERS: Mapping[ImportFormat, Import] = {
    "openai.chat": openai_chat.read,
    "anthropic.messages": anthropic_messages.read,
    "mistral.chat": mistral_chat.read,
    "claude_code.jsonl": claude_code.read,
}
