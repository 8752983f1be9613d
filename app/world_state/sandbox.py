"""The sandbox section: what the shell may write.

Source: docs/semantics/world-state.md#sandbox.
"""

import posixpath
from collections.abc import Mapping
from typing import Literal, TypeAlias

from app.world_state.capture import Captured, Sandbox
from app.world_state.rendering import Rendering, SectionWarning
from app.world_state.sections import SANDBOX

BASH_UNAVAILABLE = (
    "bash: unavailable, because the macOS sandbox failed its self-check. "
    "Use read / grep / glob / edit for file work, "
    "and tell the user which command you need them to run."
)

BASH_WRITES_WORKSPACE = (
    "bash: runs in the sandbox and can write the workspace and temporary directories."
)

BASH_WRITES_TEMPORARY = (
    "bash: runs in the sandbox and can write temporary directories; "
    "writes to the workspace need sandboxPermissions."
)

Availability: TypeAlias = Literal["available", "unavailable"]

AVAILABILITY: Mapping[bool, Availability] = {True: "available", False: "unavailable"}
"""The word for a flag of a session or a capture."""


def render_sandbox(sandbox: Sandbox) -> Rendering:
    """The text of the sandbox section. The workspace path is printed as it was given."""
    text = "\n".join(
        (
            SANDBOX.open_tag,
            f"mode: {sandbox.mode}",
            f"workspace: {sandbox.workspace}",
            "write / edit: can change files in the workspace.",
            _bash(sandbox),
            "</sandbox_policy>",
        )
    )
    return Rendering(text=text)


def availability_warning(
    sandbox: Captured[Sandbox], *, session: Availability
) -> SectionWarning | None:
    """A warning where the captured sandbox and the session disagree, else None.

    The session decides which tools are advertised and the capture what the
    text says, so the model could be told of a tool that it does not have.
    """
    if not isinstance(sandbox, Sandbox) or AVAILABILITY[sandbox.available] == session:
        return None
    return SectionWarning(
        code="sandbox_availability_differs",
        detail=(
            f"the sandbox is {session} in the session "
            f"and {AVAILABILITY[sandbox.available]} in the capture"
        ),
        section=SANDBOX.id,
    )


def _bash(sandbox: Sandbox) -> str:
    if not sandbox.available:
        return BASH_UNAVAILABLE
    if sandbox.mode == "auto" and not _contains(sandbox.workspace, sandbox.home):
        return BASH_WRITES_WORKSPACE
    return BASH_WRITES_TEMPORARY


def _contains(outer: str, inner: str) -> bool:
    """Whether a directory is another one or above it, judged by the paths alone."""
    outer_parts = _parts(outer)
    return _parts(inner)[: len(outer_parts)] == outer_parts


def _parts(path: str) -> tuple[str, ...]:
    # The anchor comes first, so a relative path never contains an absolute one.
    anchor = "/" if posixpath.isabs(path) else "."
    parts = posixpath.normpath(path).split("/")
    return (anchor, *(part for part in parts if part not in ("", ".")))
