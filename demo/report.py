"""What the demo prints: tables for people, the same in every run but for the prepared id.

Text that came from a session is printed as plain text, never as markup.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from demo.answers import Call, GivenCall, Prefix
from demo.replay import Step

WIDTH = 100
LONGEST_SECTION = len("runtime/user-project-context")

Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What the demo has to tell."""

    message_count: int
    steps: tuple[Step, ...]
    pruned: GivenCall
    """The last call as it would be with old tool results shortened."""

    @property
    def last(self) -> Call:
        """The next call to make."""
        return self.steps[-1].call


def show(console: Console, outcome: Outcome) -> None:
    """Print everything."""
    last = outcome.last
    _head(console, f"Turns: {outcome.message_count} recorded messages, the last call of each turn")
    console.print(_turns(outcome.steps))
    _note(console, "provider: as billed in the recording, with another system prompt and tools")
    _head(console, "World state: what the model was told about the workspace")
    console.print(_world_state(outcome.steps))
    _head(console, f"The next call: {last['prepared_id']}")
    console.print(_tokens(last))
    _note(console, f"tokenizer: {last['budget']['counts']['basis']['tokenizer']}")
    _head(console, "Limits and decision")
    console.print(_pairs(_limits(last)))
    _head(console, "Request copy: what the model sees otherwise than it is stored")
    console.print(_pairs(_copy(outcome)))
    _head(console, "Prefix: what a provider's cache can serve")
    console.print(_pairs(_prefix(last)))
    _head(console, "Prefix breaks on the way")
    console.print(_breaks(outcome.steps))
    _note(console, "between parallel results: a made result gives way to the real one\n")
    console.print("The request was built again from what is stored: the same bytes.")
    console.print("Every request began with all messages of the one before, but for these breaks.")


def _turns(steps: Iterable[Step]) -> Table:
    table = _table("turn", "prepares", "messages", "json_bytes", "tokenizer", "provider", "used")
    table.add_column("state")
    for turn, group in groupby(steps, lambda step: step.turn):
        of_turn = list(group)
        call, reported = of_turn[-1].call, of_turn[-1].reported_input_tokens
        budget = call["budget"]
        table.add_row(
            str(turn),
            str(len(of_turn)),
            _count(call["message_count"]),
            _count(budget["counts"]["json_bytes"]),
            _count(budget["counts"]["tokenizer"]),
            "" if reported is None else _count(reported),
            f"{budget['used_percent']:.2f} %",
            budget["state"],
        )
    return table


def _world_state(steps: Iterable[Step]) -> Table:
    table = _table("turn", "sequence")
    table.add_column("section", min_width=LONGEST_SECTION)
    table.add_column("first line", no_wrap=True)
    for step in steps:
        for message in step.call["world_state"]["emitted"]:
            text: str = message["content"][0]["text"]
            table.add_row(
                str(step.turn),
                str(message["sequence"]),
                message["id"].rpartition(":")[2],
                Text(text.partition("\n")[0]),
            )
    return table


def _tokens(call: Call) -> Table:
    table = Table(box=SIMPLE_HEAD)
    table.add_column("tokens")
    table.add_column("json_bytes, which decides", justify="right")
    table.add_column("tokenizer", justify="right")
    counts = call["budget"]["counts"]
    by_bytes, by_tokenizer = counts["regions"]["json_bytes"], counts["regions"]["tokenizer"]
    for region in by_bytes:
        name = region.replace("_", " ")
        table.add_row(name, _count(by_bytes[region]), _count(by_tokenizer[region]))
    table.add_section()
    table.add_row("input", _count(counts["json_bytes"]), _count(counts["tokenizer"]))
    return table


def _limits(call: Call) -> Pairs:
    budget, limits, decision = call["budget"], call["limits"], call["decision"]
    yield "window", _count(limits["context_window"])
    yield "reserved for the answer", _count(budget["reserved_output_tokens"])
    yield "effective input", _count(limits["effective_input_tokens"])
    yield "line", _count(limits["auto_compact_token_limit"])
    yield "compacts from an input of", _count(limits["compact_at_input_tokens"])
    yield "left until then", _count(budget["remaining_tokens"])
    yield "decision", f"{decision['action']} ({decision['reason']})"
    yield "why", decision["detail"]


def _copy(outcome: Outcome) -> Pairs:
    call, pruned = outcome.last, outcome.pruned
    projection = call["projection"]
    codes = Counter(repair["code"] for repair in call["repairs"])
    for code, times in sorted(codes.items()):
        yield "repaired", f"{code}, {times} times"
    before, after = _count(projection["original_tokens"]), _count(projection["projected_tokens"])
    results = projection["truncated_tool_results"]
    yield "projected", f"tool results: {results}, from {before} to {after} tokens"
    yield "pruned", f"tool results: {call['pruned']['tool_results']}; the session has no boundary"
    before, after = (_count(made["budget"]["estimated_input_tokens"]) for made in (call, pruned))
    results, boundary = pruned["pruned"]["tool_results"], pruned["pruned"]["through_sequence"]
    yield (
        f"with one at {boundary}",
        f"tool results: {results}, the whole input from {before} to {after} tokens",
    )


def _prefix(call: Call) -> Pairs:
    prefix = call["prefix"]
    messages, size = _count(prefix["common_messages"]), _count(prefix["common_bytes"])
    yield "repeated from the call before", f"{messages} messages, {size} bytes"
    cause = prefix["cause"]
    yield "broken", "no" if cause is None else f"at message {prefix['broken_at']}: {cause}"
    for part in prefix["segments"]:
        yield f"segment {part['name']}", f"{_count(part['bytes'])} bytes, {part['sha256'][:16]}…"


def _breaks(steps: Sequence[Step]) -> Table:
    table = _table("turn", "prepare", "at message", "bytes still common", "of")
    table.add_column("cause")
    for number, step in enumerate(steps, start=1):
        prefix = step.call["prefix"]
        if prefix["cause"] is not None:
            table.add_row(
                str(step.turn),
                str(number),
                str(prefix["broken_at"]),
                _count(prefix["common_bytes"]),
                _count(_message_bytes(prefix)),
                prefix["cause"],
            )
    return table


def _message_bytes(prefix: Prefix) -> int:
    return sum(part["bytes"] for part in prefix["segments"] if part["name"] != "tools")


def _table(*numbers: str) -> Table:
    table = Table(box=SIMPLE_HEAD)
    for name in numbers:
        table.add_column(name, justify="right")
    return table


def _pairs(pairs: Pairs) -> Table:
    table = Table(box=None, show_header=False, pad_edge=True, padding=(0, 2))
    table.add_column()
    table.add_column()
    for name, value in pairs:
        table.add_row(name, Text(value))
    return table


def _head(console: Console, text: str) -> None:
    console.print(Text(f"\n{text}", style="bold"))


def _note(console: Console, text: str) -> None:
    console.print(Text(f"  {text}", style="dim"))


def _count(number: int) -> str:
    return f"{number:,}".replace(",", " ")
