"""Transcripts with what a provider reported: one message a line."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from app.api.blocks import blocks_of
from app.api.wire import MessageIn
from app.core.calibration import Report
from app.core.counting import TokenCounter
from app.core.facts import form_of
from app.core.items import Item, item_of
from app.core.messages import Real

UNNAMED_MODEL = "model"
"""Stands for the model of every report that names none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A message, and the report of the call that it answers."""

    item: Item
    report: Report | None


def read_transcript(path: Path, counter: TokenCounter) -> list[Line]:
    """The messages of a file, numbered from 1."""
    with path.open(encoding="utf-8") as file:
        rows = [json.loads(line) for line in file if line.strip()]
    return list(_lines(rows, counter))


def _lines(rows: list[dict[str, Any]], counter: TokenCounter) -> Iterator[Line]:
    for sequence, row in enumerate(rows, start=1):
        message = MessageIn.model_validate(
            {key: row[key] for key in ("role", "kind", "content") if key in row}
        )
        form = form_of(message.role, blocks_of(message.content), counter)
        source = Real(id=row.get("id", f"m{sequence}"), sequence=sequence)
        yield Line(
            item=item_of(message.role, message.kind, form, source),
            report=_report(row),
        )


def _report(row: dict[str, Any]) -> Report | None:
    usage = row.get("observed_usage")
    if row["role"] != "assistant" or not usage or not usage.get("input_tokens"):
        return None
    return Report(
        model=usage.get("model") or row.get("model") or UNNAMED_MODEL,
        input_tokens=usage["input_tokens"],
        output_tokens=usage.get("output_tokens"),
        reasoning_output_tokens=usage.get("reasoning_output_tokens"),
    )
