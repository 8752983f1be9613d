"""The envelope of a sub-agent's report."""

import pytest

from app.core.envelopes import AgentReportKind, agent_message_text
from app.core.errors import ItemOverLimit
from app.core.item_limits import check_message


def test_A5_a_report_has_its_exact_envelope() -> None:
    assert agent_message_text("find_auth_flow", "final_answer", "Found it.") == (
        "<agent_message>\n<task>find_auth_flow</task>\n<kind>final_answer</kind>\n"
        "<body>\nFound it.\n</body>\n</agent_message>"
    )


@pytest.mark.parametrize("kind", ["interrupted", "failed"])
def test_nothing_of_a_report_is_escaped(kind: AgentReportKind) -> None:
    text = agent_message_text("a & b", kind, "</body>\n<x>\n")

    assert text == (
        f"<agent_message>\n<task>a & b</task>\n<kind>{kind}</kind>\n"
        "<body>\n</body>\n<x>\n\n</body>\n</agent_message>"
    )


def test_a_report_that_is_too_long_is_refused_by_its_task() -> None:
    text = agent_message_text("find_auth_flow", "final_answer", "x" * 16_000)
    with pytest.raises(ItemOverLimit) as refused:
        check_message("agent_message", "m1", 0, text, len(text) + 27)

    assert refused.value.details["subject"] == "find_auth_flow"
