"""What operators say of models, and what providers were seen to refuse."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from types import ModuleType

from sqlalchemy import Column, RowMapping, delete, select
from sqlalchemy.dialects import postgresql, sqlite

from app.core import canonical
from app.core.model_profile import ModelProfile, profile_from_json, profile_json
from app.core.stored import LearnedLimit
from app.store.connections import ReadConnection, WriteConnection
from app.store.messages import Order
from app.store.tables import learned_limits, operator_models


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorModel:
    """A profile that an operator put in front of the catalogue."""

    name: str
    profile: ModelProfile
    updated_at: datetime


class ModelRepository:
    """Reads of what is stored of models."""

    def __init__(self, connection: ReadConnection) -> None:
        self._connection = connection

    async def operator_models(self, names: Collection[str]) -> Mapping[str, OperatorModel]:
        """The operators' models of some names, by name."""
        encoded = [name.encode() for name in names]
        rows = await self._connection.execute(
            select(operator_models).where(operator_models.c.name.in_(encoded))
        )
        return {model.name: model for model in map(_operator_model, rows.mappings())}

    async def learned_limits(
        self, names: Collection[str]
    ) -> Mapping[str, tuple[LearnedLimit, ...]]:
        """The limits that were reported of some models, by name, the smallest first."""
        encoded = [name.encode() for name in names]
        rows = await self._connection.execute(
            select(learned_limits)
            .where(learned_limits.c.model.in_(encoded))
            .order_by(learned_limits.c.limit_tokens)
        )
        found: dict[str, tuple[LearnedLimit, ...]] = dict.fromkeys(names, ())
        for row in rows.mappings():
            found[row["model"].decode()] += (_learned_limit(row),)
        return found

    async def names(self, order: Order, after: str | None, limit: int) -> Sequence[str]:
        """Up to `limit` names of which something is stored, in the order of their bytes."""
        found = {
            *await self._names_in(operator_models.c.name, order, after, limit),
            *await self._names_in(learned_limits.c.model, order, after, limit),
        }
        return sorted(found, reverse=order == "desc")[:limit]

    async def _names_in(
        self, column: Column[bytes], order: Order, after: str | None, limit: int
    ) -> list[str]:
        statement = select(column).distinct().limit(limit)
        if after is not None:
            place = after.encode()
            statement = statement.where(column > place if order == "asc" else column < place)
        ordered = statement.order_by(column if order == "asc" else column.desc())
        return [name.decode() for name in (await self._connection.execute(ordered)).scalars()]


class ModelWriter(ModelRepository):
    """Changes of what is stored of models."""

    def __init__(self, connection: WriteConnection) -> None:
        super().__init__(connection)

    async def put(self, model: OperatorModel) -> None:
        """Store an operator's model in place of any of that name."""
        statement = (
            self._dialect()
            .insert(operator_models)
            .values(
                name=model.name.encode(),
                profile=canonical.encode(profile_json(model.profile)),
                updated_at=model.updated_at,
            )
        )
        changed = {name: statement.excluded[name] for name in ("profile", "updated_at")}
        await self._connection.execute(
            statement.on_conflict_do_update(index_elements=[operator_models.c.name], set_=changed)
        )

    async def delete(self, name: str) -> None:
        """Erase an operator's model, if there is one."""
        await self._connection.execute(
            delete(operator_models).where(operator_models.c.name == name.encode())
        )

    async def record_limit(
        self, model: str, limit_tokens: int, incarnation: str, at: datetime
    ) -> None:
        """Count one more report of a limit, by a session."""
        statement = (
            self._dialect()
            .insert(learned_limits)
            .values(
                model=model.encode(),
                limit_tokens=limit_tokens,
                reports=1,
                observed_at=at,
                incarnation=incarnation,
            )
        )
        await self._connection.execute(
            statement.on_conflict_do_update(
                index_elements=[learned_limits.c.model, learned_limits.c.limit_tokens],
                set_={
                    "reports": learned_limits.c.reports + 1,
                    "observed_at": statement.excluded.observed_at,
                    "incarnation": statement.excluded.incarnation,
                },
            )
        )

    async def forget_limits(self, model: str) -> None:
        """Erase every reported limit of a model."""
        await self._connection.execute(
            delete(learned_limits).where(learned_limits.c.model == model.encode())
        )

    def _dialect(self) -> ModuleType:
        return postgresql if self._connection.dialect.name == "postgresql" else sqlite


def _operator_model(row: RowMapping) -> OperatorModel:
    return OperatorModel(
        name=row["name"].decode(),
        profile=profile_from_json(canonical.decode(row["profile"])),
        updated_at=row["updated_at"],
    )


def _learned_limit(row: RowMapping) -> LearnedLimit:
    return LearnedLimit(
        limit_tokens=row["limit_tokens"],
        reports=row["reports"],
        observed_at=row["observed_at"],
    )
