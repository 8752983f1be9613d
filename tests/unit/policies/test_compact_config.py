import pytest

from app.policies.compact_config import DEFAULT_COMPACT, CompactConfig, compact_from, compact_json
from app.policies.overrides import UnknownPolicyOverride
from tests.requirements import requirement

REFUSED: list[object] = [
    pytest.param("threshold", 0, id="CF3"),
    pytest.param("threshold", -1, id="a negative count"),
    pytest.param("threshold", 2.0, id="a float for a count"),
    pytest.param("threshold", None, id="no count"),
    pytest.param("threshold", True, id="a truth value for a count"),
    pytest.param("threshold", 2**63, id="a count over 63 bits"),
    pytest.param("trigger_ratio", 0, id="CF5 nothing"),
    pytest.param("trigger_ratio", -0.1, id="CF5 negative"),
    pytest.param("trigger_ratio", 1.0001, id="CF5 just over one"),
    pytest.param("trigger_ratio", 2, id="CF5 two"),
    pytest.param("trigger_ratio", float("nan"), id="a share that is no number"),
    pytest.param("trigger_ratio", float("inf"), id="an infinite share"),
    pytest.param("trigger_ratio", 10**400, id="a share beyond floats"),
    pytest.param("trigger_ratio", "0.5", id="a text for a share"),
    pytest.param("trigger_ratio", True, id="a truth value for a share"),
    pytest.param("prefetch_ratio", 0, id="CF7 nothing"),
    pytest.param("prefetch_ratio", 1, id="CF7 all"),
    pytest.param("prefetch_ratio", -0.1, id="CF7 negative"),
    pytest.param("prefetch_ratio", float("nan"), id="a soft share that is no number"),
    pytest.param("prefetch_ratio", float("inf"), id="an infinite soft share"),
    pytest.param("max_tokens", 0, id="CF9"),
    pytest.param("agent_id", "", id="CF11 empty"),
    pytest.param("agent_id", " ", id="CF11 blank"),
    pytest.param("agent_id", "\u2003\n", id="blank by Unicode"),
    pytest.param("agent_id", None, id="no agent"),
    pytest.param("threshold", "many", id="CF12"),
    pytest.param("keep_last", -1, id="a negative tail"),
    pytest.param("unknown", 1, id="CF15"),
    pytest.param("max_tokens", 4_294_967_296, id="CF16"),
    pytest.param("instructions", 5, id="a number for a prompt"),
    pytest.param("agent_instructions", [], id="a list for instructions"),
]


@requirement("AW-compact-settings-refused")
@pytest.mark.parametrize(("field", "value"), REFUSED)
def test_a_field_is_refused_by_its_name(field: str, value: object) -> None:
    with pytest.raises(UnknownPolicyOverride) as refused:
        compact_from({field: value})

    assert refused.value.details == {"key": f"compact.{field}"}


TAKEN: list[object] = [
    pytest.param({}, DEFAULT_COMPACT, id="CF1"),
    pytest.param(
        {"threshold": 1, "trigger_ratio": 1.0, "max_tokens": 1},
        CompactConfig(threshold=1, trigger_ratio=1.0, max_tokens=1),
        id="CF4",
    ),
    pytest.param({"trigger_ratio": 1}, CompactConfig(trigger_ratio=1.0), id="a whole share"),
    pytest.param({"prefetch_ratio": 0.5}, CompactConfig(prefetch_ratio=0.5), id="CF8 half"),
    pytest.param({"prefetch_ratio": 0.999}, CompactConfig(prefetch_ratio=0.999), id="CF8 most"),
    pytest.param({"keep_last": 0}, CompactConfig(keep_last=0), id="CF13"),
    pytest.param(
        {"max_tokens": 4_294_967_295}, CompactConfig(max_tokens=4_294_967_295), id="the largest"
    ),
    pytest.param({"max_tokens": None, "instructions": None}, DEFAULT_COMPACT, id="null is default"),
    pytest.param({"instructions": ""}, CompactConfig(instructions=""), id="an empty prompt"),
    pytest.param({"agent_id": " a "}, CompactConfig(agent_id=" a "), id="an agent as it is"),
]


@pytest.mark.parametrize(("given", "config"), TAKEN)
def test_what_can_be_is_taken_as_it_is(given: dict[str, object], config: CompactConfig) -> None:
    assert compact_from(given) == config
    assert compact_from(compact_json(config)) == config


@requirement("AW-compact-defaults")
def test_CF17_texts_that_are_not_set_are_not_written() -> None:
    assert compact_json(DEFAULT_COMPACT) == {
        "agent_id": "compactor",
        "threshold": 40,
        "keep_last": 8,
        "max_tokens": None,
        "trigger_ratio": 0.8,
        "prefetch_ratio": 0.75,
    }


@pytest.mark.parametrize("value", [None, [], "compact", 1])
def test_what_is_no_object_is_refused(value: object) -> None:
    with pytest.raises(UnknownPolicyOverride, match="must be an object"):
        compact_from(value)


def test_a_refusal_says_what_may_be() -> None:
    with pytest.raises(UnknownPolicyOverride, match=r"compact.trigger_ratio must be in \(0, 1\]"):
        compact_from({"trigger_ratio": 2})
