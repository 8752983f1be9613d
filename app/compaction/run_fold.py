"""The one fold of a run: what is decided, what is written, what is shown again.

A run decides once. What it decided is its own state, so a later step and a
run that is taken up again show the same summary, and no model is asked.

Source: docs/semantics/awaken.md#once-per-run.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from app.compaction.artifact import Artifact
from app.core.blocks import text_block
from app.core.counting import TokenCounter
from app.core.due import Due, Urgency
from app.core.facts import form_of
from app.core.items import Item, item_of
from app.core.messages import Role, Synthetic
from app.core.request_window import AnchoredWindow
from app.core.text import is_blank

PRODUCER = "compact"
"""Whose messages a summary and its bridge are in a run's state."""

SUMMARY_ID = "compact-summary"
SUMMARY_INTRODUCTION = "Summary of earlier conversation: "
"""Awaken's words; the summary follows as it is."""

NextStep: TypeAlias = Literal["replay", "record", "prefetch", "fold"]
"""Show what was decided, write down that nothing is folded, begin a summary and write the same
down, or fold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunState:
    """What a run remembers of its requests, across steps and restarts."""

    messages: Mapping[str, tuple[Item, ...]]
    """The prelude, by producer. An empty entry is a decision too."""
    window: AnchoredWindow | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PreludeWrite:
    """The messages of a producer; none where nothing is folded."""

    producer: str
    messages: tuple[Item, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowWrite:
    """The tail that is shown from now on."""

    window: AnchoredWindow


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkerWrite:
    """Tells whoever follows the session that this run folded."""

    run_id: str


Write: TypeAlias = PreludeWrite | WindowWrite | MarkerWrite


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFold:
    """A fold that is due in a run."""

    run_id: str
    items: tuple[Item, ...]
    """The conversation."""
    fold_to: int
    """The first message that is kept."""
    counter: TokenCounter


_FIRST_STEP: Mapping[Urgency, NextStep] = {
    "hard": "fold",
    "soft": "prefetch",
    "not_due": "record",
}

FRESH_RUN = RunState(messages={}, window=None)


def next_step(state: RunState, due: Due) -> NextStep:
    """What a run does before it calls the model."""
    return "replay" if PRODUCER in state.messages else _FIRST_STEP[due.urgency]


def without_fold(state: RunState) -> tuple[Write, ...]:
    """What is written where nothing is folded, for whatever reason; nothing a second time.

    A failure to summarise is such a reason, never one for the run to fail.
    """
    if PRODUCER in state.messages:
        return ()
    return (PreludeWrite(producer=PRODUCER, messages=()),)


def with_fold(state: RunState, fold: RunFold, artifact: Artifact) -> tuple[Write, ...]:
    """What is written once the summary is there; nothing where the run decided before.

    Without a usable summary it is what is written without a fold.

    Args:
        state: Of the run.
        fold: What is folded.
        artifact: The summary. What it leaves uncovered in front of the kept tail is the bridge.
    """
    if PRODUCER in state.messages:
        return ()
    if is_blank(artifact.summary) or artifact.covered_messages > fold.fold_to:
        return without_fold(state)
    block = folded_block(artifact.summary, _bridge(fold, artifact), fold.counter)
    window = AnchoredWindow(
        keep_last=len(fold.items) - fold.fold_to, conversation_len=len(fold.items)
    )
    return (
        PreludeWrite(producer=PRODUCER, messages=block),
        WindowWrite(window=window),
        MarkerWrite(run_id=fold.run_id),
    )


def after(state: RunState, writes: Iterable[Write]) -> RunState:
    """The state of a run behind some writes; markers are the session's, not the run's."""
    for write in writes:
        if isinstance(write, PreludeWrite):
            prelude = {**state.messages, write.producer: write.messages}
            state = replace(state, messages=prelude)
        elif isinstance(write, WindowWrite):
            state = replace(state, window=write.window)
    return state


def folded_block(summary: str, bridge: Sequence[Item], counter: TokenCounter) -> tuple[Item, ...]:
    """What stands for a fold: the summary as a system message, then the bridge as it is."""
    return (summary_item(summary, SUMMARY_ID, "system", counter), *bridge)


def summary_item(summary: str, id: str, role: Role, counter: TokenCounter) -> Item:
    """The message that tells a summary, not trimmed."""
    form = form_of(role, (text_block(SUMMARY_INTRODUCTION + summary),), counter)
    return item_of(role, "normal", form, Synthetic(reason="compaction_summary", id=id))


def _bridge(fold: RunFold, artifact: Artifact) -> tuple[Item, ...]:
    return fold.items[artifact.covered_messages : fold.fold_to]
