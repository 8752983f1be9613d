"""A parsed catalogue: models by name, every number with who says so and since when.

Source: docs/semantics/models.md#the-catalogue.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

from app.core.model_profile import ModelProfile, ProfileOrigin

Field: TypeAlias = Literal[
    "context_window", "max_input_tokens", "max_output_tokens", "accepts_data_blocks", "encoding"
]
FIELDS: tuple[Field, ...] = (
    "context_window",
    "max_input_tokens",
    "max_output_tokens",
    "accepts_data_blocks",
    "encoding",
)
"""What an entry may say. A field that no source knows is absent, never a default."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """A value with its source and the day on which the source said it."""

    value: object
    source: str
    date: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is published of one model."""

    name: str
    provider: str
    aliases: tuple[str, ...]
    fields: Mapping[Field, Said]
    others: Mapping[Field, Said]
    """What another source says of a field, where the two cannot both be right."""

    @property
    def max_input_tokens(self) -> int | None:
        """The limit of the input alone, where one is published."""
        said = self.fields.get("max_input_tokens")
        # `catalogue_from_json` lets no other type in.
        return None if said is None else cast("int", said.value)

    def profile(self, asked: str) -> ModelProfile:
        """The profile that a session of a model called `asked` gets."""
        given = {
            name: said.value for name, said in self.fields.items() if name != "max_input_tokens"
        }
        # `catalogue_from_json` has checked each value against its field.
        values = cast("dict[str, Any]", {"context_window": None, **given})
        return ModelProfile(name=self.name, origin=self._origin(asked), **values)

    def _origin(self, asked: str) -> ProfileOrigin | None:
        window = self.fields.get("context_window")
        if window is None:
            return None
        meaning = "" if asked == self.name else f", which {asked!r} resolves to"
        why = f"{window.source} of {window.date} on {self.name!r}{meaning}"
        return ProfileOrigin(source="catalogue", why=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Catalogue:
    """Every entry, by its name and by its aliases."""

    entries: Mapping[str, Entry]
    by_alias: Mapping[str, Entry]

    def find(self, spelling: str) -> Entry | None:
        """The entry of exactly that name or alias."""
        return self.entries.get(spelling) or self.by_alias.get(spelling)


def catalogue_from_json(value: object) -> Catalogue:
    """The catalogue of the packaged file's value.

    Raises:
        ValueError: A field, a source or a value is none that an entry can have.
    """
    # The shape is the script's that writes the file; what it holds is checked below.
    document = cast("dict[str, dict[str, dict[str, Any]]]", value)
    dates = {name: source["date"] for name, source in document["sources"].items()}
    entries = {name: _entry(name, record, dates) for name, record in document["models"].items()}
    for entry in entries.values():
        # A profile that cannot be is found when the file is read, not by a session.
        entry.profile(entry.name)
    by_alias = {alias: entry for entry in entries.values() for alias in entry.aliases}
    return Catalogue(entries=entries, by_alias=by_alias)


def _entry(name: str, record: Mapping[str, Any], dates: Mapping[str, str]) -> Entry:
    said: dict[str, list[Any]] = {key: pair for key, pair in record.items() if key in FIELDS}
    unknown = record.keys() - said.keys() - {"provider", "aliases", "others"}
    if unknown:
        raise ValueError(f"{name}: no entry has {sorted(unknown)}")
    return Entry(
        name=name,
        provider=record["provider"],
        aliases=tuple(record.get("aliases", ())),
        fields=dict(_said(said, dates)),
        others=dict(_said(record.get("others", {}), dates)),
    )


def _said(pairs: Mapping[str, list[Any]], dates: Mapping[str, str]) -> Iterator[tuple[Field, Said]]:
    for field in FIELDS:
        if field not in pairs:
            continue
        value, source = pairs[field]
        if source not in dates or not _fits(field, value):
            raise ValueError(f"{field} cannot be {value!r} by {source!r}")
        yield field, Said(value=value, source=source, date=dates[source])


def _fits(field: Field, value: object) -> bool:
    match field:
        case "accepts_data_blocks":
            return isinstance(value, bool)
        case "encoding":
            return value in ("cl100k_base", "o200k_base")
        case _:
            return isinstance(value, int) and not isinstance(value, bool) and value > 0
