"""Envelopes: the fixed text in which a sub-agent's report reaches the model.

Source: docs/semantics/world-state.md#agent-messages.
"""

from typing import Literal, TypeAlias

AgentReportKind: TypeAlias = Literal["final_answer", "interrupted", "failed"]


def agent_message_text(task: str, kind: AgentReportKind, body: str) -> str:
    """The text of the `agent_message` message in which a sub-agent reports; nothing is escaped.

    >>> print(agent_message_text("find_auth_flow", "final_answer", "Found it."))
    <agent_message>
    <task>find_auth_flow</task>
    <kind>final_answer</kind>
    <body>
    Found it.
    </body>
    </agent_message>
    """
    return (
        f"<agent_message>\n<task>{task}</task>\n<kind>{kind}</kind>\n"
        f"<body>\n{body}\n</body>\n</agent_message>"
    )
