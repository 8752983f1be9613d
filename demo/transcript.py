"""The recorded session: one message a line, with what the provider reported beside it."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from demo.file_changes import with_file_changes

NOT_OF_THE_MESSAGE = frozenset({"observed_usage", "stop_reason"})
"""Fields that the recorder put beside the message."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """One recorded message. Turns are counted from 1, each begins with a user message."""

    message: Mapping[str, object]
    turn: int
    reported_input_tokens: int | None
    """The whole input of the call that made this message, as its provider counted it."""

    @property
    def role(self) -> object:
        """Who speaks."""
        return self.message["role"]


def read_transcript(path: Path) -> list[Recorded]:
    """The messages of a recording, in order, as they are appended."""
    recorded: list[Recorded] = []
    turn = 0
    with path.open(encoding="utf-8") as lines:
        for fields in with_file_changes(map(json.loads, lines)):
            turn += fields["role"] == "user"
            message = {key: fields[key] for key in fields if key not in NOT_OF_THE_MESSAGE}
            usage = fields.get("observed_usage") or {}
            recorded.append(
                Recorded(
                    message={**message, "turn_id": f"turn-{turn}"},
                    turn=turn,
                    reported_input_tokens=usage.get("input_tokens"),
                )
            )
    return recorded
