"""Foldings: in which style a policy compacts, with the values of that style.

Source: docs/policies.md.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

from app.policies.compact_config import DEFAULT_COMPACT, CompactConfig

StyleName: TypeAlias = Literal["openwork", "codex", "hidden_history", "summary_tail"]
MiddleOut: TypeAlias = Literal["centered", "legacy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenWorkFolding:
    """The last user request, a summary in nine sections, and a reminder."""

    style: ClassVar[StyleName] = "openwork"
    summary_share_percent: ClassVar[int | None] = None

    @property
    def style_values(self) -> Mapping[str, object]:
        """The values of the style; it has none."""
        return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class CodexFolding:
    """The newest user messages, and a summary in the model's own words."""

    style: ClassVar[StyleName] = "codex"
    summary_share_percent: ClassVar[int | None] = None

    kept_user_message_tokens: int = 20_000
    """What the user messages that outlive a compaction may take (Codex CLI's number)."""

    @property
    def style_values(self) -> Mapping[str, object]:
        """The values of the style."""
        return {"kept_user_message_tokens": self.kept_user_message_tokens}


@dataclass(frozen=True, slots=True, kw_only=True)
class HiddenFolding:
    """All old messages hidden from the agent; a summary, a continuation and the request."""

    style: ClassVar[StyleName] = "hidden_history"

    middle_out_order: MiddleOut = "centered"
    summary_template: str | None = None
    """How a structured summary is told. None: by goose's headings."""
    summary_share_percent: int | None = None
    """What of the summarising model's window a summary may take. None: whatever it is."""

    @property
    def style_values(self) -> Mapping[str, object]:
        """The values of the style."""
        return {
            "middle_out_order": self.middle_out_order,
            "summary_template": self.summary_template,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class TailFolding:
    """A summary, and the newest messages behind it as they are."""

    style: ClassVar[StyleName] = "summary_tail"

    compact: CompactConfig = DEFAULT_COMPACT
    strict_cut: bool = False
    """Whether the tail is cut by the number alone, through tool rounds."""
    summary_share_percent: int | None = 20
    """What of the summarising model's window a summary may take: each one speaks of the last."""

    @property
    def style_values(self) -> Mapping[str, object]:
        """The values of the style."""
        return {
            "keep_last": self.compact.keep_last,
            "cut": "strict" if self.strict_cut else "whole_rounds",
            "instructions": self.compact.instructions,
            "agent_instructions": self.compact.agent_instructions,
        }


Folding: TypeAlias = OpenWorkFolding | CodexFolding | HiddenFolding | TailFolding
