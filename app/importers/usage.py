"""A provider's usage object, in the words of its API family, as numbers that mean the same for all.

The families differ in what their input count covers: with some the cached
part is in it, with others beside it. Here it is always in it, once.

Source: docs/semantics/usage.md#families.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.core.usage_report import LARGEST_TOKENS, InvalidUsage, UsageNumbers

UsageFormat: TypeAlias = Literal[
    "openai.chat",
    "openai.responses",
    "anthropic.messages",
    "gemini.generate_content",
    "bedrock.converse",
    "mistral.chat",
]
Path: TypeAlias = tuple[str, ...]
"""Keys from the usage object down to a count."""
Sum: TypeAlias = tuple[Path, ...]
"""Counts that belong together. The first must be there; others that are missing add nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Family:
    """Where a family has its counts: of several sums the first that is known counts."""

    input: tuple[Sum, ...]
    output: tuple[Sum, ...]
    cached: tuple[Sum, ...] = ()
    written: tuple[Sum, ...] = ()
    reasoning: tuple[Sum, ...] = ()
    total: tuple[Sum, ...] = ()
    has_cache_beside_input: bool = False
    """Whether the input count leaves out what the cache served and took in."""


def _at(*paths: str) -> tuple[Sum, ...]:
    """Single counts, by their dotted paths."""
    return tuple((tuple(path.split(".")),) for path in paths)


def _sum(*paths: str) -> Sum:
    return tuple(tuple(path.split(".")) for path in paths)


_FAMILIES: Mapping[UsageFormat, _Family] = {
    "openai.chat": _Family(
        # What llama.cpp adds beside `prompt_tokens` is a part of them, and never more.
        input=(
            *_at("prompt_tokens"),
            _sum("prompt_n", "cache_n"),
            _sum("timings.prompt_n", "timings.cache_n"),
        ),
        output=_at("completion_tokens", "predicted_n", "timings.predicted_n"),
        cached=_at(
            "prompt_tokens_details.cached_tokens",
            "prompt_cache_hit_tokens",
            "cached_tokens",
            "cache_n",
            "timings.cache_n",
        ),
        written=_at("prompt_tokens_details.cache_write_tokens"),
        reasoning=_at("completion_tokens_details.reasoning_tokens", "reasoning_tokens"),
        total=_at("total_tokens"),
    ),
    "openai.responses": _Family(
        input=_at("input_tokens"),
        output=_at("output_tokens"),
        cached=_at("input_tokens_details.cached_tokens"),
        written=_at("input_tokens_details.cache_write_tokens"),
        reasoning=_at("output_tokens_details.reasoning_tokens"),
        total=_at("total_tokens"),
    ),
    "anthropic.messages": _Family(
        input=_at("input_tokens"),
        output=_at("output_tokens"),
        cached=_at("cache_read_input_tokens"),
        written=(
            *_at("cache_creation_input_tokens"),
            _sum(
                "cache_creation.ephemeral_5m_input_tokens",
                "cache_creation.ephemeral_1h_input_tokens",
            ),
        ),
        has_cache_beside_input=True,
    ),
    "gemini.generate_content": _Family(
        input=(
            _sum("promptTokenCount", "toolUsePromptTokenCount"),
            _sum("prompt_token_count", "tool_use_prompt_token_count"),
        ),
        # A count of 0 is left out there, so thoughts alone are a whole answer.
        output=(
            _sum("candidatesTokenCount", "thoughtsTokenCount"),
            _sum("candidates_token_count", "thoughts_token_count"),
            *_at("thoughtsTokenCount", "thoughts_token_count"),
        ),
        cached=_at("cachedContentTokenCount", "cached_content_token_count"),
        reasoning=_at("thoughtsTokenCount", "thoughts_token_count"),
        total=_at("totalTokenCount", "total_token_count"),
    ),
    "bedrock.converse": _Family(
        input=_at("inputTokens"),
        output=_at("outputTokens"),
        cached=_at("cacheReadInputTokens"),
        written=_at("cacheWriteInputTokens"),
        total=_at("totalTokens"),
        has_cache_beside_input=True,
    ),
    "mistral.chat": _Family(
        input=_at("prompt_tokens"),
        output=_at("completion_tokens"),
        cached=_at(
            "prompt_tokens_details.cached_tokens",
            "prompt_token_details.cached_tokens",
            "num_cached_tokens",
        ),
        total=_at("total_tokens"),
    ),
}


