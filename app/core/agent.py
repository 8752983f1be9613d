"""Agent definitions: system parts and tools, content-addressed.

Source: docs/semantics/tool-surface.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import cast

from app.core import canonical
from app.core.blocks import Blocks
from app.core.content import block_json, decode_content

AGENT_SYSTEM_KEY = "core/agent-system"
"""The part that holds the agent's own prompt and the rules of its tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemPart:
    """One system message of every request."""

    key: str
    content: Blocks


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """A tool as its agent defines it."""

    name: str
    description: str
    parameters: Mapping[str, object]
    control: bool = False
    root_only: bool = False
    system_rule: str | None = None
    sandbox_parameters: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Agent:
    """What a session's requests always carry."""

    system_parts: tuple[SystemPart, ...]
    tools: tuple[Tool, ...]


def encode_agent(agent: Agent) -> bytes:
    """The canonical definition."""
    return canonical.encode(
        {
            "system_parts": [
                {"key": part.key, "content": [block_json(block) for block in part.content]}
                for part in agent.system_parts
            ],
            "tools": [
                {
                    "name": tool.name,
                    "description": tool.description,
                    "parameters": tool.parameters,
                    "control": tool.control,
                    "root_only": tool.root_only,
                    "system_rule": tool.system_rule,
                    "sandbox_parameters": list(tool.sandbox_parameters),
                }
                for tool in agent.tools
            ],
        }
    )


def agent_ref(definition: bytes) -> str:
    """The name of a canonical definition: its sha256 in hexadecimal."""
    return sha256(definition).hexdigest()


def decode_agent(definition: bytes) -> Agent:
    """The agent of bytes that `encode_agent` made."""
    # Only canonical definitions come here, so their shape is known.
    fields = cast("dict[str, list[dict[str, object]]]", canonical.decode(definition))
    return Agent(
        system_parts=tuple(_part(part) for part in fields["system_parts"]),
        tools=tuple(_tool(tool) for tool in fields["tools"]),
    )


def _part(fields: dict[str, object]) -> SystemPart:
    content = decode_content(canonical.encode(fields["content"]))
    return SystemPart(key=cast("str", fields["key"]), content=content)


def _tool(fields: dict[str, object]) -> Tool:
    names = tuple(cast("list[str]", fields["sandbox_parameters"]))
    return Tool(**{**fields, "sandbox_parameters": names})  # type: ignore[arg-type]
