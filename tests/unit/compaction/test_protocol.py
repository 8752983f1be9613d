"""Every status and every event: the table of the protocol, written out a second time."""

from typing import get_args

import pytest

from app.compaction.protocol import (
    SPENDING,
    TRANSITIONS,
    Change,
    Event,
    Outcome,
    Repeat,
    Report,
    Request,
    on_attempt,
    transition,
)
from app.compaction.record import MAX_ATTEMPTS, CompactionStatus

EVENTS: tuple[Event, ...] = (
    *get_args(Request),
    *get_args(Report),
    *get_args(Repeat),
    *get_args(Change),
)

EXPECTED = """
event                              pending                               completed      failed         superseded
request_same_plan                  answer                                answer         create         create
request_same_plan_claim_expired    take_over                             answer         create         create
request_other_plan                 refuse:compaction_in_progress         create         create         create
request_other_plan_claim_expired   replace>superseded                    create         create         create
request_superseding                replace>superseded                    create         create         create
complete_valid                     install>completed                     closed         closed         closed
complete_invalid                   next_attempt                          closed         closed         closed
complete_on_moved_base             refuse>superseded:conversation_moved  closed         closed         closed
fail_context_overflow              smaller_attempt                       closed         closed         closed
fail_timeout                       next_attempt                          closed         closed         closed
fail_transient                     next_attempt                          closed         closed         closed
fail_deterministic                 next_attempt                          closed         closed         closed
fail_for_good                      fail>failed:summarizer_failed         closed         closed         closed
attempts_exhausted                 fail>failed:summary_retries_exhausted closed         closed         closed
no_smaller_request                 fail>failed:cannot_fit                closed         closed         closed
stale_report                       refuse:claim_lost                     closed         closed         closed
equal_repeat                       answer_stored                         answer_stored  answer_stored  answer_stored
rewind                             supersede>superseded                  keep           keep           keep
other_completed                    supersede>superseded                  keep           keep           keep
agent_changed                      supersede>superseded                  keep           keep           keep
policy_changed                     supersede>superseded                  keep           keep           keep
"""  # noqa: E501
"""`action>status afterwards:code`; the status stays where none is named."""

CELLS = {
    (status, line.split()[0]): cell
    for line in EXPECTED.split("\n")[2:-1]
    for status, cell in zip(get_args(CompactionStatus), line.split()[1:], strict=True)
}


def written(outcome: Outcome, before: CompactionStatus) -> str:
    if outcome.code == "compaction_closed":
        return "closed"
    status = "" if outcome.status == before else f">{outcome.status}"
    return f"{outcome.action}{status}{f':{outcome.code}' if outcome.code else ''}"


def test_the_table_has_every_status_and_every_event_and_nothing_else() -> None:
    assert set(CELLS) == {(status, event) for status in TRANSITIONS for event in EVENTS}
    assert set(TRANSITIONS) == set(get_args(CompactionStatus))
    assert all(set(row) == set(EVENTS) for row in TRANSITIONS.values())


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("status", get_args(CompactionStatus))
def test_what_an_event_does(status: CompactionStatus, event: Event) -> None:
    assert written(transition(status, event), status) == CELLS[status, event]


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("status", ["completed", "failed", "superseded"])
def test_nothing_leaves_a_closed_status(status: CompactionStatus, event: Event) -> None:
    outcome = transition(status, event)

    assert outcome.status == status
    assert (outcome.action == "refuse") is (outcome.code == "compaction_closed")


@pytest.mark.parametrize(
    "report",
    [
        "complete_invalid",
        "fail_context_overflow",
        "fail_timeout",
        "fail_transient",
        "fail_deterministic",
    ],
)
def test_the_third_attempt_of_three_is_the_last(report: Report) -> None:
    counted = [on_attempt(report, attempt, MAX_ATTEMPTS, SPENDING) for attempt in (1, 2, 3)]

    assert counted == [report, report, "attempts_exhausted"]


@pytest.mark.parametrize(
    "report",
    [
        "complete_valid",
        "complete_on_moved_base",
        "fail_for_good",
        "no_smaller_request",
        "stale_report",
    ],
)
def test_what_spends_no_attempt_counts_on_the_last_one_too(report: Report) -> None:
    assert on_attempt(report, 3, MAX_ATTEMPTS, SPENDING) == report
