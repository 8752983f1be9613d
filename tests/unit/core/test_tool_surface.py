import json
from dataclasses import replace

import pytest

from app.core.agent import AGENT_SYSTEM_KEY, Agent, Tool
from app.core.blocks import Blocks, ProviderState, Text, text_block
from app.core.content import decode_content
from app.core.errors import ToolNameCollision, ToolNotFound
from app.core.tool_surface import Surface, build_surface, resolve
from tests.requirements import requirement
from tests.unit.core.builders import (
    COUNTER,
    PROMPT,
    READ,
    ROOT,
    form,
    image,
    part,
    surface_of,
)

CHILD = replace(ROOT, is_root=False)
UNSANDBOXED = replace(ROOT, sandbox_available=False)
BY_NAME = replace(ROOT, tool_order="name")
BASH = Tool(name="bash", description="Run", parameters={"type": "object"})
CONTROL_NAMES = (
    "update_plan",
    "spawn_agent",
    "wait_agent",
    "list_agents",
    "followup_task",
    "interrupt_agent",
)
CONTROL = tuple(
    Tool(name=name, description="", parameters={}, control=True, root_only=True)
    for name in CONTROL_NAMES
)


def ruled(name: str, rule: str, **changes: bool) -> Tool:
    return replace(
        Tool(name=name, description="", parameters={}, system_rule=rule),
        **changes,  # type: ignore[arg-type]
    )


def names(surface: Surface) -> list[str]:
    return [tool.name for tool in surface.tools]


def parts_of(surface: Surface) -> list[tuple[str, Blocks]]:
    return [(part.key, decode_content(part.form.content)) for part in surface.system]


@requirement("OW-5-root-only-tools")
def test_A1_a_root_session_advertises_its_tools_and_the_six_control_tools() -> None:
    surface = surface_of(tools=(READ, BASH, *CONTROL))

    assert names(surface) == ["read", "bash", *CONTROL_NAMES]
    assert [resolve(surface, name).name for name in CONTROL_NAMES] == list(CONTROL_NAMES)


@requirement("OW-5-unadvertised-is-not-found")
def test_A1_a_name_that_is_not_advertised_is_not_found() -> None:
    with pytest.raises(ToolNotFound) as refused:
        resolve(surface_of(tools=(READ, BASH, *CONTROL)), "nope")

    assert refused.value.detail == "the session advertises no tool 'nope'"
    assert refused.value.details == {"key": "nope"}


@requirement("OW-5-root-only-tools", "OW-11-unadvertised-cannot-be-called")
@pytest.mark.parametrize("name", CONTROL_NAMES)
def test_A2_a_child_session_neither_advertises_nor_resolves_control_tools(name: str) -> None:
    surface = surface_of(tools=(READ, *CONTROL), options=CHILD)

    assert names(surface) == ["read"]
    with pytest.raises(ToolNotFound):
        resolve(surface, name)


@requirement("OW-5-collision-refused")
@pytest.mark.parametrize("name", CONTROL_NAMES)
@pytest.mark.parametrize("order", [1, -1], ids=["registered first", "control first"])
def test_A3_a_control_tool_that_shares_a_name_is_refused(name: str, order: int) -> None:
    registered = replace(READ, name=name)

    with pytest.raises(ToolNameCollision) as refused:
        surface_of(tools=(registered, *CONTROL)[::order])
    assert refused.value.detail == (
        f"control tool `{name}` collides with a registered tool; "
        "rename the registered tool or stop advertising the control tool"
    )
    assert refused.value.details == {"key": name}


@requirement(
    "OW-5-advertised-is-resolvable",
    "OW-10-one-source-of-tools",
    "OW-11-definitions-and-resolution-agree",
)
@pytest.mark.parametrize("options", [ROOT, CHILD, UNSANDBOXED, BY_NAME])
def test_A4_every_advertised_name_resolves_to_its_definition(options: object) -> None:
    surface = surface_of(tools=(READ, BASH, *CONTROL), options=options)  # type: ignore[arg-type]

    assert [resolve(surface, tool.name) for tool in surface.tools] == list(surface.tools)


def test_two_ordinary_tools_of_one_name_are_refused_too() -> None:
    with pytest.raises(ToolNameCollision) as refused:
        surface_of(tools=(READ, BASH, READ))

    assert refused.value.detail == "tool `read` is defined twice"
    assert refused.value.details == {"key": "read"}


def test_a_tool_that_is_not_advertised_collides_as_well() -> None:
    with pytest.raises(ToolNameCollision):
        surface_of(tools=(replace(READ, name="spawn_agent"), *CONTROL), options=CHILD)


@requirement("OW-5-built-once", "OW-11-gap-two-equal-surfaces", "OW-11-tool-order-is-fixed")
def test_two_surfaces_of_one_agent_are_equal_byte_for_byte() -> None:
    tools = (BASH, READ, ruled("plan", "Plan."))

    assert surface_of(tools=tools) == surface_of(tools=tools)
    assert surface_of(tools=tools) != surface_of(tools=tools[::-1])


def test_tools_are_sorted_by_code_point_where_the_order_is_by_name() -> None:
    tools = [replace(READ, name=name) for name in ("b", "a_b", "a", "Z", "é", "a-b")]

    assert names(surface_of(tools=tools, options=BY_NAME)) == ["Z", "a", "a-b", "a_b", "b", "é"]
    assert surface_of(tools=tools, options=BY_NAME) == surface_of(
        tools=tools[::-1], options=BY_NAME
    )


