from dataclasses import replace
from hashlib import sha256

import pytest

from app.core.agent import Agent, Tool, agent_ref, decode_agent, encode_agent
from app.core.blocks import ProviderState, Text
from tests.unit.core.builders import PROMPT, READ, image, part

PLAN = Tool(
    name="update_plan",
    description="Keep the plan",
    parameters={"type": "object", "properties": {"z": {"type": "number"}, "a": {}}},
    control=True,
    root_only=True,
    system_rule="## Task checklists",
    sandbox_parameters=("justification", "sandboxPermissions"),
)
STATE = ProviderState(driver="d", model="m", data=[1])
AGENT = Agent(
    system_parts=(
        PROMPT,
        part("project/style", "é中😀\0", image(), Text(type="text", text="", provider_state=STATE)),
    ),
    tools=(READ, PLAN),
)
READ_ONLY = Agent(system_parts=(PROMPT,), tools=(READ,))
READ_ONLY_DEFINITION = (
    b'{"system_parts":[{"key":"core/agent-system","content":'
    b'[{"type":"text","text":"You are careful."}]}],"tools":[{"name":"read",'
    b'"description":"Read a file","parameters":{"type":"object"},"control":false,'
    b'"root_only":false,"system_rule":null,"sandbox_parameters":[]}]}'
)


@pytest.mark.parametrize("agent", [AGENT, Agent(system_parts=(), tools=())], ids=["full", "empty"])
def test_an_agent_comes_back_from_its_definition(agent: Agent) -> None:
    definition = encode_agent(agent)

    assert decode_agent(definition) == agent
    assert encode_agent(decode_agent(definition)) == definition


def test_a_definition_writes_every_default() -> None:
    assert encode_agent(READ_ONLY) == READ_ONLY_DEFINITION


def test_an_agent_is_named_by_the_hash_of_its_definition() -> None:
    assert agent_ref(encode_agent(READ_ONLY)) == sha256(READ_ONLY_DEFINITION).hexdigest()


def test_equal_agents_have_one_name_and_a_changed_one_another() -> None:
    names = {
        agent_ref(encode_agent(agent))
        for agent in (
            AGENT,
            replace(AGENT, tools=AGENT.tools),
            replace(AGENT, tools=(PLAN, READ)),
            replace(AGENT, tools=(READ, replace(PLAN, root_only=False))),
            replace(AGENT, system_parts=(PROMPT,)),
        )
    }

    assert len(names) == 4


def test_a_schema_keeps_the_order_of_its_keys() -> None:
    assert b'"properties":{"z":{"type":"number"},"a":{}}' in encode_agent(AGENT)
    (_, plan) = decode_agent(encode_agent(AGENT)).tools
    assert list(plan.parameters["properties"]) == ["z", "a"]  # type: ignore[call-overload]
