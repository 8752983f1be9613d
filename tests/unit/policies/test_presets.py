from collections.abc import Mapping
from dataclasses import replace

import pytest

from app.core.model_profile import ModelProfile
from app.core.policy import Measured, ShownItems
from app.core.usage import NO_USAGE
from app.policies.folding import OpenWorkFolding
from app.policies.line import decide_by_line
from app.policies.overrides import UnknownPolicyOverride
from app.policies.presets import (
    PRESETS,
    PresetPolicy,
    UnknownPolicy,
    policy_from,
    policy_json,
)
from app.policies.reserve import ReserveLine, reserve_limits
from app.policies.shaping import Shaping
from app.policies.tool_pairs import PairSummaries
from tests.requirements import requirement

OPENWORK = PresetPolicy(
    preset="openwork",
    max_tool_result_tokens=8_000,
    prune_tool_result_chars=8_192,
    auto_prune=True,
    tool_order="given",
    max_continuation_retries=None,
    missing_summary_usage="unknown",
    line=ReserveLine(),
    folding=OpenWorkFolding(),
    pairs=PairSummaries(),
    shaping=Shaping(),
)


def measured(*, estimated: int) -> Measured:
    return Measured(
        profile=ModelProfile(name="m", context_window=1_000),
        estimated_tokens=estimated,
        tokenizer_tokens=0,
        calibrated_tokens=None,
        fixed_tokens=0,
        least_fixed_tokens=0,
        items=(),
        whole=ShownItems(items=(), chat=lambda item: 0),
        usage=NO_USAGE,
        phase="pre_turn",
    )


@pytest.mark.parametrize("choice", ["openwork", {}, {"preset": "openwork"}])
def test_openwork_is_the_default(choice: str | Mapping[str, object]) -> None:
    assert policy_from(choice) == PRESETS["openwork"] == OPENWORK


def test_overrides_replace_values_of_the_preset() -> None:
    overrides = {
        "auto_compact_percent": 100,
        "max_tool_result_tokens": 1,
        "prune_tool_result_chars": 2**31 - 1,
        "auto_prune": False,
        "tool_order": "name",
    }

    assert policy_from(overrides) == PresetPolicy(
        preset="openwork",
        max_tool_result_tokens=1,
        prune_tool_result_chars=2**31 - 1,
        auto_prune=False,
        tool_order="name",
        max_continuation_retries=None,
        missing_summary_usage="unknown",
        line=ReserveLine(auto_compact_percent=100),
        folding=OpenWorkFolding(),
        pairs=PairSummaries(),
        shaping=Shaping(),
    )
    assert PRESETS["openwork"] == OPENWORK


def test_a_choice_is_not_changed() -> None:
    choice = {"preset": "openwork", "tool_order": "given"}
    policy_from(choice)

    assert choice == {"preset": "openwork", "tool_order": "given"}


def test_a_policy_comes_back_from_its_json() -> None:
    policy = policy_from({"tool_order": "name", "auto_compact_percent": 1})

    assert policy_from(policy_json(policy)) == policy
    assert policy_json(OPENWORK) == {
        "preset": "openwork",
        "max_tool_result_tokens": 8_000,
        "prune_tool_result_chars": 8_192,
        "auto_prune": True,
        "tool_order": "given",
        "max_continuation_retries": None,
        "missing_summary_usage": "unknown",
        "auto_compact_percent": 85,
        "tool_pair_summarization": False,
        "tool_call_cutoff": None,
        "tool_retention": {},
        "old_call_argument_chars": None,
        "drop_old_thinking": "keep",
        "repeated_results": "keep",
        "max_images": None,
        "invalid_arguments": "keep",
        "duplicate_call_ids": "refuse",
        "unsupported_data": "refuse",
        "cut": "text",
        "tool_output_truncation": None,
        "context_policy": "keep_all",
        "pairing": "synthesise",
        "prune_when": "at_line",
        "cache_ttl_seconds": 300,
    }