def test_a_definition_carries_three_fields_and_keeps_the_order_of_its_schema() -> None:
    tool = Tool(
        name="edit",
        description="Edit “it”",
        parameters={"type": "object", "properties": {"z": {}, "a": {}}},
        control=True,
        root_only=True,
        system_rule="Rule.",
        sandbox_parameters=("a",),
    )
    (definition,) = surface_of(tools=(tool,)).tools
    encoded = (
        '{"name":"edit","description":"Edit “it”",'
        '"parameters":{"type":"object","properties":{"z":{},"a":{}}}}'
    )

    assert definition.name == "edit"
    assert definition.encoded == encoded.encode()
    assert definition.tokenizer_tokens == len(encoded)


@requirement("OW-5-sandbox-parameters")
def test_without_a_sandbox_its_parameters_leave_properties_and_required() -> None:
    schema = {
        "required": ["command", "justification"],
        "type": "object",
        "properties": {
            "sandboxPermissions": {},
            "command": {"type": "string"},
            "justification": {},
        },
    }
    bash = replace(
        BASH, parameters=schema, sandbox_parameters=("sandboxPermissions", "justification")
    )
    without = {
        "required": ["command"],
        "type": "object",
        "properties": {"command": {"type": "string"}},
    }

    assert (
        surface_of(tools=(bash,), options=UNSANDBOXED).tools
        == surface_of(tools=(replace(BASH, parameters=without),)).tools
    )
    assert json.loads(surface_of(tools=(bash,)).tools[0].encoded)["parameters"] == schema


@pytest.mark.parametrize(
    "schema", [{}, {"properties": None, "required": "command"}, {"type": "object"}]
)
def test_a_schema_without_these_fields_is_left_as_it_is(schema: dict[str, object]) -> None:
    bash = replace(BASH, parameters=schema, sandbox_parameters=("justification",))

    assert surface_of(tools=(bash,), options=UNSANDBOXED) == surface_of(tools=(bash,))


def test_the_agents_own_schema_is_not_changed() -> None:
    properties: dict[str, object] = {"a": {}, "b": {}}
    bash = replace(BASH, parameters={"properties": properties}, sandbox_parameters=("a",))
    surface_of(tools=(bash,), options=UNSANDBOXED)

    assert properties == {"a": {}, "b": {}}


@requirement("OW-2-one-part", "OW-10-system-context-outside-the-conversation")
def test_rules_of_advertised_tools_follow_the_prompt_in_the_order_of_the_tools() -> None:
    tools = (ruled("b", "Rule b."), READ, ruled("a", "Rule a.", root_only=True))

    assert parts_of(surface_of(tools=tools)) == [
        (AGENT_SYSTEM_KEY, (text_block("You are careful.\n\nRule b.\n\nRule a."),))
    ]
    assert parts_of(surface_of(tools=tools, options=BY_NAME)) == [
        (AGENT_SYSTEM_KEY, (text_block("You are careful.\n\nRule a.\n\nRule b."),))
    ]


@requirement("OW-2-rule-only-where-advertised")
def test_the_rule_of_a_tool_that_is_not_advertised_is_left_out() -> None:
    tools = (ruled("b", "Rule b."), ruled("a", "Rule a.", root_only=True))

    assert parts_of(surface_of(tools=tools, options=CHILD)) == [
        (AGENT_SYSTEM_KEY, (text_block("You are careful.\n\nRule b."),))
    ]


def test_without_an_agent_part_the_rules_form_one_as_the_last() -> None:
    surface = surface_of((part("one", "1"), part("two", "2")), (ruled("a", "A."), ruled("b", "B.")))

    assert parts_of(surface) == [
        ("one", (text_block("1"),)),
        ("two", (text_block("2"),)),
        (AGENT_SYSTEM_KEY, (text_block("A.\n\nB."),)),
    ]


def test_the_agent_part_keeps_its_place_and_other_parts_their_content() -> None:
    surface = surface_of((part("one", "1"), PROMPT, part("two", "2")), (ruled("a", "A."),))

    assert parts_of(surface) == [
        ("one", (text_block("1"),)),
        (AGENT_SYSTEM_KEY, (text_block("You are careful.\n\nA."),)),
        ("two", (text_block("2"),)),
    ]


@pytest.mark.parametrize(
    "content",
    [
        (text_block("a"), image()),
        (
            Text(
                type="text",
                text="a",
                provider_state=ProviderState(driver="d", model="m", data=1),
            ),
        ),
    ],
    ids=["media last", "text with provider state last"],
)
def test_rules_are_a_block_of_their_own_behind_what_cannot_be_continued(content: Blocks) -> None:
    surface = surface_of((part(AGENT_SYSTEM_KEY, *content),), (ruled("a", "A."), ruled("b", "B.")))

    assert parts_of(surface) == [(AGENT_SYSTEM_KEY, (*content, text_block("A.\n\nB.")))]


def test_rules_continue_the_last_of_several_texts() -> None:
    surface = surface_of((part(AGENT_SYSTEM_KEY, "a", "b"),), (ruled("a", "A."),))

    assert parts_of(surface) == [(AGENT_SYSTEM_KEY, (text_block("a"), text_block("b\n\nA.")))]


@requirement("OW-2-parts-are-checked")
def test_system_parts_keep_their_order_and_are_measured_when_the_surface_is_built() -> None:
    surface = surface_of((part("z", "1"), part("a", "22")))

    assert [(part.key, part.form) for part in surface.system] == [
        ("z", form("system", "1")),
        ("a", form("system", "22")),
    ]


def test_building_a_surface_leaves_the_agent_as_it_was() -> None:
    agent = Agent(system_parts=(PROMPT,), tools=(ruled("b", "B."), READ))
    before = replace(agent)
    build_surface(agent, BY_NAME, COUNTER)

    assert agent == before
