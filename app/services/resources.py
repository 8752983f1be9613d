"""What every use case is given: the database, the caches, the clock and ids."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime

from app.catalogue.entries import Catalogue
from app.core.agent import decode_agent
from app.core.chat_count import SpecialTokens, item_tokens
from app.core.counting import TokenCounter
from app.core.items import Item
from app.core.model_profile import ModelProfile
from app.core.tool_surface import Surface, SurfaceOptions, build_surface
from app.model_catalogue import packaged_catalogue
from app.services.listeners import Listeners
from app.services.memo import RewriteMemo
from app.services.views import CheckpointCache
from app.store.agents import read_agent
from app.store.connections import ReadConnection
from app.store.database import Database
from app.tokenizers import counter_for

DEFAULT_CLAIM_SECONDS = 180
"""A summary attempt takes up to two minutes; after this another worker may take it over."""

KEPT_SURFACES = 256
"""Agents whose built tool surfaces a process remembers."""


KEPT_CHAT_SIZES = 100_000
"""Messages whose sizes as chats a process remembers, some ten megabytes."""

CHAT_ENCODING = "o200k_base"


class SurfaceCache:
    """Built tool surfaces by agent, options and counter; agents never change."""

    def __init__(self) -> None:
        self._surfaces: OrderedDict[tuple[str, SurfaceOptions, str], Surface] = OrderedDict()

    async def surface(
        self,
        connection: ReadConnection,
        agent_ref: str,
        options: SurfaceOptions,
        counter: TokenCounter,
    ) -> Surface:
        """The surface of a stored agent."""
        key = (agent_ref, options, counter.basis)
        known = self._surfaces.get(key)
        if known is not None:
            self._surfaces.move_to_end(key)
            return known
        agent = decode_agent(await read_agent(connection, agent_ref))
        surface = build_surface(agent, options, counter)
        self._surfaces[key] = surface
        if len(self._surfaces) > KEPT_SURFACES:
            self._surfaces.popitem(last=False)
        return surface


class ChatSizes:
    """Messages counted as chats of their own, for every model by one encoding (goose's rule)."""

    def __init__(self) -> None:
        self._known: OrderedDict[bytes, int] = OrderedDict()

    def __call__(self, item: Item) -> int:
        """Tokens of one message; equal messages are counted once while they are remembered."""
        key = item.facts.element_sha256
        known = self._known.get(key)
        if known is None:
            counter = SpecialTokens(counter=counter_for(CHAT_ENCODING))
            known = self._known[key] = item_tokens(item, counter)
            if len(self._known) > KEPT_CHAT_SIZES:
                self._known.popitem(last=False)
        return known


@dataclass(frozen=True, slots=True, kw_only=True)
class Resources:
    """Made once per process, closed with it."""

    database: Database
    now: Callable[[], datetime]
    new_id: Callable[[], str]
    """32 hexadecimal digits that nobody had before."""
    new_window_id: Callable[[], str]
    """A UUIDv7."""
    claim_seconds: int = DEFAULT_CLAIM_SECONDS
    memo: RewriteMemo = field(default_factory=RewriteMemo)
    chats: ChatSizes = field(default_factory=ChatSizes)
    surfaces: SurfaceCache = field(default_factory=SurfaceCache)
    checkpoints: CheckpointCache = field(default_factory=CheckpointCache)
    catalogue: Catalogue = field(default_factory=packaged_catalogue)
    listeners: Listeners = field(default_factory=Listeners)


def counter_of(profile: ModelProfile) -> TokenCounter:
    """The counter of a model."""
    return counter_for(profile.encoding, profile.media_rule)
