from dataclasses import replace

import pytest

from app.core.agent import SystemPart, Tool
from app.core.blocks import text_block
from app.core.engine import PrepareInput, check_system_parts, prepare
from app.core.errors import (
    DuplicateSystemContext,
    EmptySystemContext,
    EmptySystemContextKey,
    ItemOverLimit,
    SystemMessageInConversation,
    UnsupportedUserData,
)
from app.core.model_profile import ModelProfile
from app.core.request_copy import ProjectionSummary, PruneBoundary, PruneCounts, Repair
from app.policies.line import decide_by_line
from app.policies.presets import policy_from
from tests.requirements import requirement
from tests.unit.core.builders import (
    OPENWORK,
    PROMPT,
    READ,
    TEXT_ONLY,
    assistant,
    call,
    image,
    part,
    prepare_input,
    request_bytes,
    request_json,
    result,
    said,
    stored,
    surface_of,
    synthetic,
    system,
    tool,
    user,
)

HISTORY = stored(
    user("go"),
    assistant("so", call("c1"), call("c2", "list")),
    tool(result("c2", "x" * 40_000, name="list")),
    tool(result("c1", "y" * 9_000)),
    assistant("done", call("c3")),
)


def messages(given: PrepareInput) -> list[object]:
    sent: list[object] = request_json(prepare(given))["messages"]
    return sent


@requirement(
    "OW-1-three-regions",
    "OW-6-request-shape",
    "OW-6-prepared-call",
    "OW-11-regions-in-the-request",
)
def test_E1_the_three_regions_meet_in_the_request() -> None:
    call = prepare(prepare_input(user("hello"), parts=(part("s", "s"),), tools=(READ,)))
    request = request_json(call)

    assert request["model"] == "model-1"
    assert request["messages"] == [
        {"role": "system", "content": [{"type": "text", "text": "s"}]},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    ]
    assert [tool["name"] for tool in request["tools"]] == ["read"]
    assert call.budget.estimate.total > 0


@requirement(
    "OW-10-no-system-message-in-conversation",
    "OW-11-no-system-message",
    "OW-11-system-message-fails-assembly",
)
def test_E2_a_system_message_in_the_conversation_is_refused() -> None:
    with pytest.raises(SystemMessageInConversation) as refused:
        prepare(prepare_input(user("go"), system("be good")))

    assert refused.value.detail == "conversation view must not contain system messages"
    assert refused.value.details == {"item_index": 1}


@requirement("OW-11-duplicate-key-fails", "OW-2-parts-are-checked")
def test_E3_a_repeated_key_is_refused() -> None:
    given = prepare_input(user("go"), parts=(PROMPT, PROMPT))

    with pytest.raises(DuplicateSystemContext) as refused:
        prepare(given)
    assert refused.value.detail == "duplicate system context key: core/agent-system"
    assert refused.value.details == {"key": "core/agent-system"}
    with pytest.raises(DuplicateSystemContext):
        prepare(given)


@requirement("OW-2-parts-are-checked")
@pytest.mark.parametrize("key", [" ", "", "\t\n\x85\u3000"])
def test_E4_a_blank_key_is_refused(key: str) -> None:
    with pytest.raises(EmptySystemContextKey) as refused:
        prepare(prepare_input(user("go"), parts=(part(key, "s"),)))

    assert refused.value.detail == "system context key must not be empty"
    assert refused.value.details == {"key": key}


def test_E4_a_key_of_what_is_no_white_space_is_a_key() -> None:
    check_system_parts(surface_of((part("\x1f", "s"),)).system)


@requirement("OW-2-parts-are-checked")
def test_E5_a_part_without_blocks_is_refused() -> None:
    with pytest.raises(EmptySystemContext) as refused:
        prepare(prepare_input(user("go"), parts=(part("project", *()),)))

    assert refused.value.detail == "system context part must not be empty: project"
    assert refused.value.details == {"key": "project"}


@requirement("OW-7.3-system-part-10000", "OW-2-parts-are-checked")
def test_E6_a_part_at_its_limit_is_refused() -> None:
    check_system_parts(surface_of((part("p", "x" * 39_969),)).system)

    with pytest.raises(ItemOverLimit, match="system context part p needs 10000 tokens"):
        prepare(prepare_input(user("go"), parts=(part("p", "x" * 39_970),)))