def usage_from(usage_format: UsageFormat, usage: object) -> UsageNumbers:
    """The numbers of a usage object. Fields that nobody knows here are passed over.

    Raises:
        InvalidUsage: The value is no object, or a count in it is none.
    """
    if not isinstance(usage, Mapping):
        raise InvalidUsage("a usage object must be an object", key="usage")
    family = _FAMILIES[usage_format]
    numbers = UsageNumbers(
        input_tokens=_first(usage, family.input),
        cached_input_tokens=_first(usage, family.cached),
        cache_write_tokens=_first(usage, family.written),
        output_tokens=_first(usage, family.output),
        reasoning_output_tokens=_first(usage, family.reasoning),
        total_tokens=_first(usage, family.total),
    )
    if family.has_cache_beside_input:
        numbers = _with_cache(numbers)
    if usage_format == "openai.chat":
        numbers = _with_reasoning(numbers)
    return _bounded(numbers)


def _with_cache(numbers: UsageNumbers) -> UsageNumbers:
    """The whole input; a total that leaves the cached parts out is no total."""
    if numbers.input_tokens is None:
        return numbers
    whole = (
        numbers.input_tokens
        + (numbers.cached_input_tokens or 0)
        + (numbers.cache_write_tokens or 0)
    )
    total = numbers.total_tokens
    if total is not None and total < whole + (numbers.output_tokens or 0):
        total = None
    return replace(numbers, input_tokens=whole, total_tokens=total)


def _with_reasoning(numbers: UsageNumbers) -> UsageNumbers:
    """The whole output, where the provider counts reasoning beside it, as xAI does."""
    output, reasoning = numbers.output_tokens, numbers.reasoning_output_tokens
    if output is None or not reasoning:
        return numbers
    both = output + reasoning
    is_beside = (
        numbers.input_tokens is not None and numbers.total_tokens == numbers.input_tokens + both
    )
    if is_beside or reasoning > output:
        return replace(numbers, output_tokens=both)
    return numbers


def _bounded(numbers: UsageNumbers) -> UsageNumbers:
    """The numbers, where their sums are counts too."""
    for key, tokens in (
        ("input_tokens", numbers.input_tokens),
        ("output_tokens", numbers.output_tokens),
    ):
        if tokens is not None and tokens > LARGEST_TOKENS:
            raise _invalid((key,))
    return numbers


def _first(usage: Mapping[str, object], sums: Sequence[Sum]) -> int | None:
    known = (_added(usage, paths) for paths in sums)
    return next((tokens for tokens in known if tokens is not None), None)


def _added(usage: Mapping[str, object], paths: Sum) -> int | None:
    first, *others = (_count(usage, path) for path in paths)
    if first is None:
        return None
    return first + sum(tokens or 0 for tokens in others)


def _count(usage: Mapping[str, object], path: Path) -> int | None:
    value: object = usage
    for depth, key in enumerate(path):
        if not isinstance(value, Mapping):
            key = ".".join(path[:depth])
            raise InvalidUsage(f"{key} must be an object", key=key)
        value = value.get(key)
        if value is None:
            return None
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= LARGEST_TOKENS:
        raise _invalid(path)
    return value


def _invalid(path: Path) -> InvalidUsage:
    key = ".".join(path)
    return InvalidUsage(f"{key} must be a whole number from 0 to {LARGEST_TOKENS}", key=key)
