"""What the demo prints of the first session, the same in every run but for the prepared id."""

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
from demo.tables import Pairs, count, first_line, head, note, numbers_table, pairs_table

LONGEST_SECTION = len("runtime/user-project-context")


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
    head(console, f"Turns: {outcome.message_count} recorded messages, the last call of each turn")
    console.print(_turns(outcome.steps))
    note(console, "provider: as billed in the recording, with another system prompt and tools")
    head(console, "World state: what the model was told about the workspace")
    console.print(_world_state(outcome.steps))
    head(console, f"The next call: {last['prepared_id']}")
    console.print(_tokens(last))
    note(console, f"tokenizer: {last['budget']['counts']['basis']['tokenizer']}")
    head(console, "Limits and decision")
    console.print(pairs_table(_limits(last)))
    head(console, "Request copy: what the model sees otherwise than it is stored")
    console.print(pairs_table(_copy(outcome)))
    head(console, "Prefix: what a provider's cache can serve")
    console.print(pairs_table(_prefix(last)))
    head(console, "Prefix breaks on the way")
    console.print(_breaks(outcome.steps))
    note(console, "between parallel results: a made result gives way to the real one\n")
    console.print("The request was built again from what is stored: the same bytes.")
    console.print("Every request began with all messages of the one before, but for these breaks.")


def _turns(steps: Iterable[Step]) -> Table:
    table = numbers_table(
        "turn", "prepares", "messages", "json_bytes", "tokenizer", "provider", "used"
    )
    table.add_column("state")
    for turn, group in groupby(steps, lambda step: step.turn):
        of_turn = list(group)
        call, reported = of_turn[-1].call, of_turn[-1].reported_input_tokens
        budget = call["budget"]
        table.add_row(
            str(turn),
            str(len(of_turn)),
            count(call["message_count"]),
            count(budget["counts"]["json_bytes"]),
            count(budget["counts"]["tokenizer"]),
            "" if reported is None else count(reported),
            f"{budget['used_percent']:.2f} %",
            budget["state"],
        )
    return table


def _world_state(steps: Iterable[Step]) -> Table:
    table = numbers_table("turn", "sequence")
    table.add_column("section", min_width=LONGEST_SECTION)
    table.add_column("first line", no_wrap=True)
    for step in steps:
        for message in step.call["world_state"]["emitted"]:
            text: str = message["content"][0]["text"]
            table.add_row(
                str(step.turn),
                str(message["sequence"]),
                message["id"].rpartition(":")[2],
                Text(first_line(text)),
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
        table.add_row(name, count(by_bytes[region]), count(by_tokenizer[region]))
    table.add_section()
    table.add_row("input", count(counts["json_bytes"]), count(counts["tokenizer"]))
    return table


def _limits(call: Call) -> Pairs:
    budget, limits, decision = call["budget"], call["limits"], call["decision"]
    yield "window", count(limits["context_window"])
    yield "reserved for the answer", count(budget["reserved_output_tokens"])
    yield "effective input", count(limits["effective_input_tokens"])
    yield "line", count(limits["auto_compact_token_limit"])
    yield "compacts from an input of", count(limits["compact_at_input_tokens"])
    yield "left until then", count(budget["remaining_tokens"])
    yield "decision", f"{decision['action']} ({decision['reason']})"
    yield "why", decision["detail"]


def _copy(outcome: Outcome) -> Pairs:
    call, pruned = outcome.last, outcome.pruned
    projection = call["projection"]
    codes = Counter(repair["code"] for repair in call["repairs"])
    for code, times in sorted(codes.items()):
        yield "repaired", f"{code}, {times} times"
    before, after = count(projection["original_tokens"]), count(projection["projected_tokens"])
    results = projection["truncated_tool_results"]
    yield "projected", f"tool results: {results}, from {before} to {after} tokens"
    yield "pruned", f"tool results: {call['pruned']['tool_results']}; the session has no boundary"
    before, after = (count(made["budget"]["estimated_input_tokens"]) for made in (call, pruned))
    results, boundary = pruned["pruned"]["tool_results"], pruned["pruned"]["through_sequence"]
    yield (
        f"with one at {boundary}",
        f"tool results: {results}, the whole input from {before} to {after} tokens",
    )


def _prefix(call: Call) -> Pairs:
    prefix = call["prefix"]
    messages, size = count(prefix["common_messages"]), count(prefix["common_bytes"])
    yield "repeated from the call before", f"{messages} messages, {size} bytes"
    cause = prefix["cause"]
    yield "broken", "no" if cause is None else f"at message {prefix['broken_at']}: {cause}"
    for part in prefix["segments"]:
        yield f"segment {part['name']}", f"{count(part['bytes'])} bytes, {part['sha256'][:16]}…"


def _breaks(steps: Sequence[Step]) -> Table:
    table = numbers_table("turn", "prepare", "at message", "bytes still common", "of")
    table.add_column("cause")
    for number, step in enumerate(steps, start=1):
        prefix = step.call["prefix"]
        if prefix["cause"] is not None:
            table.add_row(
                str(step.turn),
                str(number),
                str(prefix["broken_at"]),
                count(prefix["common_bytes"]),
                count(_message_bytes(prefix)),
                prefix["cause"],
            )
    return table


def _message_bytes(prefix: Prefix) -> int:
    return sum(part["bytes"] for part in prefix["segments"] if part["name"] != "tools")
