"""The check of every value of a policy that can be overridden.

Source: docs/policies.md.
"""

from collections.abc import Mapping

from app.core.arguments import LEAST_ARGUMENT_CHARS
from app.policies.compact_config import compact_from
from app.policies.context_policy import context_policy_from
from app.policies.overrides import (
    LARGEST,
    MAX_CACHE_SECONDS,
    Check,
    by_tool,
    number,
    one_of,
    or_none,
    text,
    true_or_false,
    truncation,
    whole_number,
)

MAX_TEMPLATE_CHARS = 16_384
"""A template is headings and names; a longer one would outweigh what it tells."""

CHECKS: Mapping[str, Check] = {
    "auto_compact_percent": whole_number(1, 100),
    "context_policy": lambda key, value: context_policy_from(value, key),
    "pairing": one_of("synthesise", "clean", "fix"),
    "threshold": number,
    "middle_out_order": one_of("centered", "legacy"),
    "summary_template": or_none(text(MAX_TEMPLATE_CHARS)),
    "summary_share_percent": or_none(whole_number(1, 100)),
    "tool_pair_summarization": true_or_false,
    "tool_call_cutoff": or_none(whole_number(0, LARGEST)),
    "compact": lambda key, value: compact_from(value, key),
    "strict_cut": true_or_false,
    "max_tool_result_tokens": whole_number(1, LARGEST),
    "prune_tool_result_chars": whole_number(1, LARGEST),
    "auto_prune": true_or_false,
    "kept_user_message_tokens": whole_number(0, LARGEST),
    "tool_order": one_of("given", "name"),
    "max_continuation_retries": or_none(whole_number(0, 100)),
    "missing_summary_usage": one_of("unknown", "estimated"),
    # Codex's own windows and lines: whether one makes sense is asked with the model.
    "model_context_window": or_none(whole_number(-(2**63), 2**63 - 1)),
    "model_auto_compact_token_limit": or_none(whole_number(-(2**63), 2**63 - 1)),
    "model_auto_compact_token_limit_scope": one_of("total", "body_after_prefix"),
    "auto_compact_fallback_buffer_tokens": or_none(whole_number(1, LARGEST)),
    "reminder_threshold_tokens": or_none(whole_number(1, LARGEST)),
    "strict_parity": true_or_false,
    "output_reserve_cap_tokens": whole_number(0, LARGEST),
    "absolute_line_tokens": whole_number(1, LARGEST),
    "target_percent": whole_number(1, 100),
    "min_gain_tokens": whole_number(0, LARGEST),
    "tool_retention": by_tool("keep", "never_clear", "always_clear"),
    "old_call_argument_chars": or_none(whole_number(LEAST_ARGUMENT_CHARS, LARGEST)),
    "drop_old_thinking": one_of("keep", "behind_watermark"),
    "repeated_results": one_of("keep", "reference"),
    "tool_output_truncation": or_none(truncation),
    "cut": one_of("text", "json"),
    "unsupported_data": one_of("refuse", "placeholder"),
    "duplicate_call_ids": one_of("refuse", "rename"),
    "invalid_arguments": one_of("keep", "wrap"),
    "max_images": or_none(whole_number(0, LARGEST)),
    "prune_when": one_of("at_line", "cache_cold"),
    "cache_ttl_seconds": whole_number(1, MAX_CACHE_SECONDS),
}
"""The check of every value that can be overridden, whichever preset has it."""
