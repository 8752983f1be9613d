"""Models: which name means what, what operators put first, and what was learned of limits.

Source: docs/semantics/models.md.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import islice
from typing import Literal, TypeAlias

from app.catalogue.entries import Catalogue, Entry, Said
from app.catalogue.lookup import entry_of
from app.catalogue.spellings import spellings
from app.core.model_profile import ModelProfile, ProfileOrigin, profile_json, unknown_profile
from app.core.stored import LearnedLimit
from app.services.resources import Resources
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import Order
from app.store.models import ModelRepository, ModelWriter, OperatorModel
from app.store.prepared import PreparedWriter

ModelState: TypeAlias = Literal["known", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Model:
    """What a name means."""

    name: str
    resolved_name: str | None = None
    """The entry's own name; None where no entry is meant."""
    provider: str | None = None
    profile: ModelProfile
    max_input_tokens: int | None = None
    """A limit of the input alone, where one is published."""
    sources: Mapping[str, Said] = field(default_factory=dict)
    """Who says each field of the profile. The fields that nobody says are not in it."""
    others: Mapping[str, Said] = field(default_factory=dict)
    """What another source says against a field."""
    learned: tuple[LearnedLimit, ...] = ()

    @property
    def state(self) -> ModelState:
        """Whether anything is known under that name."""
        return "unknown" if self.resolved_name is None else "known"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFilter:
    """Which models a page lists. None: all of them."""

    provider: str | None = None
    q: str | None = None
    """A part of the name."""


async def profile_of_model(
    resources: Resources, connection: ReadConnection, name: str
) -> ModelProfile | None:
    """The profile that a session of a model gets; None where nothing is known of the name."""
    operators = await ModelRepository(connection).operator_models(_spelled(name))
    model = _resolved(resources.catalogue, operators, name)
    return None if model.state == "unknown" else model.profile


async def learned_limit(connection: ReadConnection, name: str) -> LearnedLimit | None:
    """The smallest limit that was reported of a model, by exactly that name."""
    return (await learned_limits(connection, [name])).get(name)


async def learned_limits(
    connection: ReadConnection, names: Collection[str]
) -> Mapping[str, LearnedLimit]:
    """The smallest limit that was reported of each of some models; others are not in it."""
    learned = await ModelRepository(connection).learned_limits(names)
    return {name: limits[0] for name, limits in learned.items() if limits}


async def limits_learned(
    resources: Resources, names: Collection[str]
) -> Mapping[str, LearnedLimit]:
    """`learned_limits` in a transaction of its own."""
    async with resources.database.reading() as connection:
        return await learned_limits(connection, names)


async def record_limit(
    connection: WriteConnection, incarnation: str, prepared_id: str, tokens: int, at: datetime
) -> None:
    """Learn what limit the provider of a prepared call named, once per call."""
    model = await PreparedWriter(connection, incarnation).observe_limit(prepared_id, tokens)
    if model is not None:
        await ModelWriter(connection).record_limit(model, tokens, incarnation, at)


async def get_model(resources: Resources, name: str) -> Model:
    """What a name means, with what was learned of it."""
    async with resources.database.reading() as connection:
        (model,) = await _models(resources.catalogue, ModelRepository(connection), [name])
        return model


async def put_model(resources: Resources, name: str, profile: ModelProfile) -> Model:
    """The model after an operator's profile was put in front of the catalogue's."""
    put = OperatorModel(name=name, profile=profile, updated_at=resources.now())
    async with resources.database.writing() as connection:
        writer = ModelWriter(connection)
        await writer.put(put)
        (model,) = await _models(resources.catalogue, writer, [name])
        return model


async def delete_model(resources: Resources, name: str) -> None:
    """Take an operator's profile away, so that the catalogue's counts again."""
    async with resources.database.writing() as connection:
        await ModelWriter(connection).delete(name)


async def forget_learned(resources: Resources, name: str) -> None:
    """Forget every limit that was reported of a model."""
    async with resources.database.writing() as connection:
        await ModelWriter(connection).forget_limits(name)


async def list_models(
    resources: Resources, wanted: ModelFilter, order: Order, after: str | None, limit: int
) -> list[Model]:
    """Up to `limit` models of a filter that come after a name: published, put or learned of."""
    catalogue, found = resources.catalogue, list[str]()
    async with resources.database.reading() as connection:
        stored = ModelRepository(connection)
        while len(found) < limit:
            beside = await stored.names(order, after, limit)
            names = list(islice(_names(catalogue, beside, order, after), limit))
            found += (name for name in names if _is_wanted(catalogue, wanted, name))
            if len(names) < limit:
                break
            # The filter may have left some out, so the page goes on behind them.
            after = names[-1]
        return await _models(catalogue, stored, found[:limit])


def _names(
    catalogue: Catalogue, stored: Sequence[str], order: Order, after: str | None
) -> Iterable[str]:
    """The names of the catalogue and the stored ones that come after a name, each once."""
    published = [
        name
        for name in catalogue.entries.keys() - set(stored)
        if after is None or (name > after if order == "asc" else name < after)
    ]
    return sorted([*published, *stored], reverse=order == "desc")


def _is_wanted(catalogue: Catalogue, wanted: ModelFilter, name: str) -> bool:
    if wanted.q is not None and wanted.q not in name:
        return False
    entry = catalogue.entries.get(name)
    return wanted.provider is None or (entry is not None and entry.provider == wanted.provider)


async def _models(
    catalogue: Catalogue, stored: ModelRepository, names: Sequence[str]
) -> list[Model]:
    operators = await stored.operator_models(
        {spelled for name in names for spelled in _spelled(name)}
    )
    learned = await stored.learned_limits(names)
    return [replace(_resolved(catalogue, operators, name), learned=learned[name]) for name in names]


def _spelled(name: str) -> list[str]:
    return [spelling.name for spelling in spellings(name)]


def _resolved(catalogue: Catalogue, operators: Mapping[str, OperatorModel], name: str) -> Model:
    """What a name means: of its closest spelling, the operator's profile before the catalogue's."""
    for spelling in spellings(name):
        entry = entry_of(catalogue, spelling)
        put = operators.get(spelling.name)
        if put is not None:
            return _put(name, put, entry)
        if entry is not None:
            return _published(name, entry)
    return Model(name=name, profile=unknown_profile(name))


def _put(name: str, put: OperatorModel, entry: Entry | None) -> Model:
    date = put.updated_at.date().isoformat()
    meaning = "" if name == put.name else f", which {name!r} resolves to"
    origin = ProfileOrigin(source="operator", why=f"set on {date} for {put.name!r}{meaning}")
    said = profile_json(put.profile).items()
    return Model(
        name=name,
        resolved_name=put.name,
        provider=None if entry is None else entry.provider,
        profile=replace(put.profile, origin=origin),
        sources={
            key: Said(value=value, source="operator", date=date)
            for key, value in said
            if value is not None and key != "name"
        },
    )


def _published(name: str, entry: Entry) -> Model:
    return Model(
        name=name,
        resolved_name=entry.name,
        provider=entry.provider,
        profile=entry.profile(name),
        max_input_tokens=entry.max_input_tokens,
        sources=dict(entry.fields.items()),
        others=dict(entry.others.items()),
    )