@requirement("OW-11-messages-reach-the-next-call", "OW-11-whole-conversation-before-compaction")
def test_E7_appending_keeps_the_messages_before_as_a_prefix() -> None:
    sent = [messages(prepare_input(*HISTORY[:count])) for count in (1, 4, 5)]

    assert sent[1][: len(sent[0])] == sent[0]
    assert sent[2][: len(sent[1])] == sent[1]


@requirement("OW-6-pure", "OW-10-same-history-same-bytes")
def test_E8_the_same_input_gives_the_same_bytes() -> None:
    one = prepare(prepare_input(*HISTORY, tools=(READ,), generation={"stop": ["a"]}))
    other = prepare(prepare_input(*HISTORY, tools=(READ,), generation={"stop": ["a"]}))

    assert one == other
    assert request_bytes(one) == request_bytes(other)


@requirement("OW-10-system-before-conversation")
def test_E9_the_conversation_stands_behind_the_system_messages() -> None:
    given = prepare_input(user("hello"), parts=(part("z", "1"), part("a", "2")))

    assert said(prepare(given).conversation) == [("user", (text_block("hello"),))]
    assert messages(given) == [
        {"role": "system", "content": [{"type": "text", "text": "1"}]},
        {"role": "system", "content": [{"type": "text", "text": "2"}]},
        {"role": "user", "content": [{"type": "text", "text": "hello"}]},
    ]


@requirement("OW-4.2-data-in-user-request-refused")
def test_E10_media_that_the_model_refuses_fails_the_request() -> None:
    with pytest.raises(UnsupportedUserData):
        prepare(prepare_input(user(image()), profile=TEXT_ONLY))


CHECKS = [
    pytest.param(
        (part(" ", "s"),), (system("x"),), EmptySystemContextKey, id="E11 key before role"
    ),
    pytest.param(
        (part(" ", "s"),), (user(image()),), UnsupportedUserData, id="E12 media before key"
    ),
    pytest.param((part(" ", *()),), (), EmptySystemContextKey, id="key before content"),
    pytest.param(
        (PROMPT, part(PROMPT.key, *())), (), EmptySystemContext, id="content before twice"
    ),
    pytest.param(
        (PROMPT, part(PROMPT.key, "x" * 40_000)), (), DuplicateSystemContext, id="twice before size"
    ),
    pytest.param(
        (part("p", "x" * 40_000), part(" ", "s")), (), ItemOverLimit, id="the first part first"
    ),
    pytest.param((part("p", "x" * 40_000),), (system("x"),), ItemOverLimit, id="size before role"),
    pytest.param(
        (PROMPT,), (system("x"), user(image())), UnsupportedUserData, id="media before role"
    ),
]


@requirement("OW-6-order-of-checks")
@pytest.mark.parametrize(("parts", "items", "error"), CHECKS)
def test_the_first_of_several_faults_is_the_answer(
    parts: tuple[SystemPart, ...], items: tuple[object, ...], error: type[Exception]
) -> None:
    given = replace(prepare_input(parts=parts, profile=TEXT_ONLY), items=items)  # type: ignore[arg-type]

    with pytest.raises(error):
        prepare(given)


def test_E13_a_part_with_an_empty_text_is_sent() -> None:
    call = prepare(prepare_input(user("go"), parts=(part("p", ""),)))

    assert call.budget.estimate.system_context == 7


def test_keys_are_compared_untrimmed() -> None:
    check_system_parts(surface_of((part("p", "1"), part(" p", "2"), part("P", "3"))).system)


@requirement("OW-4.2-prune-project-normalize")
def test_prune_comes_before_project_and_normalize_last() -> None:
    long = result("c1", "a" * 30_000, "b" * 30_000, name="bash")
    given = prepare_input(
        *stored(assistant(call("c1")), tool(long)),
        boundary=PruneBoundary(through_sequence=2),
        policy=policy_from({"max_tool_result_tokens": 1_000}),
    )
    call_made = prepare(given)
    (_, (sent,)) = said(call_made.conversation)[1]
    marker = "\n...[tool result truncated; original≈1293 tokens; projected=1000;"

    assert call_made.pruned.tool_results == 1
    assert call_made.projection == ProjectionSummary(
        truncated_tool_results=1, original_tokens=1_293, projected_tokens=1_000
    )
    assert marker in sent.output[0].text  # type: ignore[union-attr]
    assert sent.name == "read"  # type: ignore[union-attr]


