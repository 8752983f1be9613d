import pytest

from app.core.usage_report import LARGEST_TOKENS, InvalidUsage, UsageNumbers
from app.importers.usage import UsageFormat, usage_from


def numbers(
    input_tokens: int | None = None,
    cached: int | None = None,
    written: int | None = None,
    output: int | None = None,
    reasoning: int | None = None,
    total: int | None = None,
) -> UsageNumbers:
    return UsageNumbers(
        input_tokens=input_tokens,
        cached_input_tokens=cached,
        cache_write_tokens=written,
        output_tokens=output,
        reasoning_output_tokens=reasoning,
        total_tokens=total,
    )


FAMILIES: list[tuple[str, UsageFormat, object, UsageNumbers]] = [
    (
        "openai.chat: cached tokens are a part of the prompt, reasoning of the completion",
        "openai.chat",
        {
            "prompt_tokens": 1_000,
            "completion_tokens": 200,
            "total_tokens": 1_200,
            "prompt_tokens_details": {"cached_tokens": 900, "audio_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 150},
        },
        numbers(1_000, 900, None, 200, 150, 1_200),
    ),
    (
        "openai.chat: details may be null",
        "openai.chat",
        {"prompt_tokens": 10, "completion_tokens": 2, "prompt_tokens_details": None},
        numbers(10, output=2),
    ),
    (
        "openai.chat: a gateway may say what the cache took in",
        "openai.chat",
        {
            "prompt_tokens": 100,
            "completion_tokens": 1,
            "prompt_tokens_details": {"cached_tokens": 20, "cache_write_tokens": 70},
        },
        numbers(100, 20, 70, 1),
    ),
    (
        "DeepSeek: hits and misses make the prompt",
        "openai.chat",
        {
            "prompt_tokens": 1_000,
            "prompt_cache_hit_tokens": 960,
            "prompt_cache_miss_tokens": 40,
            "completion_tokens": 20,
            "total_tokens": 1_020,
        },
        numbers(1_000, 960, None, 20, None, 1_020),
    ),
    (
        "Moonshot: cached tokens stand at the top",
        "openai.chat",
        {"prompt_tokens": 50, "completion_tokens": 5, "total_tokens": 55, "cached_tokens": 40},
        numbers(50, 40, None, 5, None, 55),
    ),
    (
        "xAI: reasoning stands beside the completion",
        "openai.chat",
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "total_tokens": 135,
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        numbers(32, None, None, 103, 94, 135),
    ),
    (
        "xAI: more reasoning than completion cannot be a part of it",
        "openai.chat",
        {
            "prompt_tokens": 32,
            "completion_tokens": 9,
            "completion_tokens_details": {"reasoning_tokens": 94},
        },
        numbers(32, None, None, 103, 94),
    ),
    (
        "B097: the part of the prompt that llama.cpp kept is not added to the prompt",
        "openai.chat",
        {
            "prompt_tokens": 38_000,
            "completion_tokens": 100,
            "total_tokens": 38_100,
            "cache_n": 38_000,
            "prompt_n": 1,
            "predicted_n": 100,
        },
        numbers(38_000, 38_000, None, 100, None, 38_100),
    ),
    (
        "llama.cpp: without a prompt count the read and the kept part make it",
        "openai.chat",
        {"cache_n": 236, "prompt_n": 1, "predicted_n": 35, "prompt_ms": 30.9},
        numbers(237, 236, None, 35),
    ),
    (
        "llama.cpp: the same inside its timings",
        "openai.chat",
        {"timings": {"cache_n": 236, "prompt_n": 1, "predicted_n": 35}},
        numbers(237, 236, None, 35),
    ),
    (
        "openai.responses",
        "openai.responses",
        {
            "input_tokens": 1_000,
            "input_tokens_details": {"cached_tokens": 900},
            "output_tokens": 200,
            "output_tokens_details": {"reasoning_tokens": 150},
            "total_tokens": 1_200,
        },
        numbers(1_000, 900, None, 200, 150, 1_200),
    ),
    (
        "anthropic.messages: what the cache served and took in stands beside the input",
        "anthropic.messages",
        {
            "input_tokens": 50,
            "cache_read_input_tokens": 100_000,
            "cache_creation_input_tokens": 2_000,
            "cache_creation": {"ephemeral_5m_input_tokens": 2_000, "ephemeral_1h_input_tokens": 0},
            "output_tokens": 300,
            "service_tier": "standard",
        },
        numbers(102_050, 100_000, 2_000, 300),
    ),
    (
        "anthropic.messages: writes by their lifetimes alone",
        "anthropic.messages",
        {
            "input_tokens": 1,
            "cache_creation": {"ephemeral_5m_input_tokens": 2, "ephemeral_1h_input_tokens": 4},
            "output_tokens": 8,
        },
        numbers(7, None, 6, 8),
    ),
    (
        "anthropic.messages: without a cache nothing is known of it",
        "anthropic.messages",
        {"input_tokens": 50, "cache_read_input_tokens": None, "output_tokens": 3},
        numbers(50, output=3),
    ),
    (
        "B098: a call over its window is reported as it was",
        "anthropic.messages",
        {
            "input_tokens": 50_000,
            "cache_read_input_tokens": 150_000,
            "cache_creation_input_tokens": 150_000,
            "output_tokens": 0,
        },
        numbers(350_000, 150_000, 150_000, 0),
    ),
    (
        "gemini: the prompt holds the cached part, and thoughts are output",
        "gemini.generate_content",
        {
            "promptTokenCount": 1_000,
            "cachedContentTokenCount": 900,
            "candidatesTokenCount": 50,
            "thoughtsTokenCount": 150,
            "totalTokenCount": 1_200,
            "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 1_000}],
        },
        numbers(1_000, 900, None, 200, 150, 1_200),
    ),
    (
        "gemini: what its own tools read is input",
        "gemini.generate_content",
        {
            "promptTokenCount": 100,
            "toolUsePromptTokenCount": 900,
            "candidatesTokenCount": 10,
            "totalTokenCount": 1_010,
        },
        numbers(1_000, None, None, 10, None, 1_010),
    ),
    (
        "gemini: thoughts alone, where no answer came",
        "gemini.generate_content",
        {"promptTokenCount": 100, "thoughtsTokenCount": 900, "totalTokenCount": 1_000},
        numbers(100, None, None, 900, 900, 1_000),
    ),
    (
        "gemini: in the words of its Python library",
        "gemini.generate_content",
        {
            "prompt_token_count": 100,
            "cached_content_token_count": 40,
            "candidates_token_count": 7,
            "thoughts_token_count": None,
            "total_token_count": 107,
        },
        numbers(100, 40, None, 7, None, 107),
    ),
    (
        "bedrock: cached tokens stand beside the input",
        "bedrock.converse",
        {
            "inputTokens": 4,
            "cacheReadInputTokens": 1_000,
            "cacheWriteInputTokens": 500,
            "outputTokens": 96,
            "totalTokens": 1_600,
        },
        numbers(1_504, 1_000, 500, 96, None, 1_600),
    ),
    (
        "bedrock: a total that leaves the cached part out is none",
        "bedrock.converse",
        {
            "inputTokens": 4,
            "cacheReadInputTokens": 1_000,
            "outputTokens": 96,
            "totalTokens": 100,
        },
        numbers(1_004, 1_000, None, 96),
    ),
    (
        "mistral.chat",
        "mistral.chat",
        {
            "prompt_tokens": 100,
            "completion_tokens": 10,
            "total_tokens": 110,
            "num_cached_tokens": 64,
        },
        numbers(100, 64, None, 10, None, 110),
    ),
]


@pytest.mark.parametrize(
    ("usage_format", "usage", "expected"),
    [case[1:] for case in FAMILIES],
    ids=[case[0] for case in FAMILIES],
)
def test_every_family_means_the_same_by_its_numbers(
    usage_format: UsageFormat, usage: object, expected: UsageNumbers
) -> None:
    assert usage_from(usage_format, usage) == expected


FORMATS: list[UsageFormat] = [
    "openai.chat",
    "openai.responses",
    "anthropic.messages",
    "gemini.generate_content",
    "bedrock.converse",
    "mistral.chat",
]


@pytest.mark.parametrize("usage_format", FORMATS)
def test_what_a_provider_leaves_out_is_unknown_and_not_0(usage_format: UsageFormat) -> None:
    assert usage_from(usage_format, {"cost": 0.25}) == UsageNumbers()


@pytest.mark.parametrize("usage", [None, [], "12", 12, True])
def test_what_is_no_object_is_refused(usage: object) -> None:
    with pytest.raises(InvalidUsage) as refused:
        usage_from("openai.chat", usage)

    assert refused.value.details == {"key": "usage"}


@pytest.mark.parametrize("count", [-1, 1.5, 12.0, True, "12", [], {}, LARGEST_TOKENS + 1])
@pytest.mark.parametrize(
    ("usage_format", "path"),
    [
        ("openai.chat", "prompt_tokens"),
        ("openai.chat", "completion_tokens_details.reasoning_tokens"),
        ("openai.responses", "input_tokens_details.cached_tokens"),
        ("anthropic.messages", "cache_creation_input_tokens"),
        ("gemini.generate_content", "thoughtsTokenCount"),
        ("bedrock.converse", "totalTokens"),
        ("mistral.chat", "num_cached_tokens"),
    ],
)
def test_what_counts_no_tokens_is_refused_by_its_name(
    usage_format: UsageFormat, path: str, count: object
) -> None:
    usage: object = count
    for key in reversed(path.split(".")):
        usage = {key: usage}
    given = {"candidatesTokenCount": 1, **usage} if isinstance(usage, dict) else usage
    with pytest.raises(InvalidUsage) as refused:
        usage_from(usage_format, given)

    assert refused.value.details == {"key": path}


def test_details_that_are_no_object_are_refused() -> None:
    with pytest.raises(InvalidUsage) as refused:
        usage_from("openai.chat", {"prompt_tokens": 1, "prompt_tokens_details": [3]})

    assert refused.value.details == {"key": "prompt_tokens_details"}


def test_parts_that_are_counts_may_not_add_up_to_none() -> None:
    half = {"input_tokens": LARGEST_TOKENS, "cache_read_input_tokens": LARGEST_TOKENS}
    with pytest.raises(InvalidUsage) as refused:
        usage_from("anthropic.messages", half)

    assert refused.value.details == {"key": "input_tokens"}
