import json

import pytest

from app.core.engine import prepare
from app.core.facts import neutral_element
from app.core.messages import Role
from app.core.model_profile import unknown_profile
from app.core.request import element_bytes, request_fragments
from tests.requirements import requirement
from tests.unit.core.builders import (
    READ,
    assistant,
    call,
    form,
    part,
    prepare_input,
    request_bytes,
    request_json,
    result,
    surface_of,
    tool,
    user,
)


@requirement(
    "OW-6-request-shape", "OW-6-provider-neutral", "OW-11-gap-neutral-request-has-fixed-fields"
)
def test_a_request_has_these_bytes() -> None:
    given = prepare_input(
        user("héllo"),
        assistant(call("c1")),
        tool(result("c1", "ok")),
        parts=(part("core/agent-system", "s"), part("a", "t")),
        tools=(READ,),
    )

    assert request_bytes(prepare(given)).decode() == (
        '{"model":"model-1","messages":['
        '{"role":"system","content":[{"type":"text","text":"s"}]},'
        '{"role":"system","content":[{"type":"text","text":"t"}]},'
        '{"role":"user","content":[{"type":"text","text":"héllo"}]},'
        '{"role":"assistant","content":[{"type":"tool_call","id":"c1","name":"read",'
        '"input":"{}","state":"finished"}]},'
        '{"role":"tool","content":[{"type":"tool_result","id":"c1","name":"read",'
        '"output":[{"type":"text","text":"ok"}],"state":"success"}]}'
        '],"temperature":null,"top_p":null,"max_output_tokens":32000,"thinking":null,'
        '"tools":[{"name":"read","description":"Read a file","parameters":{"type":"object"}}]}'
    )


@requirement("OW-6-generation-defaults", "OW-11-request-is-provider-neutral")
def test_L11_the_output_limit_is_the_models_and_nothing_else_is_set() -> None:
    request = request_json(prepare(prepare_input(user("go"))))

    assert list(request) == [
        "model", "messages", "temperature", "top_p", "max_output_tokens", "thinking", "tools",
    ]  # fmt: skip
    assert request["max_output_tokens"] == 32_000
    assert (request["temperature"], request["top_p"], request["thinking"]) == (None, None, None)
    assert request["tools"] == []


def test_L11_without_an_output_limit_none_is_made_up() -> None:
    given = prepare_input(user("go"), profile=unknown_profile("m"))

    assert request_json(prepare(given))["max_output_tokens"] is None


def test_generation_settings_stand_in_their_places() -> None:
    generation = {
        "response_format": {"type": "json"},
        "stop": ["é"],
        "temperature": 0.5,
        "thinking": {"mode": "enabled"},
        "top_p": 1,
    }
    given = prepare_input(user("go"), generation=generation)

    assert request_bytes(prepare(given)).endswith(
        '"temperature":0.5,"top_p":1,"max_output_tokens":32000,"thinking":{"mode":"enabled"},'
        '"tools":[],"response_format":{"type":"json"},"stop":["é"]}'.encode()
    )


def test_an_empty_request_is_json_too() -> None:
    fragments = request_fragments('m"', (), (), (), {}, None)

    assert json.loads(b"".join(fragments)) == {
        "model": 'm"',
        "messages": [],
        "temperature": None,
        "top_p": None,
        "max_output_tokens": None,
        "thinking": None,
        "tools": [],
    }


def test_several_tools_are_separated_by_commas() -> None:
    tools = surface_of(tools=(READ, READ.__class__(name="a", description="", parameters={}))).tools
    request = json.loads(b"".join(request_fragments("m", (), (), tools, {}, None)))

    assert [tool["name"] for tool in request["tools"]] == ["read", "a"]


@pytest.mark.parametrize("role", ["system", "user", "assistant", "tool"])
def test_an_element_takes_its_content_and_its_wrapper(role: Role) -> None:
    content = form(role, "中").content

    assert element_bytes(role, len(content)) == len(neutral_element(role, content))
