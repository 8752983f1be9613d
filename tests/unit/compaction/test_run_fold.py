from dataclasses import dataclass, field

import pytest

from app.compaction.artifact import Artifact, Asker, SummaryTask, latest_ready, resolve
from app.compaction.run_fold import (
    FRESH_RUN,
    PRODUCER,
    SUMMARY_ID,
    SUMMARY_INTRODUCTION,
    MarkerWrite,
    PreludeWrite,
    RunFold,
    RunState,
    WindowWrite,
    Write,
    after,
    next_step,
    with_fold,
    without_fold,
)
from app.core.due import NOT_DUE, Due
from app.core.items import Item
from app.core.messages import Synthetic
from app.core.request_window import AnchoredWindow, RequestParts, shown_items
from app.core.trimming import KEEP_ALL
from tests.requirements import requirement
from tests.unit.core.builders import COUNTER, said, stored, system, user

TALK = stored(*(user(f"message {number}") for number in range(12)))
TEN = TALK[:10]
ASKER = Asker(scope="session-1", agent_id="compactor", prompt=None)
FOLD = Due(urgency="hard", fold_to=8)
SOON = Due(urgency="soft", fold_to=4)


@dataclass(slots=True)
class Compactor:
    """Runs each task once; a summary of None is an error."""

    summary: str | None = "It is done."
    ready: dict[str, Artifact] = field(default_factory=dict)
    runs: list[SummaryTask] = field(default_factory=list)

    def prefetch(self, task: SummaryTask) -> None:
        if task.key not in self.ready:
            self.runs.append(task)
            if self.summary is not None:
                self.ready[task.key] = Artifact(
                    scope=task.scope,
                    key=task.key,
                    covered_messages=task.covered_messages,
                    summary=self.summary,
                )

    def summarize(self, task: SummaryTask) -> Artifact | None:
        self.prefetch(task)
        return self.ready.get(task.key)


def step(
    state: RunState, due: Due, compactor: Compactor | None, items: tuple[Item, ...] = TEN
) -> tuple[Write, ...]:
    """What one call of a run writes, whoever summarises."""
    fold = RunFold(run_id="run-1", items=items, fold_to=due.fold_to, counter=COUNTER)
    match next_step(state, due):
        case "fold" if compactor is not None:
            found = latest_ready(compactor.ready.values(), ASKER.scope, due.fold_to)
            resolution = resolve(found, items, due.fold_to, ASKER)
            artifact = resolution.artifact
            if resolution.task is not None:
                artifact = compactor.summarize(resolution.task)
            return without_fold(state) if artifact is None else with_fold(state, fold, artifact)
        case "prefetch" if compactor is not None:
            task = resolve(None, items, due.fold_to, ASKER).task
            assert task is not None
            compactor.prefetch(task)
            return without_fold(state)
        case _:
            return without_fold(state)


def view(state: RunState, *transcript: Item) -> list[object]:
    parts = RequestParts(
        instructions=None,
        prelude=state.messages,
        transcript=transcript,
        trimming=KEEP_ALL,
        window=state.window,
    )
    return list(said(shown_items(parts, lambda item: item.facts.json_bytes, COUNTER)))


NOT_FOLDED = (PreludeWrite(producer=PRODUCER, messages=()),)
SUMMARY = system(f"{SUMMARY_INTRODUCTION}It is done.")


def test_H1_without_an_artifact_one_task_is_run_and_three_things_are_written() -> None:
    compactor = Compactor()
    prelude, window, marker = step(FRESH_RUN, FOLD, compactor)
    (task,) = compactor.runs
    assert isinstance(prelude, PreludeWrite)

    assert (task.covered_messages, len(task.seed)) == (8, 9)
    assert said(prelude.messages) == said([SUMMARY])
    assert prelude.messages[0].source == Synthetic(reason="compaction_summary", id=SUMMARY_ID)
    assert window == WindowWrite(window=AnchoredWindow(keep_last=2, conversation_len=10))
    assert marker == MarkerWrite(run_id="run-1")


def test_H3_a_ready_artifact_of_all_needs_no_run() -> None:
    compactor = Compactor()
    compactor.prefetch(resolve_task(8))
    folded = step(FRESH_RUN, FOLD, compactor)

    assert len(compactor.runs) == 1
    assert view(after(FRESH_RUN, folded), *TEN) == said([SUMMARY, *TEN[8:]])


def resolve_task(covered: int) -> SummaryTask:
    task = resolve(None, TALK, covered, ASKER).task
    assert task is not None
    return task


