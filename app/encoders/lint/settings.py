"""Tools, limits and what a cache holds: all of a body that is no message.

Source: docs/semantics/lint.md#findings.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from app.core import canonical
from app.core.counting import tokens_of_bytes
from app.core.model_profile import ModelProfile
from app.encoders.lint.rules import ProviderRules
from app.encoders.lint.seen import SeenBody, SeenText

_VOLATILE = re.compile(
    r"(?:\b[0-9]{4}-[01][0-9]-[0-3][0-9][T ]|\b)[0-2]?[0-9]:[0-5][0-9]:[0-5][0-9]"
    r"|\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b",
    re.IGNORECASE,
)
"""A time to the second, or a UUID: what is another one in the next process, or at the next call."""

_LIMITS = (
    ("max_tokens",),
    ("max_completion_tokens",),
    ("max_output_tokens",),
    ("generationConfig", "maxOutputTokens"),
    ("inferenceConfig", "maxTokens"),
)


def check_settings(seen: SeenBody, rules: ProviderRules) -> None:
    """Look at fields, tools and breakpoints."""
    for name in rules.required:
        if name not in seen.body:
            seen.log.add("missing_field", name, f"{name} is required")
    _tools(seen, rules)
    _breakpoints(seen, rules)
    _thinking_budget(seen)
    _volatile(seen)


def check_limits(seen: SeenBody, profile: ModelProfile) -> None:
    """Compare a body with what is known of its model."""
    for names in _LIMITS:
        value: Any = seen.body
        for name in names:
            value = value.get(name) if isinstance(value, Mapping) else None
        most = profile.max_output_tokens
        if isinstance(value, int) and most is not None and value > most:
            detail = f"{value}, and the model writes at most {most}"
            seen.log.add("output_limit", ".".join(names), detail)
    window = profile.context_window
    tokens = tokens_of_bytes(len(canonical.encode(dict(seen.body))))
    if window is not None and tokens > window:
        detail = f"about {tokens} tokens, and the window holds {window}"
        seen.log.add("window", "", detail)


def _tools(seen: SeenBody, rules: ProviderRules) -> None:
    names: set[str] = set()
    for tool in seen.tools:
        if rules.tool_name.fullmatch(tool.name) is None:
            detail = f"{tool.name!r} has letters or a length that are not taken"
            seen.log.add("tool_name", f"{tool.path}.name", detail)
        if tool.name in names:
            seen.log.add("duplicate_tool", f"{tool.path}.name", f"{tool.name!r} stands twice")
        names.add(tool.name)
        for key in sorted(rules.refused_schema_keys & tool.schema.keys()):
            detail = f"{key} is not taken at the top of a schema"
            seen.log.add("tool_schema", f"{tool.schema_path}.{key}", detail)
        if rules.wants_object_schema and tool.schema.get("type", "object") != "object":
            seen.log.add("tool_schema", f"{tool.schema_path}.type", "the type must be object")
    has_calls = any(message.calls() or message.results() for message in seen.messages)
    if rules.wants_tools and has_calls and not seen.tools:
        seen.log.add("tools_missing", "", "calls and results stand beside no tools")


def _breakpoints(seen: SeenBody, rules: ProviderRules) -> None:
    if rules.most_breakpoints is None:
        return
    count = sum(1 for _ in _marks(seen.body, 0))
    if count > rules.most_breakpoints:
        detail = f"{count} breakpoints, at most {rules.most_breakpoints} are taken"
        seen.log.add("too_many_breakpoints", "", detail)


_MARKED_DEPTH = 8
"""No breakpoint stands deeper in a body."""


def _marks(value: object, depth: int) -> Iterator[None]:
    if depth > _MARKED_DEPTH:
        return
    if isinstance(value, Mapping):
        if value.get("cache_control") is not None or "cachePoint" in value:
            yield None
        for name, item in value.items():
            # Arguments are a model's own.
            if name not in ("input", "input_schema", "json"):
                yield from _marks(item, depth + 1)
    elif isinstance(value, list):
        for item in value:
            yield from _marks(item, depth + 1)


def _thinking_budget(seen: SeenBody) -> None:
    thinking, limit = seen.body.get("thinking"), seen.body.get("max_tokens")
    budget = thinking.get("budget_tokens") if isinstance(thinking, Mapping) else None
    if isinstance(budget, int) and isinstance(limit, int) and budget >= limit:
        detail = f"{budget} tokens of thinking, and the output has {limit}"
        seen.log.add("thinking_budget", "thinking.budget_tokens", detail)


def _volatile(seen: SeenBody) -> None:
    """What changes with every process or call, in front of everything that could be cached."""
    in_front = [
        part
        for message in seen.messages
        if message.speaker == "system"
        for part in message.parts
        if isinstance(part, SeenText)
    ]
    texts = [(text.path, text.text) for text in (*seen.system, *in_front)]
    texts += [(f"{tool.path}.description", tool.description) for tool in seen.tools]
    for path, text in texts:
        found = _VOLATILE.search(text)
        if found is not None:
            detail = f"{found[0]!r} ends what the provider's cache can hold"
            seen.log.add("volatile_prefix", path, detail)
