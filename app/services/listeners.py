"""Who listens to the events of a process: how many there are, and what wakes and ends them.

Source: docs/semantics/events.md#the-stream.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.core.events import TooManyStreams

DEFAULT_MOST = 100
DEFAULT_POLL_SECONDS = 1.0
COMMENT_SECONDS = 15.0
"""How long a stream says nothing, by the contract: what stands between gives up silent ones."""


class Listeners:
    """The listeners of one process. All of them wake together."""

    def __init__(
        self,
        most: int = DEFAULT_MOST,
        poll_seconds: float = DEFAULT_POLL_SECONDS,
        comment_seconds: float = COMMENT_SECONDS,
    ) -> None:
        self.comment_seconds = comment_seconds
        self.is_ending = False
        self._most = most
        self._poll_seconds = poll_seconds
        self._count = 0
        self._pulse = asyncio.Event()

    @contextmanager
    def place_for_one(self) -> Iterator[None]:
        """Room for one more listener, while the block runs.

        Raises:
            TooManyStreams: There is none.
        """
        if self._count >= self._most:
            raise TooManyStreams(
                f"this process gives events to {self._most} listeners already", limit=self._most
            )
        self._count += 1
        try:
            yield
        finally:
            self._count -= 1

    def wake(self) -> None:
        """Have every listener look for events at once."""
        pulse, self._pulse = self._pulse, asyncio.Event()
        pulse.set()

    def end(self) -> None:
        """Have every stream come to its end."""
        self.is_ending = True
        self.wake()

    @property
    def pulse(self) -> asyncio.Event:
        """What the next wake sets. Take it before looking, so that no wake is missed."""
        return self._pulse

    async def pause(self, pulse: asyncio.Event, seconds: float) -> None:
        """Wait until the pulse, or until it is time to look or `seconds` are over."""
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, self._poll_seconds)):
                await pulse.wait()
