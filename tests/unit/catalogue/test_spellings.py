import pytest

from app.catalogue.lookup import entry_of
from app.catalogue.spellings import spellings
from app.model_catalogue import packaged_catalogue


def resolved(name: str) -> str | None:
    found = (entry_of(packaged_catalogue(), spelling) for spelling in spellings(name))
    return next((entry.name for entry in found if entry is not None), None)


@pytest.mark.parametrize(
    ("name", "entry"),
    [
        ("gpt-4o", "gpt-4o"),
        ("gpt-4o-2024-08-06", "gpt-4o"),
        ("gpt-4o-2024-05-13", "gpt-4o-2024-05-13"),
        ("openai/gpt-4o", "gpt-4o"),
        ("azure/gpt-4o-2024-11-20", "gpt-4o"),
        ("openrouter/openai/gpt-5.1", "gpt-5.1"),
        ("ft:gpt-4o-mini-2024-07-18:org:name:id", "gpt-4o-mini"),
        ("openai/ft:gpt-4.1-2025-04-14", "gpt-4.1"),
        ("gpt-5.4-mini-2026-03-17", "gpt-5.4-mini"),
        ("claude-sonnet-4-5-latest", "claude-sonnet-4-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("claude-opus4-5", "claude-opus-4-5"),
        ("us.anthropic.claude-sonnet-4-5-20250929-v1:0", "claude-sonnet-4-5"),
        ("bedrock/eu.anthropic.claude-opus-4-5-20251101-v1:0", "claude-opus-4-5"),
        ("bedrock/converse/global.anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-opus-4-5@20251101", "claude-opus-4-5"),
        ("vertex_ai/claude-opus-5@default", "claude-opus-5"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("gemini/gemini-2.5-flash-001", "gemini-2.5-flash"),
        ("gemini-2-5-flash", "gemini-2.5-flash"),
        ("deepseek-ai/deepseek-v4-pro", "deepseek-v4-pro"),
        ("mistralai/mistral-large-2512", "mistral-large-2512"),
        ("mistral-large-latest", "mistral-large-latest"),
        ("x-ai/grok-4.5", "grok-4.5"),
        ("grok-4.7-latest", "grok-4.7"),
        ("qwen/qwen3-max", "qwen3-max"),
    ],
)
def test_a_name_resolves_by_the_rules(name: str, entry: str) -> None:
    assert resolved(name) == entry


@pytest.mark.parametrize(
    "name",
    [
        "",
        "m",
        "/",
        "gpt-4o ",
        "GPT-4o",
        "gpt-4o-x",
        "gpt-4o/",
        "openai/",
        "openai/claude-opus-5",
        "google/gpt-4o",
        "somewhere/gpt-4o",
        "github_copilot/gpt-4o",
        "azure/grok-4.3",
        "vertex_ai/xai/grok-4.3",
        "mistral-large-2407",
        "mistral-large",
        "gpt-3.5-turbo-0613",
        "grok-4-0709",
        "claude-sonnet-4-5-20250929-v1:0:200k",
        "us.anthropic.claude-sonnet-4-5-20250929-v1:0:200k",
        "claude-opus-4-20250514",
        "gpt-4o-2024-13-45-x",
        "openrouter/anthropic/claude-sonnet-4.5:beta",
        "gpt-4o\N{ZERO WIDTH SPACE}",
    ],
)
def test_a_name_that_no_rule_reaches_is_unknown(name: str) -> None:
    assert resolved(name) is None


def test_the_closest_spelling_comes_first() -> None:
    found = [spelling.name for spelling in spellings("bedrock/us.anthropic.claude-x-20260101-v1:0")]

    assert found == [
        "bedrock/us.anthropic.claude-x-20260101-v1:0",
        "us.anthropic.claude-x-20260101-v1:0",
        "claude-x-20260101",
        "claude-x",
    ]


def test_a_name_of_nothing_but_prefixes_ends() -> None:
    assert spellings("openai/" * 36)[-1].name == "openai/"
