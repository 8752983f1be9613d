"""The importers by the names of their formats.

Source: docs/semantics/importers.md.
"""

from collections.abc import Mapping

from app.importers import (
    anthropic_messages,
    bedrock,
    claude_code,
    codex_rollout,
    gemini,
    inspect_messages,
    langchain,
    mistral_chat,
    openai_chat,
    openai_responses,
)
from app.importers.transcript import Import, ImportFormat

IMPORTERS: Mapping[ImportFormat, Import] = {
    "openai.chat": openai_chat.read,
    "openai.responses": openai_responses.read,
    "anthropic.messages": anthropic_messages.read,
    "gemini.generate_content": gemini.read,
    "bedrock.converse": bedrock.read,
    "mistral.chat": mistral_chat.read,
    "claude_code.jsonl": claude_code.read,
    "codex.rollout": codex_rollout.read,
    "langchain.messages": langchain.read,
    "inspect.messages": inspect_messages.read,
}
