"""Shaping: more ways to make a request copy smaller, each off unless a policy asks for it.

Source: docs/semantics/request-copy.md#shaping.
"""

from collections.abc import Mapping
from typing import Literal, Protocol, TypeAlias

from app.core.trimming import Trimming
from app.core.truncation import Truncation

Retention: TypeAlias = Literal["keep", "never_clear", "always_clear"]
"""What becomes of a tool's results behind the watermark."""

DuplicateCallIds: TypeAlias = Literal["refuse", "rename"]
"""What becomes of a call whose id another open call has."""

Cut: TypeAlias = Literal["text", "json"]
"""How a result that is too long loses its middle or its ends."""

UnsupportedData: TypeAlias = Literal["refuse", "placeholder"]
"""What becomes of media that the model does not take."""

InvalidArguments: TypeAlias = Literal["keep", "wrap"]
"""What becomes of a call's arguments that are no JSON object."""

OldThinking: TypeAlias = Literal["keep", "behind_watermark"]
RepeatedResults: TypeAlias = Literal["keep", "reference"]

PairingRule: TypeAlias = Literal["synthesise", "clean", "fix"]
"""What becomes of a call without a result: an answer is made for it, or it is left out. To fix is
to mend whatever else a provider would refuse, too."""

CacheState: TypeAlias = Literal["warm", "cold"]
"""Whether a provider may still hold the session's last request in its prompt cache."""


class Shaping(Protocol):
    """The rules by which old messages are made shorter, beside prune's own length."""

    @property
    def tool_retention(self) -> Mapping[str, Retention]:
        """The rule of a tool's results, by its name; a tool without one is kept."""

    @property
    def old_call_argument_chars(self) -> int | None:
        """Code points that the arguments of an old call keep. None: all of them."""

    @property
    def drop_old_thinking(self) -> OldThinking:
        """Whether the thinking of finished tool loops is left out."""

    @property
    def repeated_results(self) -> RepeatedResults:
        """Whether a repeated result gives way to a reference to the first one."""

    @property
    def tool_output_truncation(self) -> Truncation | None:
        """The cut of every tool result, in place of projection. None: projection."""

    @property
    def cut(self) -> Cut:
        """Whether a cut result that is JSON stays JSON."""

    @property
    def unsupported_data(self) -> UnsupportedData:
        """Whether media that the model does not take is refused, or gives way to a line."""

    @property
    def duplicate_call_ids(self) -> DuplicateCallIds:
        """Whether calls that share an id are taken, and told apart in the request."""

    @property
    def invalid_arguments(self) -> InvalidArguments:
        """Whether broken arguments stand in an object of their own."""

    @property
    def max_images(self) -> int | None:
        """Images that a request may carry. None: all of them."""

    @property
    def context_policy(self) -> Trimming:
        """How much of a conversation each request shows."""

    @property
    def pairing(self) -> PairingRule:
        """What becomes of calls and results that do not pair."""

    @property
    def cache_ttl_seconds(self) -> int:
        """How long a provider holds a request in its cache."""

    def prunes_under_line(self, cache: CacheState) -> bool:
        """Whether the watermark moves although the line is not reached."""
