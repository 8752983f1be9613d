"""A capture: what a worker saw of its workspace at one moment.

Each section is a value, None (absent: there is no such thing now), a
`CaptureFailure` (the worker could not tell) or `NOT_SAMPLED` (left out:
nothing is said about it).

Source: docs/semantics/world-state.md#the-capture.
"""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal, TypeAlias, TypeVar

EntryType: TypeAlias = Literal["directory", "file", "symlink", "other"]
SandboxMode: TypeAlias = Literal["auto", "accept-edits"]


class NotSampled(Enum):
    """The state of a section that a capture leaves out."""

    NOT_SAMPLED = "not_sampled"


NOT_SAMPLED: Final = NotSampled.NOT_SAMPLED
"""The only value of its type, so that a type checker can tell it from None."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CaptureFailure:
    """Why the worker could not capture a section, in the worker's words."""

    code: str
    detail: str


T = TypeVar("T")

Captured: TypeAlias = T | CaptureFailure | NotSampled | None
"""The four states of a section in a capture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One name in the top level of the project."""

    name: str
    type: EntryType


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """Where the agent works. `entries` lists the root, else the working directory."""

    working_directory: str
    repository_root: str | None
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Instructions:
    """The content of the project's instruction file, decoded by the worker."""

    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class EncodedInstructions:
    """The bytes of the project's instruction file, in base64."""

    content_base64: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skill:
    """A skill that the worker found, with the description as its author wrote it."""

    name: str
    description: str
    path: str
    enabled: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Sandbox:
    """How the worker's shell is confined."""

    available: bool
    mode: SandboxMode
    workspace: str
    home: str


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomSection:
    """A section of the worker's own. Where a notice or the cap is None, ours applies."""

    id: str
    tag: str
    body: str | CaptureFailure | None
    replacement_notice: str | None = None
    removal_notice: str | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Capture:
    """Everything that a worker tells about its workspace in one sample."""

    project: Captured[Project] = NOT_SAMPLED
    instructions: Captured[Instructions | EncodedInstructions] = NOT_SAMPLED
    skills: Captured[tuple[Skill, ...]] = NOT_SAMPLED
    sandbox: Captured[Sandbox] = NOT_SAMPLED
    custom: tuple[CustomSection, ...] = ()
