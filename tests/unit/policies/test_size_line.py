from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from app.core.limits import Decision
from app.core.model_profile import ModelProfile, unknown_profile
from app.core.policy import Measured
from app.core.usage import NO_USAGE
from app.policies.folding import TailFolding
from app.policies.presets import policy_from, policy_json
from app.policies.size_line import SizeLine

PROFILE = ModelProfile(name="m", context_window=1_000, max_output_tokens=100)
BY_TOKENS = {"max_tokens": 1_000, "trigger_ratio": 0.8, "prefetch_ratio": 0.5, "keep_last": 2}
BY_COUNT = {"threshold": 4, "keep_last": 2, "prefetch_ratio": 0.5}


@dataclass(frozen=True, kw_only=True)
class Sized:
    message_count: int
    text_tokens: int = 0
    chat_tokens: int = 0


def decided(
    compact: Mapping[str, object], size: Sized, *, profile: ModelProfile = PROFILE, fixed: int = 0
) -> Decision:
    policy = policy_from({"preset": "awaken", "compact": compact})
    given = Measured(
        profile=profile,
        estimated_tokens=7,
        tokenizer_tokens=0,
        calibrated_tokens=None,
        fixed_tokens=fixed,
        least_fixed_tokens=fixed,
        items=(),
        whole=size,
        usage=NO_USAGE,
        phase="pre_turn",
    )
    return policy.decide(given, policy.limits(profile, 0))


@pytest.mark.parametrize(
    ("tokens", "action", "is_soft"),
    [
        (399, "submit", False),
        (400, "submit", True),
        (799, "submit", True),
        (800, "compact", False),
        (10**9, "compact", False),
    ],
)
def test_texts_trigger_softly_and_then_hard(tokens: int, action: str, is_soft: bool) -> None:
    decision = decided(BY_TOKENS, Sized(message_count=10, text_tokens=tokens))

    assert (decision.action, decision.prefetch_due) == (action, is_soft)
    assert (decision.measured_tokens, decision.line_tokens) == (tokens, 800)
    assert decision.remaining_tokens == max(0, 800 - tokens)
    assert decision.input_tokens == 7


@pytest.mark.parametrize(
    ("count", "action", "is_soft"),
    [(2, "submit", False), (3, "submit", True), (5, "compact", False)],
)
def test_messages_trigger_where_no_window_is_set(count: int, action: str, is_soft: bool) -> None:
    decision = decided(BY_COUNT, Sized(message_count=count, text_tokens=10**9))

    assert (decision.action, decision.prefetch_due) == (action, is_soft)
    assert decision.line_tokens is None
    assert not decision.is_over


def test_a_tail_that_is_all_of_it_is_never_folded() -> None:
    assert decided(BY_TOKENS, Sized(message_count=2, text_tokens=10**9)).action == "submit"


def test_limits_tell_the_line_also_where_no_window_is_known() -> None:
    policy = policy_from({"preset": "awaken", "compact": BY_TOKENS})
    known, unknown = policy.limits(PROFILE, 100), policy.limits(unknown_profile("m"), 0)

    assert (known.context_window, known.effective_input_tokens) == (1_000, 900)
    assert known.line_tokens == known.compact_at_input_tokens == 800
    assert (unknown.context_window, unknown.line_tokens) == (None, 800)
    assert not known.always_reached


def test_the_line_is_the_first_whole_token_that_reaches_the_ratio() -> None:
    policy = policy_from(
        {"preset": "awaken", "compact": {"max_tokens": 100, "trigger_ratio": 0.55}}
    )

    assert policy.limits(PROFILE, 0).line_tokens == 56


def test_a_prefix_blocks_only_where_it_fills_the_window() -> None:
    size = Sized(message_count=10, text_tokens=800)

    assert decided(BY_TOKENS, size, fixed=999).action == "compact"
    assert decided(BY_TOKENS, size, fixed=1_000).reason == "cannot_fit"


def test_line_and_folding_share_their_settings() -> None:
    policy = policy_from({"preset": "awaken", "compact": BY_TOKENS, "auto_compact_percent": 70})

    assert isinstance(policy.line, SizeLine)
    assert isinstance(policy.folding, TailFolding)
    assert policy.line.compact == policy.folding.compact
    assert policy.line.compact.trigger_ratio == 0.7
    assert policy.line.line_percent == 70
    assert policy_from(policy_json(policy)) == policy
    assert policy.folding == replace(TailFolding(), compact=policy.line.compact)
