"""`python -m bench.calibration [FILE] [--json]`: the three numbers against a provider's reports.

Each call is prepared by the engine before its report is looked at, with
what was learned from the reports before it. Nothing is pruned or cut, since
the recorded client did not either. The system prompt and the tools of a
transcript are unknown: the first reported input less the first messages
stands for them in the two numbers that need them.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from math import ceil
from pathlib import Path
from statistics import mean, median

import click
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from app.core.calibration import NOTHING_REPORTED, Calibration, Report, observed
from app.core.counting import tokens_of_bytes
from app.core.engine import PreparedCall, PrepareInput, prepare
from app.core.items import Item
from app.core.model_profile import unknown_profile
from app.core.request_copy import Memo, MemoKey, PruneBoundary, Rewrite
from app.core.tool_surface import Surface
from app.core.usage import NO_USAGE
from app.policies.presets import policy_from
from app.tokenizers import counter_for
from bench.transcript import Line, read_transcript

CODING_SESSION = Path(__file__).parents[1] / "tests" / "data" / "coding" / "session-914.jsonl"

_POLICY = policy_from({"preset": "openwork", "max_tool_result_tokens": 2**31 - 1})
_NO_SURFACE = Surface(system=(), tools=())


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """What each way of counting says of one call, beside what the provider reported."""

    observed: int
    predicted: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reported:
    index: int
    """Of the message that the call was answered with."""
    report: Report
    call: PreparedCall


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Absolute errors in percent of the reported input."""

    number: str
    n: int
    median: float
    p95: float
    mean: float
    max: float


def calls_of(lines: Sequence[Line]) -> Iterator[Call]:
    """The calls of a transcript but the first, from which all the others start."""
    items = tuple(line.item for line in lines)
    reported = [(index, line.report) for index, line in enumerate(lines) if line.report is not None]
    calibration, memo = NOTHING_REPORTED, dict[MemoKey, Rewrite]()
    first: _Reported | None = None
    last: _Reported | None = None
    for index, report in reported:
        call = _prepared(report.model, items[:index], calibration, memo)
        now = _Reported(index=index, report=report, call=call)
        if first is not None and last is not None:
            yield _call(first, last, now, items)
        first, last = first or now, now
        calibration = observed(calibration, call.size, report)


def errors_of(calls: Sequence[Call]) -> list[Errors]:
    """The errors of every way of counting."""
    return [
        _errors(
            number, [abs(call.predicted[number] - call.observed) / call.observed for call in calls]
        )
        for number in (calls[0].predicted if calls else ())
    ]


def measured(path: Path) -> list[Errors]:
    """The errors on a transcript; none where fewer than two calls of it were reported."""
    return errors_of(list(calls_of(read_transcript(path, counter_for(None)))))


@click.command("calibration")
@click.argument("path", type=click.Path(exists=True, dir_okay=False), default=CODING_SESSION)
@click.option("--json", "output", flag_value="json", help="Print JSON and nothing else.")
def main(path: str, output: str | None) -> None:
    """Compare the three token numbers to the inputs that a provider reported in FILE."""
    errors = measured(Path(path))
    if output == "json":
        print(json.dumps([asdict(error) for error in errors], indent=2))
        return
    table = Table(box=SIMPLE_HEAD, title=f"Error in % of the reported input: {Path(path).name}")
    table.add_column("number")
    for name in ("n", "median", "p95", "mean", "max"):
        table.add_column(name, justify="right")
    for error in errors:
        table.add_row(error.number, *cells(error))
    Console().print(table)


def cells(errors: Errors) -> tuple[str, ...]:
    """A row of the table without its name."""
    shares = (errors.median, errors.p95, errors.mean, errors.max)
    return (str(errors.n), *(f"{share:.4f}" for share in shares))


def _call(first: _Reported, last: _Reported, now: _Reported, items: tuple[Item, ...]) -> Call:
    start, budget = first.report.input_tokens, first.call.budget
    calibrated = now.call.budget.calibrated
    came_after = sum(item.facts.json_bytes for item in items[last.index : now.index])
    return Call(
        observed=now.report.input_tokens,
        predicted={
            "json_bytes": start + now.call.budget.estimate.total - budget.estimate.total,
            "tokenizer": start + now.call.budget.tokenizer.total - budget.tokenizer.total,
            "calibrated": 0 if calibrated is None else calibrated.regions.total,
            "plain anchor": last.report.input_tokens + tokens_of_bytes(came_after),
        },
    )


def _prepared(
    model: str, items: tuple[Item, ...], calibration: Calibration, memo: Memo
) -> PreparedCall:
    return prepare(
        PrepareInput(
            model=model,
            profile=unknown_profile(model),
            policy=_POLICY,
            surface=_NO_SURFACE,
            items=items,
            boundary=PruneBoundary(),
            generation={},
            scope="bench",
            counter=counter_for(None),
            memo=memo,
            usage=replace(NO_USAGE, calibration=calibration),
        )
    )


def _errors(number: str, shares: Sequence[float]) -> Errors:
    ordered = sorted(100 * share for share in shares)
    return Errors(
        number=number,
        n=len(ordered),
        median=median(ordered),
        p95=ordered[ceil(0.95 * len(ordered)) - 1],
        mean=mean(ordered),
        max=ordered[-1],
    )


if __name__ == "__main__":
    main()
