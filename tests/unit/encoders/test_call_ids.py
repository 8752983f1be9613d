import re

import pytest

from app.encoders.call_ids import CallIdRule, CallIds

NINE = CallIdRule(pattern=re.compile(r"[a-zA-Z0-9]{9}"), length=9)
UNIQUE = CallIdRule(
    pattern=re.compile(r"[a-zA-Z0-9_-]{1,64}"), length=24, prefix="call_", reuse="renamed"
)


def test_an_id_that_fits_is_sent_as_it_is() -> None:
    ids = CallIds(rule=NINE)

    assert (ids.of_call("abcDEF123"), ids.of_result("abcDEF123")) == ("abcDEF123", "abcDEF123")
    assert ids.renamed() == {}


@pytest.mark.parametrize("call_id", ["call_PTLP8xhu3uwZk4l3nlnrrJha", "", "é", "a" * 1_000, "\0"])
def test_B047_any_other_id_is_replaced_on_both_sides_and_told_back(call_id: str) -> None:
    ids = CallIds(rule=NINE)
    made = ids.of_call(call_id)

    assert re.fullmatch(r"[a-zA-Z0-9]{9}", made)
    assert ids.of_result(call_id) == made == CallIds(rule=NINE).of_call(call_id)
    assert ids.renamed() == {made: call_id}


def test_B049_an_id_that_looks_like_a_made_one_gets_another() -> None:
    made = CallIds(rule=NINE).of_call("long id")
    first, second = CallIds(rule=NINE), CallIds(rule=NINE)

    assert first.of_call("long id") == made
    assert first.of_call(made) != made
    assert second.of_call(made) == made
    assert second.of_call("long id") != made
    assert len(first.renamed()) == 2


def test_B016_a_reused_id_is_the_same_one_unless_the_provider_refuses_that() -> None:
    allowed, unique = CallIds(rule=NINE), CallIds(rule=UNIQUE)

    turns = [(allowed.of_call("abcDEF123"), allowed.of_result("abcDEF123")) for _ in range(3)]
    assert turns == [("abcDEF123", "abcDEF123")] * 3
    seen = []
    for _ in range(3):
        seen += [unique.of_call("c1"), unique.of_result("c1")]
    assert seen[0] == "c1"
    assert seen[0::2] == seen[1::2]
    assert len(set(seen)) == 3
    assert set(unique.renamed().values()) == {"c1"}


@pytest.mark.parametrize("rule", [NINE, UNIQUE])
def test_B019_two_calls_of_one_message_never_share_an_id(rule: CallIdRule) -> None:
    ids = CallIds(rule=rule)
    first = [ids.of_call("abcDEF123"), ids.of_call("abcDEF123")]
    answered = [ids.of_result("abcDEF123"), ids.of_result("abcDEF123")]
    again = [ids.of_call("abcDEF123"), ids.of_call("abcDEF123")]

    assert first == answered
    assert first[0] == "abcDEF123" != first[1]
    assert (again == first) == (rule.reuse == "allowed")
    assert set(ids.renamed().values()) == {"abcDEF123"}


def test_a_longer_request_renames_nothing_that_a_shorter_one_has_sent() -> None:
    calls = ["x y", "abcDEF123", "", "x y", "zzzzzzzzz", "ü"]
    whole = [CallIds(rule=NINE)]
    sent = [whole[0].of_call(call_id) for call_id in calls]

    for count in range(len(calls)):
        ids = CallIds(rule=NINE)
        assert [ids.of_call(call_id) for call_id in calls[:count]] == sent[:count]
