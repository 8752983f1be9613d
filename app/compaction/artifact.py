"""Artifacts: summaries that were begun before their fold was due.

An artifact makes a fold faster and decides nothing: it is used only where the
conversation in front of it is still the one that it speaks of.

Source: docs/semantics/awaken.md#artifacts.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from app.compaction.ladder import live_message
from app.compaction.plan_key import PlanContent, plan_key
from app.core.blocks import text_block
from app.core.items import Item
from app.core.text import is_blank

SUMMARY_TASK = "Summarise the conversation above per your instructions."
"""The prompt where the settings have none; what a summary keeps is said to the agent itself."""

COMPACTOR_INSTRUCTIONS = (
    "You compact conversations. Keep the decisions that are in force, the constraints that still"
    " apply, the questions that are open, and the results that matter. Drop decisions that were"
    " superseded and work that is finished and needs no follow-up. Reply with the summary only."
)
"""Of an agent that has no instructions of its own."""

Refusal: TypeAlias = Literal["blank", "other_scope", "covers_too_much", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Whose conversation is summarised, and what is asked of whom."""

    scope: str
    """The session, and whatever of its policy makes a summary another one."""
    agent_id: str
    prompt: str | None
    """None is the built-in one; an empty text is a prompt."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTask:
    """One summary: equal tasks have one key, so they are one run of a model."""

    scope: str
    agent_id: str
    key: str
    covered_messages: int
    seed: tuple[Item, ...]
    """The covered messages, and the prompt as a user message behind them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Artifact:
    """A summary that is ready, and what it speaks of."""

    scope: str
    key: str
    covered_messages: int
    summary: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolution:
    """How a fold gets its summary: from an artifact, or by a task; one of them is None."""

    artifact: Artifact | None
    task: SummaryTask | None


def summary_task(items: Sequence[Item], covered: int, asker: Asker) -> SummaryTask:
    """The task of a summary of the first `covered` messages.

    Its key follows from their content and from who asks whom for what, so it
    is the same after a restart, and another one once a message was changed.
    """
    prompt = SUMMARY_TASK if asker.prompt is None else asker.prompt
    prefix = tuple(items[:covered])
    content = PlanContent(
        policy={"scope": asker.scope, "prompt": prompt},
        model=asker.agent_id,
        folded=prefix,
        boundaries={"covered_messages": covered},
        instructions=None,
    )
    return SummaryTask(
        scope=asker.scope,
        agent_id=asker.agent_id,
        key=f"compact-{plan_key(content)}",
        covered_messages=covered,
        seed=(*prefix, live_message("user", (text_block(prompt),))),
    )


def latest_ready(artifacts: Iterable[Artifact], scope: str, at_most: int) -> Artifact | None:
    """The artifact of a scope that covers the most, at most so many messages.

    Args:
        artifacts: Those that are ready and did not fail.
        scope: Whose.
        at_most: The fold point.
    """
    fitting = [
        artifact
        for artifact in artifacts
        if artifact.scope == scope and artifact.covered_messages <= at_most
    ]
    return max(fitting, key=lambda artifact: artifact.covered_messages, default=None)


def refusal(
    artifact: Artifact, items: Sequence[Item], fold_to: int, asker: Asker
) -> Refusal | None:
    """Why an artifact may not be used for a fold; None where it may.

    The key is made again from the conversation as it is now, so a summary
    of messages that have changed is found out.
    """
    if is_blank(artifact.summary):
        return "blank"
    if artifact.scope != asker.scope:
        return "other_scope"
    if artifact.covered_messages > fold_to:
        return "covers_too_much"
    if artifact.key != summary_task(items, artifact.covered_messages, asker).key:
        return "changed"
    return None


def resolve(
    ready: Artifact | None, items: Sequence[Item], fold_to: int, asker: Asker
) -> Resolution:
    """The summary of a fold that is due: a ready artifact, or the task for exactly its messages.

    An artifact that may not be used is not a fault: the task is run in its place.
    """
    if ready is not None and refusal(ready, items, fold_to, asker) is None:
        return Resolution(artifact=ready, task=None)
    return Resolution(artifact=None, task=summary_task(items, fold_to, asker))
