from dataclasses import replace

import pytest

from app.core.shaping import CacheState
from app.core.trimming import Trimming
from app.core.truncation import Truncation
from app.policies.overrides import UnknownPolicyOverride
from app.policies.presets import PRESETS, policy_from, policy_json
from app.policies.shaping import PruneWhen, Shaping

OVERRIDES: dict[str, object] = {
    "tool_retention": {"shell": "always_clear", "read": "never_clear", "list": "keep"},
    "old_call_argument_chars": 2_000,
    "drop_old_thinking": "behind_watermark",
    "repeated_results": "reference",
    "tool_output_truncation": {"mode": "bytes", "limit": 10_000},
    "context_policy": {"keep_last": 5, "pinned": ["m1"]},
    "pairing": "clean",
    "prune_when": "cache_cold",
    "cache_ttl_seconds": 3_600,
}
SHAPED = Shaping(
    tool_retention={"list": "keep", "read": "never_clear", "shell": "always_clear"},
    old_call_argument_chars=2_000,
    drop_old_thinking="behind_watermark",
    repeated_results="reference",
    tool_output_truncation=Truncation(mode="bytes", limit=10_000),
    context_policy=Trimming(keep_last=5, pinned=frozenset({"m1"})),
    pairing="clean",
    prune_when="cache_cold",
    cache_ttl_seconds=3_600,
)


@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_takes_every_value(preset: str) -> None:
    policy = policy_from({"preset": preset, **OVERRIDES})

    assert policy == replace(PRESETS[preset], shaping=SHAPED)
    assert policy_from(policy_json(policy)) == policy
    assert OVERRIDES.items() <= policy_json(policy).items()


@pytest.mark.parametrize("key", ["old_call_argument_chars", "tool_output_truncation"])
def test_null_turns_a_rule_off(key: str) -> None:
    policy = policy_from({**OVERRIDES, key: None})

    assert policy.shaping == replace(SHAPED, **{key: None})  # type: ignore[arg-type]


def test_the_tools_of_a_policy_are_stored_in_one_order() -> None:
    names = policy_json(policy_from(OVERRIDES))["tool_retention"]

    assert list(names) == ["list", "read", "shell"]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("key", "value", "detail"),
    [
        ("tool_retention", None, "must be an object of at most 256 tool names"),
        ("tool_retention", [], "must be an object of at most 256 tool names"),
        (
            "tool_retention",
            {f"t{number}": "keep" for number in range(257)},
            "must be an object of at most 256 tool names",
        ),
        ("tool_retention", {"": "keep"}, "must name tools in 1 to 256 characters"),
        ("tool_retention", {"x" * 257: "keep"}, "must name tools in 1 to 256 characters"),
        (
            "tool_retention",
            {"read": "clear"},
            "must be one of keep, never_clear, always_clear for every tool",
        ),
        (
            "tool_retention",
            {"read": ["keep"]},
            "must be one of keep, never_clear, always_clear for every tool",
        ),
        ("old_call_argument_chars", 99, "must be a whole number from 100 to 2147483647"),
        ("old_call_argument_chars", True, "must be a whole number from 100 to 2147483647"),
        ("drop_old_thinking", True, "must be one of keep, behind_watermark"),
        ("repeated_results", "drop", "must be one of keep, reference"),
        ("tool_output_truncation", "bytes", "must be an object of mode and limit"),
        ("tool_output_truncation", {"mode": "bytes"}, "must be an object of mode and limit"),
        (
            "tool_output_truncation",
            {"mode": "bytes", "limit": 1, "unit": "b"},
            "must be an object of mode and limit",
        ),
        (
            "tool_output_truncation",
            {"mode": "lines", "limit": 1},
            ".mode must be one of bytes, tokens",
        ),
        (
            "tool_output_truncation",
            {"mode": "bytes", "limit": 0},
            ".limit must be a whole number from 1 to 2147483647",
        ),
        (
            "tool_output_truncation",
            {"mode": "tokens", "limit": True},
            ".limit must be a whole number from 1 to 2147483647",
        ),
        ("prune_when", None, "must be one of at_line, cache_cold"),
        ("cache_ttl_seconds", 0, "must be a whole number from 1 to 86400"),
        ("cache_ttl_seconds", 86_401, "must be a whole number from 1 to 86400"),
    ],
)
def test_what_a_value_cannot_be_is_refused(key: str, value: object, detail: str) -> None:
    with pytest.raises(UnknownPolicyOverride) as refused:
        policy_from({key: value})

    assert refused.value.detail.removeprefix(key).lstrip() == detail
    assert refused.value.details == {"key": key}


@pytest.mark.parametrize(
    ("prune_when", "cache", "prunes"),
    [
        ("at_line", "warm", False),
        ("at_line", "cold", False),
        ("cache_cold", "warm", False),
        ("cache_cold", "cold", True),
    ],
)
def test_only_a_cold_cache_lets_the_watermark_move_under_the_line(
    prune_when: PruneWhen, cache: CacheState, prunes: bool
) -> None:
    assert Shaping(prune_when=prune_when).prunes_under_line(cache) is prunes
