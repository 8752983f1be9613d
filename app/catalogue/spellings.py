"""Which names a name may stand for: spelled-out rules, never a guess.

Each rule takes something off the name or spells it as its maker does. What
no rule reaches is unknown.

Source: docs/semantics/models.md#names.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

_ANTHROPIC, _DEEPSEEK, _GOOGLE, _MISTRAL, _OPENAI, _QWEN, _XAI = (
    frozenset({provider})
    for provider in ("anthropic", "deepseek", "google", "mistral", "openai", "alibaba", "xai")
)

PREFIXES: Mapping[str, frozenset[str] | None] = {
    "alibaba": _QWEN,
    "anthropic": _ANTHROPIC,
    "azure": _OPENAI,
    "bedrock": None,
    "converse": None,
    "dashscope": _QWEN,
    "deepseek": _DEEPSEEK,
    "deepseek-ai": _DEEPSEEK,
    "gemini": _GOOGLE,
    "google": _GOOGLE,
    "litellm_proxy": None,
    "mistral": _MISTRAL,
    "mistralai": _MISTRAL,
    "models": _GOOGLE,
    "openai": _OPENAI,
    "openrouter": None,
    "qwen": _QWEN,
    "responses": _OPENAI,
    "vertex_ai": _GOOGLE | _ANTHROPIC,
    "x-ai": _XAI,
    "xai": _XAI,
}
"""Makers and hosts in front of a slash, with the providers whose models have the same limits there.
None: every provider. A host with limits of its own (GitHub Copilot, Azure's catalogue) is not
among them, so its models are unknown."""

_BEDROCK = re.compile(
    r"(?:(?:apac|au|ca|eu|global|jp|sa|us|us-gov)\.)?"
    r"(?P<maker>anthropic|deepseek|mistral|openai|qwen|xai)\."
    r"(?P<name>[^:]+?)(?:-v[0-9]+(?::[0-9]+)?)?"
)
_FINE_TUNED = re.compile(r"ft:(?P<name>[^:]+)(?::.*)?", re.DOTALL)
_VERTEX_DATE = re.compile(r"(?P<name>[^@]+)@(?P<date>[0-9]{8})")
_VERTEX_DEFAULT = re.compile(r"(?P<name>[^@]+)@(?:default|latest)")
_GEMINI_VERSION = re.compile(r"(?P<name>gemini-.+)-[0-9]{3}")
_FULL_DATE = re.compile(
    r"(?P<name>.+)-(?:20[0-9]{2}-[01][0-9]-[0-3][0-9]|20[0-9]{2}[01][0-9][0-3][0-9])"
)
_LATEST = re.compile(r"(?P<name>.+)-latest")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spelling:
    """A name that the asked one may stand for."""

    name: str
    providers: frozenset[str] | None = None
    """Whose entries a prefix leaves. None: everybody's."""

    def of(self, providers: frozenset[str] | None, name: str) -> "Spelling":
        """The name behind a prefix."""
        if providers is None or self.providers is None:
            return Spelling(name=name, providers=providers or self.providers)
        return Spelling(name=name, providers=providers & self.providers)


def spellings(name: str) -> tuple[Spelling, ...]:
    """The names that `name` may stand for, the closest first, itself among them.

    >>> [spelling.name for spelling in spellings("openai/gpt-4o-2024-08-06")]
    ['openai/gpt-4o-2024-08-06', 'gpt-4o-2024-08-06', 'gpt-4o']
    """
    found = [Spelling(name=name)]
    for rule in _RULES:
        spelled = rule(found[-1])
        if spelled != found[-1]:
            found.append(spelled)
    return tuple(found)


def _without_prefixes(spelling: Spelling) -> Spelling:
    while True:
        prefix, slash, rest = spelling.name.partition("/")
        if not slash or not rest or prefix not in PREFIXES:
            return spelling
        spelling = spelling.of(PREFIXES[prefix], rest)


def _from_bedrock(spelling: Spelling) -> Spelling:
    found = _BEDROCK.fullmatch(spelling.name)
    if found is None:
        return spelling
    return spelling.of(PREFIXES[found["maker"]], found["name"])


def _without_fine_tuning(spelling: Spelling) -> Spelling:
    found = _FINE_TUNED.fullmatch(spelling.name)
    if found is None:
        return spelling
    # Only names of OpenAI are spelled so.
    return spelling.of(_OPENAI, found["name"])


def _with_hyphens(spelling: Spelling) -> Spelling:
    """Claude's versions have hyphens where some hosts write dots."""
    if not spelling.name.startswith("claude-"):
        return spelling
    return replace(spelling, name=spelling.name.replace(".", "-"))


def _with_hyphened_date(spelling: Spelling) -> Spelling:
    found = _VERTEX_DATE.fullmatch(spelling.name)
    return spelling if found is None else replace(spelling, name=f"{found['name']}-{found['date']}")


def _without(suffixed: re.Pattern[str]) -> Callable[[Spelling], Spelling]:
    def rule(spelling: Spelling) -> Spelling:
        found = suffixed.fullmatch(spelling.name)
        return spelling if found is None else replace(spelling, name=found["name"])

    return rule


_RULES: tuple[Callable[[Spelling], Spelling], ...] = (
    _without_prefixes,
    _without_fine_tuning,
    _from_bedrock,
    _with_hyphens,
    _with_hyphened_date,
    _without(_VERTEX_DEFAULT),
    _without(_GEMINI_VERSION),
    _without(_FULL_DATE),
    _without(_LATEST),
)
"""In this order, each once. A short date (`-2512`, `-0613`) stays: such models differ."""
