"""The figures of a run, as a table for people or as JSON."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from app.version import VERSION
from bench.cases import CaseId
from bench.conversation import SEED
from bench.rounds import Figure

SCHEMA = "foreword-bench/1"

_READ = "bare ASGI select+join+send"
_BASES: Mapping[CaseId, str] = {
    "prepare.unchanged": _READ,
    "prepare.append": _READ,
    "context.numbers": _READ,
    "append": "bare ASGI update+insert",
}
_MEANINGS: Mapping[CaseId, str] = {
    "prepare.unchanged": "POST /prepare of a session that has not changed since its last one",
    "prepare.append": "POST /prepare that appends one message first and records the call",
    "context.numbers": "GET /context?content=false, the budget of the next call without its bytes",
    "append": "POST /messages with one message",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A whole run."""

    figures: Sequence[Figure]
    seconds: float
    machine: Mapping[str, object]
    commit: str | None

    @property
    def rounds(self) -> int:
        """How often every case was measured."""
        return len(self.figures[0].rounds)


def print_json(report: Report) -> None:
    """Print the run as one JSON document."""
    document = {
        "schema": SCHEMA,
        "version": VERSION,
        "commit": report.commit,
        "seconds": round(report.seconds, 1),
        "rounds": report.rounds,
        "seed": SEED,
        "machine": report.machine,
        "figures": [_document(figure) for figure in report.figures],
    }
    print(json.dumps(document, indent=2))


def print_table(report: Report) -> None:
    """Print the run as a table, and what its rows and columns mean."""
    console = Console(highlight=False)
    # Narrow enough for 80 columns, which is what a pipe gets.
    table = Table(box=SIMPLE_HEAD, padding=0)
    for column in ("case", "database"):
        table.add_column(column, no_wrap=True)
    for column in ("messages", "× floor", "min–max", "service ms", "floor ms"):
        table.add_column(column, justify="right", no_wrap=True)
    for _, group in groupby(sorted(report.figures, key=_place), key=lambda figure: figure.case.id):
        for figure in group:
            table.add_row(*_cells(figure))
        table.add_section()
    console.print(table)
    for case_id, meaning in _MEANINGS.items():
        console.print(f"[bold]{case_id}[/bold]: {meaning}; the floor is {_BASES[case_id]}.")
    console.print(f"\n{_conditions(report)}")


def _document(figure: Figure) -> dict[str, object]:
    case, ratios = figure.case, figure.ratios
    return {
        "id": case.id,
        "database": case.database,
        "messages": case.messages,
        "clients": 1,
        "unit": "ratio",
        "better": "lower",
        "value": round(median(ratios), 3),
        "low": round(ratios[0], 3),
        "high": round(ratios[-1], 3),
        "rounds": len(ratios),
        "subject_ms": round(figure.subject_ms, 3),
        "base_ms": round(figure.base_ms, 3),
        "base": _BASES[case.id],
    }


def _place(figure: Figure) -> tuple[int, str, int]:
    case = figure.case
    return list(_MEANINGS).index(case.id), case.database, case.messages


def _cells(figure: Figure) -> list[str]:
    case, ratios = figure.case, figure.ratios
    return [
        case.id,
        case.database,
        f"{case.messages:,}",
        f"{median(ratios):.2f}",
        f"{ratios[0]:.2f}–{ratios[-1]:.2f}",
        f"{figure.subject_ms:.1f}",
        f"{figure.base_ms:.1f}",
    ]


def _conditions(report: Report) -> str:
    about = ", ".join(f"{name} {value}" for name, value in report.machine.items())
    return (
        f"{report.rounds} rounds in one run of {report.seconds:.0f} s, service and floor in turn, "
        "one client on loopback. A ratio is a round's median service time over its median floor "
        "time; the column shows their median. Milliseconds hold for this machine at this hour, "
        f"ratios travel better: {about}."
    )
