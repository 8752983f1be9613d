"""Why a model stopped, in the words of its provider.

Source: docs/semantics/usage.md#an-answer-that-was-cut-off.
"""

_OUTPUT_LIMIT = frozenset({"length", "max_tokens", "MAX_TOKENS", "max_output_tokens"})
"""OpenAI's chat completions and Mistral; Anthropic and Bedrock; Gemini; OpenAI's responses."""


def is_output_limit(finish_reason: str | None) -> bool:
    """Whether the answer was cut off by its output limit.

    A full context window, Mistral's `model_length` and Anthropic's
    `model_context_window_exceeded`, is none: a longer request would not fit either.

    Args:
        finish_reason: In the provider's own spelling; None is not said.
    """
    return finish_reason in _OUTPUT_LIMIT
