"""How Codex CLI pairs calls with outputs: by membership, without looking at their order.

It is kept for comparison. Requests made here are paired by an ordered walk
(`app.core.normalize`), which also sees duplicates and misplaced results.

Source: docs/semantics/codex.md#pairing.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

EntryKind: TypeAlias = Literal["call", "shell", "custom", "out", "custom_out", "other"]

ABORTED = "aborted"
"""The output that Codex makes for a call that has none."""

_OUTPUT_OF: Mapping[EntryKind, EntryKind] = {
    "call": "out",
    "shell": "out",
    "custom": "custom_out",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A call, an output, or something else that is not looked at."""

    kind: EntryKind
    call_id: str
    text: str | None = None


def codex_normalize(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries in which every call has an output of its kind and every output a call."""
    called = {(_OUTPUT_OF[e.kind], e.call_id) for e in entries if e.kind in _OUTPUT_OF}
    answered = {(e.kind, e.call_id) for e in entries if e.kind in _OUTPUT_OF.values()}
    paired: list[Entry] = []
    for entry in entries:
        if entry.kind in _OUTPUT_OF.values() and (entry.kind, entry.call_id) not in called:
            continue
        paired.append(entry)
        output = _OUTPUT_OF.get(entry.kind)
        if output is not None and (output, entry.call_id) not in answered:
            paired.append(Entry(kind=output, call_id=entry.call_id, text=ABORTED))
    return tuple(paired)
