"""Rounds: every case once, service and floor in turn, so that noise meets both.

Source: docs/performance.md#method.
"""

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from statistics import median
from time import monotonic, perf_counter

from bench.cases import Case, Side
from bench.client import Client

LEAST_ROUNDS = 3
MOST_ROUNDS = 9
SECONDS = 120
"""Once a run has taken this long, it begins no round beyond the least number."""

CASE_SECONDS = 1.5
"""Once a case has taken this long in a round, it is asked no more in it: on a
busy machine more rounds tell more than more requests of one round."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """The median times of one case in one round."""

    subject_ms: float
    base_ms: float

    @property
    def ratio(self) -> float:
        """How many times the floor the service takes."""
        return self.subject_ms / self.base_ms


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A case and all its rounds."""

    case: Case
    rounds: tuple[Round, ...]

    @property
    def ratios(self) -> list[float]:
        """The ratios of the rounds, lowest first."""
        return sorted(each.ratio for each in self.rounds)

    @property
    def subject_ms(self) -> float:
        """The median time of the service."""
        return median(each.subject_ms for each in self.rounds)

    @property
    def base_ms(self) -> float:
        """The median time of the floor."""
        return median(each.base_ms for each in self.rounds)


def measure(cases: Sequence[Case], started: float) -> list[Figure]:
    """The figures of all cases in a run that `started` then, by the monotonic clock.

    A first round warms up and does not count.
    """
    _round(cases)
    until = started + SECONDS
    done: list[list[Round]] = []
    while len(done) < LEAST_ROUNDS or (len(done) < MOST_ROUNDS and monotonic() < until):
        done.append(_round(cases))
    by_case = zip(cases, zip(*done, strict=True), strict=True)
    return [Figure(case=case, rounds=rounds) for case, rounds in by_case]


def _round(cases: Sequence[Case]) -> list[Round]:
    return [_measured(case) for case in cases]


def _measured(case: Case) -> Round:
    # Both servers close a connection that is idle for a whole round, so each round opens its own.
    with (
        closing(Client(case.base.address)) as floor,
        closing(Client(case.subject.address)) as service,
    ):
        until = monotonic() + CASE_SECONDS
        times = [_pair_ms(case, floor, service)]
        while len(times) < case.repeats and monotonic() < until:
            times.append(_pair_ms(case, floor, service))
    base, subject = zip(*times, strict=True)
    return Round(subject_ms=median(subject), base_ms=median(base))


def _pair_ms(case: Case, floor: Client, service: Client) -> tuple[float, float]:
    return _answer_ms(floor, case.base), _answer_ms(service, case.subject)


def _answer_ms(client: Client, side: Side) -> float:
    request = next(side.requests)
    start = perf_counter()
    client.ask(request)
    return 1_000 * (perf_counter() - start)