@requirement("OW-10-generated-user-messages-are-marked")
def test_what_was_repaired_and_made_is_told() -> None:
    call = prepare(prepare_input(*HISTORY))

    assert call.repairs == (
        Repair(code="tool_result_synthesised", item_index=4, message_id="m5", call_id="c3"),
    )
    assert call.projection.truncated_tool_results == 1
    assert [type(item.source).__name__ for item in call.conversation] == [
        "Real", "Real", "Real", "Real", "Real", "Synthetic",
    ]  # fmt: skip


@requirement("OW-1-regions-never-change-their-source", "OW-4.2-stored-messages-untouched")
def test_preparing_changes_nothing_that_it_was_given() -> None:
    given = prepare_input(*HISTORY, tools=(READ,), boundary=PruneBoundary(through_sequence=4))
    before = (given.items, said(given.items), given.surface, dict(given.generation))
    prepare(given)

    assert (given.items, said(given.items), given.surface, dict(given.generation)) == before


@requirement(
    "OW-1-system-changes-with-agent-only",
    "OW-2-same-bytes-in-every-call",
    "OW-2-reads-no-conversation",
)
def test_system_and_tool_bytes_do_not_depend_on_the_conversation() -> None:
    rule = Tool(name="plan", description="", parameters={}, system_rule="Plan.")
    calls = [
        prepare(prepare_input(*items, tools=(READ, rule))) for items in ((), HISTORY[:1], HISTORY)
    ]

    assert {call.surface for call in calls} == {calls[0].surface}
    assert len({request_json(call)["messages"][0]["content"][0]["text"] for call in calls}) == 1


def test_the_memo_changes_no_answer() -> None:
    memo: dict[object, object] = {}
    given = prepare_input(*HISTORY, memo=memo)  # type: ignore[arg-type]
    first, second = prepare(given), prepare(given)

    assert memo
    assert first == second == prepare(prepare_input(*HISTORY))


def test_an_empty_conversation_is_prepared() -> None:
    assert prepare(prepare_input()).conversation == ()


def test_synthetic_items_are_sent_as_they_are() -> None:
    items = (
        synthetic("user", "last_user_request_replay", "go"),
        synthetic("user", "compaction_summary", "summary"),
        synthetic("user", "system_reminder", "reminder"),
    )

    assert prepare(prepare_input(*items)).conversation == items


@requirement("OW-11-engine-knows-no-skills", "OW-4.1-user-request-by-kind")
def test_contextual_texts_are_sent_as_they_stand() -> None:
    items = stored(
        user("<skill>\n<name>x</name>\n</skill>", kind="skill_instruction"),
        user("<agent_message>", kind="agent_message"),
        user("<sandbox_policy>", kind="world_state"),
    )

    assert prepare(prepare_input(*items)).conversation == items


@requirement("OW-9-plan-rule-and-calls", "OW-9-sub-agents")
def test_rules_of_control_tools_are_system_text_and_their_calls_ordinary_messages() -> None:
    plan = Tool(
        name="update_plan",
        description="",
        parameters={},
        control=True,
        root_only=True,
        system_rule="## Task checklists",
    )
    items = stored(
        user("go"),
        assistant(call("c1", "update_plan", input='{"steps":[]}')),
        tool(result("c1", "ok", name="update_plan")),
        user("<agent_message>\n<task>find</task>\n</agent_message>", kind="agent_message"),
    )
    prepared = prepare(prepare_input(*items, tools=(plan,)))

    assert prepared.conversation == items
    assert [definition.name for definition in prepared.surface.tools] == ["update_plan"]
    assert request_json(prepared)["messages"][0]["content"] == [
        {"type": "text", "text": "You are careful.\n\n## Task checklists"}
    ]


def test_a_prepared_call_says_from_what_it_was_made() -> None:
    boundary = PruneBoundary(through_sequence=1, spill_directory="/spill")
    given = prepare_input(user("go"), boundary=boundary, generation={"top_p": 1})
    call = prepare(given)

    assert (call.model, call.surface, call.conversation) == (
        "model-1",
        given.surface,
        given.items,
    )
    assert (call.generation, call.boundary) == ({"top_p": 1}, boundary)
    assert call.limits == OPENWORK.limits(given.profile, 32_000)
    assert call.decision == decide_by_line(call.budget.estimate.total, call.limits)
    assert (call.projection, call.pruned, call.repairs) == (ProjectionSummary(), PruneCounts(), ())


def test_a_profile_without_output_reserves_nothing() -> None:
    profile = ModelProfile(name="m", context_window=1_000)
    call = prepare(prepare_input(user("go"), profile=profile))

    assert call.budget.reserved_output_tokens == 0
    assert call.limits.effective_input_tokens == 1_000
