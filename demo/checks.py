"""What must hold after the second session; each check ends the demo where it does not."""

import json
from collections.abc import Iterable, Mapping, Sequence

from demo.answers import Call, Stored
from demo.failure import DemoFailed
from demo.transcript import Recorded

UNTOUCHED = ("system", "tools")
"""Segments that no compaction may change."""


def untouched_segments(calls: Sequence[Call]) -> Mapping[str, str]:
    """The hash of each untouched segment, the same in all calls.

    Raises:
        DemoFailed: It is not.
    """
    first, *others = map(_hashes, calls)
    if any(hashes != first for hashes in others):
        raise DemoFailed("the system messages or the tools changed on the way")
    return first


def check_originals(covered: Iterable[Stored], recording: Iterable[Recorded], through: int) -> int:
    """The number of messages that a compaction covers, every original among them as it was sent.

    Args:
        covered: What the service gives back, in order.
        recording: What was appended, in order.
        through: The last sequence that the compaction covers.

    Raises:
        DemoFailed: One is missing, or differs in a byte.
    """
    stored = list(covered)
    if [message["sequence"] for message in stored] != list(range(1, through + 1)):
        raise DemoFailed(f"the history is not gapless from 1 to {through}")
    originals = [message for message in stored if message["kind"] != "world_state"]
    for original, recorded in zip(originals, recording, strict=False):
        sent = recorded.message
        if _compact({key: dict(original).get(key) for key in sent}) != _compact(sent):
            raise DemoFailed(f"{original['id']} is not stored as it was sent")
    return len(stored)


def _hashes(call: Call) -> dict[str, str]:
    segments = call["prefix"]["segments"]
    return {part["name"]: part["sha256"] for part in segments if part["name"] in UNTOUCHED}


def _compact(message: Mapping[str, object]) -> bytes:
    return json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
