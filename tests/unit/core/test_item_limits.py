import pytest

from app.core.errors import ItemOverLimit
from app.core.item_limits import check_message, check_system_part
from app.core.messages import Kind
from tests.requirements import requirement
from tests.unit.core.builders import form

TEXT_BLOCK_BYTES = 27


def size_of(text: str) -> int:
    return form("user", text).facts.json_bytes


@requirement("OW-7.3-skill-8000")
@pytest.mark.parametrize("tokens", [1, 7_999], ids=["small", "I1"])
def test_I1_a_skill_below_its_limit_passes(tokens: int) -> None:
    check_message("skill_instruction", "m1", 3, "<skill>", tokens * 4)


@requirement("OW-7.3-skill-8000", "OW-7.3-refused-not-cut")
def test_I2_a_skill_of_exactly_its_limit_is_refused() -> None:
    with pytest.raises(ItemOverLimit):
        check_message("skill_instruction", "m1", 3, "<skill>", 8_000 * 4)


@requirement("OW-7.3-system-part-10000")
def test_I3_a_system_part_over_its_limit_is_refused_by_its_key() -> None:
    with pytest.raises(ItemOverLimit) as refused:
        check_system_part("project/AGENTS.md", 10_001 * 4)

    assert refused.value.detail == (
        "system context part project/AGENTS.md needs 10001 tokens, over the 10000-token cap; "
        "split the source file or shorten it"
    )
    assert refused.value.details == {
        "subject": "project/AGENTS.md",
        "key": "project/AGENTS.md",
        "tokens": 10_001,
        "limit_tokens": 10_000,
    }


@requirement("OW-7.3-skill-8000")
def test_I4_a_skill_over_its_limit_is_refused_by_its_name() -> None:
    text = "<skill>\n<name>release</name>\n<path>/p</path>\nbody\n</skill>"

    with pytest.raises(ItemOverLimit) as refused:
        check_message("skill_instruction", "m1", 3, text, 8_001 * 4)

    assert refused.value.detail == (
        "skill release needs 8001 tokens, over the 8000-token cap; split it into smaller skills"
    )
    assert refused.value.details == {
        "subject": "release",
        "message_index": 3,
        "message_id": "m1",
        "tokens": 8_001,
        "limit_tokens": 8_000,
    }


@requirement("OW-7.3-agent-message-4000")
@pytest.mark.parametrize("tokens", [4_000, 4_001])
def test_I5_an_agent_message_at_its_limit_is_refused_by_its_task(tokens: int) -> None:
    text = "<agent_message>\n<task>find_auth_flow</task>\n<kind>final_answer</kind>"

    with pytest.raises(ItemOverLimit) as refused:
        check_message("agent_message", "m1", 3, text, tokens * 4)

    assert refused.value.detail == (
        f"the message from find_auth_flow needs {tokens} tokens, over the 4000-token cap; "
        "have the sub-agent report a summary instead"
    )
    assert refused.value.details == {
        "subject": "find_auth_flow",
        "message_index": 3,
        "message_id": "m1",
        "tokens": tokens,
        "limit_tokens": 4_000,
    }


@requirement("OW-7.3-system-part-10000")
def test_I6_the_longest_system_text_has_39_969_characters() -> None:
    check_system_part("p", size_of("x" * 39_969))

    with pytest.raises(ItemOverLimit, match="needs 10000 tokens"):
        check_system_part("p", size_of("x" * 39_970))


@requirement("OW-7.3-skill-8000", "OW-7.3-agent-message-4000")
@pytest.mark.parametrize(
    ("kind", "longest"), [("skill_instruction", 31_969), ("agent_message", 15_969)]
)
def test_I7_the_longest_texts_of_the_other_kinds(kind: Kind, longest: int) -> None:
    check_message(kind, "m1", 3, "x", size_of("x" * longest))

    with pytest.raises(ItemOverLimit) as refused:
        check_message(kind, "m1", 3, "x", size_of("x" * (longest + 1)))
    assert refused.value.details["tokens"] == (longest + 1 + TEXT_BLOCK_BYTES + 3) // 4


@pytest.mark.parametrize(
    "text",
    [
        "no envelope",
        "<skill><name>x</name>",
        " <skill>\n<name>x</name>\n",
        "<skill>\n<name>a\nb</name>\n",
        "<agent_message>\n<task>x</task>\n",
    ],
)
def test_without_an_envelope_of_its_kind_a_skill_is_named_by_its_message(text: str) -> None:
    with pytest.raises(ItemOverLimit) as refused:
        check_message("skill_instruction", "m1", 3, text, 40_000)

    assert refused.value.details["subject"] == "m1"


@requirement("OW-7.3-tool-results-have-no-limit")
@pytest.mark.parametrize("kind", ["normal", "world_state"])
def test_other_messages_have_no_limit(kind: Kind) -> None:
    check_message(kind, "m1", 3, "x", 10**9)
