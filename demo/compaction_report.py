"""What the demo prints of the second session, the same in every run but for ids."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.answers import Provenance, SessionState
from demo.session import Prepared
from demo.tables import Pairs, count, first_line, head, note, numbers_table, pairs_table
from demo.worker import Asked, Fold

LONGEST_LINE = 50
"""Leaves room for the other columns of the conversation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactedOutcome:
    """What the demo has to tell of the second session."""

    asked: tuple[Asked, ...]
    folds: tuple[Fold, ...]
    covered_count: int
    """Messages behind the last summary."""
    segments: Mapping[str, str]
    """Hashes that were the same in every request."""
    state: SessionState
    """At the end."""


def show_compactions(console: Console, outcome: CompactedOutcome) -> None:
    """Print everything."""
    limits = outcome.asked[0].call["limits"]
    head(
        console,
        f"The same session with a window of {count(limits['context_window'])}: "
        f"it compacts from {count(limits['compact_at_input_tokens'])}",
    )
    console.print(_moves(outcome.asked))
    note(console, "pruning comes first: where it is enough, nothing is summarised")
    for number, fold in enumerate(outcome.folds, start=1):
        point = fold.compacted.point
        head(console, f"Compaction {number}: turn {point.turn}, model call {point.model_call}")
        console.print(_receipt(fold))
        console.print(pairs_table(_facts(fold)))
    note(console, "conversation tokens: as stored; input: as sent, pruned and projected")
    last = outcome.folds[-1]
    head(console, "What the model saw after the last compaction")
    console.print(_conversation(last.after))
    head(console, "After all of it")
    console.print(pairs_table(_end(outcome)))


def _moves(asked: Sequence[Asked]) -> Table:
    table = numbers_table("turn", "call", "input before", "pruned through", "results", "input now")
    table.add_column("decision")
    table.add_column("prefix")
    for before, after in pairwise(asked):
        pruned = after.call["pruned"]
        boundary = pruned["through_sequence"]
        if boundary != before.call["pruned"]["through_sequence"]:
            table.add_row(
                str(after.point.turn),
                str(after.point.model_call),
                count(before.call["budget"]["estimated_input_tokens"]),
                str(boundary),
                str(pruned["tool_results"]),
                count(after.call["budget"]["estimated_input_tokens"]),
                after.call["decision"]["action"],
                after.call["prefix"]["cause"],
            )
    return table


def _receipt(fold: Fold) -> Table:
    table = Table(box=None, padding=(0, 2))
    table.add_column("conversation tokens")
    for name in ("before", "after", "reclaimed"):
        table.add_column(name, justify="right")
    tokens = fold.compacted.tokens
    for counter, difference in (
        ("json_bytes", tokens["json_bytes"]),
        ("tokenizer", tokens["tokenizer"]),
    ):
        table.add_row(
            counter,
            count(difference["before"]),
            count(difference["after"]),
            count(difference["reclaimed"]),
        )
    return table


def _facts(fold: Fold) -> Pairs:
    compacted, call = fold.compacted, fold.after.call
    before, after = (
        count(asked["budget"]["estimated_input_tokens"]) for asked in (fold.before, call)
    )
    yield "input", f"from {before} to {after} tokens"
    yield "kind", f"{compacted.kind}, of messages 1 to {compacted.through_sequence}"
    yield "attempts", str(len(compacted.rejections) + 1)
    for attempt, reason in enumerate(compacted.rejections, start=1):
        yield f"rejected {attempt}", reason
    yield "window", f"number {compacted.window_number}"
    emitted = [message["id"].rpartition(":")[2] for message in call["world_state"]["emitted"]]
    yield "told again", ", ".join(emitted) or "nothing"
    prefix = call["prefix"]
    yield "prefix", f"broken at message {prefix['broken_at']}: {prefix['cause']}"
    decision = call["decision"]
    yield "then", f"{decision['action']} ({decision['reason']})"


def _conversation(prepared: Prepared) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("role")
    table.add_column("from")
    table.add_column("first line", no_wrap=True, overflow="ellipsis", max_width=LONGEST_LINE)
    table.add_column("tokens", justify="right")
    for role, origin, line, tokens in _rows(prepared):
        table.add_row(role, origin, Text(line), count(tokens))
    return table


def _rows(prepared: Prepared) -> Iterator[tuple[str, str, str, int]]:
    messages: list[dict[str, Any]] = json.loads(prepared.request)["messages"]
    tokens = [item["json_bytes"] for item in prepared.call["items"]["messages"]]
    stored = prepared.call["provenance"]
    system_count = len(messages) - len(stored)
    origins = ["agent"] * system_count + [_origin(entry) for entry in stored]
    for message, origin, size in zip(messages, origins, tokens, strict=True):
        yield message["role"], origin, first_line(_text(message)), size


def _origin(entry: Provenance) -> str:
    if entry["type"] == "synthetic":
        return entry["reason"]
    is_world_state = entry["message_id"].startswith("world-state:")
    return f"{'world state' if is_world_state else 'message'} {entry['sequence']}"


def _text(message: Mapping[str, Any]) -> str:
    """What a message says first: a text, or the name of a tool."""
    blocks: list[dict[str, Any]] = message["content"]
    return next((block.get("text") or block.get("name", block["type"]) for block in blocks), "")


def _end(outcome: CompactedOutcome) -> Pairs:
    state = outcome.state
    resume, window = state["resume"], state["window"]
    yield (
        "history",
        f"{outcome.covered_count} messages behind the last summary, "
        "originals byte for byte as sent",
    )
    for name, digest in outcome.segments.items():
        requests = len(outcome.asked)
        yield f"segment {name}", f"the same in all {requests} requests: {digest[:16]}…"
    yield (
        "resume",
        f"{resume['turn_id']} {resume['turn_status']}, model call {resume['model_call']}, "
        f"sample {resume['sample']}; "
        f"{len(resume['unresolved_tool_calls'])} calls without a result",
    )
    yield (
        "window",
        f"{window['id']}, pruned through {state['pruned_through_sequence']}, "
        f"open compaction: {resume['open_compaction_id'] or 'none'}",
    )
