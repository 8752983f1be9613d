"""Items that an author controls are refused when too large, never cut.

Equal to the limit is too large.

Source: docs/semantics/budget.md#item-limits.
"""

import re

from app.core.counting import tokens_of_bytes
from app.core.errors import ItemOverLimit
from app.core.messages import Kind

SYSTEM_PART_TOKENS = 10_000
SKILL_TOKENS = 8_000
AGENT_MESSAGE_TOKENS = 4_000

_SKILL_NAME = re.compile(r"\A<skill>\n<name>([^\n]*)</name>\n")
_TASK_NAME = re.compile(r"\A<agent_message>\n<task>([^\n]*)</task>\n")


def check_system_part(key: str, json_bytes: int) -> None:
    """Refuse a system part of 10 000 tokens or more.

    Raises:
        ItemOverLimit: Names the part's key.
    """
    tokens = tokens_of_bytes(json_bytes)
    if tokens >= SYSTEM_PART_TOKENS:
        raise ItemOverLimit(
            f"system context part {key} needs {tokens} tokens, over the "
            f"{SYSTEM_PART_TOKENS}-token cap; split the source file or shorten it",
            subject=key,
            key=key,
            tokens=tokens,
            limit_tokens=SYSTEM_PART_TOKENS,
        )


def check_message(kind: Kind, message_id: str, index: int, text: str, json_bytes: int) -> None:
    """Refuse a skill of 8 000 or an agent message of 4 000 tokens or more.

    `text` is the message's first text, whose envelope names the subject.

    Raises:
        ItemOverLimit: Names the skill or the task, else the message.
    """
    tokens = tokens_of_bytes(json_bytes)
    if kind == "skill_instruction" and tokens >= SKILL_TOKENS:
        subject = _subject(_SKILL_NAME, text, message_id)
        raise ItemOverLimit(
            f"skill {subject} needs {tokens} tokens, over the {SKILL_TOKENS}-token cap; "
            "split it into smaller skills",
            subject=subject,
            message_index=index,
            message_id=message_id,
            tokens=tokens,
            limit_tokens=SKILL_TOKENS,
        )
    if kind == "agent_message" and tokens >= AGENT_MESSAGE_TOKENS:
        subject = _subject(_TASK_NAME, text, message_id)
        raise ItemOverLimit(
            f"the message from {subject} needs {tokens} tokens, over the "
            f"{AGENT_MESSAGE_TOKENS}-token cap; have the sub-agent report a summary instead",
            subject=subject,
            message_index=index,
            message_id=message_id,
            tokens=tokens,
            limit_tokens=AGENT_MESSAGE_TOKENS,
        )


def _subject(envelope: re.Pattern[str], text: str, message_id: str) -> str:
    match = envelope.match(text)
    return match.group(1) if match else message_id
