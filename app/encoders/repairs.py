"""The repairs of one encoding, in the order in which they were made.

Source: docs/semantics/encoders.md#repairs.
"""

from dataclasses import dataclass, field

from app.encoders.encoding import EncodingRepair, EncodingRepairCode


@dataclass(slots=True)
class RepairLog:
    """Repairs as they are made; the same one is told once."""

    _told: dict[EncodingRepair, None] = field(default_factory=dict)

    def add(
        self,
        code: EncodingRepairCode,
        message_index: int | None,
        *,
        call_id: str | None = None,
        detail: str | None = None,
    ) -> None:
        """Tell a repair of a message, or of the request where the index is None."""
        repair = EncodingRepair(
            code=code, message_index=message_index, call_id=call_id, detail=detail
        )
        self._told[repair] = None

    def all(self) -> tuple[EncodingRepair, ...]:
        """What was told."""
        return tuple(self._told)