@pytest.mark.parametrize("choice", ["nope", "", {"preset": "Codex"}, {"preset": None}])
def test_an_unknown_preset_is_refused(choice: str | Mapping[str, object]) -> None:
    with pytest.raises(UnknownPolicy) as refused:
        policy_from(choice)

    name = choice if isinstance(choice, str) else choice["preset"]
    assert (
        refused.value.detail
        == f"there is no policy {name!r}; there is awaken, calibrated, codex, goose, openwork"
    )
    assert refused.value.details == {"key": "preset"}


@pytest.mark.parametrize("key", ["threshold", "", "limits", "decide"])
def test_a_value_that_the_preset_does_not_have_is_refused(key: str) -> None:
    with pytest.raises(UnknownPolicyOverride) as refused:
        policy_from({key: 1})

    assert refused.value.detail == f"preset 'openwork' has no value {key!r}"
    assert refused.value.details == {"key": key}


@pytest.mark.parametrize(
    ("key", "last"),
    [
        ("auto_compact_percent", 100),
        ("max_tool_result_tokens", 2**31 - 1),
        ("prune_tool_result_chars", 2**31 - 1),
    ],
)
def test_a_number_out_of_its_bounds_is_refused(key: str, last: int) -> None:
    for value in (0, -1, last + 1, 1.0, "1", True, None, [1]):
        with pytest.raises(UnknownPolicyOverride) as refused:
            policy_from({key: value})

        assert refused.value.detail == f"{key} must be a whole number from 1 to {last}"
        assert refused.value.details == {"key": key}


@pytest.mark.parametrize("value", ["true", 1, 0, None, [True]])
def test_a_choice_that_is_neither_true_nor_false_is_refused(value: object) -> None:
    with pytest.raises(UnknownPolicyOverride) as refused:
        policy_from({"auto_prune": value})

    assert refused.value.detail == "auto_prune must be true or false"
    assert refused.value.details == {"key": "auto_prune"}


@pytest.mark.parametrize("value", ["random", "", None, 1, ["given"]])
def test_an_order_that_does_not_exist_is_refused(value: object) -> None:
    with pytest.raises(UnknownPolicyOverride) as refused:
        policy_from({"tool_order": value})

    assert refused.value.detail == "tool_order must be one of given, name"


def test_the_preset_measures_with_its_percentage_and_decides_by_the_line() -> None:
    profile = ModelProfile(name="m", context_window=1_000, max_output_tokens=400)
    limits = replace(OPENWORK, line=ReserveLine(auto_compact_percent=50)).limits(profile, 400)

    assert limits == reserve_limits(profile, 50, 400)
    assert OPENWORK.decide(measured(estimated=1), limits) == decide_by_line(1, limits)


def test_a_window_that_was_asked_for_is_opened_in_the_middle_of_a_turn_under_the_line() -> None:
    asked = replace(NO_USAGE, new_context_requested=True)
    given = replace(measured(estimated=1), usage=asked, phase="mid_turn")
    limits = OPENWORK.limits(given.profile, 0)

    assert OPENWORK.decide(given, limits).reason == "new_context_requested"
    assert OPENWORK.decide(replace(given, phase="pre_turn"), limits).reason == "under_line"


@requirement("GO-7.2-provider-owns-its-context")
@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_no_preset_compacts_for_a_provider_that_manages_its_own_context(preset: str) -> None:
    profile = ModelProfile(name="m", context_window=1_000, manages_own_context=True)
    given = replace(measured(estimated=999_999), profile=profile)
    decision = PRESETS[preset].decide(given, PRESETS[preset].limits(profile, 0))

    assert (decision.action, decision.reason) == ("submit", "disabled")
    assert decision.detail.startswith("the provider manages its own context; ")


def test_a_window_that_was_asked_for_is_opened_whoever_manages_the_context() -> None:
    profile = ModelProfile(name="m", context_window=1_000, manages_own_context=True)
    asked = replace(NO_USAGE, new_context_requested=True)
    given = replace(measured(estimated=1), profile=profile, usage=asked, phase="mid_turn")

    assert OPENWORK.decide(given, OPENWORK.limits(profile, 0)).reason == "new_context_requested"