@requirement("AW-dynamic-view-after-a-fold")
def test_an_artifact_of_less_leaves_a_bridge() -> None:
    compactor = Compactor()
    compactor.prefetch(resolve_task(6))
    state = after(FRESH_RUN, step(FRESH_RUN, FOLD, compactor))

    assert said(state.messages[PRODUCER]) == said([SUMMARY, *TEN[6:8]])
    assert view(state, *TEN) == said([SUMMARY, *TEN[6:]])


@pytest.mark.parametrize("summary", ["", " \n\t", None], ids=["H7 empty", "H7 blank", "H7 error"])
def test_a_failure_writes_that_nothing_is_folded(summary: str | None) -> None:
    writes = step(FRESH_RUN, FOLD, Compactor(summary=summary))

    assert writes == NOT_FOLDED
    assert view(after(FRESH_RUN, writes), *TEN) == said(TEN)


def test_an_artifact_of_more_than_the_fold_is_never_shown() -> None:
    fold = RunFold(run_id="run-1", items=TEN, fold_to=8, counter=COUNTER)
    wide = Artifact(scope="session-1", key="k", covered_messages=9, summary="s")

    assert with_fold(FRESH_RUN, fold, wide) == NOT_FOLDED


NOTHING_FOLDED: list[object] = [
    pytest.param(FOLD, None, id="H8"),
    pytest.param(NOT_DUE, Compactor(), id="H9"),
    pytest.param(SOON, None, id="nobody to begin with"),
]


@pytest.mark.parametrize(("due", "compactor"), NOTHING_FOLDED)
def test_a_run_that_folds_nothing_writes_so(due: Due, compactor: Compactor | None) -> None:
    assert step(FRESH_RUN, due, compactor) == NOT_FOLDED


@requirement("AW-dynamic-once-per-run")
@pytest.mark.parametrize("first", [FOLD, SOON, NOT_DUE], ids=["H11", "after soft", "after none"])
def test_a_run_decides_once(first: Due) -> None:
    compactor = Compactor()
    state = after(FRESH_RUN, step(FRESH_RUN, first, compactor))
    runs = len(compactor.runs)

    assert step(state, FOLD, compactor, TALK) == ()
    assert len(compactor.runs) == runs


def test_a_run_that_decided_writes_no_other_fold() -> None:
    state = after(FRESH_RUN, NOT_FOLDED)
    fold = RunFold(run_id="run-1", items=TEN, fold_to=8, counter=COUNTER)
    artifact = Artifact(scope="session-1", key="k", covered_messages=8, summary="s")

    assert with_fold(state, fold, artifact) == ()
    assert next_step(state, FOLD) == "replay"


@requirement("AW-dynamic-resume-replays", "AW-verify-summary-in-the-request")
def test_H12_a_run_that_goes_on_shows_its_summary_and_asks_nobody() -> None:
    state = after(FRESH_RUN, step(FRESH_RUN, FOLD, Compactor()))
    again = RunState(messages=dict(state.messages), window=state.window)
    nobody = Compactor()

    assert step(again, FOLD, nobody, TALK) == ()
    assert nobody.runs == []
    assert view(again, *TALK) == said([SUMMARY, *TALK[8:]])


def test_H13_the_next_run_decides_anew() -> None:
    compactor = Compactor()
    step(FRESH_RUN, NOT_DUE, compactor)

    assert len(step(FRESH_RUN, FOLD, compactor)) == 3


def test_H15_a_summary_in_the_background_is_not_shown() -> None:
    compactor = Compactor()
    writes = step(FRESH_RUN, SOON, compactor, TALK[:6])

    assert [task.covered_messages for task in compactor.runs] == [4]
    assert writes == NOT_FOLDED
    assert view(after(FRESH_RUN, writes), *TALK[:6]) == said(TALK[:6])


def test_a_summary_of_the_background_helps_the_next_run() -> None:
    compactor = Compactor()
    step(FRESH_RUN, SOON, compactor, TALK[:6])
    state = after(FRESH_RUN, step(FRESH_RUN, FOLD, compactor))

    assert len(compactor.runs) == 1
    assert view(state, *TEN) == said([SUMMARY, *TEN[4:]])


def test_H20_a_fold_changes_no_message() -> None:
    before = tuple(item.content for item in TEN)
    state = after(FRESH_RUN, step(FRESH_RUN, FOLD, Compactor()))
    view(state, *TEN)

    assert tuple(item.content for item in TEN) == before


def test_other_producers_keep_their_messages() -> None:
    state = RunState(messages={"memory": (system("m"),)}, window=None)
    folded = after(state, step(state, FOLD, Compactor()))

    assert view(folded, *TEN) == said([SUMMARY, system("m"), *TEN[8:]])
