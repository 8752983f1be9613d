"""Faults of bodies: all of them are listed, each with a pointer into the body."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import BaseModel

from app.api.append_models import AppendIn
from app.api.prepare_models import PrepareIn
from app.api.session_models import SessionIn, SessionPatch
from app.api.stateless_models import DiffIn, EstimateIn, GivenPrepareIn, LimitsIn
from app.api.validation import refuse_invalid, validated
from app.api.world_state_models import SampleIn
from app.core.errors import InvalidRequest, UnknownField

TEXT = {"type": "text", "text": "x"}
BAD_TEXT = {"type": "text", "text": 1}
AGENT = {"system_prompt": "x"}


def user(content: object) -> dict[str, object]:
    return {"messages": [{"role": "user", "content": content}]}


def result(output: object) -> dict[str, object]:
    return {"type": "tool_result", "id": "c", "output": output}


def data(**fields: object) -> dict[str, object]:
    source = {"source_type": "url", "url": "u", "media_type": "m", **fields}
    return {"type": "data", "source": source}


def session(**fields: object) -> dict[str, object]:
    return {"model": "m", "agent": AGENT, **fields}


@pytest.mark.parametrize(
    ("model", "value", "paths"),
    [
        (AppendIn, {}, ["/messages"]),
        (AppendIn, [], [""]),
        (AppendIn, user(5), ["/messages/0/content"]),
        (AppendIn, user([BAD_TEXT]), ["/messages/0/content/0/text"]),
        (AppendIn, user([{"type": "text"}]), ["/messages/0/content/0/text"]),
        (AppendIn, user([TEXT, 5]), ["/messages/0/content/1"]),
        (AppendIn, user([result([TEXT, BAD_TEXT])]), ["/messages/0/content/0/output/1/text"]),
        (
            AppendIn,
            user([result([result([BAD_TEXT])])]),
            ["/messages/0/content/0/output/0/output/0/text"],
        ),
        (AppendIn, user([data(url=1)]), ["/messages/0/content/0/source/url"]),
        (AppendIn, user([{"type": "data", "source": {}}]), ["/messages/0/content/0/source"]),
        (
            AppendIn,
            user([{"type": "tool_call", "id": "c", "name": "n", "input": []}]),
            ["/messages/0/content/0/input"],
        ),
        (PrepareIn, {"world_state": {"instructions": 5}}, ["/world_state/instructions"]),
        (
            PrepareIn,
            {"world_state": {"capture": {"skills": [{}]}}},
            [f"/world_state/capture/skills/0/{name}" for name in ("name", "description", "path")],
        ),
        (
            PrepareIn,
            {"world_state": {"project": {"error": {"code": 1, "detail": "x"}}}},
            ["/world_state/project/error/code"],
        ),
        (
            PrepareIn,
            {"append": [{"role": "user", "content": "x", "created_at": 5}]},
            ["/append/0/created_at"],
        ),
        (SampleIn, {"capture": {"custom": [{"id": "a", "tag": "b"}]}}, ["/capture/custom/0"]),
        (SampleIn, {"capture": {}, "on_error": {"a/b": "x"}}, ["/on_error/a~1b"]),
        (SessionIn, session(policy=5), ["/policy"]),
        (SessionIn, session(model="\0"), ["/model"]),
        (SessionIn, session(generation={"temperature": "x"}), ["/generation/temperature"] * 2),
        (
            SessionIn,
            session(agent={**AGENT, "tools": [{"name": ""}]}),
            [f"/agent/tools/0/{name}" for name in ("name", "description", "parameters")],
        ),
        (SessionPatch, {"agent": None}, [""]),
        (DiffIn, {"capture": {}, "turn_id": "t", "model_call": True, "sample": 1}, ["/model_call"]),
    ],
)
def test_a_fault_is_told_with_its_place(
    model: type[BaseModel], value: object, paths: list[str]
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        validated(model, value)

    assert told_paths(refused.value) == paths


def told_paths(refusal: InvalidRequest | UnknownField) -> list[str]:
    faults: Any = refusal.details["errors"]
    return [fault["path"] for fault in faults]


@pytest.mark.parametrize(
    ("model", "value", "path"),
    [
        (AppendIn, {**user("x"), "nope": 1}, "/nope"),
        (AppendIn, user([{**TEXT, "nope": 1}]), "/messages/0/content/0/nope"),
        (AppendIn, user([result([{**TEXT, "nope": 1}])]), "/messages/0/content/0/output/0/nope"),
        (SessionIn, session(agent={**AGENT, "nope": 1}), "/agent/nope"),
        (AppendIn, user([data(nope=1)]), "/messages/0/content/0/source/nope"),
        (PrepareIn, {"world_state": {"nope": 1}}, "/world_state/nope"),
        (PrepareIn, {"world_state": {"capture": {"nope": 1}}}, "/world_state/capture/nope"),
        (PrepareIn, {"base": "prep-1"}, "/base"),
    ],
)
def test_a_field_that_is_not_there_is_named(
    model: type[BaseModel], value: object, path: str
) -> None:
    with pytest.raises(UnknownField) as refused:
        validated(model, value)

    assert told_paths(refused.value) == [path]
    assert refused.value.details["key"] == path.rpartition("/")[2]


def test_an_unknown_field_beside_another_fault_is_one_of_the_faults() -> None:
    with pytest.raises(InvalidRequest) as refused:
        validated(AppendIn, {"messages": [{"role": "user", "nope": 1}]})

    assert told_paths(refused.value) == ["/messages/0/content", "/messages/0/nope"]


def test_of_thousands_of_faults_the_first_are_told() -> None:
    with pytest.raises(InvalidRequest) as refused:
        validated(AppendIn, {"messages": [{"role": "user"}] * 1_000})

    assert told_paths(refused.value) == [f"/messages/{index}/content" for index in range(20)]


def test_a_sentence_of_ours_is_told_as_it_is() -> None:
    with pytest.raises(InvalidRequest) as refused:
        validated(SessionIn, {"model": "m", "agent": {}})

    assert refused.value.detail == "/agent: an agent has either system_prompt or system_parts"


def test_a_fault_of_a_query_is_told_with_its_name() -> None:
    fault = {"type": "int_parsing", "loc": ("query", "limit"), "msg": "no number", "input": "x"}

    assert told_paths(refuse_invalid([fault])) == ["/query/limit"]


MODELS = [
    *(AppendIn, PrepareIn, SampleIn, SessionIn, SessionPatch),
    *(DiffIn, EstimateIn, GivenPrepareIn, LimitsIn),
]
SCALARS = st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=3)
NAMES = st.sampled_from(
    [
        *("messages", "role", "content", "type", "text", "id", "output", "capture", "project"),
        *("error", "world_state", "append", "agent", "tools", "generation", "conversation"),
        *("source", "policy", "baseline", "on_error", "custom", "instructions", "nope"),
    ]
)
WORDS = st.sampled_from(["user", "text", "tool_result", "data", "url", "real", "known", "openwork"])
VALUES = st.recursive(
    SCALARS | WORDS,
    lambda children: st.lists(children, max_size=3) | st.dictionaries(NAMES, children, max_size=4),
    max_leaves=12,
)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.__name__)
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(value=st.dictionaries(NAMES, VALUES, max_size=4))
def test_every_fault_points_into_the_body_or_at_what_is_missing(
    model: type[BaseModel], value: dict[str, object]
) -> None:
    try:
        validated(model, value)
    except (InvalidRequest, UnknownField) as refusal:
        for path in told_paths(refusal):
            parent, _, _ = path.rpartition("/")
            assert is_there(value, parent), path


def is_there(value: Any, pointer: str) -> bool:
    for token in pointer.split("/")[1:]:
        name = token.replace("~1", "/").replace("~0", "~")
        try:
            value = value[int(name)] if isinstance(value, list) else value[name]
        except (KeyError, IndexError, TypeError, ValueError):
            return False
    return True
