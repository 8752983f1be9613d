"""Which call a usage report speaks of: where it stands, and whether it is still the newest.

Source: docs/semantics/usage.md#reports.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from typing import Literal, TypeAlias

from app.core import canonical
from app.core.call_size import CallSize
from app.core.errors import PreparedNotFound
from app.core.follow_up import FollowUp
from app.core.ids import is_prepared_id
from app.core.items import Item
from app.core.ledger import UNMEASURED, CallMeasures, LedgerEntry
from app.core.messages import Real
from app.core.stored import Session
from app.core.usage import UsageState
from app.core.usage_report import Call, UsageNumbers, counted, reported
from app.services.provider_contexts import ToldContext, is_of_thread
from app.services.same_window import is_same_window, window_view_of
from app.services.situations import Situation
from app.store.compactions import CompactionRepository
from app.store.connections import ReadConnection
from app.store.prepared import PreparedRepository

Arrival: TypeAlias = Literal["in_order", "after_a_later_call", "after_its_window"]
"""When a report comes. Only what comes in order says what the session holds now."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UsageReport:
    """What a worker says of one call. None is not said."""

    turn_id: str | None
    model_call: int | None
    prepared_id: str | None
    model: str
    numbers: UsageNumbers
    needs_follow_up: bool | None
    has_pending_input: bool
    new_context_requested: bool
    reasoning_included: bool
    finish_reason: str | None
    has_text: bool | None
    has_tool_calls: bool | None
    provider_context: ToldContext = None

    def body(self) -> bytes:
        """The canonical bytes of all that it says: an equal repeat has the same."""
        said = asdict(self)
        if self.provider_context is None:
            # A report of before this could be said has the same bytes.
            del said["provider_context"]
        return canonical.encode(said)

    def identity(self, place: int) -> bytes:
        """What it is about: the call that it names, else what it says at its place."""
        named: list[object] = ["call", self.turn_id, self.model_call, self.prepared_id]
        is_named = self.prepared_id is not None or None not in (self.turn_id, self.model_call)
        about = named if is_named else ["place", place, self.body().decode()]
        return sha256(canonical.encode(about)).digest()

    def identity_in_step(self, place: int) -> bytes:
        """What it is about where it continues a step: what it says, at its place if that is little.

        Two calls of a step may say the same where neither tells its input.
        """
        where = place if self.numbers.input_tokens is None else None
        about = ["continued", where, self.body().decode()]
        return sha256(canonical.encode(about)).digest()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedCall:
    """A reported call as the session knows it."""

    identity: bytes
    through_sequence: int
    """The last stored message of its request."""
    requested_model: str | None
    """Of the prepared call; None where none is named."""
    measures: CallMeasures
    size: CallSize | None
    """Of its request; None where no prepared call is named, or none kept it."""
    is_of_earlier_window: bool
    is_of_thread: bool
    """Whether what the provider held after it goes on, be it folded by the provider itself."""


async def find_call(
    connection: ReadConnection, situation: Situation, report: UsageReport, place: int | None
) -> ReportedCall:
    """The call of a report; `place` is the sequence of its answer, where that is known.

    Raises:
        PreparedNotFound: The report names a call that was never prepared.
    """
    session = situation.session
    answer = _last_answer(situation.items) if place is None else place
    # Without an answer the request held everything.
    through = session.message_count if answer is None else answer - 1
    identity = report.identity(through)
    if report.prepared_id is None:
        is_behind = place is not None and _is_hidden(situation, place)
        is_earlier = is_behind or await _is_before_fold(connection, session, report)
        return ReportedCall(
            identity=identity,
            through_sequence=through,
            requested_model=None,
            measures=UNMEASURED,
            size=None,
            is_of_earlier_window=is_earlier,
            is_of_thread=not is_earlier,
        )
    if not is_prepared_id(report.prepared_id):
        raise PreparedNotFound(f"there is no prepared call {report.prepared_id[:100]!r}")
    call = await PreparedRepository(connection, session.incarnation).get(report.prepared_id)
    compactions = CompactionRepository(connection, session.incarnation)
    is_current = await is_same_window(compactions, call.recipe.view_id, session.view_id)
    return ReportedCall(
        identity=identity,
        through_sequence=call.recipe.through_sequence,
        requested_model=call.recipe.model,
        measures=call.measures,
        size=call.size,
        is_of_earlier_window=not is_current,
        is_of_thread=await is_of_thread(connection, session, call.recipe),
    )


def arrival_of(
    report: UsageReport, call: ReportedCall, latest: LedgerEntry | None, session: Session
) -> Arrival:
    """When the report of a call comes; `latest` is the last report that did not come late."""
    if call.is_of_earlier_window:
        return "after_its_window"
    newest = session.usage.calibration.through_sequence
    if newest is not None and call.through_sequence < newest:
        return "after_a_later_call"
    if latest is None or latest.model_call is None or report.model_call is None:
        return "in_order"
    is_passed = latest.turn_id == report.turn_id and report.model_call < latest.model_call
    return "after_a_later_call" if is_passed else "in_order"


def speaks_for_thread(
    report: UsageReport, call: ReportedCall, latest: LedgerEntry | None, session: Session
) -> bool:
    """Whether a report says what the provider holds now: it is the newest of its thread."""
    in_window = replace(call, is_of_earlier_window=False)
    return call.is_of_thread and arrival_of(report, in_window, latest, session) == "in_order"


def state_after(
    state: UsageState, report: UsageReport, call: ReportedCall, arrival: Arrival
) -> UsageState:
    """The state after a report. A late one is counted, and moves no total, anchor or prefill."""
    totals = counted(state.totals, report.numbers)
    if arrival == "after_its_window":
        return replace(state, totals=totals)
    if arrival == "in_order":
        about = Call(
            model=call.requested_model or report.model,
            size=call.size,
            reasoning_included=report.reasoning_included,
        )
        state = reported(state, report.numbers, about)
    asked = state.new_context_requested or report.new_context_requested
    return replace(state, totals=totals, new_context_requested=asked)


def follow_up_of(report: UsageReport, call: ReportedCall, items: Sequence[Item]) -> FollowUp:
    """Whether another call follows: as the report says, else by the tools that were asked for."""
    needed = report.needs_follow_up
    if needed is None:
        needed = report.has_tool_calls
    if needed is None:
        needed = any(item.facts.calls and _sequence(item) > call.through_sequence for item in items)
    return FollowUp(
        model_needs_follow_up=needed,
        has_pending_input=report.has_pending_input,
    )


async def _is_before_fold(
    connection: ReadConnection, session: Session, report: UsageReport
) -> bool:
    """Whether the window began at a later call of the report's turn."""
    compactions = CompactionRepository(connection, session.incarnation)
    view_id = await window_view_of(compactions, session.view_id)
    if view_id is None or report.turn_id is None or report.model_call is None:
        return False
    shown = await compactions.get(view_id)
    if shown.turn_id != report.turn_id or shown.model_call is None:
        return False
    return report.model_call < shown.model_call


def _is_hidden(situation: Situation, sequence: int) -> bool:
    view = situation.view
    return not view.shows(sequence) and view.pair_of(sequence) is None


def _last_answer(items: Sequence[Item]) -> int | None:
    """The sequence of the last stored message that the model said, if one is shown."""
    return next(
        (
            item.source.sequence
            for item in reversed(items)
            if item.role == "assistant" and isinstance(item.source, Real)
        ),
        None,
    )


def _sequence(item: Item) -> int:
    source = item.source
    return (source.sequence or 0) if isinstance(source, Real) else 0
