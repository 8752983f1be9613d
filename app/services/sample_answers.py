"""Answers to usage reports, kept so that a repeat gets the same one."""

from dataclasses import asdict, dataclass
from typing import Any, cast

from app.core import canonical
from app.core.limits import AppendedMessage, Decision
from app.policies.window_status import WindowStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleAnswer:
    """How full a window is after a call, and what the next call of the turn will be told."""

    status: WindowStatus
    decision: Decision


def encode_answer(answer: SampleAnswer) -> bytes:
    """The canonical bytes of an answer."""
    return canonical.encode(asdict(answer))


def decode_answer(data: bytes) -> SampleAnswer:
    """The answer of bytes that `encode_answer` made."""
    # Only bytes made by `encode_answer` come here, so their shape is known. A decision after a
    # sample names no compaction yet, so all of its other values are plain.
    parts = cast("dict[str, dict[str, Any]]", canonical.decode(data))
    decision = parts["decision"]
    if decision.get("append") is not None:
        decision = {**decision, "append": AppendedMessage(**decision["append"])}
    return SampleAnswer(status=WindowStatus(**parts["status"]), decision=Decision(**decision))
