import pytest

from app.core.trimming import KEEP_ALL, Trimming
from app.policies.context_policy import context_policy_from, context_policy_json
from app.policies.overrides import UnknownPolicyOverride


@pytest.mark.parametrize(
    ("value", "trimming"),
    [
        ("keep_all", KEEP_ALL),
        ({"keep_last": 0}, Trimming(keep_last=0)),
        ({"keep_last": 12}, Trimming(keep_last=12)),
        ({"keep_tokens": 9, "least_recent": 2}, Trimming(keep_tokens=9, least_recent=2)),
        (
            {"keep_last": 1, "keep_tokens": 0, "least_recent": 0},
            Trimming(keep_last=1, keep_tokens=0),
        ),
    ],
)
def test_a_policy_says_what_stays(value: object, trimming: Trimming) -> None:
    assert context_policy_from(value) == trimming
    assert context_policy_json(trimming) == value


def test_no_message_of_the_newest_outlives_a_budget_unless_it_is_said() -> None:
    assert context_policy_from({"keep_tokens": 5}) == Trimming(keep_tokens=5, least_recent=0)


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("keep_none", "context_policy"),
        (None, "context_policy"),
        (5, "context_policy"),
        ([], "context_policy"),
        ({}, "context_policy"),
        ({"keep_last": -1}, "context_policy.keep_last"),
        ({"keep_last": None}, "context_policy.keep_last"),
        ({"keep_last": True}, "context_policy.keep_last"),
        ({"keep_last": 1.0}, "context_policy.keep_last"),
        ({"keep_tokens": 2**63}, "context_policy.keep_tokens"),
        ({"keep_last": 1, "least_recent": 1}, "context_policy.least_recent"),
        ({"pinned": ["m1"]}, "context_policy.pinned"),
        ({"keep_last": 1, "pinned": "m1"}, "context_policy.pinned"),
        ({"keep_last": 1, "pinned": [1]}, "context_policy.pinned"),
        ({"keep_last": 1, "pinned": [[]]}, "context_policy.pinned"),
        ({"keep_last": 1, "pinned": ["m"] * 257}, "context_policy.pinned"),
    ],
)
def test_anything_else_is_refused_by_its_name(value: object, key: str) -> None:
    with pytest.raises(UnknownPolicyOverride) as refused:
        context_policy_from(value)

    assert refused.value.details == {"key": key}
