import pytest

from app.compaction.errors import StateError
from app.compaction.runtime_state import (
    EMPTY_STATE,
    CollectionWarning,
    Extension,
    RuntimeState,
    state_from_json,
    state_json,
)
from app.core import canonical

FUTURE = Extension(key="future_state", schema_version=7, value={"z": [1, None], "a": "中"})
STATE = RuntimeState(
    edited_paths=("a.rs", "b.rs"),
    extensions=(FUTURE, Extension(key="turn_plan", schema_version=1, value={})),
    warnings=(CollectionWarning(contributor_key="goals", code="collection_failed"),),
)
STATE_BYTES = (
    '{"schema_version":1,"edited_paths":["a.rs","b.rs"],"extensions":'
    '{"future_state":{"schema_version":7,"value":{"z":[1,null],"a":"中"}},'
    '"turn_plan":{"schema_version":1,"value":{}}},'
    '"warnings":[{"contributor_key":"goals","code":"collection_failed"}]}'
).encode()


def test_a_state_goes_to_json_and_back() -> None:
    assert canonical.encode(state_json(STATE)) == STATE_BYTES
    assert state_from_json(canonical.decode(STATE_BYTES)) == STATE


def test_the_empty_state_goes_to_json_and_back() -> None:
    assert state_json(EMPTY_STATE) == {
        "schema_version": 1,
        "edited_paths": [],
        "extensions": {},
        "warnings": [],
    }
    assert state_from_json(state_json(EMPTY_STATE)) == EMPTY_STATE


def test_absent_lists_are_empty() -> None:
    assert state_from_json({"schema_version": 1}) == EMPTY_STATE


def test_extensions_are_sorted_by_key_whatever_order_they_came_in() -> None:
    backwards = {
        "schema_version": 1,
        "extensions": {
            "turn_plan": {"schema_version": 1, "value": {}},
            "future_state": {"schema_version": 7, "value": FUTURE.value},
        },
    }

    assert state_from_json(backwards).extensions == STATE.extensions


@pytest.mark.parametrize("version", [True, 0, 2, None, "1"])
def test_K32_a_state_of_another_schema_version_is_refused(version: object) -> None:
    with pytest.raises(StateError) as refused:
        state_from_json({"schema_version": version, "unknown": 1})

    assert refused.value.detail == f"unsupported compaction runtime state schema version: {version}"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"b": 1, "a": 1}, "runtime state has an unknown field: a"),
        ({"edited_paths": None}, "edited_paths is not a JSON array"),
        ({"edited_paths": [7]}, "edited path is not a JSON string"),
        ({"extensions": []}, "extensions is not a JSON object"),
        ({"extensions": {"k": 1}}, "extension k is not a JSON object"),
        ({"extensions": {"k": {"x": 1}}}, "extension k has an unknown field: x"),
        (
            {"extensions": {"k": {"value": 1}}},
            "extension k needs a schema_version and a value",
        ),
        (
            {"extensions": {"k": {"schema_version": 1}}},
            "extension k needs a schema_version and a value",
        ),
        ({"warnings": {}}, "warnings is not a JSON array"),
        ({"warnings": ["w"]}, "warning is not a JSON object"),
        ({"warnings": [{"at": 1}]}, "warning has an unknown field: at"),
        ({"warnings": [{"code": "c"}]}, "contributor_key is not a JSON string"),
        ({"warnings": [{"contributor_key": "k"}]}, "code is not a JSON string"),
    ],
)
def test_what_is_no_state_is_refused(fields: dict[str, object], message: str) -> None:
    with pytest.raises(StateError) as refused:
        state_from_json({"schema_version": 1} | fields)

    assert refused.value.detail == message


def test_a_state_must_be_an_object() -> None:
    with pytest.raises(StateError, match=r"^runtime state is not a JSON object$"):
        state_from_json([1])


def test_an_extension_is_found_by_its_key() -> None:
    assert STATE.extension("future_state") == FUTURE
    assert STATE.extension("goals") is None


@pytest.mark.parametrize(
    ("key", "keys"),
    [
        ("a", ["a", "future_state", "turn_plan"]),
        ("turn_plan", ["future_state", "turn_plan"]),
        ("z", ["future_state", "turn_plan", "z"]),
    ],
)
def test_an_extension_is_set_in_its_place(key: str, keys: list[str]) -> None:
    extension = Extension(key=key, schema_version=3, value="new")
    state = STATE.with_extension(extension)

    assert [kept.key for kept in state.extensions] == keys
    assert state.extension(key) == extension
