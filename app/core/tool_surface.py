"""The tool surface: what a session advertises, and so what it can resolve.

Source: docs/semantics/tool-surface.md.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from app.core import canonical
from app.core.agent import AGENT_SYSTEM_KEY, Agent, SystemPart, Tool
from app.core.blocks import Blocks, Text, text_block
from app.core.counting import TokenCounter
from app.core.errors import ToolNameCollision, ToolNotFound
from app.core.facts import Form, form_of


@dataclass(frozen=True, slots=True, kw_only=True)
class SurfaceOptions:
    """What of a session decides over the tools it advertises."""

    is_root: bool
    sandbox_available: bool
    tool_order: Literal["given", "name"]
    tools: Literal["advertised", "none"] = "advertised"
    """With none, the agent's own prompt stands without the rules of its tools."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDefinition:
    """A tool as requests carry it."""

    name: str
    encoded: bytes
    """`{name, description, parameters}` in canonical bytes."""
    tokenizer_tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemMessage:
    """A system part as requests carry it."""

    key: str
    form: Form


@dataclass(frozen=True, slots=True, kw_only=True)
class Surface:
    """The system messages and tools of a session, ready for every request."""

    system: tuple[SystemMessage, ...]
    tools: tuple[ToolDefinition, ...]


def build_surface(agent: Agent, options: SurfaceOptions, counter: TokenCounter) -> Surface:
    """What a session of `agent` advertises.

    Raises:
        ToolNameCollision: Two tools of the agent share a name.
    """
    refuse_collisions(agent.tools)
    tools = [
        tool
        for tool in agent.tools
        if options.tools == "advertised" and (options.is_root or not tool.root_only)
    ]
    if options.tool_order == "name":
        tools.sort(key=lambda tool: tool.name)
    return Surface(
        system=tuple(
            SystemMessage(key=part.key, form=form_of("system", part.content, counter))
            for part in _with_rules(agent.system_parts, tools)
        ),
        tools=tuple(_definition(tool, options, counter) for tool in tools),
    )


def resolve(surface: Surface, name: str) -> ToolDefinition:
    """The advertised definition of a name.

    Raises:
        ToolNotFound: It is not advertised, so it cannot be called either.
    """
    for tool in surface.tools:
        if tool.name == name:
            return tool
    raise ToolNotFound(f"the session advertises no tool {name!r}", key=name)


def refuse_collisions(tools: Sequence[Tool]) -> None:
    """Refuse two tools of one name.

    Raises:
        ToolNameCollision: Names the tool; a control tool is told how to mend it.
    """
    controls: dict[str, bool] = {}
    for tool in tools:
        if tool.name not in controls:
            controls[tool.name] = tool.control
        elif tool.control or controls[tool.name]:
            raise ToolNameCollision(
                f"control tool `{tool.name}` collides with a registered tool; "
                "rename the registered tool or stop advertising the control tool",
                key=tool.name,
            )
        else:
            raise ToolNameCollision(f"tool `{tool.name}` is defined twice", key=tool.name)


def tool_bytes(tool: Tool) -> bytes:
    """A tool as requests carry it: `{name, description, parameters}` in canonical bytes."""
    return canonical.encode(
        {"name": tool.name, "description": tool.description, "parameters": tool.parameters}
    )


def _definition(tool: Tool, options: SurfaceOptions, counter: TokenCounter) -> ToolDefinition:
    if not options.sandbox_available and tool.sandbox_parameters:
        schema = _without_parameters(tool.parameters, tool.sandbox_parameters)
        tool = replace(tool, parameters=schema)
    encoded = tool_bytes(tool)
    return ToolDefinition(
        name=tool.name, encoded=encoded, tokenizer_tokens=counter.count(encoded.decode())
    )


def _without_parameters(schema: Mapping[str, object], names: tuple[str, ...]) -> dict[str, object]:
    kept = dict(schema)
    properties, required = schema.get("properties"), schema.get("required")
    if isinstance(properties, dict):
        kept["properties"] = {
            name: value for name, value in properties.items() if name not in names
        }
    if isinstance(required, list):
        kept["required"] = [name for name in required if name not in names]
    return kept


def _with_rules(parts: tuple[SystemPart, ...], tools: Sequence[Tool]) -> tuple[SystemPart, ...]:
    rules = [tool.system_rule for tool in tools if tool.system_rule is not None]
    if not rules:
        return parts
    if not any(part.key == AGENT_SYSTEM_KEY for part in parts):
        content = (text_block("\n\n".join(rules)),)
        return (*parts, SystemPart(key=AGENT_SYSTEM_KEY, content=content))
    return tuple(
        SystemPart(key=part.key, content=_appended(part.content, rules))
        if part.key == AGENT_SYSTEM_KEY
        else part
        for part in parts
    )


def _appended(content: Blocks, rules: Sequence[str]) -> Blocks:
    if content and isinstance(content[-1], Text) and content[-1].provider_state is None:
        text = "\n\n".join((content[-1].text, *rules))
        return (*content[:-1], text_block(text))
    return (*content, text_block("\n\n".join(rules)))
