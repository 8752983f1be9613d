"""Runtime state: what a checkpoint remembers beside its summary.

Source: docs/semantics/compaction.md#runtime-state.
"""

from dataclasses import dataclass, replace

from app.compaction.errors import StateError
from app.compaction.reading import list_of, object_of, refuse_other_fields, text_of
from app.core.content import JsonObject

STATE_SCHEMA_VERSION = 1
"""Of the whole state. A state of another version is refused, never guessed at."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extension:
    """What one contributor keeps under its own key, in a schema of its own."""

    key: str
    schema_version: int
    value: object


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionWarning:
    """A contributor that could be done without did not deliver."""

    contributor_key: str
    code: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RuntimeState:
    """The state of one checkpoint, the base of the next one."""

    edited_paths: tuple[str, ...]
    extensions: tuple[Extension, ...]
    """Sorted by key. A key that nobody knows here is kept as it came."""
    warnings: tuple[CollectionWarning, ...]

    def extension(self, key: str) -> Extension | None:
        """What is kept under a key."""
        return next((kept for kept in self.extensions if kept.key == key), None)

    def with_extension(self, extension: Extension) -> "RuntimeState":
        """The state with one key set, whatever it held before."""
        others = [kept for kept in self.extensions if kept.key != extension.key]
        ordered = sorted([*others, extension], key=lambda kept: kept.key)
        return replace(self, extensions=tuple(ordered))


EMPTY_STATE = RuntimeState(edited_paths=(), extensions=(), warnings=())
"""The base of a session's first compaction."""


def state_json(state: RuntimeState) -> JsonObject:
    """A runtime state as JSON."""
    return {
        "schema_version": STATE_SCHEMA_VERSION,
        "edited_paths": list(state.edited_paths),
        "extensions": {
            kept.key: {"schema_version": kept.schema_version, "value": kept.value}
            for kept in state.extensions
        },
        "warnings": [
            {"contributor_key": warning.contributor_key, "code": warning.code}
            for warning in state.warnings
        ],
    }


def state_from_json(value: object) -> RuntimeState:
    """The runtime state of JSON; absent lists are empty.

    Raises:
        StateError: It is no state, or one of another schema version.
    """
    fields = object_of(value, "runtime state")
    version = fields.get("schema_version")
    # In Python `true` is 1.
    if version != STATE_SCHEMA_VERSION or isinstance(version, bool):
        raise StateError(f"unsupported compaction runtime state schema version: {version}")
    refuse_other_fields(
        fields, ("schema_version", "edited_paths", "extensions", "warnings"), "runtime state"
    )
    extensions = object_of(fields.get("extensions", {}), "extensions")
    return RuntimeState(
        edited_paths=tuple(
            text_of(path, "edited path")
            for path in list_of(fields.get("edited_paths", []), "edited_paths")
        ),
        extensions=tuple(_extension(key, extensions[key]) for key in sorted(extensions)),
        warnings=tuple(
            _warning(warning) for warning in list_of(fields.get("warnings", []), "warnings")
        ),
    )


def _extension(key: str, value: object) -> Extension:
    what = f"extension {key}"
    fields = object_of(value, what)
    refuse_other_fields(fields, ("schema_version", "value"), what)
    version = fields.get("schema_version")
    if not isinstance(version, int) or "value" not in fields:
        raise StateError(f"{what} needs a schema_version and a value", key=key)
    return Extension(key=key, schema_version=version, value=fields["value"])


def _warning(value: object) -> CollectionWarning:
    fields = object_of(value, "warning")
    refuse_other_fields(fields, ("contributor_key", "code"), "warning")
    return CollectionWarning(
        contributor_key=text_of(fields.get("contributor_key"), "contributor_key"),
        code=text_of(fields.get("code"), "code"),
    )
