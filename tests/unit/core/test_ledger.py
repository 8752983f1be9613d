from dataclasses import replace
from datetime import UTC, datetime

import pytest

from app.core.follow_up import FollowUp
from app.core.ledger import LedgerEntry

ENTRY = LedgerEntry(
    ordinal=1,
    at=datetime(2026, 1, 1, tzinfo=UTC),
    turn_id=None,
    model_call=None,
    prepared_id=None,
    model="a",
    requested_model=None,
    window_number=0,
    is_late=False,
    event=None,
    cause=None,
)


@pytest.mark.parametrize(
    ("before", "after", "switches"),
    [
        (("a", None), ("a", None), False),
        (("a", None), ("b", None), True),
        (("a", "a"), ("a-2026", "a"), False),
        (("a", "a"), ("a", "b"), True),
        (("a", "a"), ("a", None), False),
        (("a", None), ("a-2026", "a"), True),
    ],
)
def test_models_are_compared_as_they_were_asked_for_where_that_is_known(
    before: tuple[str, str | None], after: tuple[str, str | None], switches: bool
) -> None:
    first = replace(ENTRY, model=before[0], requested_model=before[1])
    second = replace(ENTRY, model=after[0], requested_model=after[1])

    assert second.switches_from(first) is switches


@pytest.mark.parametrize(
    ("model", "pending", "needed"),
    [(False, False, False), (True, False, True), (False, True, True), (True, True, True)],
)
def test_another_call_follows_where_the_model_or_its_user_goes_on(
    model: bool, pending: bool, needed: bool
) -> None:
    follow_up = FollowUp(model_needs_follow_up=model, has_pending_input=pending)

    assert follow_up.needs_follow_up is needed
