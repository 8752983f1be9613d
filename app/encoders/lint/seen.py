"""What rules look at: a body of any format as messages of parts, each with its path.

Source: docs/semantics/lint.md.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from app.core.json_text import json_object
from app.encoders.lint.findings import FindingLog

Speaker: TypeAlias = Literal["system", "user", "assistant"]
Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenText:
    """A text that a model reads."""

    path: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenCall:
    """A call of a tool."""

    path: str
    id: str
    has_object: bool
    """Whether its arguments are a JSON object."""
    arguments_path: str
    is_signed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenResult:
    """The result of a call."""

    path: str
    id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMedium:
    """An image or another medium."""

    path: str
    sort: str | None
    """Its type; None where the body does not tell it."""
    data: str | None = None
    """Its payload in base64; None where it lies elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenThinking:
    """Reasoning that is sent back."""

    path: str
    is_signed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenOther:
    """A part that no rule speaks of."""

    path: str


SeenPart: TypeAlias = SeenText | SeenCall | SeenResult | SeenMedium | SeenThinking | SeenOther


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenMessage:
    """A message, or an item that stands for one."""

    speaker: Speaker
    path: str
    parts: tuple[SeenPart, ...]

    def results(self) -> list[SeenResult]:
        """The results in it."""
        return [part for part in self.parts if isinstance(part, SeenResult)]

    def calls(self) -> list[SeenCall]:
        """The calls in it."""
        return [part for part in self.parts if isinstance(part, SeenCall)]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenTool:
    """A tool that is advertised."""

    path: str
    name: str
    schema: Mapping[str, Any]
    schema_path: str
    description: str


@dataclass(slots=True, kw_only=True)
class SeenBody:
    """A body as rules look at it."""

    body: Body
    log: FindingLog
    messages: list[SeenMessage] = field(default_factory=list)
    system: list[SeenText] = field(default_factory=list)
    tools: list[SeenTool] = field(default_factory=list)
    media_in_results: list[SeenMedium] = field(default_factory=list)

    def media(self) -> list[SeenMedium]:
        """All media of the body."""
        own = [
            part
            for message in self.messages
            for part in message.parts
            if isinstance(part, SeenMedium)
        ]
        return [*own, *self.media_in_results]

    def objects(self, value: object, path: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """The objects of a list; whatever is none is told."""
        if not isinstance(value, list):
            self.log.add("invalid_shape", path, "this must be a list")
            return
        for number, item in enumerate(value):
            if isinstance(item, Mapping):
                yield f"{path}.{number}", item
            else:
                self.log.add("invalid_shape", f"{path}.{number}", "this must be an object")

    def text(self, value: object, path: str) -> str:
        """The text; what is none is told, and then there is none."""
        if isinstance(value, str):
            return value
        self.log.add("invalid_shape", path, "this must be text")
        return ""

    def mapping(self, value: object, path: str) -> Mapping[str, Any]:
        """The object; what is none is told, and then it is empty."""
        if isinstance(value, Mapping):
            return value
        self.log.add("invalid_shape", path, "this must be an object")
        return {}

    def tool(self, declared: Mapping[str, Any], path: str, schema: object, key: str) -> None:
        """Add a tool of a declaration whose schema stands under `key`."""
        given = {} if schema is None else self.mapping(schema, f"{path}.{key}")
        self.tools.append(
            SeenTool(
                path=path,
                name=self.text(declared.get("name"), f"{path}.name"),
                schema=given,
                schema_path=f"{path}.{key}",
                description=str(declared.get("description") or ""),
            )
        )


def is_object_text(arguments: object) -> bool:
    """Whether arguments are the text of a JSON object."""
    return isinstance(arguments, str) and json_object(arguments) is not None


def data_of_address(address: str) -> tuple[str | None, str | None]:
    """Type and payload of a `data:` address; neither of any other."""
    head, comma, payload = address.partition(",")
    if not comma or head[:5].lower() != "data:":
        return None, None
    return head[5:].partition(";")[0].lower() or None, payload
